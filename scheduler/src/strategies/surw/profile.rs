//! How many steps each task makes on each object, merged over some executions.

use std::collections::{BTreeMap, BTreeSet};

use interloper_std::runtime::{Action, ObjectId, Operation, Place, TaskId};

use super::super::lineage::Lineage;
use crate::Event;
use crate::access::Access;
use crate::spot::{Spot, Spots};

/// How many steps each task makes, and on what: counted in some executions and averaged.
///
/// The numbers of tasks and objects differ from execution to execution. A task is known by its ancestors; an object is
/// known by each task's own first use of it: the place, and how many other objects the task had used first at that
/// place before. What a task uses first depends on the schedule less than what the program uses first, so the name of
/// an instance holds in most executions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    pub(super) executions: u64,
    pub(super) tasks: BTreeMap<u64, TaskProfile>,
    /// The object behind each first use.
    pub(super) uses: BTreeMap<Use, usize>,
    /// An object may turn out to be one that is known by other uses. The later one of the two then says where it went.
    pub(super) objects: Vec<Slot>,
}

/// The first use of an object by a task: the name of the task, the place, and how many other objects the task had used
/// first at this place before.
pub(super) type Use = (u64, Spot, u32);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TaskProfile {
    pub(super) parent: Option<u64>,
    /// The executions in which the task was there.
    pub(super) executions: u64,
    pub(super) steps: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Slot {
    Object(ObjectProfile),
    /// The same as the object at this index.
    Same(usize),
}

/// What all executions together did to an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ObjectProfile {
    /// The number of steps of each task.
    pub(super) steps: BTreeMap<u64, u64>,
    pub(super) written: bool,
}

/// An object of one execution.
#[derive(Default)]
struct Seen {
    uses: BTreeSet<Use>,
    profile: ObjectProfile,
}

impl Profile {
    /// Counts the steps of an execution.
    pub fn of(trace: &[Event]) -> Profile {
        let mut profile = Profile::default();
        profile.add(trace);
        profile
    }

    /// Adds the steps of another execution.
    pub fn add(&mut self, trace: &[Event]) {
        self.executions += 1;
        let (mut lineage, mut first_uses) = (Lineage::default(), FirstUses::default());
        lineage.begin();
        self.meet(&lineage, TaskId::MAIN);
        let mut seen: BTreeMap<ObjectId, Seen> = BTreeMap::new();
        for event in trace {
            let Operation { object, action, location } = event.operation;
            if action == Action::Spawn {
                lineage.spawn(event.task);
                self.meet(&lineage, TaskId(lineage.len() as u32 - 1));
            }
            if event.continues || is_mark(action) {
                continue;
            }
            let name = lineage.name(event.task);
            self.tasks.get_mut(&name).expect("each task was met").steps += 1;
            if !is_of_data(action) {
                continue;
            }
            let seen = seen.entry(object).or_default();
            seen.uses.extend(first_uses.note(event.task, name, object, location));
            *seen.profile.steps.entry(name).or_default() += 1;
            seen.profile.written |= Access::of_event(event).is_none_or(|access| access.writes);
        }
        seen.into_values().for_each(|seen| self.add_object(seen));
    }

    fn meet(&mut self, lineage: &Lineage, task: TaskId) {
        let profile = self.tasks.entry(lineage.name(task)).or_default();
        profile.parent = lineage.parent(task).map(|parent| lineage.name(parent));
        profile.executions += 1;
    }

    fn add_object(&mut self, Seen { uses, profile }: Seen) {
        let known: BTreeSet<usize> = uses.iter().filter_map(|of| Some(self.resolve(*self.uses.get(of)?))).collect();
        let mut known = known.into_iter();
        let object = known.next().unwrap_or_else(|| {
            self.objects.push(Slot::Object(ObjectProfile::default()));
            self.objects.len() - 1
        });
        for same in known {
            if let Slot::Object(same) = std::mem::replace(&mut self.objects[same], Slot::Same(object)) {
                self.object_mut(object).add(same);
            }
        }
        self.object_mut(object).add(profile);
        self.uses.extend(uses.into_iter().map(|of| (of, object)));
    }

    fn object_mut(&mut self, object: usize) -> &mut ObjectProfile {
        match &mut self.objects[object] {
            Slot::Object(profile) => profile,
            Slot::Same(_) => unreachable!("only what was resolved is asked for"),
        }
    }

