//! A profile as numbers, so that another process continues the search: see [`Strategy::saved`](crate::Strategy::saved).
//!
//! Where an index, a sum or a chain could go wrong, what is read is compared with the rest first.

use super::profile::{ObjectProfile, Profile, Slot, TaskProfile};
use crate::saved::{Data, Reader, Times, variants};

impl Data for Profile {
    fn put(&self, out: &mut Vec<u64>) {
        let Profile { executions, tasks, uses, objects } = self;
        Times(*executions).put(out);
        tasks.put(out);
        uses.put(out);
        objects.put(out);
    }

    fn take(from: &mut Reader<'_>) -> Option<Profile> {
        let (Times(executions), tasks, uses, objects) = from.take()?;
        Some(Profile { executions, tasks, uses, objects }).filter(is_sound)
    }
}

/// Whether each task was there, has ancestors that end, and each object is there.
fn is_sound(Profile { tasks, uses, objects, .. }: &Profile) -> bool {
    let is_sound = |task: &TaskProfile| {
        let mut ancestor = task.parent;
        for _ in 0..tasks.len() {
            match ancestor {
                None => break,
                Some(name) => match tasks.get(&name) {
                    None => return false,
                    Some(parent) => ancestor = parent.parent,
                },
            }
        }
        ancestor.is_none() && task.executions > 0
    };
    // Of two objects that turned out to be one, the later one says where it went.
    let goes_back = |(at, slot): (usize, &Slot)| !matches!(slot, Slot::Same(other) if *other >= at);
    tasks.values().all(is_sound)
        && uses.values().all(|object| *object < objects.len())
        && objects.iter().enumerate().all(goes_back)
}

impl Data for TaskProfile {
    fn put(&self, out: &mut Vec<u64>) {
        (self.parent, Times(self.executions), Times(self.steps)).put(out);
    }

    fn take(from: &mut Reader<'_>) -> Option<TaskProfile> {
        let (parent, Times(executions), Times(steps)) = from.take()?;
        Some(TaskProfile { parent, executions, steps })
    }
}

variants! { Slot: 0 Object(object), 1 Same(other), }

impl Data for ObjectProfile {
    fn put(&self, out: &mut Vec<u64>) {
        let steps: Vec<(u64, Times)> = self.steps.iter().map(|(task, steps)| (*task, Times(*steps))).collect();
        (steps, self.written).put(out);
    }

    fn take(from: &mut Reader<'_>) -> Option<ObjectProfile> {
        let (steps, written): (Vec<(u64, Times)>, bool) = from.take()?;
        Some(ObjectProfile { steps: steps.into_iter().map(|(task, Times(steps))| (task, steps)).collect(), written })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::saved::{whole, words};
    use crate::spot::Spot;

    /// Reads a profile of two tasks and two objects that are one, but for what is changed.
    fn reads(change: impl Fn(&mut Profile)) -> bool {
        let task = |parent| TaskProfile { parent, executions: 1, steps: 2 };
        let mut profile = Profile {
            executions: 1,
            tasks: [(0, task(None)), (4, task(Some(0)))].into(),
            uses: [((0, Spot(7), 0), 0), ((4, Spot(7), 0), 1)].into(),
            objects: vec![Slot::Object(ObjectProfile::default()), Slot::Same(0)],
        };
        change(&mut profile);
        let read = whole::<Profile>(&words(&profile).expect("numbers"));
        assert!(read.as_ref().is_none_or(|read| *read == profile));
        read.is_some()
    }

    fn set_parent(profile: &mut Profile, parent: Option<u64>) {
        profile.tasks.get_mut(&0).expect("the main task").parent = parent;
    }

    #[test]
    fn a_profile_that_names_what_it_does_not_have_is_refused() {
        assert!(reads(|_| ()));
        assert!(!reads(|profile| set_parent(profile, Some(9))), "no such task");
        assert!(!reads(|profile| set_parent(profile, Some(4))), "each is the parent of the other one");
        assert!(!reads(|profile| profile.tasks.get_mut(&4).expect("a task").executions = 0), "it never was there");
        assert!(!reads(|profile| profile.objects[1] = Slot::Same(1)), "an object that is itself");
        assert!(!reads(|profile| profile.objects.truncate(1)), "a use of no object");
        assert!(!reads(|profile| profile.executions = u64::MAX));
    }
}
