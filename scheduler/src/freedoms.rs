//! What std leaves open besides the schedule.

use std::fmt;
use std::str::FromStr;

/// Something that std leaves open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Freedom {
    /// A sleep, or a wait with a time-out, may end before other tasks make their steps. std promises only the shortest time
    /// that it takes, and nothing about the steps of other tasks in that time.
    Time,
    /// A wait on a condition variable of std, or a park, may end although no task notified or unparked the waiting task.
    Wakeups,
    /// A weak compare-exchange may fail although the expected value is there.
    Weak,
    /// A hint that the task spins or yields may return although nothing has changed. The number bounds the places where a
    /// task does so, and the rounds of a loop in which other tasks can make steps between two looks.
    Hints,
    /// A reader-writer lock may let no reader in while a writer waits for it.
    Writers,
    /// An access to an atomic may take a place in the order of stores that is not the newest: it reads an older store, or
    /// stores before one that it has not seen. With this freedom memory is weak, as the orderings of the accesses allow.
    Memory,
    /// A spawned future, or one that the program says may be cancelled, may be dropped where it awaits something.
    Cancellation,
    /// A read or a write of several bytes may move fewer than it could: one.
    Io,
    /// What was sent over TCP or UDP may not be there yet for a read that does not wait.
    Delays,
    /// A connection of TCP may be reset when one of its ends reads or writes.
    Resets,
}

impl Freedom {
    /// All freedoms.
    pub const ALL: [Freedom; 10] = [
        Freedom::Time,
        Freedom::Wakeups,
        Freedom::Weak,
        Freedom::Hints,
        Freedom::Writers,
        Freedom::Memory,
        Freedom::Cancellation,
        Freedom::Io,
        Freedom::Delays,
        Freedom::Resets,
    ];

    /// The name of the freedom in texts.
    pub const fn name(self) -> &'static str {
        match self {
            Freedom::Time => "time",
            Freedom::Wakeups => "wakeups",
            Freedom::Weak => "weak",
            Freedom::Hints => "hints",
            Freedom::Writers => "writers",
            Freedom::Memory => "memory",
            Freedom::Cancellation => "cancellation",
            Freedom::Io => "io",
            Freedom::Delays => "delays",
            Freedom::Resets => "resets",
        }
    }

    /// Its bit in the answer that says which freedoms an execution has.
    const fn bit(self) -> u32 {
        match self {
            // Behind the number for hints, which was there first: recorded decisions keep their meaning.
            Freedom::Memory => 1 << (HINTS_AT + HINTS_BITS),
            Freedom::Cancellation => 1 << (HINTS_AT + HINTS_BITS + 1),
            Freedom::Io => 1 << (HINTS_AT + HINTS_BITS + 2),
            Freedom::Delays => 1 << (HINTS_AT + HINTS_BITS + 3),
            Freedom::Resets => 1 << (HINTS_AT + HINTS_BITS + 4),
            _ => 1 << self as u32,
        }
    }
}

/// Where the number for hints is in the answer that says which freedoms an execution has, and how long it is.
const HINTS_AT: u32 = 5;
const HINTS_BITS: u32 = 16;

/// For each [`Freedom`], how often an execution may make use of it; 0 is never. The same type counts the departures of an
/// execution.
///
/// The text form is `none`, or names with numbers, such as `time:1+hints:8`. A name without a number takes its number
/// from [`Freedoms::ALL`], and `all` is [`Freedoms::ALL`].
///
/// ```
/// use interloper_scheduler::{Freedom, Freedoms};
///
/// let freedoms: Freedoms = "time+wakeups:2".parse()?;
/// assert_eq!(freedoms, Freedoms::NONE.with(Freedom::Time, 1).with(Freedom::Wakeups, 2));
/// assert_eq!(freedoms.to_string(), "time:1+wakeups:2");
/// # Ok::<(), interloper_scheduler::FreedomsError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Freedoms {
    counts: [u32; Freedom::ALL.len()],
}

impl Freedoms {
    /// No freedom.
    pub const NONE: Freedoms = Freedoms { counts: [0; Freedom::ALL.len()] };

