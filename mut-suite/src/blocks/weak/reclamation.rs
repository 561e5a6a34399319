//! Hazard pointers, read-copy-update and epochs: who reads says so, and who frees looks.
//!
//! Freed memory is a slot with a flag that is raised. The reader holds the flag down to be right.

use interloper::ToValue;

use super::platform::beside;
use super::platform::sync::Arc;
use super::platform::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering, fence};
use super::{Bug, Expected, Family, Program};

use Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};

const FILE: Family = Family::new("M. M. Michael, TPDS 2004", include_str!("reclamation.rs")).weak_memory();
const RCU: Family = FILE.from("M. Desnoyers and others, TPDS 2012");
const EPOCHS: Family = FILE.from("K. Fraser, 2004, as in crossbeam-epoch");

const FREED: Bug = Bug::Panic("reads a freed node");

pub(super) fn programs() -> Vec<Program> {
    vec![
        FILE.showing("hazard").bad(
            "hazard-pointer-unfenced",
            "hazard-pointer-fenced",
            FREED,
            "The reader makes no SeqCst fence between its hazard pointer and the second look at the head: the other \
             thread sees no hazard pointer, and the reader no change.",
            || hazard(false).to_value(),
        ),
        FILE.showing("hazard").good(
            "hazard-pointer-fenced",
            Expected::Clean,
            "The reader makes the fence, as the one who frees does between its store and its look.",
            || hazard(true).to_value(),
        ),
        RCU.showing("rcu").bad(
            "rcu-read-lock-unfenced",
            "rcu-fenced",
            FREED,
            "The reader makes no SeqCst fence after it has said that it reads: the updater sees no reader, and the \
             reader the old node.",
            || rcu(false, Release).to_value(),
        ),
        RCU.showing("rcu").bad(
            "rcu-relaxed-assignment",
            "rcu-fenced",
            Bug::Panic("a node without a value"),
            "The updater assigns the pointer with Relaxed instead of Release.",
            || rcu(true, Relaxed).to_value(),
        ),
        RCU.showing("rcu").good(
            "rcu-fenced",
            Expected::Clean,
            "With the fence, and the assignment is Release.",
            || rcu(true, Release).to_value(),
        ),
        EPOCHS.showing("epochs").bad(
            "epoch-pin-unfenced",
            "epoch-pin-fenced",
            FREED,
            "Pins itself without a SeqCst fence before it reads: the collector sees nobody pinned, advances twice and \
             frees.",
            || epochs(false).to_value(),
        ),
        EPOCHS
            .showing("epochs")
            .good("epoch-pin-fenced", Expected::Clean, "Pins itself with the fence.", || epochs(true).to_value()),
    ]
}

/// Nodes 1 and 2, of which one is present.
#[derive(Default)]
struct Nodes {
    present: AtomicUsize,
    values: [AtomicI64; 3],
    freed: [AtomicBool; 3],
}

impl Nodes {
    /// Node 1 is present.
    fn new() -> Nodes {
        let nodes = Nodes { present: AtomicUsize::new(1), ..Nodes::default() };
        Nodes { values: [0, 7, 0].map(AtomicI64::new), ..nodes }
    }

    fn read(&self, node: usize) {
        assert!(!self.freed[node].load(Relaxed), "reads a freed node");
        assert!(self.values[node].load(Relaxed) == 7, "a node without a value");
    }

    /// Makes node 2 present; gives the one that was.
    fn replace(&self, assigns: Ordering) -> usize {
        self.values[2].store(7, Relaxed);
        self.present.swap(2, assigns)
    }

    fn free(&self, node: usize) {
        self.freed[node].store(true, Relaxed);
    }
}

// case: hazard
/// One thread protects a node with its hazard pointer and reads it, the other one replaces the node and frees it unless
/// it is protected.
fn hazard(fenced: bool) {
    let read = move |(nodes, hazard): &(Nodes, AtomicUsize)| {
        let node = nodes.present.load(Acquire);
        hazard.store(node, Relaxed);
        if fenced {
            fence(SeqCst);
        }
        if nodes.present.load(Acquire) == node {
            nodes.read(node);
        }
        hazard.store(0, Release);
    };
    let replace = |(nodes, hazard): &(Nodes, AtomicUsize)| {
        let old = nodes.replace(AcqRel);
        fence(SeqCst);
        if hazard.load(Acquire) != old {
            nodes.free(old);
        }
    };
    beside(&Arc::new((Nodes::new(), AtomicUsize::new(0))), read, replace);
}
// end

// case: rcu
/// One thread reads the present node, the other one replaces it and frees the old one if nobody reads.
fn rcu(fenced: bool, assigns: Ordering) {
    let read = move |(nodes, reads): &(Nodes, AtomicBool)| {
        reads.store(true, Relaxed);
        if fenced {
            fence(SeqCst);
        }
        nodes.read(nodes.present.load(Acquire));
        reads.store(false, Release);
    };
    let update = move |(nodes, reads): &(Nodes, AtomicBool)| {
        let old = nodes.replace(assigns);
        fence(SeqCst);
        if !reads.load(Acquire) {
            nodes.free(old);
        }
    };
    beside(&Arc::new((Nodes::new(), AtomicBool::new(false))), read, update);
}
// end

// case: epochs
/// The epoch, and that of the thread that reads, plus 1; 0 if it does not.
#[derive(Default)]
struct Epochs {
    global: AtomicUsize,
    pinned: AtomicUsize,
}

impl Epochs {
    fn pin(&self, fenced: bool) {
        self.pinned.store(self.global.load(Relaxed) + 1, Relaxed);
        if fenced {
            fence(SeqCst);
        }
    }

    fn unpin(&self) {
        self.pinned.store(0, Release);
    }

    /// Advances the epoch, unless somebody is pinned in an earlier one.
    fn try_advance(&self) -> bool {
        let global = self.global.load(Relaxed);
        fence(SeqCst);
        let pinned = self.pinned.load(Acquire);
        let advances = pinned == 0 || pinned == global + 1;
        if advances {
            self.global.store(global + 1, Release);
        }
        advances
    }
}

/// One thread reads the present node, the other one replaces it, and frees the old one two epochs later.
fn epochs(fenced: bool) {
    let read = move |(nodes, epochs): &(Nodes, Epochs)| {
        epochs.pin(fenced);
        nodes.read(nodes.present.load(Acquire));
        epochs.unpin();
    };
    let replace = |(nodes, epochs): &(Nodes, Epochs)| {
        let old = nodes.replace(AcqRel);
        if epochs.try_advance() && epochs.try_advance() {
            nodes.free(old);
        }
    };
    beside(&Arc::new((Nodes::new(), Epochs::default())), read, replace);
}
// end
