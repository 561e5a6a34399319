//! How much time passes for a task that looks at the clock again and again, where the clock ticks.

use std::cell::Cell;
use std::time::Duration;

use interloper_scheduler::strategies::RandomWalk;
use interloper_scheduler::{Clock, Config, Engine};
use interloper_std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use interloper_std::time::Instant;

const SECOND: Duration = Duration::from_secs(1);

/// How much time passes for a task that does this, and how many steps it makes, in an execution that comes to its end.
fn passes(clock: Clock, program: impl Fn()) -> (Duration, u64) {
    let elapsed = Cell::new(Duration::ZERO);
    let execution =
        Engine::new(Config { clock, step_bound: 100_000, ..Config::default() }).run(&mut RandomWalk::new(1), || {
            let begin = Instant::now();
            program();
            elapsed.set(begin.elapsed());
        });
    assert!(execution.end.is_finished(), "{execution:?}");
    (elapsed.get(), execution.steps)
}

/// A cache stores when each of its entries was made: none of the first has expired when the last one is made.
#[test]
fn who_works_between_looks_does_not_wait() {
    let makes_entries = || {
        let entries = AtomicU32::new(0);
        for _ in 0..1_000 {
            entries.fetch_add(1, SeqCst);
            let made = Instant::now();
            assert!(made.elapsed() < SECOND);
        }
    };
    assert!(passes(Clock::Ticks, makes_entries).0 < SECOND / 10);
    let looks_alone = || (0..1_000).for_each(|_| _ = Instant::now());
    assert!(passes(Clock::Ticks, looks_alone).0 < SECOND / 10);
    // Where the clock stands still, each looks like a task that waits.
    assert!(passes(Clock::StandsStill, looks_alone).0 > 100 * SECOND);
}

#[test]
fn who_waits_for_a_time_reaches_it() {
    let until = |step: fn(&AtomicU32)| {
        move || {
            let (begin, number) = (Instant::now(), AtomicU32::new(0));
            while begin.elapsed() < SECOND {
                step(&number);
            }
        }
    };
    let looks = |number: &AtomicU32| _ = number.load(SeqCst);
    let works = |number: &AtomicU32| _ = number.fetch_add(1, SeqCst);
    for (step, most) in [(looks as fn(&AtomicU32), 200), (works, 4_000)] {
        let (elapsed, steps) = passes(Clock::Ticks, until(step));
        assert!(elapsed >= SECOND && steps < most, "{elapsed:?}, {steps} steps");
    }
    passes(Clock::Ticks, until(|_| ()));
}
