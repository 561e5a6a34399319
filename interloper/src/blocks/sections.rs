//! Which steps belong to a block.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use interloper_scheduler::Event;
use interloper_scheduler::strategies::Inferred;
use interloper_std::runtime::{Action, ObjectId, Operation, Place, TaskId};

/// Which parts of a program are blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Blocks {
    /// Blocks marked with [`atomic`](crate::atomic()) or `#[interloper::atomic]`.
    #[default]
    Marked,
    /// Marked blocks and critical sections. A critical section begins when a task takes a lock while no other block is open,
    /// and ends when the task releases this lock (section 5.1 of the AtomFuzzer paper). Two kinds of sections are not blocks
    /// (section 5.4): a section in which the task waits on a condition or notifies, and a section that is the whole task,
    /// from its first step to its last, in every execution that was examined beforehand. A section inside such a section
    /// counts by itself.
    CriticalSections,
    /// Marked blocks. AtomFuzzer also takes for a block what looks like one: two accesses that a task makes to one object, one
    /// after the other, between which an access of another task could come that no serial order explains ([`Inferred`]). They are
    /// learnt from the first execution. Nobody said that they are atomic, so no finding and no grade follows from them: they say
    /// where another task may come between, and the report lists them ([`Report::inferred`](super::Report::inferred)).
    Inferred,
}

/// The rule for one program: [`Blocks`], and what was learnt about its critical sections.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rule {
    blocks: Blocks,
    /// Where sections begin in which a task waits or notifies.
    waiting: BTreeSet<Place>,
    /// Tasks that ended, and whether each time they were one critical section. One that ends early, by a
    /// panic say, can look like that once.
    whole: BTreeMap<TaskId, bool>,
    inferred: Arc<Inferred>,
}

impl Rule {
    pub(crate) fn new(blocks: Blocks) -> Rule {
        Rule { blocks, ..Rule::default() }
    }

    pub(crate) fn blocks(&self) -> Blocks {
        self.blocks
    }

    /// What looks like a block, though nobody marked it.
    pub(crate) fn inferred(&self) -> &Arc<Inferred> {
        &self.inferred
    }

    /// Takes note of what looks like a block in an execution, if that matters. `kind` gives the kind of an object.
    pub(crate) fn infer(&mut self, trace: &[Event], kind: impl Fn(ObjectId) -> &'static str) {
        if self.blocks == Blocks::Inferred {
            Arc::make_mut(&mut self.inferred).learn(trace, kind);
        }
    }

    /// Takes note of the sections of an execution that are not blocks.
    pub(crate) fn learn(&mut self, trace: &[Event]) {
        if self.blocks != Blocks::CriticalSections {
            return;
        }
        // Sections that were taken for the whole of a task are looked at again.
        let mut tracker = Tracker::new(Rule { whole: BTreeMap::new(), ..self.clone() });
        let mut closed_last: Vec<bool> = Vec::new();
        for event in trace {
            let index = event.task.index();
            if closed_last.len() <= index {
                closed_last.resize(index + 1, false);
            }
            let opened = tracker.section_of(event.task);
            tracker.note(event.task, event.operation);
            match (opened, tracker.section_of(event.task)) {
                _ if event.operation.action == Action::Exit => {
                    *self.whole.entry(event.task).or_insert(true) &= closed_last[index];
                }
                // After the last step of the main task.
                _ if event.operation.action == Action::End => {}
                (Some(section), None) if section.waited => {
                    self.waiting.insert(section.place);
                }
                (Some(section), None) if section.first => closed_last[index] = true,
                (Some(section), Some(now)) if now.waited && !section.waited => {
                    self.waiting.insert(section.place);
                }
                _ => closed_last[index] = false,
            }
        }
    }

    fn opens(&self, task: TaskId, place: Place, first: bool) -> bool {
        self.blocks == Blocks::CriticalSections
            && !self.waiting.contains(place)
            && !(first && self.whole.get(&task) == Some(&true))
    }
}

/// Follows the steps of an execution and knows who is in a block.
#[derive(Clone, Debug)]
pub(crate) struct Tracker {
    rule: Rule,
    tasks: Vec<Track>,
    /// How many blocks have begun.
    begun: u32,
}

/// A task.
#[derive(Clone, Copy, Debug, Default)]
struct Track {
    /// How many marked blocks it is in.
    marked: u32,
    /// The critical section that the task is in, if critical sections are blocks.
    section: Option<Section>,
    /// The number of the block it is in, counted from 1; 0 outside one.
    block: u32,
    /// How many steps the task has made.
    steps: u32,
    /// The lock that it gave back for a wait.
    waits_with: Option<ObjectId>,
}

