//! The order of what is sequentially consistent: the order S of C++20, [atomics.order], as far as it is determined.
//!
//! An execution is consistent if a total order S exists, so if what S must have has no cycle:
//!
//! - Of two that are sequentially consistent, the one that strongly happens before the other.
//! - Where an access A is coherence-ordered before B (to the same location): A or a fence that happens before A comes
//!   before B or a fence that B happens before.
//!
//! It is not enough to take S for the order of the execution: a step that was made earlier may come later in S.
//! So each member has all that must come before it. The members of one task are ordered, so this is a [`VectorClock`] of
//! their numbers. The newest place of an access never puts it before an earlier member; an older one may.

use std::collections::VecDeque;

use interloper_std::runtime::TaskId;

use crate::vector_clock::VectorClock;

/// The sequentially consistent accesses and fences of an execution.
#[derive(Clone, Debug, Default)]
pub(super) struct Order {
    /// By task.
    tasks: Vec<Members>,
    /// How many members there are.
    length: usize,
    /// With so many members, those that no cycle can contain any more are looked for.
    crowded: usize,
}

/// The members of one task, numbered from 0.
#[derive(Clone, Debug, Default)]
struct Members {
    members: VecDeque<Member>,
    /// How many came before these and were dropped.
    dropped: usize,
    /// The numbers of the fences among them.
    fences: VecDeque<usize>,
}

#[derive(Clone, Debug)]
struct Member {
    /// Which event of its task it is.
    event: usize,
    /// What a fence knows. None for an access.
    knows: Option<VectorClock>,
    /// What must come before it, and before that.
    before: VectorClock,
}

/// So many members are kept without looking.
const FEW: usize = 64;

impl Order {
    pub(super) fn clear(&mut self) {
        self.tasks.clear();
        (self.length, self.crowded) = (0, FEW);
    }

