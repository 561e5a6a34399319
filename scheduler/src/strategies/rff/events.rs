//! Names of steps that hold from one execution to the next.

use std::hash::{BuildHasherDefault, Hash};

use interloper_std::runtime::{Action, ObjectId, Operation, Place, TaskId};
use rustc_hash::{FxHashMap, FxHasher};

use crate::access::Access;
use crate::decisions::mix;
use crate::spot::Spot;

/// A step as every execution knows it: where it is, in which group of tasks, and on which object, as its task knows the
/// object. Numbered in the order of first use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct EventId(pub(super) u32);

/// Objects that a task uses first at one place are told apart up to this number: in an array of many elements, the rest
/// count as one.
const TOLD_APART: u32 = 7;

/// A map whose order nobody sees.
pub(super) type Map<K, V> = FxHashMap<K, V>;

pub(super) type Numbers<K> = Map<K, u32>;

/// The names of steps, and what is needed to find the name of a step in the present execution.
#[derive(Clone, Debug, Default)]
pub(super) struct Events {
    /// Each address of a place, and each place.
    addresses: Numbers<usize>,
    places: Numbers<Spot>,
    names: Numbers<Name>,
    /// Those of the present execution, and then others that keep their memory for the next.
    tasks: Vec<Task>,
    live: usize,
}

/// The group of a task, a place, and how the task knows the object.
pub(super) type Name = (u64, u32, u32);

#[derive(Clone, Debug, Default)]
struct Task {
    /// Tasks that tasks of one group spawn at one place are one group.
    group: u64,
    /// By object, how the task knows it, plus 1; 0 before its first use.
    known: Vec<u32>,
    /// By place, how many objects were used first there.
    first_at: Numbers<u32>,
}

impl Events {
    /// What has these places and names, in the order of their numbers. `None` if one comes twice, or a name has no place.
    pub(super) fn of(places: &[Spot], names: &[Name]) -> Option<Events> {
        let events = Events { places: numbered(places)?, names: numbered(names)?, ..Events::default() };
        let has_place = |(_, place, _): &Name| (*place as usize) < places.len();
        names.iter().all(has_place).then_some(events)
    }

    pub(super) fn places(&self) -> &Numbers<Spot> {
        &self.places
    }

    pub(super) fn names(&self) -> &Numbers<Name> {
        &self.names
    }

    /// Prepares for another execution: there is the main task alone.
    pub(super) fn begin(&mut self) {
        self.live = 0;
        self.begin_task(0);
    }

    /// Another task begins.
    fn begin_task(&mut self, group: u64) {
        if self.tasks.len() == self.live {
            self.tasks.push(Task::default());
        }
        let task = &mut self.tasks[self.live];
        task.group = group;
        task.known.clear();
        task.first_at.clear();
        self.live += 1;
    }

    /// A task spawns another one at this place.
    pub(super) fn spawn(&mut self, parent: TaskId, place: Place) {
        let place = self.place(place);
        let group = mix(self.tasks[parent.index()].group, u64::from(place) + 1);
        self.begin_task(group);
    }

    /// The name of a step that a task makes next, or has just made; none for a step that is no access. Asked for once for
    /// each step of a task, in their order.
    pub(super) fn name(&mut self, task: TaskId, operation: &Operation) -> Option<EventId> {
        access(operation.action)?;
        let place = self.place(operation.location);
        let Task { group, known, first_at } = &mut self.tasks[task.index()];
        let object = operation.object.index();
        if known.len() <= object {
            known.resize(object + 1, 0);
        }
        if known[object] == 0 {
            let number = first_at.entry(place).or_default();
            known[object] = 1 + place * (TOLD_APART + 1) + (*number).min(TOLD_APART);
            *number += 1;
        }
        let fresh = self.names.len() as u32;
        Some(EventId(*self.names.entry((*group, place, known[object])).or_insert(fresh)))
    }

    fn place(&mut self, place: Place) -> u32 {
        let Events { addresses, places, .. } = self;
        *addresses.entry(std::ptr::from_ref(place) as usize).or_insert_with(|| {
            let fresh = places.len() as u32;
            *places.entry(Spot::of(place)).or_insert(fresh)
        })
    }
}

/// The numbers 0, 1, 2, … `None` if a key comes twice.
fn numbered<K: Copy + Eq + Hash>(keys: &[K]) -> Option<Numbers<K>> {
    let numbers: Numbers<K> = keys.iter().copied().zip(0..).collect();
    (numbers.len() == keys.len()).then_some(numbers)
}

/// How a step takes part in pairs: a lock stands for its data; a notification and a token are written by who gives them,
/// and read by who waits.
pub(super) fn access(action: Action) -> Option<Access> {
    match action {
        Action::Notify(_) | Action::Unpark => Some(Access::WRITE),
        Action::Wait(_) => Some(Access::READ),
        Action::Park => Some(Access::BOTH),
        _ => Access::of(action),
    }
}

/// The step that last wrote to an object, and its task; `None` while the value is there that was there first.
pub(super) type Written = Option<(EventId, TaskId)>;

/// What was last written to each object of the present execution.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory {
    objects: Vec<Written>,
    /// The last step that wrote, with what was there before: the step may turn out to have only read.
    undo: Option<(ObjectId, Written)>,
}

impl Memory {
    pub(super) fn clear(&mut self) {
        self.objects.clear();
        self.undo = None;
    }

    pub(super) fn get(&self, object: ObjectId) -> Written {
        self.objects.get(object.index()).copied().flatten()
    }

    pub(super) fn write(&mut self, object: ObjectId, event: EventId, task: TaskId) {
        if self.objects.len() <= object.index() {
            self.objects.resize(object.index() + 1, None);
        }
        let before = self.objects[object.index()].replace((event, task));
        self.undo = Some((object, before));
    }

    /// The last step, which was to write to this object, only read.
    pub(super) fn undo(&mut self, object: ObjectId) {
        if let Some((written, before)) = self.undo.take_if(|(written, _)| *written == object) {
            self.objects[written.index()] = before;
        }
    }
}

/// A set of pairs whose order nobody sees.
pub(super) type Set<T> = std::collections::HashSet<T, BuildHasherDefault<FxHasher>>;