/// An open critical section.
#[derive(Clone, Copy, Debug)]
struct Section {
    lock: ObjectId,
    place: Place,
    /// It began with the first step of the task.
    first: bool,
    /// The task has waited or notified in it: it is not a block.
    waited: bool,
}

/// What a step means for blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Passage {
    /// It is in no block.
    Outside,
    /// It begins the block of this number.
    Enters(u32),
    /// It is in the block of this number.
    Inside(u32),
    /// It ends the block of this number.
    Leaves(u32),
    /// The block of this number turns out not to be one.
    Cancels(u32),
}

impl Tracker {
    pub(crate) fn new(rule: Rule) -> Tracker {
        Tracker { rule, tasks: Vec::new(), begun: 0 }
    }

    /// Whether critical sections are blocks.
    pub(crate) fn takes_sections(&self) -> bool {
        self.rule.blocks == Blocks::CriticalSections
    }

    /// Another execution begins.
    pub(crate) fn reset(&mut self) {
        self.tasks.clear();
        self.begun = 0;
    }

    /// The number of the block that a task is in.
    #[inline]
    pub(crate) fn block_of(&self, task: TaskId) -> Option<u32> {
        self.tasks.get(task.index()).map(|track| track.block).filter(|block| *block != 0)
    }

    /// A task makes a step.
    #[inline]
    pub(crate) fn note(&mut self, task: TaskId, operation: Operation) -> Passage {
        let index = task.index();
        if self.tasks.len() <= index {
            self.tasks.resize(index + 1, Track::default());
        }
        let track = &mut self.tasks[index];
        match operation.action {
            Action::BlockBegin(_) => track.marked += 1,
            Action::BlockEnd => track.marked = track.marked.saturating_sub(1),
            _ if self.rule.blocks == Blocks::CriticalSections => self.note_section(task, operation),
            _ => {}
        }
        let track = &mut self.tasks[index];
        track.steps += 1;
        let inside = track.marked > 0 || track.section.is_some_and(|section| !section.waited);
        match (track.block, inside) {
            (0, false) => Passage::Outside,
            (0, true) => {
                self.begun += 1;
                track.block = self.begun;
                Passage::Enters(self.begun)
            }
            (block, true) => Passage::Inside(block),
            (block, false) => {
                track.block = 0;
                match track.section {
                    Some(_) => Passage::Cancels(block),
                    None => Passage::Leaves(block),
                }
            }
        }
    }

    fn note_section(&mut self, task: TaskId, operation: Operation) {
        let track = &mut self.tasks[task.index()];
        match (operation.action, &mut track.section) {
            (Action::Lock(_) | Action::LockRecursive, _) if track.waits_with == Some(operation.object) => {
                track.waits_with = None
            }
            (Action::Lock(_) | Action::LockRecursive, section @ None) => {
                // The first step of a task is its start.
                let first = track.steps == 1;
                if track.marked == 0 && self.rule.opens(task, operation.location, first) {
                    *section =
                        Some(Section { lock: operation.object, place: operation.location, first, waited: false });
                }
            }
            (Action::Unlock(_), section) if section.is_some_and(|section| section.lock == operation.object) => {
                *section = None;
            }
            (Action::Wait(lock), section) => {
                track.waits_with = lock;
                section.iter_mut().for_each(|section| section.waited = true);
            }
            (Action::Notify(_), Some(section)) => section.waited = true,
            _ => {}
        }
    }

    /// Whether a task is in a critical section that is a block.
    pub(crate) fn in_section(&self, task: TaskId) -> bool {
        self.section_of(task).is_some_and(|section| !section.waited)
    }

    fn section_of(&self, task: TaskId) -> Option<Section> {
        self.tasks.get(task.index()).and_then(|track| track.section)
    }
}

#[cfg(test)]
mod tests {
    use std::panic::Location;

    use interloper_scheduler::Cause;
    use interloper_std::runtime::{Count, Mode};

    use super::*;

    const LOCK: Action = Action::Lock(Mode::Exclusive);
    const UNLOCK: Action = Action::Unlock(Mode::Exclusive);

    fn place() -> Place {
        static PLACE: &Location<'static> = Location::caller();
        PLACE
    }

    fn trace(steps: &[(u32, u32, Action)]) -> Vec<Event> {
        let event = |&(task, object, action): &(u32, u32, Action)| Event {
            task: TaskId(task),
            operation: Operation { object: ObjectId::from_index(object), action, location: place() },
            continues: false,
            only_read: false,
            cause: Cause::Ready,
        };
        steps.iter().map(event).collect()
    }

