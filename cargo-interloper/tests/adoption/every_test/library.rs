
#![no_std]
extern crate std;

pub use core::sync::atomic::AtomicU32;
use std::sync::Mutex;

mod inner;

/// Counts up: in one step, or in two.
pub fn count(number: &Mutex<u32>, at_once: bool) {
    if at_once {
        *number.lock().unwrap() += 1;
    } else {
        let before = *number.lock().unwrap();
        *number.lock().unwrap() = before + 1;
    }
}

pub fn both_count(at_once: bool) -> u32 {
    let number = Mutex::new(0);
    std::thread::scope(|scope| {
        scope.spawn(|| count(&number, at_once));
        count(&number, at_once);
    });
    number.into_inner().unwrap()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::boxed::Box;

    type TestResult = Result<(), Box<dyn std::error::Error>>;

    #[test]
    fn right() -> TestResult {
        let expected: u32 = "2".parse()?;
        assert_eq!(both_count(true), expected);
        Ok(())
    }

    #[test]
    fn wrong() {
        assert_eq!(both_count(false), 2);
    }

    #[test]
    fn an_error() -> TestResult {
        "two".parse::<u32>()?;
        Ok(())
    }

    #[test]
    fn alone() {
        count(&Mutex::new(0), true);
    }

    #[test]
    #[should_panic(expected = "two")]
    fn panics() {
        assert_eq!(both_count(true), 2);
        panic!("two");
    }

    #[should_panic(expected = "left == right")]
    #[test]
    fn does_not_always_panic() {
        assert_eq!(both_count(false), 2);
    }

    #[test]
    #[ignore] // Without a reason, as many tests have it.
    fn ignored() {
        assert_eq!(both_count(false), 2);
    }

    macro_rules! made {
        ($name:ident, $at_once:expr) => {
            #[test]
            fn $name() {
                assert_eq!(both_count($at_once), 2);
            }
        };
    }

    made!(made_right, true);
    made!(made_wrong, false);

    type Told = Result<(), std::string::String>;

    #[test]
    fn an_error_of_an_alias() -> Told {
        Err("two".into())
    }

    #[test]
    fn of_a_unit_result() -> Result<(), Box<dyn std::error::Error>> {
        let expected: u32 = "2".parse()?;
        assert_eq!(both_count(true), expected);
        Ok(())
    }

    #[test]
    fn calls_another_for_its_result() -> Result<(), Box<dyn std::error::Error>> {
        of_a_unit_result()?;
        "two".parse::<u32>()?;
        Ok(())
    }

    use std::sync::atomic::{AtomicU32, Ordering::{self, Acquire, Relaxed, Release}};

    /// A message is there when its flag is seen, if the orderings are strong enough.
    fn message((stores, loads): (Ordering, Ordering), before: impl FnOnce()) {
        let [message, flag] = [0, 0].map(AtomicU32::new);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                message.store(1, Relaxed);
                flag.store(1, stores);
            });
            before();
            if flag.load(loads) == 1 {
                assert_eq!(message.load(Relaxed), 1);
            }
        });
    }

    #[test]
    fn too_weak() {
        message((Relaxed, Relaxed), || ());
    }

    #[test]
    fn strong_enough() {
        message((Release, Acquire), || ());
    }

    #[test]
    fn ordered_by_a_sleep() {
        message((Relaxed, Relaxed), || std::thread::sleep(std::time::Duration::from_millis(10)));
    }

    #[test]
    fn the_clock_goes_on() {
        const SLEEP: std::time::Duration = std::time::Duration::from_millis(5);
        let before = std::time::Instant::now();
        assert!(before < std::time::Instant::now());
        std::thread::sleep(SLEEP);
        assert!(before.elapsed() > SLEEP);
    }

    #[test]
    fn the_clock_goes_on_for_long() {
        let before = std::time::Instant::now();
        assert!(before.elapsed() > std::time::Duration::from_millis(1));
    }

    #[test]
    fn of_a_lifetime<'a>() {
        let _two: &'a str = "two";
    }

    #[test]
    fn calls_others() {
        right();
        (0..2).for_each(|_| alone());
    }

    #[test]
    fn exchanges_at_once() {
        use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
        let number = AtomicU32::new(0);
        (0..9).for_each(|at| assert_eq!(number.compare_exchange_weak(at, at + 1, SeqCst, SeqCst), Ok(at)));
    }

    /// With serde_json in the build, the second type would be open.
    #[test]
    fn compares_with_what_has_no_type() {
        let none: &[u8] = &[];
        assert_eq!(none, &[]);
    }

    #[test]
    fn repeats_what_it_does() {
        for _ in 0..400_000 {
            count(&Mutex::new(0), true);
        }
    }

    fn count_a_million_times() -> u32 {
        let number = Mutex::new(0);
        std::thread::scope(|scope| {
            scope.spawn(|| (0..1_000_000).for_each(|_| count(&number, true)));
            (0..1_000_000).for_each(|_| count(&number, true));
        });
        number.into_inner().unwrap()
    }

    #[test]
    fn repeats_what_threads_do() {
        assert_eq!(count_a_million_times(), 2_000_000);
    }

    /// Works for so many rounds, with so many bytes on its stack, and looks in each whether it is to stop. Nobody says so.
    fn works<const BELOW: usize>(rounds: u64) -> u64 {
        let stop = core::sync::atomic::AtomicBool::new(false);
        let mut sum = 0_u64;
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let below = std::hint::black_box([1_u8; BELOW]);
                for round in 0..rounds {
                    if stop.load(Ordering::Relaxed) {
                        break;
                    }
                    sum = sum.wrapping_mul(31).wrapping_add(round);
                }
                std::hint::black_box(&below);
            });
        });
        sum
    }

    #[test]
    fn works_for_long() {
        assert!(works::<1>(9_000) > 0);
    }

    #[test]
    fn works_for_long_far_down_its_stack() {
        assert!(works::<100_000>(9_000) > 0);
    }

    #[test]
    fn waits_for_ever() {
        #![allow(clippy::missing_const_for_fn)]
        let stop = core::sync::atomic::AtomicBool::new(false);
        while !stop.load(Ordering::Relaxed) {}
    }

    #[core::prelude::v1::test]
    fn wrong_by_its_path() {
        assert_eq!(both_count(false), 2);
    }

    mod imported_in_braces {
        use std::{fmt::Debug, prelude::v1::*};

        #[test]
        fn wrong() {
            let seen: &dyn Debug = &super::both_count(false);
            assert_eq!(std::format!("{seen:?}"), "2");
        }
    }

    mod imported {
        use std::prelude::v1::*;

        #[test]
        fn wrong() {
            assert_eq!(super::both_count(false), Some(2).unwrap());
        }

        mod below {
            use super::*;

            #[test]
            fn wrong() {
                assert_eq!(crate::both_count(false), Vec::from([2])[0]);
            }
        }
    }

    mod of_core {
        use core::prelude::v1::*;

        mod below {
            use super::*;

            #[test]
            fn wrong() {
                assert_eq!(crate::both_count(false), Some(2).unwrap());
            }
        }
    }
}
