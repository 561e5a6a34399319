//! Thousands of damaged inputs for each parser: an error of one line that a person can read, never a panic.

use std::ffi::OsString;

use interloper::blocks::{Schedule, Settings};
use interloper::{Decisions, Verdict};
use proptest::prelude::*;

use crate::args::{self, Command, Request};
use crate::catalogue::{self, Entry};
use crate::commands;
use crate::failure::Failure;
use crate::history_file::{Malformed, Reader, Recorded};
use interloper_linearize::types::DataType;
use interloper_report::replay_file::{About, Moment, ReplayFile};

/// How an input is damaged: where, how much of it, and how.
type Edit = (usize, usize, Damage);

#[derive(Clone, Debug)]
enum Damage {
    Delete,
    Repeat,
    Flip(u8),
    Insert(&'static str),
    /// Inserts a text many times.
    Flood(&'static str),
}

/// What breaks parsers: the ends of numbers, what opens and never closes, what has no end.
const TOKENS: [&str; 30] = [
    "",
    "0",
    "-0",
    "-1",
    "1e999",
    "4294967295",
    "4294967296",
    "18446744073709551615",
    "18446744073709551616",
    "NaN",
    "null",
    "[",
    "{",
    "\"",
    "\\",
    "\\ud800",
    "\u{0}",
    "\u{1b}[2J",
    "\u{202e}",
    "é",
    "\u{feff}",
    "\n",
    ":",
    ",",
    ".",
    "/",
    "+",
    "-",
    "T",
    "E4294967295/4294967295",
];

fn edits() -> impl Strategy<Value = Vec<Edit>> {
    let damage = prop_oneof![
        Just(Damage::Delete),
        Just(Damage::Repeat),
        any::<u8>().prop_map(Damage::Flip),
        proptest::sample::select(&TOKENS[..]).prop_map(Damage::Insert),
        proptest::sample::select(&TOKENS[..]).prop_map(Damage::Flood),
    ];
    proptest::collection::vec((any::<usize>(), 0..40usize, damage), 0..6)
}

fn damaged(input: &[u8], edits: &[Edit]) -> Vec<u8> {
    let mut bytes = input.to_vec();
    for (at, length, damage) in edits {
        let at = at % (bytes.len() + 1);
        let end = (at + length).min(bytes.len());
        match damage {
            Damage::Delete => drop(bytes.drain(at..end)),
            Damage::Repeat => {
                let part = bytes[at..end].repeat(3);
                bytes.splice(at..at, part);
            }
            Damage::Flip(mask) => bytes[at..end].iter_mut().take(1).for_each(|byte| *byte ^= mask),
            Damage::Insert(text) => drop(bytes.splice(at..at, text.bytes())),
            Damage::Flood(text) => drop(bytes.splice(at..at, text.repeat(length * 50).bytes())),
        }
    }
    bytes
}

/// The settings of each property: nothing is kept on disk.
fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

/// A message for a person: one line, short enough to read.
fn check_line(reason: String) {
    let line = Failure::Request(reason).to_string();
    assert_eq!(line.lines().count(), 1, "{line:?}");
    assert!(line.chars().all(|letter| !letter.is_control()), "{line:?}");
    assert!(line.chars().count() < 1_200, "{} characters", line.chars().count());
}

/// A replay file of a case, a program, a test, a schema and a pair of methods.
fn replay_file(kind: usize) -> Vec<u8> {
    let (name, strategy) = ("figure-1".to_owned(), "atomfuzzer:0.5+pct:3".to_owned());
    let about = match kind {
        0 => {
            let (adversary, environment) = ("preceding".to_owned(), "open".to_owned());
            About::Case { name: "memoize".to_owned(), adversary, environment, bound: 3 }
        }
        1 => About::Program { name, strategy },
        2 => About::Test { name, strategy, critical_sections: false },
        3 => About::Pair { name, methods: ["add".to_owned(), "both".to_owned()], shape: 1 },
        _ => About::Schema {
            object: "striped-map".to_owned(),
            method: "size".to_owned(),
            schema: "{ insert(1, 0) } || { size() }".to_owned(),
            unlock_is_a_step: true,
            hasher_seed: 1,
        },
    };
    let history = vec![
        Moment::new(None, "start", "start").and_state("{}"),
        Moment::new(Some(0), "get", "get(7) → none").with(7).with("none").and_state("{7: 14}"),
        Moment::new(Some(0), "end", "returned none").with("none"),
    ];
    let file = ReplayFile::new(about, 42, 3, "panic", "A0.I0.E0.E3.E0.E0".to_owned(), history);
    serde_json::to_vec(&file).expect("JSON")
}

/// A command line of each command.
const LINES: [&str; 17] = [
    "--seed 7 --bound 2 --adversary nearest --environment closed --executions 9 --jobs 2 --time 3",
    "list --format json",
    "run memoize figure-1 --trace t.jsonl --html p.html --strategy pct:3+atomfuzzer:0.5 --q 0.5 --depth 4",
    "show memoize --format html --color never",
    "commutativity map insert get",
    "replay interloper-failures/memoize-42.json --log info",
    "explore interloper-failures/memoize-42.json --html p.html",
    "compare --seed 42",
    "outcomes map {put(1,0)}||{get(1)} --visibility get=monotonic --explain --limit 10",
    "check-history --type register history.jsonl --html p.html --time 0.5",
    "generate-history --type kv --calls 10 --processes 3 --keys 2 --pending 5 --corrupt",
    "types map",
    "objects --check-determinism",
    "hunt striped-map --method size --engine systematic --programs 4 --limit 9",
    "hunt striped-map --schema {size()}",
    "visibility mutex-map --programs 3",
    "generate mutex-map --out t.rs --expression mine()",
];

const HISTORY: &str = "{\"process\":0,\"type\":\"invoke\",\"call\":\"cas\",\"args\":[1,2]}\n\
    {\"process\":1,\"type\":\"invoke\",\"call\":\"write\",\"args\":[1]}\n{\"process\":0,\"type\":\"return\",\"value\":true}\n\
    {\"process\":1,\"type\":\"unknown\"}\n{\"process\":2,\"type\":\"invoke\",\"call\":\"read\",\"args\":[]}\n\
    {\"process\":2,\"type\":\"fail\"}\n";

/// A history, from the lines of a file.
fn read_history(bytes: &[u8], data_type: &DataType) -> Result<Recorded, Malformed> {
    let mut reader = Reader::new(data_type);
    reader.read(bytes)?;
    reader.finish()
}

proptest! {
    #![proptest_config(cases(4_000))]

    #[test]
    fn replay_files(kind in 0..4usize, edits in edits()) {
        match ReplayFile::parse(&damaged(&replay_file(kind), &edits)) {
            Ok(file) => if let Err(error) = file.decisions.parse::<Decisions>() {
                check_line(error.to_string());
            },
            Err(reason) => check_line(reason.to_string()),
        }
    }

    #[test]
    fn schedules(edits in edits()) {
        let text = damaged(b"atomfuzzer:0.25+pct:3+preemptions:2+pos+surw+urw+random+exhaustive", &edits);
        let text = String::from_utf8_lossy(&text);
        match text.parse::<Schedule>() {
            Ok(schedule) => prop_assert_eq!(schedule.to_string().parse::<Schedule>(), Ok(schedule)),
            Err(error) => check_line(error.to_string()),
        }
    }

    #[test]
    fn decisions(edits in edits()) {
        let text = damaged(b"A0.I0/3.E0.E3/4.T1/2.O0/2.T0", &edits);
        let text = String::from_utf8_lossy(&text);
        match text.parse::<Decisions>() {
            Ok(decisions) => prop_assert_eq!(format!("{decisions:#}").parse::<Decisions>(), Ok(decisions)),
            Err(error) => check_line(error.to_string()),
        }
    }

    #[test]
    fn command_lines(line in 0..LINES.len(), edits in edits(), moved in any::<usize>()) {
        // Damage goes across the borders of arguments; control characters in them stay.
        let line = damaged(LINES[line].replace(' ', "\u{1f}").as_bytes(), &edits);
        let mut arguments: Vec<OsString> = line.split(|byte| *byte == 0x1f).map(argument).collect();
        let middle = moved % arguments.len();
        if moved % 4 == 0 {
            arguments.rotate_left(middle);
        }
        match args::parse(std::iter::once("interloper".into()).chain(arguments)) {
            Ok(Request::Run(cli)) => {
                // Commands that look something up and end at once.
                if matches!(cli.command, Some(Command::Commutativity { .. } | Command::Types { .. } | Command::List))
                    && let Err(Failure::Request(reason)) = commands::execute(&cli)
                {
                    check_line(reason);
                }
            }
            Ok(Request::Print(_)) => {}
            Err(Failure::Request(reason)) => check_line(reason),
            Err(other) => panic!("{other:?}"),
        }
    }

    #[test]
    fn lines_of_json(edits in edits(), name in proptest::sample::select(&["register", "map", "queue", "kv"][..])) {
        let data_type = commands::type_named(name).expect("a type");
        if let Err(malformed) = read_history(&damaged(HISTORY.as_bytes(), &edits), data_type) {
            prop_assert!(malformed.line >= 1);
            check_line(malformed.reason);
        }
    }
}

proptest! {
    #![proptest_config(cases(1_000))]

    /// Damaged decisions belong to another run of the case, or to no run.
    #[test]
    fn replays_of_damaged_decisions(edits in edits()) {
        let text = damaged(b"A0.I0.E0.E3.E0.E0", &edits);
        if let Ok(decisions) = String::from_utf8_lossy(&text).parse::<Decisions>() {
            let bad = |case: &interloper_suite::Case| case.expected == Verdict::NotLinearizable;
            let case = interloper_suite::cases().into_iter().find(bad).expect("the suite has one");
            let method = (case.build)();
            if let Err(misuse) = method.replay_with(method.settings(), &decisions) {
                check_line(misuse.to_string());
            }
        }
    }

    #[test]
    fn replays_of_damaged_schedules(edits in edits()) {
        let text = damaged(b"T0.T0.T1.T0.T0.T1.T0", &edits);
        if let Ok(decisions) = String::from_utf8_lossy(&text).parse::<Decisions>() {
            let Ok(Entry::Program(program)) = catalogue::find("figure-1") else { panic!("it is a program") };
            let settings = Settings { executions: 10, ..program.own_settings() };
            if let Err(misuse) = program.replay_with(&settings, &decisions) {
                check_line(misuse.to_string());
            }
        }
    }
}

/// The peak of this process while the other tests of the file run beside this one or before it.
#[cfg(target_os = "linux")]
#[test]
fn no_input_takes_a_gigabyte() {
    for edit in [Damage::Flood("["), Damage::Flood("T1/2."), Damage::Flood("\""), Damage::Flood("pct:3+")] {
        let flood = damaged(b"", &[(0, 40_000, edit)]);
        let text = String::from_utf8_lossy(&flood);
        let _ = (ReplayFile::parse(&flood), text.parse::<Decisions>(), text.parse::<Schedule>());
    }
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux has it");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("the peak");
    let kilobytes: u64 = peak.trim().trim_end_matches(" kB").parse().expect("a number");
    assert!(kilobytes < 1 << 20, "{kilobytes} kB");
}

#[cfg(unix)]
fn argument(bytes: &[u8]) -> OsString {
    std::os::unix::ffi::OsStringExt::from_vec(bytes.to_vec())
}

#[cfg(not(unix))]
fn argument(bytes: &[u8]) -> OsString {
    String::from_utf8_lossy(bytes).into_owned().into()
}

/// The canary: what is not damaged is accepted by each parser, so that the others do not stop at the door.
#[test]
fn what_is_whole_is_read() {
    assert!((0..5).all(|kind| ReplayFile::parse(&replay_file(kind)).is_ok()));
    for line in LINES {
        let arguments = std::iter::once("interloper").chain(line.split(' ')).map(OsString::from);
        assert!(matches!(args::parse(arguments), Ok(Request::Run(_))), "{line}");
    }
    let register = commands::type_named("register").expect("a type");
    assert!(read_history(HISTORY.as_bytes(), register).is_ok());
}
