//! The programs about weak memory: their bugs are those of weak memory, and their twins have none at all.

use interloper::blocks::{Expected, Freedom, Memory, Program, Report, Schedule, Settings};
use interloper_suite::blocks::{programs, weak};

fn weak_programs() -> impl Iterator<Item = Program> {
    programs().into_iter().filter(|program| program.own_settings().freedoms.is_some())
}

/// How many rounds each spinning thread makes although nothing has changed. A search without such rounds is not complete.
const ROUNDS: u32 = 2;

/// Goes through all schedules, and where memory is weak through all that each access may read.
fn search(program: &Program, memory: Memory) -> Report {
    let own = program.own_settings();
    let freedoms = own.freedoms.map(|freedoms| memory.within(freedoms).with(Freedom::Hints, ROUNDS));
    let settings =
        Settings { schedule: Schedule::Exhaustive, executions: 20_000, freedoms, memory: Some(memory), ..own };
    program.check_with(&settings).unwrap_or_else(|misuse| panic!("{}: {misuse}", program.name))
}

#[test]
fn bugs_of_weak_memory_need_weak_memory() {
    for program in weak_programs().filter(|program| matches!(program.expected, Expected::Bug(_))) {
        let report = search(&program, Memory::SequentiallyConsistent);
        if weak::ALSO_WITHOUT.contains(&program.name) {
            assert!(program.expected.fits(&report), "{}\n{report}", program.name);
        } else {
            assert!(Expected::Clean.fits(&report) && report.coverage.complete, "{}\n{report}", program.name);
        }
    }
}

#[test]
fn twins_are_clean_in_all_executions() {
    for program in weak_programs().filter(|program| !matches!(program.expected, Expected::Bug(_))) {
        assert_eq!(program.expected, Expected::Clean, "{}", program.name);
        let report = search(&program, Memory::Weak);
        assert!(Expected::Clean.fits(&report) && report.coverage.complete, "{}\n{report}", program.name);
    }
}
