//! stub
/// stub
pub fn scan(_source: &str) -> Vec<Vec<String>> {
    Vec::new()
}
