//! The corpus of programs with blocks, compiled over shuttle.

use interloper::Value;
use interloper::blocks::{Bug, Expected, Program};

mod platform {
    pub(super) use super::beside::beside;
    pub(super) use shuttle::{sync, thread};

    /// A block: of no consequence here.
    pub(super) fn atomic<R>(_: &'static str, body: impl FnOnce() -> R) -> R {
        body()
    }
}

#[path = "../../mut-suite/src/blocks/bank.rs"]
mod bank;
#[path = "../../mut-suite/src/blocks/beside.rs"]
mod beside;
#[path = "../../mut-suite/src/blocks/bluetooth.rs"]
mod bluetooth;
#[path = "../../mut-suite/src/blocks/family.rs"]
#[expect(dead_code, reason = "shuttle has no weak memory, so its programs are not compared")]
mod family;
#[path = "../../mut-suite/src/blocks/figures.rs"]
mod figures;
#[path = "../../mut-suite/src/blocks/incompleteness.rs"]
mod incompleteness;
#[path = "../../mut-suite/src/blocks/locking.rs"]
mod locking;
#[path = "../../mut-suite/src/blocks/memory.rs"]
mod memory;
#[path = "../../mut-suite/src/blocks/stacks.rs"]
mod stacks;
mod table_1;
#[path = "../../mut-suite/src/blocks/waiting.rs"]
mod waiting;

use self::family::Family;

const CLASSIC: &str = "a classic";

/// The body of a program of the corpus; none for one that is not compiled here.
pub fn body(name: &str) -> Option<fn() -> Value> {
    let families = [
        figures::programs(),
        incompleteness::programs(),
        table_1::programs(),
        bank::programs(),
        bluetooth::programs(),
        locking::programs(),
        memory::programs(),
        stacks::programs(),
        waiting::programs(),
    ];
    families.into_iter().flatten().find(|program| program.name == name).map(|program| program.body)
}
