use std::time::{Duration, Instant};

/// How often progress is kept: a process that is killed loses the work of less than a second, and what it was in the middle of.
const EVERY: Duration = Duration::from_millis(500);

/// To keep progress takes at most this part of the time.
const SHARE: u32 = 20;

/// When progress is kept.
#[derive(Debug)]
pub struct Pace {
    last: Instant,
    /// When it was last asked whether progress is to be kept.
    asked: Instant,
    wait: Duration,
}

impl Default for Pace {
    fn default() -> Pace {
        let now = Instant::now();
        Pace { last: now, asked: now, wait: EVERY }
    }
}

impl Pace {
    /// Whether it is time to keep progress.
    pub fn is_due(&mut self) -> bool {
        self.asked = Instant::now();
        self.asked - self.last >= self.wait
    }

    /// Progress was put together since it was asked for, and has been kept.
    pub fn kept(&mut self) {
        self.last = Instant::now();
        self.wait = EVERY.max((self.last - self.asked) * SHARE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_kept_twice_a_second() {
        let mut pace = Pace::default();
        assert!(!pace.is_due());
        pace.last -= EVERY;
        assert!(pace.is_due());
        pace.kept();
        assert!(!pace.is_due());
    }

    #[test]
    fn what_takes_long_to_keep_is_kept_less_often() {
        let mut pace = Pace::default();
        pace.asked -= EVERY;
        pace.kept();
        assert!(pace.wait >= EVERY * SHARE);
    }
}