    fn resolve(&self, mut object: usize) -> usize {
        while let Slot::Same(other) = self.objects[object] {
            object = other;
        }
        object
    }

    /// The object that a task uses first here.
    pub(super) fn object(&self, first_use: &Use) -> Option<usize> {
        self.uses.get(first_use).map(|object| self.resolve(*object))
    }

    /// The objects that are worth selecting, with the number of steps on each: those that at least half of the tasks
    /// touch and some step writes, as in the artifact of the paper. In a program without such objects: those that two tasks touch.
    pub(super) fn selectable(&self) -> Vec<(usize, u64)> {
        let half = (self.tasks.len() / 2).max(2);
        let touched_by = |tasks: usize, written: bool| -> Vec<(usize, u64)> {
            let objects = self.objects.iter().enumerate().filter_map(|(index, slot)| match slot {
                Slot::Object(object) => Some((index, object)),
                Slot::Same(_) => None,
            });
            let fits = |object: &ObjectProfile| object.steps.len() >= tasks && (object.written || !written);
            objects
                .filter(|(_, object)| fits(object))
                .map(|(index, object)| (index, object.steps.values().sum()))
                .collect()
        };
        [(half, true), (2, true), (2, false)]
            .into_iter()
            .map(|(tasks, written)| touched_by(tasks, written))
            .find(|objects| !objects.is_empty())
            .unwrap_or_default()
    }

    /// How many steps each task makes with all that it spawns: on an object, or at all.
    pub(super) fn left(&self, object: Option<usize>) -> BTreeMap<u64, u64> {
        let own = |name: &u64, task: &TaskProfile| {
            let steps = match object.map(|object| &self.objects[object]) {
                None => task.steps,
                Some(Slot::Object(object)) => object.steps.get(name).copied().unwrap_or(0),
                Some(Slot::Same(_)) => unreachable!("a selectable object has a slot of its own"),
            };
            // The average, rounded to the next number.
            (2 * steps + task.executions) / (2 * task.executions)
        };
        let mut left: BTreeMap<u64, u64> = self.tasks.keys().map(|name| (*name, 0)).collect();
        for (name, task) in &self.tasks {
            let own = own(name, task);
            let mut ancestor = Some(*name);
            while let Some(name) = ancestor {
                *left.get_mut(&name).expect("a parent was met before its children") += own;
                ancestor = self.tasks[&name].parent;
            }
        }
        left
    }
}

impl ObjectProfile {
    fn add(&mut self, other: ObjectProfile) {
        other.steps.into_iter().for_each(|(task, steps)| *self.steps.entry(task).or_default() += steps);
        self.written |= other.written;
    }
}

/// Says which steps are the first use of an object by their task.
#[derive(Clone, Debug, Default)]
pub(super) struct FirstUses {
    /// By task, the objects that it has used: one bit for each.
    used: Vec<Vec<u64>>,
    /// How many objects each task has used first at each place.
    at: BTreeMap<(u64, Spot), u32>,
    spots: Spots,
}

impl FirstUses {
    pub(super) fn clear(&mut self) {
        self.used.iter_mut().for_each(Vec::clear);
        self.at.clear();
    }

    /// The first use, if the task, which has this name, has not used the object before.
    pub(super) fn note(&mut self, task: TaskId, name: u64, object: ObjectId, place: Place) -> Option<Use> {
        let (word, bit) = (object.index() / 64, 1 << (object.index() % 64));
        if self.used.len() <= task.index() {
            self.used.resize(task.index() + 1, Vec::new());
        }
        let used = &mut self.used[task.index()];
        if used.len() <= word {
            used.resize(word + 1, 0);
        }
        if used[word] & bit != 0 {
            return None;
        }
        used[word] |= bit;
        let spot = self.spots.of(place);
        let number = self.at.entry((name, spot)).or_default();
        *number += 1;
        Some((name, spot, *number - 1))
    }
}

/// The strategy is not asked about marks.
pub(super) fn is_mark(action: Action) -> bool {
    matches!(action, Action::BlockBegin(_) | Action::BlockEnd)
}

