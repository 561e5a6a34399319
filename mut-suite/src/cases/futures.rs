//! Figure 12(vii): values that do not exist yet.

use std::sync::Arc;

use interloper::MethodUnderTest;
use interloper::collections::{DashMap, OnceLock};

use super::boxed;
use crate::Case;
use crate::source::Family;

const FILE: Family = Family::new("COLT, Figure 12(vii)", include_str!("futures.rs"));

type Cells = DashMap<u64, Arc<OnceLock<u64>>>;

pub(super) fn cases() -> Vec<Case> {
    vec![
        FILE.good(
            "figure-12-vii",
            "Memoization that computes each value once: the map holds cells, and an empty one counts as missing.",
            || boxed(MethodUnderTest::new("compute", Cells::new, compute).arguments([7]).pending_counts_as_missing()),
        ),
        Case {
            source: FILE.code("figure-12-vii"),
            ..FILE.bad(
                "figure-12-vii-without-abstraction",
                "figure-12-vii",
                "The same, with the empty cell as a value of its own, which others see: what COLT reports until it is told.",
                || boxed(MethodUnderTest::new("compute", Cells::new, compute).arguments([7])),
            )
        },
        FILE.bad(
            "figure-12-vii-detached",
            "figure-12-vii",
            "Fills a cell of its own and not the one that the map holds.",
            || {
                let method = MethodUnderTest::new("compute", Cells::new, compute_detached);
                boxed(method.arguments([7]).pending_counts_as_missing())
            },
        ),
    ]
}

fn calculate_value(key: u64) -> u64 {
    key * 2
}

// case: figure-12-vii
/// The value of `calculate_value` at `key`, computed by one caller while the others wait.
fn compute(cache: &DashMap<u64, Arc<OnceLock<u64>>>, key: u64) -> u64 {
    let known = cache.get(&key).map(|cell| Arc::clone(&cell));
    let cell = match known {
        Some(cell) => cell,
        None => Arc::clone(&cache.entry(key).or_default()),
    };
    *cell.get_or_init(|| calculate_value(key))
}
// end

// case: figure-12-vii-detached
/// The value of `calculate_value` at `key`, computed by one caller.
fn compute_detached(cache: &DashMap<u64, Arc<OnceLock<u64>>>, key: u64) -> u64 {
    let known = cache.get(&key).map(|cell| Arc::clone(&cell));
    let cell = known.unwrap_or_else(|| {
        let cell = Arc::new(OnceLock::new());
        cache.entry(key).or_insert(Arc::clone(&cell));
        cell
    });
    *cell.get_or_init(|| calculate_value(key))
}
// end