    /// Whether nothing was sequentially consistent so far.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.length
    }

    /// Adds an access; gives its number.
    pub(super) fn push(&mut self, task: TaskId, event: usize, before: &VectorClock) -> usize {
        self.push_member(task, Member { event, knows: None, before: self.closure(before) })
    }

    /// Adds a fence, which knows this.
    pub(super) fn push_fence(&mut self, task: TaskId, event: usize, knows: &VectorClock, before: &VectorClock) {
        let before = self.closure(before);
        let number = self.push_member(task, Member { event, knows: Some(knows.clone()), before });
        self.tasks[task.index()].fences.push_back(number);
    }

    fn push_member(&mut self, task: TaskId, member: Member) -> usize {
        if self.tasks.len() <= task.index() {
            self.tasks.resize_with(task.index() + 1, Members::default);
        }
        self.length += 1;
        let members = &mut self.tasks[task.index()];
        members.members.push_back(member);
        members.end() - 1
    }

    /// The members that strongly happen before the next event of a task, which knows this: its own, and those of others
    /// that are followed by what it knows.
    pub(super) fn strongly_before(&self, task: TaskId, knows: &VectorClock) -> VectorClock {
        self.last_of_each(|other, members| {
            let known = knows.count(other);
            let known = if other == task { known } else { known.saturating_sub(1) };
            members.before_event(known)
        })
    }

    /// The fences that happen before an event that knows this.
    pub(super) fn fences_before(&self, knows: &VectorClock) -> VectorClock {
        self.last_of_each(|task, members| {
            let known = knows.count(task);
            let fences = members.fences.partition_point(|&fence| members.at(fence).event < known);
            fences.checked_sub(1).map(|last| members.fences[last])
        })
    }

    fn last_of_each(&self, last: impl Fn(TaskId, &Members) -> Option<usize>) -> VectorClock {
        let mut clock = VectorClock::default();
        for (task, members) in self.tasks() {
            if let Some(number) = last(task, members) {
                clock.set(task, number);
            }
        }
        clock
    }

    /// Adds the first fence of each task which happens after something: those for whose knowledge `knows` holds. A later fence of the task
    /// knows what an earlier one does.
    pub(super) fn fences_after(&self, knows: impl Fn(&VectorClock) -> bool, after: &mut Vec<(TaskId, usize)>) {
        for (task, members) in self.tasks() {
            let is_known = |fence: usize| members.at(fence).knows.as_ref().is_some_and(&knows);
            let first = members.fences.partition_point(|&fence| !is_known(fence));
            after.extend(members.fences.get(first).map(|&fence| (task, fence)));
        }
    }

    /// These members and all that must come before them.
    pub(super) fn closure(&self, last: &VectorClock) -> VectorClock {
        let mut all = last.clone();
        for (task, number) in last.places() {
            if let Some(member) = self.tasks.get(task.index()).and_then(|members| members.get(number)) {
                all.join(&member.before);
            }
        }
        all
    }

    /// From now on each of `first` comes before each of `then`.
    ///
    /// What comes before a member of a task comes before the later ones of that task, too. So those to change are the last ones, and
    /// after one that needs no change there is no other.
    pub(super) fn add(&mut self, first: &VectorClock, then: &[(TaskId, usize)]) {
        let first = self.closure(first);
        for (task, members) in self.tasks.iter_mut().enumerate() {
            let own = then.iter().filter(|(other, _)| other.index() == task).map(|&(_, number)| number).min();
            let own = own.map_or(usize::MAX, |number| number.saturating_sub(members.dropped));
            let follows = |member: &Member| then.iter().any(|&(other, number)| member.before.covers(other, number));
            let others = members.members.partition_point(|member| !follows(member));
            let after = own.min(others).min(members.members.len());
            for member in members.members.range_mut(after..) {
                if first.is_within(&member.before) {
                    break;
                }
                member.before.join(&first);
            }
        }
    }

    /// Drops members that are in no cycle now and in none later, now and then. `tasks` know this.
    ///
    /// Nothing more will have to come before a member that all tasks know. If all that must come before it was dropped,
    /// too, no cycle leads through it.
    pub(super) fn thin<'a>(&mut self, tasks: impl Iterator<Item = &'a VectorClock>) {
        if self.length <= self.crowded {
            return;
        }
        let tasks: Vec<_> = tasks.collect();
        loop {
            let dropped: Vec<usize> = self.tasks.iter().map(|members| members.dropped).collect();
            let is_dropped = |(task, number): (TaskId, usize)| number < dropped[task.index()];
            let mut any = false;
            for (task, members) in self.tasks.iter_mut().enumerate() {
                let Some(first) = members.members.front() else { continue };
                let known = tasks.iter().all(|knows| knows.covers(TaskId(task as u32), first.event));
                if known && first.before.places().all(is_dropped) {
                    members.drop_first();
                    (self.length, any) = (self.length - 1, true);
                }
            }
            if !any {
                break;
            }
        }
        self.crowded = FEW.max(2 * self.length);
    }

    fn tasks(&self) -> impl Iterator<Item = (TaskId, &Members)> {
        self.tasks.iter().enumerate().map(|(task, members)| (TaskId(task as u32), members))
    }
}

impl Members {
    fn end(&self) -> usize {
        self.dropped + self.members.len()
    }

    /// None for one that was dropped.
    fn get(&self, number: usize) -> Option<&Member> {
        self.members.get(number.checked_sub(self.dropped)?)
    }

    fn at(&self, number: usize) -> &Member {
        &self.members[number - self.dropped]
    }

    /// The last member before this event of the task.
    fn before_event(&self, event: usize) -> Option<usize> {
        let members = self.members.partition_point(|member| member.event < event);
        (self.dropped + members).checked_sub(1)
    }

    fn drop_first(&mut self) {
        self.members.pop_front();
        if self.fences.front() == Some(&self.dropped) {
            self.fences.pop_front();
        }
        self.dropped += 1;
    }
}
