//! The one source of decisions.
//!
//! A run of a program is its list of decisions: whatever is open in it (an argument, the initial state, an environment
//! operation, the next task) it asks of a [`Source`]. Random, exhaustive, replayed and shrunk runs are different
//! sources; the program does not know which one it has.

mod deviations;
mod random;
mod replay;
mod text;

use std::num::NonZeroU32;

pub use deviations::{Coverage, Deviations};
pub use interloper_random::mix;
pub use random::RandomSource;
pub use replay::{Divergence, LooseSource, ReplaySource};
pub use text::DecisionsError;

use crate::freedoms::Freedoms;

/// What a decision is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Question {
    /// An argument of the program.
    Argument,
    /// The state of an object at the start.
    InitialState,
    /// What the environment does here. 0 is nothing.
    Environment,
    /// Which task makes the next step. 0 is the one that made the last step, if it can go on.
    Task,
    /// Anything else.
    Other,
    /// Whether the run departs here from the ordinary, where it is free to: a sleeper wakes early, say. 0 is the ordinary.
    /// The first question of a run that is free to is which freedoms it has: a bit for each, and then the number of hints.
    Freedom,
}

impl Question {
    /// All of them.
    pub const ALL: [Question; 6] = [
        Question::Argument,
        Question::InitialState,
        Question::Environment,
        Question::Task,
        Question::Other,
        Question::Freedom,
    ];

    /// The letter that stands for it in the text form of a list.
    pub const fn letter(self) -> char {
        match self {
            Question::Argument => 'A',
            Question::InitialState => 'I',
            Question::Environment => 'E',
            Question::Task => 'T',
            Question::Other => 'O',
            Question::Freedom => 'F',
        }
    }
}

/// Answers the questions of a run.
pub trait Source {
    /// A number below `options`, which is at least 1.
    fn decide(&mut self, question: Question, options: u32) -> u32;

    /// Whether a question of this kind can still get an answer other than 0. If not, the program may leave it out, and
    /// spare itself the work of computing the options.
    fn wants(&self, question: Question) -> bool {
        let _ = question;
        true
    }

    /// Takes the next question as asked and answered with 0, if it is known to be of this kind and to have that answer;
    /// the program need not compute its options then.
    fn settled(&mut self, question: Question) -> bool {
        let _ = question;
        false
    }
}

impl<S: Source + ?Sized> Source for &mut S {
    #[inline]
    fn decide(&mut self, question: Question, options: u32) -> u32 {
        (**self).decide(question, options)
    }

    #[inline]
    fn wants(&self, question: Question) -> bool {
        (**self).wants(question)
    }

    #[inline]
    fn settled(&mut self, question: Question) -> bool {
        (**self).settled(question)
    }
}

/// One decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Decision {
    /// What it was about.
    pub question: Question,
    /// How many answers there were; `None` in a list that was read from its short text form.
    pub options: Option<NonZeroU32>,
    /// The answer, counted from 0.
    pub answer: u32,
}

impl Decision {
    /// An answer out of `options`.
    ///
    /// # Panics
    /// When the answer is not below `options`.
    pub fn new(question: Question, options: u32, answer: u32) -> Decision {
        assert!(answer < options, "answer {answer} of {options}");
        Decision { question, options: NonZeroU32::new(options), answer }
    }
}

/// The decisions of a run, in their order.
///
/// The text form is, for each decision, the letter of the question and the answer, joined by dots: `A0.I2.E0.E3`. The
/// alternate form (`{:#}`) has the number of options, too: `A0/2.I2/3.E0/9.E3/9`. Both are read back by `parse`; the
/// empty list is `-`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Decisions(pub Vec<Decision>);

impl Decisions {
    /// How many answers are not 0.
    pub fn deviations(&self) -> usize {
        self.0.iter().filter(|decision| decision.answer != 0).count()
    }

    /// Which freedoms the run has: the answer to [`Question::Freedom`] before its first step.
    pub fn freedoms(&self) -> u32 {
        self.0.first().filter(|decision| decision.question == Question::Freedom).map_or(0, |decision| decision.answer)
    }

    /// How far the run is from the ordinary: the freedoms that it has, and how often it makes use of them.
    pub fn departures(&self) -> u32 {
        let departures = self.0.iter().filter(|decision| decision.question == Question::Freedom);
        departures.map(|decision| (decision.answer & Freedoms::WHICH).count_ones()).sum()
    }
}

/// Passes questions on to another source and keeps the decisions.
#[derive(Clone, Debug, Default)]
pub struct Recorder<S> {
    source: S,
    decisions: Decisions,
}

impl<S: Source> Recorder<S> {
    /// Records what `source` answers.
    pub fn new(source: S) -> Recorder<S> {
        Recorder { source, decisions: Decisions::default() }
    }

    /// The decisions so far.
    pub fn decisions(&self) -> &Decisions {
        &self.decisions
    }

    /// Forgets the decisions so far.
    pub fn clear(&mut self) {
        self.decisions.0.clear();
    }

    /// The source.
    pub fn source_mut(&mut self) -> &mut S {
        &mut self.source
    }

    /// The source and the decisions.
    pub fn into_parts(self) -> (S, Decisions) {
        (self.source, self.decisions)
    }
}

impl<S: Source> Source for Recorder<S> {
    fn decide(&mut self, question: Question, options: u32) -> u32 {
        let answer = self.source.decide(question, options);
        self.decisions.0.push(Decision::new(question, options, answer));
        answer
    }

    fn wants(&self, question: Question) -> bool {
        self.source.wants(question)
    }
}
