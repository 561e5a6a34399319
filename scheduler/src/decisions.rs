//! The one source of decisions.
//!
//! An execution of a program is its list of decisions: the execution asks a [`Source`] for everything that is open (an
//! argument, the initial state, an environment operation, the next task). Random, exhaustive, replayed and shrunk executions
//! have different sources; the program does not know its source.

mod deviations;
mod random;
mod replay;
mod text;

use std::num::NonZeroU32;

pub use deviations::{Coverage, Deviations};
pub use interloper_random::{mix, stir};
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
    /// What the environment does here; 0 is nothing.
    Environment,
    /// Which task makes the next step; 0 is the task of the last step, if it can go on.
    Task,
    /// Anything else.
    Other,
    /// Whether the execution uses one of its freedoms here, such as a sleep that ends early; 0 means no. The first question
    /// of an execution with freedoms asks which freedoms it has: a bit for each, and then the number for hints.
    Freedom,
    /// The place of an access in the modification order of an atomic, where memory is weak: 0 is the newest store, and the
    /// others are older ones that it may read or follow.
    Store,
}

impl Question {
    /// All of them.
    pub const ALL: [Question; 7] = [
        Question::Argument,
        Question::InitialState,
        Question::Environment,
        Question::Task,
        Question::Other,
        Question::Freedom,
        Question::Store,
    ];

    /// Whether the answer 0 is what happens ordinarily, so that a list need not say so: another answer is a departure.
    pub(crate) const fn may_depart(self) -> bool {
        matches!(self, Question::Freedom | Question::Store)
    }

    /// The letter of the question in the text form of a list.
    pub const fn letter(self) -> char {
        match self {
            Question::Argument => 'A',
            Question::InitialState => 'I',
            Question::Environment => 'E',
            Question::Task => 'T',
            Question::Other => 'O',
            Question::Freedom => 'F',
            Question::Store => 'S',
        }
    }
}

/// Answers the questions of an execution.
pub trait Source {
    /// A number below `options`, which is at least 1.
    fn decide(&mut self, question: Question, options: u32) -> u32;

    /// As [`Source::decide`], for a program of which other runs stand for those with the answers in `needless`, a bit for each. A search
    /// gives none of these answers; where it has no other, it gives none. Another source takes no notice of them.
    fn decide_among(&mut self, question: Question, options: u32, needless: u64) -> Option<u32> {
        let _ = needless;
        Some(self.decide(question, options))
    }

    /// Whether a question of this kind can still get an answer other than 0. If not, the program may skip the question,
    /// and need not compute the options.
    fn wants(&self, question: Question) -> bool {
        let _ = question;
        true
    }

    /// Answers the next question with 0 if the source knows its kind and this answer already; the program then need not
    /// compute its options.
    fn settled(&mut self, question: Question) -> bool {
        let _ = question;
        false
    }

    /// Whether this part of a search has the runs that begin with these decisions. Asked after the decisions that say what is run, and
    /// before anything runs; a run that belongs to another part ends there.
    fn is_own(&mut self) -> bool {
        true
    }
}

impl<S: Source + ?Sized> Source for &mut S {
    #[inline]
    fn decide(&mut self, question: Question, options: u32) -> u32 {
        (**self).decide(question, options)
    }

    #[inline]
    fn decide_among(&mut self, question: Question, options: u32, needless: u64) -> Option<u32> {
        (**self).decide_among(question, options, needless)
    }

    #[inline]
    fn wants(&self, question: Question) -> bool {
        (**self).wants(question)
    }

    #[inline]
    fn settled(&mut self, question: Question) -> bool {
        (**self).settled(question)
    }

    #[inline]
    fn is_own(&mut self) -> bool {
        (**self).is_own()
    }
}

/// A decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Decision {
    /// The question.
    pub question: Question,
    /// The number of possible answers; `None` in a list that was read from its short text form.
    pub options: Option<NonZeroU32>,
    /// The answer, counted from 0.
    pub answer: u32,
}

impl Decision {
    /// An answer out of `options`.
    ///
    /// # Panics
    /// When the answer is not below `options`.
    #[inline]
    pub fn new(question: Question, options: u32, answer: u32) -> Decision {
        assert!(answer < options, "answer {answer} of {options}");
        Decision { question, options: NonZeroU32::new(options), answer }
    }
}

/// The decisions of an execution, in order.
///
/// The text form is, for each decision, the letter of the question and the answer, joined by dots: `A0.I2.E0.E3`. The
/// alternate form (`{:#}`) also has the number of options: `A0/2.I2/3.E0/9.E3/9`. `parse` reads both forms; the empty list
/// is `-`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Decisions(pub Vec<Decision>);

impl Decisions {
    /// How many answers are not 0.
    pub fn deviations(&self) -> usize {
        self.0.iter().filter(|decision| decision.answer != 0).count()
    }

    /// How many accesses to atomics did not take the newest place.
    pub fn stale(&self) -> u32 {
        let is_stale = |decision: &&Decision| decision.question == Question::Store && decision.answer != 0;
        self.0.iter().filter(is_stale).count() as u32
    }

    /// The freedoms of the execution: the answer to [`Question::Freedom`] before its first step.
    pub fn freedoms(&self) -> u32 {
        self.0.first().filter(|decision| decision.question == Question::Freedom).map_or(0, |decision| decision.answer)
    }

    /// How far the execution departs from an ordinary one: its freedoms, and how often it uses them.
    pub fn departures(&self) -> u32 {
        let departures = |decision: &Decision| match decision.question {
            Question::Freedom => (decision.answer & Freedoms::WHICH).count_ones(),
            Question::Store => u32::from(decision.answer != 0),
            _ => 0,
        };
        self.0.iter().map(departures).sum()
    }
}

/// Passes questions to another source and records the decisions.
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
