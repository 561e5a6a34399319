//! The time that a check may take.

use std::time::{Duration, Instant};

/// Says when the time of a check is over. Without a limit the clock is never read.
///
/// Reading the clock costs more than a tenth of a quick execution, and an execution may take seconds. So the clock is
/// read after a number of executions that doubles while they are quick, and falls to one as soon as they are slow.
pub(crate) struct Clock {
    /// When the check has to be over.
    pub deadline: Option<Instant>,
    /// After how many questions the clock is read again.
    left: u32,
    stride: u32,
    read: Instant,
}

const QUICK: Duration = Duration::from_millis(1);

/// The most questions between two readings.
const LONGEST_STRIDE: u32 = 256;

impl Clock {
    /// A clock that begins now. A limit beyond the range of the clock counts as no limit.
    pub fn new(limit: Option<Duration>) -> Clock {
        let now = Instant::now();
        Clock { deadline: limit.and_then(|limit| now.checked_add(limit)), left: 1, stride: 1, read: now }
    }

    /// Whether the time is over, according to the last reading.
    #[inline]
    pub fn late(&mut self) -> bool {
        let Some(deadline) = self.deadline else { return false };
        self.left -= 1;
        self.left == 0 && self.look(deadline)
    }

    #[cold]
    fn look(&mut self, deadline: Instant) -> bool {
        let now = Instant::now();
        let quick = now - self.read < QUICK;
        self.stride = if quick { (self.stride * 2).min(LONGEST_STRIDE) } else { 1 };
        self.left = self.stride;
        self.read = now;
        if now >= deadline {
            // The next question gets the same answer.
            self.left = 1;
        }
        now >= deadline
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_limit_is_never_over_and_none_is_over_at_once() {
        let mut unlimited = Clock::new(None);
        let mut endless = Clock::new(Some(Duration::MAX));
        let mut nothing = Clock::new(Some(Duration::ZERO));
        for _ in 0..3 {
            assert_eq!((unlimited.late(), endless.late(), nothing.late()), (false, false, true));
        }
    }

    #[test]
    fn slow_executions_are_looked_at_one_by_one() {
        let mut clock = Clock::new(Some(Duration::from_secs(3600)));
        for _ in 0..2_000 {
            assert!(!clock.late());
        }
        assert!(clock.stride > 1, "some of them take less than a millisecond");
        std::thread::sleep(QUICK * 2);
        while clock.left != 1 {
            assert!(!clock.late());
        }
        assert!(!clock.late());
        assert_eq!(clock.stride, 1);
    }
}
