//! What the suite has, by name.

use interloper::blocks::Program;
use interloper_suite::blocks::programs;
use interloper_suite::{Case, cases};

use crate::failure::Failure;
use crate::nearest::unknown;

/// Something of the suite.
#[derive(Clone, Copy, Debug)]
pub enum Entry {
    /// A composed operation.
    Case(Case),
    /// A program with blocks.
    Program(Program),
}

impl Entry {
    /// Its name.
    pub fn name(&self) -> &'static str {
        match self {
            Entry::Case(case) => case.name,
            Entry::Program(program) => program.name,
        }
    }

    /// The source of what is checked.
    pub fn source(&self) -> &'static str {
        match self {
            Entry::Case(case) => case.source,
            Entry::Program(program) => program.source,
        }
    }

    /// The case that it is.
    pub fn case(&self) -> Option<Case> {
        match self {
            Entry::Case(case) => Some(*case),
            Entry::Program(_) => None,
        }
    }

    /// The program that it is.
    pub fn program(&self) -> Option<Program> {
        match self {
            Entry::Program(program) => Some(*program),
            Entry::Case(_) => None,
        }
    }
}

/// All entries: the cases and then the programs.
pub fn all() -> Vec<Entry> {
    cases().into_iter().map(Entry::Case).chain(programs().into_iter().map(Entry::Program)).collect()
}

/// The entry called `name`.
pub fn find(name: &str) -> Result<Entry, Failure> {
    let (cases, programs) = (cases(), programs());
    let names = || cases.iter().map(|case| case.name).chain(programs.iter().map(|program| program.name));
    let case = cases.iter().find(|case| case.name == name).map(|case| Entry::Case(*case));
    let found = case.or_else(|| programs.iter().find(|program| program.name == name).map(|one| Entry::Program(*one)));
    found.ok_or_else(|| Failure::Request(unknown("case", name, names(), "'interloper list' prints their names")))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_name_is_one_case_or_one_program() {
        let (cases, programs) = (cases(), programs());
        let names = || cases.iter().map(|case| case.name).chain(programs.iter().map(|program| program.name));
        assert_eq!(names().collect::<BTreeSet<&str>>().len(), names().count());
        assert!(names().all(|name| find(name).is_ok()));
        let Err(Failure::Request(message)) = find("figure-1x") else { panic!("nothing has this name") };
        assert_eq!(message, "no case 'figure-1x'; did you mean 'figure-1'?");
    }
}