    /// One early end of a sleep, one spurious wake-up and one weak failure; each task goes on at most 64 times where it
    /// spins or yields, waiting writers keep readers out, and one read or write is short. Memory stays sequentially consistent,
    /// no future is cancelled, and the network neither delays nor resets anything.
    pub const ALL: Freedoms = Freedoms::NONE
        .with(Freedom::Time, 1)
        .with(Freedom::Wakeups, 1)
        .with(Freedom::Weak, 1)
        .with(Freedom::Hints, 64)
        .with(Freedom::Writers, 1)
        .with(Freedom::Io, 1);

    /// No bounds: for a replayed execution, whose decisions say what it does.
    pub const UNBOUNDED: Freedoms = Freedoms { counts: [u32::MAX; Freedom::ALL.len()] };

    /// The same freedoms, with this number for one of them.
    #[must_use]
    pub const fn with(mut self, freedom: Freedom, count: u32) -> Freedoms {
        self.counts[freedom as usize] = count;
        self
    }

    /// The number of one freedom.
    pub const fn count(self, freedom: Freedom) -> u32 {
        self.counts[freedom as usize]
    }

    /// Whether all numbers are 0.
    pub fn is_none(self) -> bool {
        // One after the other: reading several at once would wait for what was just written in smaller pieces.
        self.counts.iter().fold(0, |all, count| all | count) == 0
    }

    /// The freedoms with a number above 0, in the order of [`Freedom::ALL`].
    pub fn each(self) -> impl Iterator<Item = (Freedom, u32)> {
        Freedom::ALL.into_iter().zip(self.counts).filter(|(_, count)| *count > 0)
    }

    /// For each freedom, the smaller of both numbers.
    #[must_use]
    pub fn within(self, bounds: Freedoms) -> Freedoms {
        Freedoms { counts: std::array::from_fn(|index| self.counts[index].min(bounds.counts[index])) }
    }

    /// Takes one from the number of a freedom. Returns false when the number is 0 already.
    pub(crate) fn take(&mut self, freedom: Freedom) -> bool {
        let count = &mut self.counts[freedom as usize];
        let left = *count > 0;
        *count -= u32::from(left);
        left
    }

    /// Adds one to the number of a freedom.
    pub(crate) fn add(&mut self, freedom: Freedom) {
        let count = &mut self.counts[freedom as usize];
        *count = count.saturating_add(1);
    }

    /// The number of answers to the question which freedoms an execution has.
    pub(crate) const ANSWERS: u32 = Freedom::Resets.bit() << 1;

    /// The bits of an answer that say which freedoms the execution has. Between them is the number for hints, up to 65,535,
    /// since that number determines which looks are steps. For the other freedoms the decisions say how often.
    pub(crate) const WHICH: u32 = ((1 << HINTS_AT) - 1)
        | Freedom::Memory.bit()
        | Freedom::Cancellation.bit()
        | Freedom::Io.bit()
        | Freedom::Delays.bit()
        | Freedom::Resets.bit();

    /// The answer that names these freedoms.
    pub(crate) fn answer(self) -> u32 {
        let which: u32 = self.each().map(|(freedom, _)| freedom.bit()).sum();
        which | self.count(Freedom::Hints).min((1 << HINTS_BITS) - 1) << HINTS_AT
    }

    /// The freedoms that an answer names.
    #[must_use]
    pub(crate) fn of_answer(self, answer: u32) -> Freedoms {
        let kept = self.each().filter(|(freedom, _)| answer & freedom.bit() != 0);
        let kept = kept.fold(Freedoms::NONE, |all, (freedom, count)| all.with(freedom, count));
        let hints = kept.count(Freedom::Hints).min((answer & !Freedoms::WHICH) >> HINTS_AT);
        kept.with(Freedom::Hints, hints)
    }
}

impl fmt::Display for Freedoms {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_none() {
            return out.write_str("none");
        }
        for (index, (freedom, count)) in self.each().enumerate() {
            let plus = if index == 0 { "" } else { "+" };
            write!(out, "{plus}{}:{count}", freedom.name())?;
        }
        Ok(())
    }
}

/// Why a text does not name [`Freedoms`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FreedomsError {
    /// The part that is wrong.
    pub text: String,
    /// What is wrong with it.
    pub reason: &'static str,
}

impl fmt::Display for FreedomsError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:?} is not a freedom: {}", self.text, self.reason)
    }
}

impl std::error::Error for FreedomsError {}

impl FromStr for Freedoms {
    type Err = FreedomsError;

