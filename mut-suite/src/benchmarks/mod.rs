//! The programs by which searches for concurrency bugs are compared in the literature, in words of our own: SCTBench
//! (P. Thomson, A. F. Donaldson and A. Betts, *Concurrency testing using controlled schedulers*, TOPC 2016), the
//! vulnerabilities of ConVul (R. Meng, B. Zhu, H. Yun, H. Li, Y. Cai and Z. Yang, *ConVul: an effective tool for
//! detecting concurrency vulnerabilities*, ASE 2019) and SafeStack (D. Vyukov).
//!
//! Each shared variable of an original is an atomic here, so each access is a step, as it is under the tools of the
//! papers. Where an original crashes (a null pointer, a block that is freed twice), the port panics. Most have a fixed
//! twin.
//!
//! The set is not part of [`programs`](crate::blocks::programs): it measures searches, and some of its bugs take
//! thousands of executions to find.

mod convul;
mod platform;
mod safe_stack;
mod sct;
mod sorting;
mod work_stealing;

use interloper::ToValue;
use interloper::blocks::{Blocks, Bug, Expected, Program, Schedule, Settings};

/// The programs with a bug, in a fixed order.
pub fn benchmarks() -> Vec<Program> {
    all().into_iter().filter(|program| program.expected != Expected::Clean).collect()
}

/// The same programs without their bug.
pub fn twins() -> Vec<Program> {
    all().into_iter().filter(|program| program.expected == Expected::Clean).collect()
}

/// The program of this name, with a bug or without.
pub fn find_benchmark(name: &str) -> Option<Program> {
    all().into_iter().find(|program| program.name == name)
}

/// In which of at most so many executions the search of a seed comes upon a bug of a program, with these blocks. `None` if in none.
///
/// # Panics
/// When the program is not deterministic.
pub fn first_bug(
    program: &Program,
    schedule: &Schedule,
    blocks: Blocks,
    (seed, executions): (u64, u64),
) -> Option<u64> {
    let (schedule, own) = (schedule.clone(), program.own_settings());
    let settings = Settings { schedule, blocks, seed, executions, shrink_executions: 0, ..own };
    let report = program.check_with(&settings).expect("the programs are deterministic");
    report.bug.map(|violation| violation.execution)
}

fn all() -> Vec<Program> {
    let suites =
        [sct::programs(), work_stealing::programs(), sorting::programs(), convul::programs(), safe_stack::programs()];
    suites.into_iter().flatten().collect()
}

/// Programs of one origin.
#[derive(Clone, Copy)]
struct Suite(&'static str);

impl Suite {
    const fn bad(self, name: &'static str, bug: Bug, about: &'static str, body: fn() -> interloper::Value) -> Program {
        Program { origin: self.0, about, ..Program::new(name, Expected::Bug(bug), body) }
    }

    const fn good(self, name: &'static str, about: &'static str, body: fn() -> interloper::Value) -> Program {
        Program { origin: self.0, about, ..Program::new(name, Expected::Clean, body) }
    }
}

/// What a program that checks itself returns.
fn done() -> interloper::Value {
    ().to_value()
}
