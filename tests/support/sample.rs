//! Which part of many items a run looks at.
//!
//! COUNTERSIGN_LAB=all takes all; else COUNTERSIGN_SEED repeats a run, whose seed is printed.

/// All items, or a fresh choice of at most `count` of them, in their order.
pub fn sample<T>(items: Vec<T>, count: usize) -> Vec<T> {
    if std::env::var("COUNTERSIGN_LAB").is_ok_and(|all| all == "all") || items.len() <= count {
        return items;
    }
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .expect("the clock is past 1970");
    let said = std::env::var("COUNTERSIGN_SEED").ok();
    let seed = said
        .and_then(|seed| seed.parse().ok())
        .unwrap_or(u64::from(now.subsec_nanos()) ^ now.as_secs());
    println!("COUNTERSIGN_SEED={seed}: {count} of {}", items.len());
    let mut state = seed;
    let mut left = items.len();
    let mut wanted = count;
    let chosen = items.into_iter().filter(|_| {
        // Numerical Recipes' generator; the upper half is the better one.
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let taken = (state >> 33) as usize % left < wanted;
        left -= 1;
        wanted -= usize::from(taken);
        taken
    });
    chosen.collect()
}
