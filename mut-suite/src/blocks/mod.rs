//! Programs with atomic blocks, with the grades that they must get.
//!
//! They are the figures of the paper (C.-S. Park and K. Sen, *Randomized active atomicity violation detection in
//! concurrent programs*, FSE 2008), the programs of its Table 1 in words of our own, and the classics of the field. Each
//! grade was worked out by hand; [`Program::about`] says why. Each program with a bug names its corrected twin.
//!
//! A twin is not always [`Expected::Clean`]: a twin that looks again, or starts again, is interrupted nevertheless
//! ([`Expected::Error`]), and a twin that accesses an object twice without an interruption gets a warning.

mod bank;
mod beside;
mod bluetooth;
mod family;
mod figures;
mod incompleteness;
mod keyed;
mod locking;
mod memory;
mod mirrored;
mod platform;
mod spinning;
mod stacks;
mod table_1;
mod waiting;
#[expect(clippy::unit_arg, reason = "these programs check themselves, and give nothing")]
pub mod weak;

use std::sync::OnceLock;

use family::Family;
pub use table_1::{Row, table_1};

use interloper::blocks::{Bug, Expected, Program};

/// The origin of programs that every textbook has.
const CLASSIC: &str = "a classic";

/// All programs, in a fixed order: the paper's first.
pub fn programs() -> Vec<Program> {
    static PROGRAMS: OnceLock<Vec<Program>> = OnceLock::new();
    PROGRAMS.get_or_init(all).clone()
}

fn all() -> Vec<Program> {
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
        spinning::programs(),
        mirrored::programs(),
        keyed::programs(),
        weak::programs(),
    ];
    families.into_iter().flatten().collect()
}

/// The program with this name.
pub fn find_program(name: &str) -> Option<Program> {
    programs().into_iter().find(|program| program.name == name)
}
