//! Work on many items at once.

use std::sync::Mutex;

/// Does the work on each item, as many at a time as there are processors; results come in the order of the items.
pub fn in_parallel<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> Vec<R> + Sync) -> Vec<R> {
    let next = Mutex::new(0);
    let results = Mutex::new(Vec::new());
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let at = {
                        let mut next = next.lock().expect("no worker panics with it");
                        *next += 1;
                        *next - 1
                    };
                    let Some(item) = items.get(at) else { return };
                    let done = work(item);
                    results.lock().expect("no worker panics with it").push((at, done));
                }
            });
        }
    });
    let mut results = results.into_inner().expect("no worker panics with it");
    results.sort_by_key(|(at, _)| *at);
    results.into_iter().flat_map(|(_, done)| done).collect()
}
