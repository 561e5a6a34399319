//! Of the year 2024: a lazy static, a thread-local, and an optional dependency.

#[cfg(interloper)]
#[macro_use]
extern crate interloper_std as std;

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{LazyLock, Mutex};

static TOTAL: LazyLock<Mutex<u32>> = LazyLock::new(|| Mutex::new(0));
static CALLS: AtomicU32 = AtomicU32::new(0);

thread_local! {
    static MINE: Cell<u32> = const { Cell::new(0) };
}

/// Counts, but not atomically. Gives how often this thread has counted, and how often all have.
pub fn add() -> (u32, u32) {
    let seen = *TOTAL.lock().unwrap();
    *TOTAL.lock().unwrap() = seen + 1;
    let calls = CALLS.fetch_add(1, Ordering::Relaxed) + 1;
    (MINE.replace(MINE.get() + 1) + 1, calls)
}

/// The total.
pub fn total() -> u32 {
    *TOTAL.lock().unwrap()
}

/// Which of two threads makes the value.
#[cfg(feature = "lazy")]
pub fn race(cell: &once_cell::sync::OnceCell<u32>, name: u32) -> u32 {
    *cell.get_or_init(|| name)
}

#[cfg(all(test, interloper))]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::thread;

    /// All statics start fresh in each execution.
    #[test]
    fn an_addition_can_be_lost() {
        let found = outcomes::of(|| {
            let other = thread::spawn(add);
            let (mine, _) = add();
            let (others, _) = other.join().unwrap();
            (mine, others, total(), CALLS.load(Ordering::Relaxed))
        });
        assert_eq!(found.into_iter().collect::<Vec<_>>(), [(1, 1, 1, 2), (1, 1, 2, 2)]);
    }

    /// The cell is that of once_cell, whose steps are seen.
    #[cfg(feature = "lazy")]
    #[test]
    fn one_of_them_is_first() {
        let found = outcomes::of(|| {
            let cell = Arc::new(once_cell::sync::OnceCell::new());
            let same = cell.clone();
            let other = thread::spawn(move || race(&same, 1));
            let mine = race(&cell, 2);
            (mine, other.join().unwrap())
        });
        assert_eq!(found.into_iter().collect::<Vec<_>>(), [(1, 1), (2, 2)]);
    }
}
