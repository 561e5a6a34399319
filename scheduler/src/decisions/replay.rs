//! Decisions read from a list.

use std::fmt;

use super::{Decision, Decisions, Question, Source};

/// Answers from a list, and notices when the run is not the one that the list came from.
#[derive(Clone, Debug)]
pub struct ReplaySource {
    decisions: Decisions,
    next: usize,
    /// The position after the last decision about the environment: the list answers no such question from there on.
    environment_end: usize,
    divergence: Option<Divergence>,
}

/// The first place where a replayed run differs from its list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Divergence {
    /// How many decisions agreed before.
    pub position: usize,
    /// What the list has here; `None` when it is at its end.
    pub expected: Option<Decision>,
    /// What the run asked here, with the number of options; `None` when the run had ended.
    pub asked: Option<(Question, u32)>,
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.position + 1;
        match (self.expected, self.asked) {
            (None, Some((question, _))) => {
                write!(
                    f,
                    "the execution asks for decision {number} ({question:?}), but the list has only {}",
                    self.position
                )
            }
            (Some(decision), None) => {
                write!(f, "the execution ended before decision {number} of the list ({:?})", decision.question)
            }
            (Some(decision), Some((question, _))) if decision.question != question => {
                write!(
                    f,
                    "decision {number} is about {:?} in the list, but the execution asks about {question:?}",
                    decision.question
                )
            }
            (Some(Decision { options: Some(expected), .. }), Some((question, options))) => {
                write!(
                    f,
                    "decision {number} ({question:?}) has {expected} options in the list, but {options} in the \
                     execution"
                )
            }
            (Some(decision), Some((question, options))) => write!(
                f,
                "decision {number} ({question:?}) has answer {} in the list, but the execution has {options} options",
                decision.answer
            ),
            (None, None) => write!(f, "nothing differs"),
        }
    }
}

impl ReplaySource {
    /// Answers from `decisions`.
    pub fn new(decisions: Decisions) -> ReplaySource {
        let is_environment = |decision: &Decision| decision.question == Question::Environment;
        let environment_end = decisions.0.iter().rposition(is_environment).map_or(0, |last| last + 1);
        ReplaySource { decisions, next: 0, environment_end, divergence: None }
    }

    /// Ends the run, and says whether it was the run of the list.
    ///
    /// # Errors
    /// The first difference; that the list has decisions left is one.
    pub fn finish(mut self) -> Result<(), Divergence> {
        skip_unused(&self.decisions, &mut self.next);
        match (self.divergence, self.decisions.0.get(self.next)) {
            (Some(divergence), _) => Err(divergence),
            (None, Some(&left)) => Err(Divergence { position: self.next, expected: Some(left), asked: None }),
            (None, None) => Ok(()),
        }
    }

    /// Whether the question is about a freedom that the list does not mention here.
    fn is_ordinary_here(&mut self, question: Question) -> bool {
        if question.may_depart() {
            let is_other = |next: &Decision| next.question.may_depart() && next.question != question;
            while self.decisions.0.get(self.next).is_some_and(|next| next.answer == 0 && is_other(next)) {
                self.next += 1;
            }
            return self.decisions.0.get(self.next).is_none_or(|next| next.question != question);
        }
        skip_unused(&self.decisions, &mut self.next);
        false
    }

    /// How many decisions of the list have been used, with those after them that need no answer.
    pub fn answered(&self) -> usize {
        let mut next = self.next;
        skip_unused(&self.decisions, &mut next);
        next
    }

    /// Where the run left the list, if it did.
    pub fn divergence(&self) -> Option<&Divergence> {
        self.divergence.as_ref()
    }
}

impl Source for ReplaySource {
    /// The answer of the list; 0 once the run has left it.
    fn decide(&mut self, question: Question, options: u32) -> u32 {
        if self.divergence.is_some() || self.is_ordinary_here(question) {
            return 0;
        }
        match self.decisions.0.get(self.next) {
            Some(decision)
                if decision.question == question
                    && decision.answer < options
                    && (question.may_depart() || decision.options.is_none_or(|expected| expected.get() == options)) =>
            {
                self.next += 1;
                decision.answer
            }
            expected => {
                let expected = expected.copied();
                self.divergence = Some(Divergence { position: self.next, expected, asked: Some((question, options)) });
                0
            }
        }
    }

    fn wants(&self, question: Question) -> bool {
        question != Question::Environment || self.next < self.environment_end
    }
}

/// Skips freedoms that the list does not use. Whether a run asks about a freedom depends on how often it may use it, so
/// an unused freedom counts as no freedom.
fn skip_unused(decisions: &Decisions, next: &mut usize) {
    let unused = |decision: &Decision| decision.question.may_depart() && decision.answer == 0;
    while decisions.0.get(*next).is_some_and(unused) {
        *next += 1;
    }
}

/// Answers from a list as far as it fits, and 0 otherwise: when the list has ended, when its answer is not among the
/// options, when it is about something else. The position advances in each case, but only decisions about freedoms
/// answer questions about freedoms.
#[derive(Clone, Debug)]
pub struct LooseSource<'a> {
    decisions: &'a Decisions,
    next: usize,
}