    /// The passages, one letter each.
    fn passages(rule: &Rule, trace: &[Event]) -> String {
        let mut tracker = Tracker::new(rule.clone());
        let letter = |event: &Event| match tracker.note(event.task, event.operation) {
            Passage::Outside => '-',
            Passage::Enters(_) => '(',
            Passage::Inside(_) => 'i',
            Passage::Leaves(_) => ')',
            Passage::Cancels(_) => 'x',
        };
        trace.iter().map(letter).collect()
    }

    #[track_caller]
    fn check(blocks: Blocks, steps: &[(u32, u32, Action)], expected: &str) {
        assert_eq!(passages(&Rule::new(blocks), &trace(steps)), expected);
    }

    #[test]
    fn marked_blocks_nest() {
        let steps = [
            (0, 0, Action::BlockBegin(0)),
            (0, 0, Action::BlockBegin(1)),
            (1, 1, LOCK),
            (0, 0, Action::BlockEnd),
            (0, 1, Action::Read),
            (0, 0, Action::BlockEnd),
            (0, 1, Action::Read),
        ];
        check(Blocks::Marked, &steps, "(i-ii)-");
    }

    #[test]
    fn a_critical_section_is_a_block_when_asked_for() {
        let steps =
            [(0, 0, Action::Start), (0, 1, Action::Read), (0, 2, LOCK), (0, 3, LOCK), (0, 3, UNLOCK), (0, 2, UNLOCK)];
        check(Blocks::CriticalSections, &steps, "--(ii)");
        check(Blocks::Marked, &steps, "------");
    }

    #[test]
    fn a_section_that_waits_is_none() {
        let wait = Action::Wait(Some(ObjectId::from_index(2)));
        let steps = [
            (0, 0, Action::Start),
            (0, 2, LOCK),
            (0, 3, Action::Read),
            (0, 4, wait),
            (0, 2, LOCK),
            (0, 2, UNLOCK),
            (0, 3, LOCK),
        ];
        check(Blocks::CriticalSections, &steps, "-(ix--(");
        let mut rule = Rule::new(Blocks::CriticalSections);
        rule.learn(&trace(&steps));
        // All steps of these tests are at one place, so no section is a block any more.
        assert_eq!(passages(&rule, &trace(&steps)), "-------");
        // The one that notifies, too.
        let steps = [(0, 0, Action::Start), (0, 2, LOCK), (0, 4, Action::Notify(Count::All)), (0, 2, UNLOCK)];
        check(Blocks::CriticalSections, &steps, "-(x-");
    }

    /// As when the task panics in its first section.
    #[test]
    fn a_section_that_is_the_whole_task_once_is_a_block() {
        let short = [(0, 0, Action::Start), (0, 2, LOCK), (0, 2, UNLOCK), (0, 0, Action::Exit)];
        let long =
            [(0, 0, Action::Start), (0, 2, LOCK), (0, 2, UNLOCK), (0, 2, LOCK), (0, 2, UNLOCK), (0, 0, Action::Exit)];
        for lessons in [[&short[..], &long], [&long, &short]] {
            let mut rule = Rule::new(Blocks::CriticalSections);
            lessons.iter().for_each(|steps| rule.learn(&trace(steps)));
            assert_eq!(passages(&rule, &trace(&short)), "-()-");
        }
        let mut rule = Rule::new(Blocks::CriticalSections);
        rule.learn(&trace(&short));
        assert_eq!(passages(&rule, &trace(&short)), "----");
    }

    #[test]
    fn a_section_that_is_the_whole_task_is_none() {
        let steps = [
            (0, 0, Action::Start),
            (0, 2, LOCK),
            (0, 3, LOCK),
            (0, 3, UNLOCK),
            (0, 2, UNLOCK),
            (0, 0, Action::Exit),
            (1, 1, Action::Start),
            (1, 2, LOCK),
            (1, 2, UNLOCK),
            (1, 3, Action::Read),
            (1, 1, Action::Exit),
        ];
        let mut rule = Rule::new(Blocks::CriticalSections);
        assert_eq!(passages(&rule, &trace(&steps)), "-(ii)--()--");
        rule.learn(&trace(&steps));
        // The one inside it is on its own now.
        assert_eq!(passages(&rule, &trace(&steps)), "--()---()--");
        rule.learn(&trace(&steps));
        assert_eq!(passages(&rule, &trace(&steps)), "--()---()--");
    }
}