/// Whether the order of such steps on an object is worth choosing: a task is spawned before it is joined in any case.
pub(super) fn is_of_data(action: Action) -> bool {
    !action.is_private() && !matches!(action, Action::Spawn | Action::Exit | Action::Join | Action::End)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::event;

    /// Task `task` adds to the object, always at the same place.
    fn add(task: u32, object: u32) -> Event {
        event(task, object, Action::ReadWrite)
    }

    /// The main task spawns tasks 1 and 2, with the objects 10 and 11.
    fn spawned() -> Vec<Event> {
        vec![event(0, 9, Action::Start), event(0, 10, Action::Spawn), event(0, 11, Action::Spawn)]
    }

    fn profile(executions: &[&[Event]]) -> Profile {
        let mut profile = Profile::default();
        executions.iter().for_each(|steps| profile.add(&[&spawned()[..], steps].concat()));
        profile
    }

    /// The steps on each selectable object, sorted.
    fn steps(profile: &Profile) -> Vec<u64> {
        let mut steps: Vec<_> = profile.selectable().into_iter().map(|(_, steps)| steps).collect();
        steps.sort();
        steps
    }

    /// Both tasks use one object and then the other, at one place. The engine numbers them in another order where task 2
    /// comes first, which changes nothing: each task's own first object is the same.
    #[test]
    fn objects_are_known_by_instance_whoever_comes_first() {
        let first: &[Event] = &[add(1, 1), add(1, 1), add(1, 2), add(2, 1), add(2, 2)];
        let other: &[Event] = &[add(2, 7), add(2, 8), add(1, 7), add(1, 7), add(1, 8)];
        assert_eq!(steps(&profile(&[first])), [2, 3]);
        assert_eq!(steps(&profile(&[first, other])), [4, 6]);
    }

    /// Task 1 alone uses an object in the first execution, and task 2 another one. The second execution shows that they
    /// are the same.
    #[test]
    fn what_turns_out_to_be_one_object_is_counted_as_one() {
        let apart: &[Event] = &[add(1, 1), add(2, 2)];
        let same: &[Event] = &[add(2, 1), add(1, 1)];
        assert_eq!(profile(&[apart]).selectable(), []);
        assert_eq!(steps(&profile(&[apart, same])), [4]);
    }

    #[test]
    fn objects_that_nobody_writes_or_one_task_uses_are_left_out() {
        let read = |task, object| event(task, object, Action::Read);
        let steps_of: &[Event] = &[read(1, 1), read(2, 1), add(1, 2), add(1, 3), read(2, 3)];
        assert_eq!(steps(&profile(&[steps_of])), [2]);
        // What is only read is better than nothing.
        assert_eq!(steps(&profile(&[&steps_of[..3]])), [2]);
        assert_eq!(profile(&[&steps_of[2..3]]).selectable(), []);
    }

    /// With six tasks, an object of three of them is selected, and not one of two.
    #[test]
    fn objects_of_few_tasks_are_left_out_where_others_have_more() {
        let spawned = |task: u32| event(0, 10 + task, Action::Spawn);
        let tasks: Vec<Event> = std::iter::once(event(0, 9, Action::Start)).chain((1..6).map(spawned)).collect();
        let of_two: &[Event] = &[add(1, 2), add(2, 2)];
        let of_three: &[Event] = &[add(3, 1), add(4, 1), add(5, 1)];
        assert_eq!(steps(&Profile::of(&[&tasks[..], of_two, of_three].concat())), [3]);
        assert_eq!(steps(&Profile::of(&[&tasks[..], of_two].concat())), [2]);
    }

    /// Averages are over the executions in which the task was there: 3 and 2 steps make 2.5, rounded up.
    #[test]
    fn a_parent_has_the_steps_of_its_children_too() {
        let long: &[Event] = &[add(1, 1), add(1, 1), add(1, 1), add(2, 1)];
        let short: &[Event] = &[add(1, 1), add(2, 1), add(1, 1)];
        let profile = profile(&[long, short]);
        let mut lineage = Lineage::default();
        lineage.begin();
        (0..2).for_each(|_| lineage.spawn(TaskId::MAIN));
        let left = |object| {
            let left = profile.left(object);
            [0, 1, 2].map(|task| left[&lineage.name(TaskId(task))])
        };
        // The main task makes one step.
        assert_eq!(left(None), [1 + 3 + 1, 3, 1]);
        let (object, steps) = profile.selectable()[0];
        assert_eq!((left(Some(object)), steps), ([3 + 1, 3, 1], 7));
    }
}
