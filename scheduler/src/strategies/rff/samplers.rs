//! How the tasks are chosen that an abstract schedule leaves open.

use interloper_std::runtime::{Operation, TaskId};

use super::super::{Pos, Profile, Selection, Surw};
use crate::Event;
use crate::decisions::Question;
use crate::saved::{Times, whole, words};
use crate::strategy::{Pending, Strategy};

/// Three strategies, one for each execution in turn: of five executions URW and SURW have two each, and POS has one. Each of them
/// finds at once what another one of them takes hundreds of executions for, and a search does not know beforehand which of them
/// fits its program.
///
/// SURW and URW have a profile. Where none is given, the first executions are those of POS, and the profile is of them.
#[derive(Clone, Debug)]
pub(super) struct Samplers {
    surw: Surw,
    urw: Surw,
    pos: Pos,
    /// The number of executions, from which follows whose turn it is.
    turn: u64,
    current: Sampler,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sampler {
    Surw,
    Urw,
    Pos,
}

const TURNS: [Sampler; 5] = [Sampler::Urw, Sampler::Surw, Sampler::Urw, Sampler::Surw, Sampler::Pos];

impl Samplers {
    pub(super) fn starting_at(seed: u64, execution: u64) -> Samplers {
        Samplers {
            surw: Surw::starting_at(seed, Selection::OneObject, execution),
            urw: Surw::starting_at(seed, Selection::All, execution),
            pos: Pos::starting_at(seed, execution),
            turn: execution,
            current: Sampler::Pos,
        }
    }

    /// Gives the profile, which is then not measured.
    pub(super) fn with_profile(self, profile: Profile) -> Samplers {
        Samplers { surw: self.surw.with_profile(profile.clone()), urw: self.urw.with_profile(profile), ..self }
    }

    /// The strategy of the current execution.
    fn current(&mut self) -> &mut dyn Strategy {
        match self.current {
            Sampler::Surw => &mut self.surw,
            Sampler::Urw => &mut self.urw,
            Sampler::Pos => &mut self.pos,
        }
    }

    pub(super) fn begin(&mut self) -> bool {
        let turn = TURNS[(self.turn % TURNS.len() as u64) as usize];
        self.turn += 1;
        self.current = if self.surw.is_measuring() { Sampler::Pos } else { turn };
        self.current().begin()
    }

    pub(super) fn choose(&mut self, current: Option<TaskId>, pending: &[Pending]) -> usize {
        self.current().choose(current, pending)
    }

    pub(super) fn decide(&mut self, question: Question, options: u32) -> u32 {
        self.current().decide(question, options)
    }

    pub(super) fn part(&mut self, task: TaskId, operation: Operation) {
        self.current().part(task, operation);
    }

    /// Looks at an execution, whoever has made it, as long as there is no profile.
    pub(super) fn watch(&mut self, trace: &[Event]) {
        if let Some(profile) = self.surw.measure(trace) {
            self.urw = self.urw.clone().with_profile(profile.clone());
        }
    }

    pub(super) fn saved(&self) -> Option<Vec<u64>> {
        words(&(Times(self.turn), self.surw.saved()?, self.urw.saved()?, self.pos.saved()?))
    }

    pub(super) fn restore(&mut self, saved: &[u64]) -> bool {
        let Some((Times(turn), surw, urw, pos)) = whole::<(Times, Vec<u64>, Vec<u64>, Vec<u64>)>(saved) else {
            return false;
        };
        self.turn = turn;
        self.surw.restore(&surw) && self.urw.restore(&urw) && self.pos.restore(&pos)
    }
}

#[cfg(test)]
mod tests {
    use interloper_std::runtime::Action;

    use super::Sampler::{Pos, Surw, Urw};
    use super::*;
    use crate::strategies::PROFILE_EXECUTIONS;
    use crate::testing::event;

    /// Whose turn it is in so many executions, each of which is shown.
    fn turns(mut samplers: Samplers, executions: usize) -> Vec<Sampler> {
        let trace = [event(0, 9, Action::Start), event(0, 1, Action::Write)];
        let turn = |_| {
            assert!(samplers.begin());
            samplers.watch(&trace);
            samplers.current
        };
        (0..executions).map(turn).collect()
    }

    #[test]
    fn with_a_profile_each_has_its_turn() {
        let samplers = || Samplers::starting_at(7, 0).with_profile(Profile::default());
        assert_eq!(turns(samplers(), 7), [Urw, Surw, Urw, Surw, Pos, Urw, Surw]);
        let late = Samplers::starting_at(7, 4).with_profile(Profile::default());
        assert_eq!(turns(late, 2), [Pos, Urw]);
    }

    #[test]
    fn without_a_profile_partial_order_sampling_has_the_first_turns() {
        let turns = turns(Samplers::starting_at(7, 0), PROFILE_EXECUTIONS as usize + 3);
        let (first, later) = turns.split_at(PROFILE_EXECUTIONS as usize);
        assert!(first.iter().all(|turn| *turn == Pos), "{first:?}");
        assert_eq!(later, [Urw, Surw, Urw], "the executions 20, 21 and 22");
    }
}
