//! What std leaves open besides whose step is next.

use std::fmt;
use std::str::FromStr;

/// One thing that std leaves open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Freedom {
    /// A sleep, or a wait with a time-out, may end before other tasks have made their steps. std promises how long it
    /// takes at least, and nothing of what others do meanwhile.
    Time,
    /// A wait on a condition variable of std, and a park, may end although nobody has notified or unparked the task.
    Wakeups,
    /// A weak compare-exchange may fail although the expected value is there.
    Weak,
    /// A hint that the task spins or yields may return although nothing has changed. The number is that of the places where
    /// a task does so, and of the rounds of a loop that others can come between; in further rounds nobody can.
    Hints,
    /// A reader-writer lock may let no reader in while a writer waits for it.
    Writers,
}

impl Freedom {
    /// All of them.
    pub const ALL: [Freedom; 5] = [Freedom::Time, Freedom::Wakeups, Freedom::Weak, Freedom::Hints, Freedom::Writers];

    /// Its name in texts.
    pub const fn name(self) -> &'static str {
        match self {
            Freedom::Time => "time",
            Freedom::Wakeups => "wakeups",
            Freedom::Weak => "weak",
            Freedom::Hints => "hints",
            Freedom::Writers => "writers",
        }
    }

    /// Its bit in the answer that says which freedoms an execution has.
    const fn bit(self) -> u32 {
        1 << self as u32
    }
}

/// How often an execution may depart from the ordinary, for each [`Freedom`]: 0 is never. It also counts how often one
/// has done so.
///
/// The text form is `none`, or names with their numbers, `time:1+hints:8`. A name alone has the number it has in
/// [`Freedoms::ALL`]; `all` is that.
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
    /// Never.
    pub const NONE: Freedoms = Freedoms { counts: [0; Freedom::ALL.len()] };

    /// One early sleeper, one wake-up that nobody caused and one weak failure; each task goes on 64 times at most where it
    /// spins or yields, and writers go before readers.
    pub const ALL: Freedoms = Freedoms::NONE
        .with(Freedom::Time, 1)
        .with(Freedom::Wakeups, 1)
        .with(Freedom::Weak, 1)
        .with(Freedom::Hints, 64)
        .with(Freedom::Writers, 1);

    /// Without bounds: for an execution that is made again, whose decisions say what it does.
    pub const UNBOUNDED: Freedoms = Freedoms { counts: [u32::MAX; Freedom::ALL.len()] };

    /// The same, but so often for one of them.
    #[must_use]
    pub const fn with(mut self, freedom: Freedom, count: u32) -> Freedoms {
        self.counts[freedom as usize] = count;
        self
    }

    /// How often, for one of them.
    pub const fn count(self, freedom: Freedom) -> u32 {
        self.counts[freedom as usize]
    }

    /// Whether there is none.
    pub fn is_none(self) -> bool {
        self == Freedoms::NONE
    }

    /// Those that are here, in the order of [`Freedom::ALL`].
    pub fn each(self) -> impl Iterator<Item = (Freedom, u32)> {
        Freedom::ALL.into_iter().zip(self.counts).filter(|(_, count)| *count > 0)
    }

    /// The smaller number of both, for each of them.
    #[must_use]
    pub fn within(self, bounds: Freedoms) -> Freedoms {
        Freedoms { counts: std::array::from_fn(|index| self.counts[index].min(bounds.counts[index])) }
    }

    /// One of them is used up by one. False when there is none left.
    pub(crate) fn take(&mut self, freedom: Freedom) -> bool {
        let count = &mut self.counts[freedom as usize];
        let left = *count > 0;
        *count -= u32::from(left);
        left
    }

    /// One of them is used once more.
    pub(crate) fn add(&mut self, freedom: Freedom) {
        let count = &mut self.counts[freedom as usize];
        *count = count.saturating_add(1);
    }

    /// How many answers there are to the question which freedoms an execution has.
    pub(crate) const ANSWERS: u32 = 1 << (Freedom::ALL.len() + 16);

    /// The bits of an answer that say which freedoms there are. Above them is the number for hints, up to 65,535, since
    /// that determines which looks are steps; for the others the decisions say how often.
    pub(crate) const WHICH: u32 = (1 << Freedom::ALL.len()) - 1;

    /// The answer that says which of them there are.
    pub(crate) fn answer(self) -> u32 {
        let which: u32 = self.each().map(|(freedom, _)| freedom.bit()).sum();
        which | self.count(Freedom::Hints).min(0xFFFF) << Freedom::ALL.len()
    }

    /// Those of an answer alone.
    #[must_use]
    pub(crate) fn of_answer(self, answer: u32) -> Freedoms {
        let kept = self.each().filter(|(freedom, _)| answer & freedom.bit() != 0);
        let kept = kept.fold(Freedoms::NONE, |all, (freedom, count)| all.with(freedom, count));
        let hints = kept.count(Freedom::Hints).min(answer >> Freedom::ALL.len());
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

/// Why a text names no [`Freedoms`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FreedomsError {
    /// The part that is wrong.
    pub text: String,
    /// What is wrong with it.
    pub reason: &'static str,
}

