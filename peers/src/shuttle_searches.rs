//! The benchmark programs of the literature, compiled over shuttle.

use interloper::blocks::{Bug, Expected, Program};
use interloper::{ToValue, Value};

mod platform {
    pub(super) use shuttle::{sync, thread};
}

#[path = "../../mut-suite/src/benchmarks/convul.rs"]
mod convul;
#[path = "../../mut-suite/src/benchmarks/safe_stack.rs"]
mod safe_stack;
#[path = "../../mut-suite/src/benchmarks/sct.rs"]
mod sct;
#[path = "../../mut-suite/src/benchmarks/sorting.rs"]
mod sorting;
#[path = "../../mut-suite/src/benchmarks/work_stealing.rs"]
mod work_stealing;

#[derive(Clone, Copy)]
struct Suite(&'static str);

impl Suite {
    const fn bad(self, name: &'static str, bug: Bug, about: &'static str, body: fn() -> Value) -> Program {
        Program { origin: self.0, about, ..Program::new(name, Expected::Bug(bug), body) }
    }

    const fn good(self, name: &'static str, about: &'static str, body: fn() -> Value) -> Program {
        Program { origin: self.0, about, ..Program::new(name, Expected::Clean, body) }
    }
}

fn done() -> Value {
    ().to_value()
}

/// The body of a program.
///
/// # Panics
/// If no program has this name.
pub fn body(name: &str) -> fn() -> Value {
    let suites =
        [sct::programs(), work_stealing::programs(), sorting::programs(), convul::programs(), safe_stack::programs()];
    let found = suites.into_iter().flatten().find(|program| program.name == name);
    found.expect("the same files are compiled").body
}
