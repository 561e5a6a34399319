//! The mirror of `std` under the engine: what the programs of `mirror_drop_in` cannot see from inside.

mod all_schedules;
mod common;
#[path = "../continued/mod.rs"]
mod continuing;
mod fingerprints;
mod freedoms;
mod hints;
mod looks_at_clock;

mod atomics;
mod awaits;
mod channels;
mod lazies;
mod open_choices;
mod orderings;
mod rounds;
mod seeds;
mod settled;
mod stale;
mod statics;
mod unbounded;
mod weak_memory;