impl<'a> LooseSource<'a> {
    /// Answers from `decisions`.
    pub fn new(decisions: &'a Decisions) -> LooseSource<'a> {
        LooseSource { decisions, next: 0 }
    }
}

impl Source for LooseSource<'_> {
    fn decide(&mut self, question: Question, options: u32) -> u32 {
        let departs = |decision: &&Decision| decision.question.may_depart();
        while !question.may_depart() && self.decisions.0.get(self.next).filter(departs).is_some() {
            self.next += 1;
        }
        let decision = self.decisions.0.get(self.next);
        if question.may_depart() && decision.filter(|decision| decision.question == question).is_none() {
            return 0;
        }
        self.next += 1;
        decision.filter(|d| d.question == question && d.answer < options).map_or(0, |decision| decision.answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replay(list: &str, asked: &[(Question, u32)]) -> (Vec<u32>, Result<(), String>) {
        let mut source = ReplaySource::new(list.parse().unwrap());
        let answers = asked.iter().map(|&(question, options)| source.decide(question, options)).collect();
        (answers, source.finish().map_err(|divergence| divergence.to_string()))
    }

    #[test]
    fn the_answers_of_the_list() {
        use Question::*;
        let asked = [(Argument, 2), (InitialState, 3), (Environment, 9)];
        assert_eq!(replay("A1/2.I2/3.E0/9", &asked), (vec![1, 2, 0], Ok(())));
        assert_eq!(replay("A1.I2.E0", &asked), (vec![1, 2, 0], Ok(())));
    }

    #[test]
    fn each_divergence_says_where_and_why() {
        use Question::*;
        #[track_caller]
        fn check(list: &str, asked: &[(Question, u32)], reason: &str) {
            assert_eq!(replay(list, asked).1.unwrap_err(), reason);
        }
        check("A1", &[(Argument, 2), (Task, 2)], "the execution asks for decision 2 (Task), but the list has only 1");
        check("A1.T0", &[(Argument, 2)], "the execution ended before decision 2 of the list (Task)");
        check(
            "A1.T0",
            &[(Argument, 2), (Other, 2)],
            "decision 2 is about Task in the list, but the execution asks about Other",
        );
        check("A1/3", &[(Argument, 2)], "decision 1 (Argument) has 3 options in the list, but 2 in the execution");
        check(
            "A5",
            &[(Argument, 2)],
            "decision 1 (Argument) has answer 5 in the list, but the execution has 2 options",
        );
    }

    #[test]
    fn after_a_divergence_the_answer_is_0() {
        use Question::*;
        assert_eq!(replay("A1.A1.A1", &[(Argument, 2), (Task, 2), (Argument, 2)]).0, [1, 0, 0]);
    }

    #[test]
    fn a_freedom_of_which_no_use_is_made_is_as_good_as_none() {
        use Question::*;
        // The run asks where the list says nothing, and does not ask where the list says 0.
        let asked = [(Freedom, 32), (Task, 2), (Freedom, 2), (Task, 2)];
        assert_eq!(replay("T1.T1", &asked), (vec![0, 1, 0, 1], Ok(())));
        assert_eq!(replay("F3.T1.F1.T1", &asked), (vec![3, 1, 1, 1], Ok(())));
        assert_eq!(replay("F3.F0.T1.F0.F0.T1.F0", &[(Freedom, 32), (Task, 2), (Task, 2)]), (vec![3, 1, 1], Ok(())));
        // A freedom that is used is not skipped.
        let reason = "decision 2 is about Freedom in the list, but the execution asks about Task";
        assert_eq!(replay("T1.F1.T1", &[(Task, 2), (Task, 2)]).1, Err(reason.to_owned()));
        let reason = "the execution ended before decision 2 of the list (Freedom)";
        assert_eq!(replay("T1.F1", &[(Task, 2)]).1, Err(reason.to_owned()));
    }

    #[test]
    fn departures_of_another_kind_do_not_answer() {
        use Question::*;
        assert_eq!(replay("T1", &[(Store, 3), (Task, 2)]), (vec![0, 1], Ok(())));
        assert_eq!(replay("S2/3.T1", &[(Store, 3), (Task, 2)]), (vec![2, 1], Ok(())));
        assert_eq!(replay("F0.S2.F1", &[(Store, 3), (Freedom, 2)]), (vec![2, 1], Ok(())));
        assert_eq!(replay("F1.S2", &[(Store, 3), (Freedom, 2), (Store, 3)]), (vec![0, 1, 2], Ok(())));
        let reason = "decision 1 (Store) has answer 2 in the list, but the execution has 2 options";
        assert_eq!(replay("S2", &[(Store, 2)]).1, Err(reason.to_owned()));
    }

    #[test]
    fn the_environment_is_wanted_up_to_its_last_decision() {
        let mut source = ReplaySource::new("A1.E2.A0".parse().unwrap());
        assert!(source.wants(Question::Environment));
        source.decide(Question::Argument, 2);
        assert!(source.wants(Question::Environment));
        source.decide(Question::Environment, 3);
        assert!(!source.wants(Question::Environment));
        assert!(source.wants(Question::Argument));
    }
}
