//! How the files of this module list their programs.

use interloper::Value;
use interloper::blocks::{Blocks, Bug, Detached, Expected, Freedom, Freedoms, Program, Settings};

use crate::source::cut;

/// How many schedules are tried. The programs are small: a bug shows within a hundred.
const EXECUTIONS: u64 = 2_000;

/// A file of programs. The code of each stands between a line `// case: its-name` and a line `// end`.
#[derive(Clone, Copy)]
pub(super) struct Family {
    origin: &'static str,
    file: &'static str,
    /// The name of the code that is shown, if it is not the program's own.
    code: Option<&'static str>,
    settings: fn(&mut Settings),
}

impl Family {
    /// Programs from `origin` whose code is in `file`. Their blocks are marked.
    pub const fn new(origin: &'static str, file: &'static str) -> Family {
        Family { origin, file, code: None, settings: |settings| settings.executions = EXECUTIONS }
    }

    /// The same file, another origin.
    pub const fn from(self, origin: &'static str) -> Family {
        Family { origin, ..self }
    }

    /// The blocks are the critical sections, as in the experiments of the paper (section 5.1).
    pub const fn critical_sections(self) -> Family {
        let settings = |settings: &mut Settings| {
            (settings.executions, settings.blocks) = (EXECUTIONS, Blocks::CriticalSections);
        };
        Family { settings, ..self }
    }

    /// The remaining threads must end when the program returns.
    pub const fn threads_must_end(self) -> Family {
        let settings = |settings: &mut Settings| {
            (settings.executions, settings.detached) = (EXECUTIONS, Detached::MustEnd);
        };
        Family { settings, ..self }
    }

    /// The steps of the program have only one order that matters, which is why the program is here.
    pub const fn trivial(self) -> Family {
        let settings = |settings: &mut Settings| {
            (settings.executions, settings.allow_trivial) = (EXECUTIONS, true);
        };
        Family { settings, ..self }
    }

    /// Memory is weak.
    pub const fn weak_memory(self) -> Family {
        let settings = |settings: &mut Settings| {
            let memory = Freedoms::NONE.with(Freedom::Memory, u32::MAX);
            (settings.executions, settings.freedoms) = (EXECUTIONS, Some(memory));
        };
        Family { settings, ..self }
    }

    /// The code is under this name.
    pub const fn showing(self, code: &'static str) -> Family {
        Family { code: Some(code), ..self }
    }

    /// A program without a bug.
    pub fn good(self, name: &'static str, expected: Expected, about: &'static str, body: fn() -> Value) -> Program {
        let Family { origin, file, code, settings } = self;
        let source = cut(file, code.unwrap_or(name));
        Program { origin, about, source, settings, ..Program::new(name, expected, body) }
    }

    /// A program with a bug.
    pub fn bad(
        self,
        name: &'static str,
        twin: &'static str,
        bug: Bug,
        about: &'static str,
        body: fn() -> Value,
    ) -> Program {
        Program { twin: Some(twin), ..self.good(name, Expected::Bug(bug), about, body) }
    }
}
