//! Sequence locks: readers look at a number before and after.

use interloper::ToValue;

use super::platform::beside;
use super::platform::sync::Arc;
use super::platform::sync::atomic::{AtomicI64, Ordering, fence};
use super::{Bug, Expected, Family, Program};

use Ordering::{Acquire, Relaxed, Release};

const FILE: Family =
    Family::new("H.-J. Boehm, MSPC 2012", include_str!("seqlock.rs")).showing("sequence").weak_memory();

const TORN: Bug = Bug::Panic("two halves of different values");

pub(super) fn programs() -> Vec<Program> {
    let right = "The reader makes an acquire fence before it looks again, the writer a release fence after it has made the \
                 number odd, and the last store is Release.";
    vec![
        FILE.bad(
            "seqlock-reader-unfenced",
            "seqlock-fenced",
            TORN,
            "The reader makes no fence before it looks at the number again: it may read the old number after new data. \
             That this second load is Acquire would not help.",
            || sequence(false, true, Release).to_value(),
        ),
        FILE.bad(
            "seqlock-writer-unfenced",
            "seqlock-fenced",
            TORN,
            "The writer makes no fence after it has made the number odd: the data may arrive first.",
            || sequence(true, false, Release).to_value(),
        ),
        FILE.bad(
            "seqlock-writer-relaxed",
            "seqlock-fenced",
            TORN,
            "The writer makes the number even with Relaxed instead of Release: a reader of the new number reads old data.",
            || sequence(true, true, Relaxed).to_value(),
        ),
        FILE.good("seqlock-fenced", Expected::Clean, right, || sequence(true, true, Release).to_value()),
    ]
}

// case: sequence
/// Two halves of a value, and a number that is odd while they are written.
#[derive(Default)]
struct Sequence {
    number: AtomicI64,
    halves: [AtomicI64; 2],
}

impl Sequence {
    fn write(&self, value: i64, fenced: bool, ends: Ordering) {
        let number = self.number.load(Relaxed);
        self.number.store(number + 1, Relaxed);
        if fenced {
            fence(Release);
        }
        self.halves.iter().for_each(|half| half.store(value, Relaxed));
        self.number.store(number + 2, ends);
    }

    fn try_read(&self, fenced: bool) -> Option<[i64; 2]> {
        let number = self.number.load(Acquire);
        let halves = [0, 1].map(|half: usize| self.halves[half].load(Relaxed));
        if fenced {
            fence(Acquire);
        }
        (number % 2 == 0 && self.number.load(Relaxed) == number).then_some(halves)
    }
}

/// One thread writes, the other one reads.
fn sequence(reader_fenced: bool, writer_fenced: bool, ends: Ordering) {
    let read = move |lock: &Sequence| {
        let halves = lock.try_read(reader_fenced);
        assert!(halves.is_none_or(|[one, other]| one == other), "two halves of different values");
    };
    beside(&Arc::default(), read, move |lock: &Sequence| lock.write(7, writer_fenced, ends));
}
// end
