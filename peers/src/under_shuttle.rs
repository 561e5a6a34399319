//! The programs under shuttle.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use interloper_scheduler::panics;
use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler, UrwRandomScheduler};
use shuttle::{Config, FailurePersistence, Runner};

mod platform {
    pub use shuttle::{sync, thread};

    /// A block that should be atomic: of no consequence here.
    pub fn atomic<R>(_: &'static str, body: impl FnOnce() -> R) -> R {
        body()
    }
}

mod programs {
    include!("programs.rs");
}

pub use self::programs::PROGRAMS;

/// Shuttle's strategies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    Random,
    Pct(usize),
    Urw,
}

impl Strategy {
    fn scheduler(self, seed: u64, executions: usize) -> Box<dyn Scheduler + Send> {
        match self {
            Strategy::Random => Box::new(RandomScheduler::new_from_seed(seed, executions)),
            Strategy::Pct(depth) => Box::new(PctScheduler::new_from_seed(seed, depth, executions)),
            Strategy::Urw => Box::new(UrwRandomScheduler::new_from_seed(seed, executions)),
        }
    }
}

fn config() -> Config {
    let mut config = Config::default();
    config.failure_persistence = FailurePersistence::None;
    config.silence_warnings = true;
    config
}

/// Runs a program so many times.
pub fn run(strategy: Strategy, seed: u64, executions: usize, program: impl Fn() + Send + Sync + 'static) {
    Runner::new(strategy.scheduler(seed, executions), config()).run(program);
}

/// How many executions it takes until one panics; a deadlock is a panic of shuttle's.
pub fn first_failure(
    strategy: Strategy,
    seed: u64,
    most: usize,
    program: impl Fn() + Send + Sync + 'static,
) -> Option<u64> {
    let made = Arc::new(AtomicU64::new(0));
    let count = made.clone();
    let counted = move || {
        count.fetch_add(1, Ordering::Relaxed);
        program();
    };
    // On a thread of its own: a task that shuttle leaves behind while it unwinds would have the thread count as panicking
    // for ever.
    let failed = thread::spawn(move || panics::quietly(|| run(strategy, seed, most, counted))).join().is_err();
    failed.then(|| made.load(Ordering::Relaxed))
}
