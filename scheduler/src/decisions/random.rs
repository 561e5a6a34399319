//! Decisions at random.

use interloper_random::{Purpose, Stream};

use super::{Question, Source};

/// Uniform answers, with three exceptions. Questions about the environment are answered 0 with probability 1/2, and
/// otherwise with one of the other answers, all equally likely. Questions about freedoms are answered other than 0 with
/// probability 1/2, 1/8 or 1/32, drawn for each execution, so that an execution takes neither always the first
/// opportunity nor always no opportunity. Accesses to weak memory
/// take an older place than the newest with probability 5/8; all older places are equally likely.
///
/// The answers are a function of the seed and the number of the execution.
#[derive(Clone, Debug)]
pub struct RandomSource {
    generator: Stream,
    /// A freedom is taken with probability 2^-`rarity`; 0 before it is drawn.
    rarity: u32,
}

impl RandomSource {
    /// The source for one execution of a run.
    pub fn new(seed: u64, execution: u64) -> RandomSource {
        RandomSource { generator: Stream::new(seed, Purpose::Schedule, execution), rarity: 0 }
    }

    /// A number below `options`, uniform up to a bias of `options` / 2^64.
    #[inline]
    pub fn below(&mut self, options: u32) -> u32 {
        self.generator.below(u64::from(options)) as u32
    }

    /// A number below `options`, uniform up to a bias of `options` / 2^64.
    #[inline]
    pub fn below_u64(&mut self, options: u64) -> u64 {
        self.generator.below(options)
    }

    /// 64 random bits.
    #[inline]
    pub fn word(&mut self) -> u64 {
        self.generator.word()
    }

    /// True with probability `numerator / 2^32`.
    #[inline]
    pub fn chance(&mut self, numerator: u64) -> bool {
        self.generator.word() >> 32 < numerator
    }

    /// The answer to [`Question::Store`].
    #[inline]
    pub(crate) fn place(&mut self, options: u32) -> u32 {
        if options < 2 || self.generator.word() >> 61 < 3 { 0 } else { 1 + self.below(options - 1) }
    }

    #[cold]
    fn takes_freedom(&mut self) -> bool {
        if self.rarity == 0 {
            self.rarity = 1 + 2 * self.below(3);
        }
        self.word() >> (64 - self.rarity) == 0
    }
}

impl Source for RandomSource {
    #[inline]
    fn decide(&mut self, question: Question, options: u32) -> u32 {
        match (question, options) {
            (_, 0) => panic!("a question has at least one answer"),
            (_, 1) => 0,
            (Question::Environment, _) if self.generator.word() >> 63 == 0 => 0,
            (Question::Environment, _) => 1 + self.below(options - 1),
            (Question::Freedom, _) if !self.takes_freedom() => 0,
            (Question::Freedom, _) => 1 + self.below(options - 1),
            (Question::Store, _) => self.place(options),
            _ => self.below(options),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers(seed: u64, execution: u64) -> Vec<u32> {
        let mut source = RandomSource::new(seed, execution);
        (0..32).map(|_| source.decide(Question::Task, 1000)).collect()
    }

    #[test]
    fn a_function_of_seed_and_execution() {
        assert_eq!(answers(1, 2), answers(1, 2));
        assert_ne!(answers(1, 2), answers(2, 1));
        assert_ne!(answers(1, 2), answers(1, 3));
    }

    #[test]
    fn the_stream_is_pinned() {
        // A replay from a seed alone must give the same run in the next version, too.
        assert_eq!(answers(42, 0)[..4], [368, 703, 575, 765]);
    }

    #[test]
    fn freedoms_are_taken_often_or_seldom() {
        // Of 3000 executions a third takes half, an eighth, a thirty-second of the opportunities. A count is off by 5
        // standard deviations with probability below 2^-20.
        let mut taken = [0u32; 3];
        let mut executions = [0u32; 3];
        for execution in 0..3000 {
            let mut source = RandomSource::new(11, execution);
            let count: u32 = (0..32).map(|_| source.decide(Question::Freedom, 2)).sum();
            let which = (source.rarity as usize - 1) / 2;
            (taken[which], executions[which]) = (taken[which] + count, executions[which] + 1);
        }
        assert!(executions.iter().all(|count| count.abs_diff(1000) < 130), "{executions:?}");
        for (which, expected) in [16.0, 4.0, 1.0].into_iter().enumerate() {
            let mean = f64::from(taken[which]) / f64::from(executions[which]);
            assert!((mean - expected).abs() < 0.5, "{taken:?} {executions:?}");
        }
    }

    #[test]
    fn every_answer_comes_and_the_environment_rests_half_of_the_time() {
        // With 4000 draws a count is off by 5 standard deviations with probability below 2^-20.
        let mut source = RandomSource::new(7, 0);
        let mut counts = [0u32; 5];
        for _ in 0..4000 {
            counts[source.decide(Question::Environment, 5) as usize] += 1;
        }
        assert!(counts[0].abs_diff(2000) < 160, "{counts:?}");
        assert!(counts[1..].iter().all(|count| count.abs_diff(500) < 105), "{counts:?}");
    }
}
