//! How much a run has shown: its steps, and which history it is.
//!
//! The history of a run is where it begins (the state and the arguments) and the steps of the calls and the operations of
//! the environment with their results, in their order.

use interloper_scheduler::Fingerprint;
use interloper_scheduler::decisions::{mix, stir};

use crate::composed::run::{Actor, Did, Event, Log};
use crate::composed::world::{World, hash_of};

/// What a run has shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shown {
    /// The steps of its calls and the operations of its environment.
    pub steps: u64,
    /// Tells its history from the histories of other runs of the search. `None` if no other run has the same history.
    pub history: Option<Fingerprint>,
}

/// What the numbers of calls and results stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Numbers {
    /// For the same throughout the search.
    Kept,
    /// For something else after they were forgotten.
    Forgotten,
}

impl Log {
    /// The steps of the calls and the operations of the environment.
    pub fn steps_of_all(&self) -> u64 {
        self.events.iter().filter(|event| event.did.is_step()).count() as u64
    }
}

/// The fingerprint of a run that began with what `start` is a number of.
pub(crate) fn fingerprint(start: u64, log: &Log, world: &World, numbers: Numbers) -> Fingerprint {
    let add = |hash: u64, event: &Event| {
        let (kind, what) = content(event, world, numbers);
        let actor = match event.actor {
            Actor::Environment => 0,
            Actor::Method(call) => 1 + call as u64,
        };
        // Of the hash so far all bits are as good as random: the sum loses nothing.
        stir(hash.wrapping_add(actor << 3 | kind), what)
    };
    Fingerprint(log.events.iter().fold(mix(start, 0), add))
}

/// A step as two numbers, of which the first is below 8.
fn content(event: &Event, world: &World, numbers: Numbers) -> (u64, u64) {
    let pair = |one: usize, other: usize| (one as u64) << 32 | other as u64;
    match (event.did, numbers) {
        (Did::Call(call, result), Numbers::Kept) => (0, pair(call.index(), result.index())),
        (Did::Call(call, result), Numbers::Forgotten) => {
            let call = world.call_of(call);
            let arguments = (call.part.0, call.invocation.method.0, &call.invocation.arguments);
            (0, mix(hash_of(&arguments), hash_of(world.value(result))))
        }
        (Did::Section(part), Numbers::Kept) => (1, pair(part.0 as usize, event.state.index())),
        (Did::Section(part), Numbers::Forgotten) => (1, mix(u64::from(part.0), hash_of(world.values(event.state)))),
        (Did::Turn(name), Numbers::Kept) => (5, mix(hash_of(name), event.state.index() as u64)),
        (Did::Turn(name), Numbers::Forgotten) => (5, mix(hash_of(name), hash_of(world.values(event.state)))),
        (Did::Pause(what), _) => (2, hash_of(what)),
        (Did::Begin, _) => (3, 0),
        (Did::End(result), Numbers::Kept) => (4, result.index() as u64),
        (Did::End(result), Numbers::Forgotten) => (4, hash_of(world.value(result))),
    }
}
