//! A search as numbers, so that another process continues it: see [`Strategy::saved`](crate::Strategy::saved).
//!
//! The states of the path are kept with all that is left to explore from each. The next execution makes their steps again, so what
//! it finds out by itself is kept for the sake of simplicity alone. What the last execution that counts has shown is kept as its
//! events: the search compares the next execution with it, and looks for races from where they differ.

use super::history::History;
use super::names::{Names, Nth, Task, TaskName, Tasks, Use};
use super::sleep::Sleeper;
use super::vain::Vain;
use super::wakeup::{Branch, Future, Named, Object};
use super::{Cut, Exhaustive, Exploration, Level, Pick, State};
use crate::saved::{Data, Reader, around, fields, listed, variants, whole, words};

/// The first number: another one is that of a search that this program does not continue.
const VERSION: u64 = 4;

impl Exhaustive {
    /// All that the search keeps from its executions. A part of a search is not saved.
    pub(super) fn to_words(&self) -> Option<Vec<u64>> {
        let Exhaustive { states, names, history, begun, coverage, level, split, leave, looping, shows_more, .. } = self;
        if split.is_some() {
            return None;
        }
        let mut words = vec![VERSION];
        states.put(&mut words);
        names.put(&mut words);
        history.put(&mut words);
        begun.put(&mut words);
        coverage.put(&mut words);
        level.put(&mut words);
        leave.put(&mut words);
        looping.put(&mut words);
        shows_more.put(&mut words);
        Some(words)
    }

    /// Continues the search that these numbers describe. `None` if they describe no search.
    pub(super) fn go_on_from(&mut self, words: &[u64]) -> Option<()> {
        let mut reader = Reader::new(words);
        if self.split.is_some() || reader.take::<u64>()? != VERSION {
            return None;
        }
        self.states = reader.take()?;
        self.names = reader.take()?;
        self.history = reader.take()?;
        self.begun = reader.take()?;
        self.coverage = reader.take()?;
        self.level = reader.take()?;
        self.leave = reader.take()?;
        self.looping = reader.take()?;
        self.shows_more = reader.take()?;
        reader.is_empty().then_some(())
    }
}

impl Sleeper {
    /// The step as numbers.
    pub fn to_words(&self) -> Vec<u64> {
        words(self).expect("any value can be written")
    }

    /// The step that these numbers describe. `None` if they describe no step.
    pub fn of_words(saved: &[u64]) -> Option<Sleeper> {
        whole(saved)
    }
}

fields!(State {
    is_first,
    ways,
    task,
    effects,
    other_effects,
    picks,
    planned,
    known,
    atomic,
    takes_newest,
    racers,
    sleep,
    vain,
    local_state,
    only_read,
    goes_round,
    tree,
});
fields!(Level { bound, below, admitted, limited });
fields!(Exploration { traces, redundant, probes, complete, cut, older });
fields!(Sleeper { task, effects, known, atomic, since, is_woken, is_inherited, wakers });
fields!(Vain { task, looks, known });
fields!(Branch { future, children });
fields!(Future { task, known, effects, answers });
fields!(Named { operation, object, lock });
fields!(Names { names });
fields!(Tasks { spawned });
fields!(Task { name, children });
fields!(Nth { task, count });
around!(TaskName, Use);

impl Data for Pick {
    fn put(&self, out: &mut Vec<u64>) {
        let Pick { answers, at, first } = self;
        answers.put(out);
        (*at, *first).put(out);
    }

    fn take(from: &mut Reader<'_>) -> Option<Pick> {
        let answers: Vec<u32> = from.take()?;
        let (at, first) = from.take()?;
        (at < answers.len() && first < answers.len()).then_some(Pick { answers, at, first })
    }
}

variants! { Object: 0 Known(object), 1 New(uses), }

impl Data for History {
    fn put(&self, out: &mut Vec<u64>) {
        self.parts().put(out);
    }

    fn take(from: &mut Reader<'_>) -> Option<History> {
        from.take().and_then(History::of_parts)
    }
}

const CUTS: [Cut; 6] = [Cut::StepBound, Cut::Livelock, Cut::Failed, Cut::Steered, Cut::Hints, Cut::Infeasible];

listed!(Cut: CUTS);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_are_in_the_order_of_their_numbers() {
        assert!(CUTS.iter().enumerate().all(|(number, cut)| *cut as usize == number));
        assert_eq!(CUTS[5], Cut::Infeasible, "the last one");
    }
}