impl fmt::Display for FreedomsError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:?} names no freedom: {}", self.text, self.reason)
    }
}

impl std::error::Error for FreedomsError {}

impl FromStr for Freedoms {
    type Err = FreedomsError;

    fn from_str(text: &str) -> Result<Freedoms, FreedomsError> {
        match text {
            "none" => return Ok(Freedoms::NONE),
            "all" => return Ok(Freedoms::ALL),
            _ => {}
        }
        text.split('+').try_fold(Freedoms::NONE, |all, part| {
            let wrong = |reason| FreedomsError { text: part.to_owned(), reason };
            let (name, count) = match part.split_once(':') {
                Some((name, count)) => (name, Some(count)),
                None => (part, None),
            };
            let freedom = Freedom::ALL.into_iter().find(|freedom| freedom.name() == name);
            let freedom = freedom.ok_or(wrong("there are none, all, time, wakeups, weak, hints, writers"))?;
            let count = match count {
                None => Freedoms::ALL.count(freedom),
                Some(count) => count.parse().map_err(|_| wrong("a number from 0 to 4294967295 is expected"))?,
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
        check("all", Freedoms::ALL, "time:1+wakeups:1+weak:1+hints:64+writers:1");
        check("weak:3+time", Freedoms::NONE.with(Freedom::Weak, 3).with(Freedom::Time, 1), "time:1+weak:3");
        check("time:0", Freedoms::NONE, "none");
        let reason = |text: &str| text.parse::<Freedoms>().unwrap_err().to_string();
        assert_eq!(
            reason("time+x"),
            "\"x\" names no freedom: there are none, all, time, wakeups, weak, hints, writers"
        );
        assert_eq!(reason(""), "\"\" names no freedom: there are none, all, time, wakeups, weak, hints, writers");
        assert_eq!(reason("weak:-1"), "\"weak:-1\" names no freedom: a number from 0 to 4294967295 is expected");
    }

    #[test]
    fn answers() {
        for which in 0..=Freedoms::WHICH {
            let hints = if which & Freedom::Hints.bit() == 0 { 0 } else { 64 };
            let answer = which | hints << Freedom::ALL.len();
            assert_eq!(Freedoms::ALL.of_answer(answer).answer(), answer);
            assert_eq!(Freedoms::UNBOUNDED.of_answer(answer).answer(), answer);
            assert!(answer < Freedoms::ANSWERS);
        }
        let time = Freedoms::NONE.with(Freedom::Time, 4);
        assert_eq!(time.of_answer(Freedoms::ALL.answer()), time);
        assert_eq!(Freedoms::ALL.within(time), Freedoms::NONE.with(Freedom::Time, 1));
    }
}
