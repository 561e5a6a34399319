//! Last in, first out.
//!
//! A value whose insertion overlaps its removal comes and goes in one gap, whatever else happens; leave such values
//! out. A gap in which no value is certainly in the stack cuts the history in two. So look at a run of gaps l, …, r − 1
//! in which some value certainly is in the stack, with no such value in the gaps l − 1 and r. During the whole run the
//! stack is not empty, so one value is at its bottom all the time: its insertion is invoked before event l, the first
//! return of an insertion in the run, and its removal returns after event r, the last invocation of a removal.
//! Conversely, any such value can be at the bottom, with its insertion before and its removal after everything else in
//! the run. What remains is the run without this value.
//!
//! A removal that finds nothing needs a gap in which no value is certainly in the stack; such a gap cuts the history.

use super::collection::{Life, Lives};
use super::cover::{Covering, Depths, Largest};
use super::events::{Events, earliest, merge};

/// A linearization, when there is one.
pub(super) fn order(events: &Events, lives: &Lives) -> Option<Vec<usize>> {
    let empties = lives.empty_gaps(events)?;

    let (mut nested, brief): (Vec<&Life>, Vec<&Life>) =
        lives.lives.iter().partition(|life| life.certain().0 < life.certain().1);
    nested.sort_unstable_by_key(|life| life.certain().0);
    let nested = Nesting::new(events, &nested).order(&empties)?;
    let brief = brief.iter().flat_map(|life| {
        let calls = [Some(life.insertion), life.removal].into_iter().flatten();
        calls.map(|call| (life.earliest_removal(), call))
    });
    // Sorting is stable, so the two calls of a value stay next to each other.
    Some(merge([earliest(events, &nested), brief.collect()]))
}

/// Something to do.
enum Task {
    /// Order the values whose certain gaps lie within these.
    Region(u32, u32),
    /// Remove this value.
    Remove(usize),
}

/// Values that are certainly in the stack for some time, in the order in which that time begins.
struct Nesting<'l> {
    events: &'l Events,
    lives: &'l [&'l Life],
    /// Indices by the invocation of the insertion; the candidates for the bottom are taken out at the end.
    by_insertion: Vec<usize>,
    /// The return of the removal of each candidate for the bottom.
    bottoms: Largest,
    /// The values that wait to be ordered, by index.
    waiting: Covering,
    depths: Depths,
    order: Vec<usize>,
}

impl<'l> Nesting<'l> {
    fn new(events: &'l Events, lives: &'l [&'l Life]) -> Nesting<'l> {
        let mut by_insertion: Vec<usize> = (0..lives.len()).collect();
        by_insertion.sort_unstable_by_key(|&index| std::cmp::Reverse(lives[index].inserted.0));
        Nesting {
            events,
            lives,
            by_insertion,
            bottoms: Largest::new(lives.len()),
            waiting: Covering::new(lives.len() as u32),
            depths: Depths::new(events.end(), lives.iter().map(|life| life.certain())),
            order: Vec::with_capacity(2 * lives.len()),
        }
    }

    fn order(mut self, mut empties: &[(u32, usize)]) -> Option<Vec<usize>> {
        // Regions are visited from left to right, so their first gap never decreases.
        let everything = self.events.never();
        let mut tasks = vec![Task::Region(0, everything)];
        while let Some(task) = tasks.pop() {
            let (from, before) = match task {
                Task::Region(from, before) => (from, before),
                Task::Remove(index) => {
                    self.order.extend(self.lives[index].removal);
                    continue;
                }
            };
            let next = self.next_from(from).filter(|&start| start < before);
            if before == everything {
                let until = next.unwrap_or(everything);
                let (passed, rest) = empties.split_at(empties.partition_point(|&(gap, _)| gap < until));
                self.order.extend(passed.iter().map(|&(_, call)| call));
                empties = rest;
            }
            if let Some(start) = next {
                let end = self.depths.first_uncovered(start);
                let bottom = self.take_bottom(start, end)?;
                self.order.push(self.lives[bottom].insertion);
                tasks.push(Task::Region(end, before));
                // Values above one that stays at the bottom until the end stay as well, so a pending removal has not
                // happened.
                if end < self.events.end() {
                    tasks.push(Task::Remove(bottom));
                }
                tasks.push(Task::Region(start, end));
            }
        }
        Some(self.order)
    }

    fn index_from(&self, gap: u32) -> usize {
        self.lives.partition_point(|life| life.certain().0 < gap)
    }

    /// The first gap from here on in which the certain time of a waiting value begins.
    fn next_from(&mut self, gap: u32) -> Option<u32> {
        let index = self.waiting.first(self.index_from(gap) as u32);
        self.lives.get(index as usize).map(|life| life.certain().0)
    }

    /// Takes out the value at the bottom of the stack in the run of gaps from `start` to before `end`.
    fn take_bottom(&mut self, start: u32, end: u32) -> Option<usize> {
        while let Some(index) = self.by_insertion.pop_if(|index| self.lives[*index].inserted.0 < start) {
            self.bottoms.set(index, self.lives[index].removed.1);
        }
        let (index, returned) = self.bottoms.in_range(self.index_from(start)..self.index_from(end))?;
        if returned <= end {
            return None;
        }
        self.bottoms.set(index, 0);
        self.waiting.cover((index as u32, index as u32 + 1));
        self.depths.uncover(self.lives[index].certain());
        Some(index)
    }
}