    fn from_str(text: &str) -> Result<Freedoms, FreedomsError> {
        text.split('+').try_fold(Freedoms::NONE, |all, part| {
            let wrong = |reason| FreedomsError { text: part.to_owned(), reason };
            let (name, count) = match part.split_once(':') {
                Some((name, count)) => (name, Some(count)),
                None => (part, None),
            };
            if part == "none" {
                return Ok(all);
            }
            if part == "all" {
                let more = all.each();
                return Ok(more.fold(Freedoms::ALL, |all, (freedom, count)| all.with(freedom, count)));
            }
            let freedom = Freedom::ALL.into_iter().find(|freedom| freedom.name() == name);
            let freedom = freedom.ok_or(wrong(
                "the freedoms are none, all, time, wakeups, weak, hints, writers, memory, cancellation, io, delays and resets",
            ))?;
            let count = match count {
                None if freedom == Freedom::Memory => u32::MAX,
                None if matches!(freedom, Freedom::Cancellation | Freedom::Delays | Freedom::Resets) => 1,
                None => Freedoms::ALL.count(freedom),
                Some(count) => count.parse().map_err(|_| wrong("expected a number from 0 to 4294967295"))?,
            };
            Ok(all.with(freedom, count))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts() {
        #[track_caller]
        fn check(text: &str, freedoms: Freedoms, shown: &str) {
            assert_eq!(text.parse(), Ok(freedoms));
            assert_eq!(freedoms.to_string(), shown);
            assert_eq!(shown.parse(), Ok(freedoms));
        }
        check("none", Freedoms::NONE, "none");
        check("all", Freedoms::ALL, "time:1+wakeups:1+weak:1+hints:64+writers:1+io:1");
        check("weak:3+time", Freedoms::NONE.with(Freedom::Weak, 3).with(Freedom::Time, 1), "time:1+weak:3");
        check("cancellation", Freedoms::NONE.with(Freedom::Cancellation, 1), "cancellation:1");
        let network = Freedoms::NONE.with(Freedom::Delays, 1).with(Freedom::Resets, 2);
        check("delays+resets:2", network, "delays:1+resets:2");
        let all = Freedoms::ALL.with(Freedom::Time, 3).with(Freedom::Resets, 1);
        let shown = "time:3+wakeups:1+weak:1+hints:64+writers:1+io:1+resets:1";
        check("all+resets+time:3", all, shown);
        check("resets+time:3+all", all, shown);
        check("time:0", Freedoms::NONE, "none");
        check("none+resets", Freedoms::NONE.with(Freedom::Resets, 1), "resets:1");
        let reason = |text: &str| text.parse::<Freedoms>().unwrap_err().to_string();
        assert_eq!(
            reason("time+x"),
            "\"x\" is not a freedom: the freedoms are none, all, time, wakeups, weak, hints, writers, memory, cancellation, io, delays and resets"
        );
        assert_eq!(
            reason(""),
            "\"\" is not a freedom: the freedoms are none, all, time, wakeups, weak, hints, writers, memory, cancellation, io, delays and resets"
        );
        assert_eq!(reason("weak:-1"), "\"weak:-1\" is not a freedom: expected a number from 0 to 4294967295");
    }

    #[test]
    fn answers() {
        let rare = [Freedom::Memory, Freedom::Cancellation, Freedom::Io, Freedom::Delays, Freedom::Resets];
        let with = |which: u32| rare.map(|freedom| which | freedom.bit());
        for which in (0..32).flat_map(|which| [which].into_iter().chain(with(which))) {
            let hints = if which & Freedom::Hints.bit() == 0 { 0 } else { 64 };
            let answer = which | hints << HINTS_AT;
            let all = Freedoms::ALL.with(Freedom::Memory, 3).with(Freedom::Cancellation, 1);
            let all = all.with(Freedom::Delays, 1).with(Freedom::Resets, 1);
            assert_eq!(all.of_answer(answer).answer(), answer);
            assert_eq!(Freedoms::UNBOUNDED.of_answer(answer).answer(), answer);
            assert!(answer < Freedoms::ANSWERS);
        }
        let time = Freedoms::NONE.with(Freedom::Time, 4);
        assert_eq!(time.of_answer(Freedoms::ALL.answer()), time);
        assert_eq!(Freedoms::ALL.within(time), Freedoms::NONE.with(Freedom::Time, 1));
    }
}
