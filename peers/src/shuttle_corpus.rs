//! The corpus of programs with blocks, compiled over shuttle.

use interloper::Value;
use interloper::blocks::{Bug, Expected, Program};

mod platform {
    pub(super) use shuttle::{sync, thread};

    use self::sync::Arc;

    /// A block: of no consequence here.
    pub(super) fn atomic<R>(_: &'static str, body: impl FnOnce() -> R) -> R {
        body()
    }

    /// As the one of the corpus.
    pub(super) fn beside<T, A, B>(
        shared: &Arc<T>,
        own: impl FnOnce(&T) -> A,
        other: impl FnOnce(&T) -> B + Send + 'static,
    ) -> (A, B)
    where
        T: Send + Sync + 'static,
        B: Send + 'static,
    {
        let theirs = Arc::clone(shared);
        let thread = thread::spawn(move || other(&theirs));
        let own = own(shared);
        (own, thread.join().unwrap())
    }
}

#[path = "../../mut-suite/src/blocks/bank.rs"]
mod bank;
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
