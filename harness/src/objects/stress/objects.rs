//! The objects of a team, and the calls on them: what the stress engine does with values of a user's type.
//!
//! This is compiled in the crate of the user, for each type anew. So only the loops that touch an object in each execution are here.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use interloper_commutativity::Value;

use super::clock;
use super::meet::{GivenUp, Padded, Place};
use super::team::{At, Batch, Books, Plan, Team, lock};
use super::trie::Trie;
use crate::object::{Call, Invoked, Typed};

/// Objects of type `T`.
pub(crate) struct Objects<T> {
    typed: Arc<Typed<T>>,
    /// The objects of the batch, by the lane that created them.
    objects: Vec<Mutex<Arc<Vec<Padded<T>>>>>,
    /// By lane and segment.
    calls: Vec<Mutex<Vec<Calls<T>>>>,
}

/// The calls of a segment.
type Calls<T> = Vec<Box<dyn Call<T>>>;

impl<T: Send + Sync + 'static> Objects<T> {
    pub(crate) fn new(typed: Arc<Typed<T>>, lanes: &[Vec<&[Invoked]>]) -> Objects<T> {
        let (mut objects, mut calls) = (Vec::new(), Vec::new());
        for lane in lanes {
            objects.push(Mutex::default());
            let mut segments = Vec::new();
            for segment in lane {
                segments.push(typed.bind(segment));
            }
            calls.push(Mutex::new(segments));
        }
        Objects { typed, objects, calls }
    }

    fn executions_until_panic<const STAMPED: bool>(
        &self,
        team: &Team,
        lane: usize,
        plan: &Plan,
        books: &mut Books,
        at: &mut At,
    ) -> Result<(), GivenUp> {
        let objects: Vec<Arc<Vec<Padded<T>>>> = self.objects.iter().map(|objects| lock(objects).clone()).collect();
        let mut calls = lock(&self.calls[lane]);
        let segments = &team.layout.lanes[lane];
        while at.owner < objects.len() {
            let Some(object) = objects[at.owner].get(at.index) else {
                (at.owner, at.index) = (at.owner + 1, 0);
                continue;
            };
            if at.segment == 0 && !at.begun {
                let fixed = plan.fixed[lane][at.owner];
                team.start(lane, plan, at.execution, fixed, &mut books.random)?;
            }
            while at.segment < segments.len() {
                let segment = &segments[at.segment];
                let (calls, trie) = (&mut calls[at.segment], &mut books.tries[at.segment]);
                let track = &team.tracks[segment.sequence];
                if !at.begun {
                    for &(other, place) in &segment.waits {
                        let per_execution = team.layout.lanes[other].len() as u64;
                        let executions = plan.before + at.execution as u64;
                        team.meeting.after(other, executions * per_execution + place as u64 + 1)?;
                    }
                    if STAMPED {
                        track.begin[at.execution].store(clock::begin(), Ordering::Relaxed);
                    }
                    at.begun = true;
                }
                while at.call < calls.len() {
                    team.meeting.is_at(lane, Place::Call((segment.calls.start + at.call) as u32));
                    let number = calls[at.call].call(object);
                    at.node = trie.step(at.node, number);
                    at.call += 1;
                }
                if STAMPED {
                    track.end[at.execution].store(clock::end(), Ordering::Relaxed);
                }
                track.results[at.execution].store(at.node, Ordering::Relaxed);
                books.done += 1;
                team.meeting.done(lane, books.done);
                (at.segment, at.begun, at.call, at.node) = (at.segment + 1, false, 0, Trie::ROOT);
            }
            team.meeting.is_at(lane, Place::Between);
            (at.index, at.execution, at.segment) = (at.index + 1, at.execution + 1, 0);
        }
        Ok(())
    }
}

impl<T: Send + Sync + 'static> Batch for Objects<T> {
    fn make(&self, team: &Team, lane: usize, number: usize, books: &mut Books) {
        let mut shared = lock(&self.objects[lane]);
        let objects = Arc::get_mut(&mut shared).expect("internal error: objects of the last batch are still in use");
        for _ in 0..number {
            objects.push(Padded((self.typed.constructor)()));
            books.handled += 1;
            team.meeting.objects(lane, books.handled);
        }
    }

    fn drop_all(&self, team: &Team, lane: usize, books: &mut Books) {
        let mut shared = lock(&self.objects[lane]);
        let objects = Arc::get_mut(&mut shared).expect("internal error: objects of this batch are still in use");
        while let Some(object) = objects.pop() {
            books.handled += 1;
            team.meeting.objects(lane, books.handled);
            drop(object);
        }
    }

    fn executions(&self, team: &Team, lane: usize, plan: &Plan, books: &mut Books, at: &mut At) -> Result<(), GivenUp> {
        match plan.stamped {
            true => self.executions_until_panic::<true>(team, lane, plan, books, at),
            false => self.executions_until_panic::<false>(team, lane, plan, books, at),
        }
    }

    fn panicked(&self, (lane, segment, call): (usize, usize, usize), message: &str) -> u32 {
        lock(&self.calls[lane])[segment][call].panicked(message)
    }

    fn result(&self, (lane, segment, call): (usize, usize, usize), number: u32) -> Value {
        lock(&self.calls[lane])[segment][call].result(number)
    }
}
