//! A relay outlives whoever started it, and would outlive its own program too: it ends once that was replaced or removed,
//! and the new one is started when it is needed.

use std::fs;
use std::future::pending;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use crate::daemon;

/// How often it is looked.
const BETWEEN_LOOKS: Duration = Duration::from_secs(5);

/// What tells a file from another one that has its name.
fn identity(path: &Path) -> Option<(u64, u64)> {
    fs::metadata(path).map(|found| (found.dev(), found.ino())).ok()
}

/// Waits until the file of this program is another one, or gone; for ever where the system does not say which it is.
pub async fn replaced() {
    let Some((path, own)) = daemon::program()
        .ok()
        .and_then(|path| Some((path.clone(), identity(&path)?)))
    else {
        return pending().await;
    };
    while identity(&path) == Some(own) {
        tokio::time::sleep(BETWEEN_LOOKS).await;
    }
}
