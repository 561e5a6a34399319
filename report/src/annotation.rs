//! Findings at the lines of the source: as annotations of a change, which GitHub reads from the output of a job, and as a
//! SARIF log.
//!
//! The annotations are those of GitHub's documentation, *Workflow commands for GitHub Actions*.

use std::path::Path;

use crate::sarif::{Finding, Level, Place, Rule, log};
use crate::source::{parts, workspace};
use crate::{Counterexample, Row};

/// A finding has at most so many annotations: GitHub shows ten of a step.
const MOST: usize = 4;

/// An annotation for each place of a counterexample that matters most, a line each: the racing lines, the three accesses.
#[must_use]
pub fn errors(counterexample: &Counterexample) -> String {
    let title = format!("{}: {}", counterexample.name, counterexample.verdict);
    let mut out = String::new();
    let mut last = None;
    for row in counterexample.culprits().into_iter().take(MOST) {
        let Some((file, line, column)) = row.location.as_deref().and_then(parts) else { continue };
        // One line of a race with itself, say.
        if last.replace((file, line)) == Some((file, line)) {
            continue;
        }
        let who = counterexample.columns.get(row.column).map_or("", |column| &column.title);
        let notes = row.notes.iter().filter(|note| note.starts_with('▲')).cloned();
        let says: Vec<String> = [format!("{who} {}", row.event)].into_iter().chain(notes).collect();
        out += &error(&title, (file, line, column), &says.join("\n"));
    }
    out
}

/// An annotation of a place: its file, its line and its column, counted from 1. GitHub wants files as the repository has them, and
/// names the folder of the repository in the environment of a job.
#[must_use]
pub fn error(title: &str, (file, line, column): (&str, usize, usize), says: &str) -> String {
    let repository = std::env::var_os("GITHUB_WORKSPACE");
    let file = match repository {
        Some(repository) => in_repository(Path::new(&repository), &workspace(), file),
        None => file.to_owned(),
    };
    let (file, title, says) = (property(&file), property(title), data(says));
    format!("::error file={file},line={line},col={column},title={title}::{says}\n")
}

/// A file of a workspace, as the repository has it that the workspace is in. As it is where that is not known.
fn in_repository(repository: &Path, workspace: &Path, file: &str) -> String {
    let [repository, workspace] =
        [repository, workspace].map(|folder| folder.canonicalize().unwrap_or_else(|_| folder.to_owned()));
    match workspace.join(file).strip_prefix(&repository) {
        Ok(below) => below.to_string_lossy().replace('\\', "/"),
        Err(_) => file.to_owned(),
    }
}

/// The annotations of a finding: its place, and those that belong to it.
#[must_use]
pub fn of_finding(title: &str, finding: &Finding<'_>) -> String {
    let related = finding.related.iter().map(|(place, says)| (place, says));
    let all = [(&finding.place, &finding.text)].into_iter().chain(related).take(MOST);
    let one = |(place, says): (&Place<'_>, &String)| {
        error(title, (place.file, place.line as usize, place.column as usize), says)
    };
    all.map(one).collect()
}

const NOT_ATOMIC: &str = "not-atomic";
const RACE: &str = "data-race";
const DEADLOCK: &str = "deadlock";
const PANIC: &str = "panic";
const OTHER: &str = "other-failure";

const RULES: [Rule; 5] = [
    Rule { id: NOT_ATOMIC, text: "No sequential order explains an execution." },
    Rule { id: RACE, text: "Nothing orders two accesses to the same memory, one of which writes." },
    Rule { id: DEADLOCK, text: "Tasks wait for each other." },
    Rule { id: PANIC, text: "An execution panics." },
    Rule { id: OTHER, text: "An execution fails in another way." },
];

/// Findings as a SARIF log, each at the last of its places that matter most; the others are related. A finding without a
/// place is left out: SARIF has results at lines.
#[must_use]
pub fn sarif<'c>(counterexamples: impl IntoIterator<Item = &'c Counterexample>) -> String {
    log(&RULES, counterexamples.into_iter().filter_map(result))
}

fn result(counterexample: &Counterexample) -> Option<Finding<'_>> {
    let placed: Vec<&Row> = counterexample.culprits().into_iter().filter(|row| place(row).is_some()).collect();
    let (last, others) = placed.split_last()?;
    let replay = counterexample.replay.as_ref().map_or(String::new(), |replay| format!(" Replay: {replay}"));
    Some(Finding {
        rule: rule(counterexample),
        level: Level::Error,
        text: format!("{}: {} ({}).{replay}", counterexample.name, counterexample.verdict, counterexample.detail),
        place: place(last)?,
        related: others.iter().filter_map(|row| Some((place(row)?, row.event.to_string()))).collect(),
    })
}

fn place(row: &Row) -> Option<Place<'_>> {
    let (file, line, column) = parts(row.location.as_deref()?)?;
    Some(Place { file, line: line.try_into().ok()?, column: column.try_into().ok()? })
}

fn rule(counterexample: &Counterexample) -> &'static str {
    let has = |word: &str| counterexample.verdict.contains(word);
    match () {
        () if has("atomic") || has("linearizable") => NOT_ATOMIC,
        () if has("race") => RACE,
        () if has("deadlock") => DEADLOCK,
        () if has("panic") => PANIC,
        () => OTHER,
    }
}

/// The text of a command, in which only these have a meaning.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A property of a command.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Column, Event, Lane, Row};

    #[test]
    fn files_are_named_as_the_repository_has_them() {
        let name = |workspace: &str, file: &str| in_repository(Path::new("/no/repo"), Path::new(workspace), file);
        assert_eq!(name("/no/repo", "src/lib.rs"), "src/lib.rs");
        assert_eq!(name("/no/repo/crates/map", "src/lib.rs"), "crates/map/src/lib.rs");
        assert_eq!(name("/no/repo/crates", "/no/repo/shared/lib.rs"), "shared/lib.rs");
        // Elsewhere.
        assert_eq!(name("/no/other", "src/lib.rs"), "src/lib.rs");
        assert_eq!(name("/no/repo/crates", "/rustc/library/core.rs"), "/rustc/library/core.rs");
    }

    fn row(event: &str, location: Option<&str>, note: Option<&str>) -> Row {
        let (location, notes) = (location.map(str::to_owned), note.map(str::to_owned).into_iter().collect());
        Row { location, notes, ..Row::event(0, Event::Operation(event.to_owned())) }
    }

    fn example(rows: Vec<Row>) -> Counterexample {
        Counterexample {
            name: "a::test".to_owned(),
            verdict: "data race, 100%".to_owned(),
            detail: "execution 3".to_owned(),
            start: String::new(),
            columns: vec![Column { title: "main".to_owned(), lane: Lane::Thread }],
            rows,
            orders: Vec::new(),
            deadlock: None,
            replay: Some("cargo test".to_owned()),
        }
    }

    #[test]
    fn each_racing_line_is_annotated() {
        let race = [
            row("reads", Some("src/a.rs:1:2"), None),
            row("writes", Some("src/a,b.rs:3:4"), Some("▲ 1 of 2: one side")),
            row("reads", Some("src/a.rs:5:6"), Some("▲ 2 of 2: nothing orders this\nor that")),
            row("reads", Some("src/a.rs:5:9"), Some("▲ 3")),
        ];
        let expected = "::error file=src/a%2Cb.rs,line=3,col=4,title=a%3A%3Atest%3A data race%2C 100%25::main writes%0A▲ 1 of 2: one side\n\
                        ::error file=src/a.rs,line=5,col=6,title=a%3A%3Atest%3A data race%2C 100%25::main reads%0A▲ 2 of 2: nothing \
                        orders this%0Aor that\n";
        assert_eq!(errors(&example(race.into())), expected);
    }

    #[test]
    fn a_sarif_log_has_a_result_for_each_finding_with_a_place() {
        let race = || {
            vec![
                row("writes", Some("src/b.rs:3:4"), Some("▲ 1 of 2")),
                row("reads", Some("src/a.rs:5:6"), Some("▲ 2 of 2")),
            ]
        };
        let deadlock = Counterexample { verdict: "deadlock".to_owned(), ..example(race()) };
        let nowhere = Counterexample { verdict: "panic".to_owned(), ..example(vec![row("reads", None, None)]) };
        let log: serde_json::Value =
            serde_json::from_str(&sarif([&example(race()), &deadlock, &nowhere])).expect("JSON");
        let results = log["runs"][0]["results"].as_array().expect("results");
        let rules: Vec<&str> = results.iter().filter_map(|result| result["ruleId"].as_str()).collect();
        assert_eq!(rules, [RACE, DEADLOCK]);
        let place = &results[0]["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "src/a.rs");
        assert_eq!((&place["region"]["startLine"], &place["region"]["startColumn"]), (&5.into(), &6.into()));
        let related = &results[0]["relatedLocations"][0]["physicalLocation"];
        assert_eq!(related["artifactLocation"]["uri"], "src/b.rs");
        assert_eq!(results[0]["message"]["text"], "a::test: data race, 100% (execution 3). Replay: cargo test");
    }

    #[test]
    fn a_finding_is_annotated_at_its_place_and_at_those_that_belong_to_it() {
        let place = |line| Place { file: "src/a.rs", line, column: 9 };
        let finding = Finding {
            rule: OTHER,
            level: Level::Error,
            text: "a: b".to_owned(),
            place: place(3),
            related: (5..15).map(|line| (place(line), "get".to_owned())).collect(),
        };
        let expected = "::error file=src/a.rs,line=3,col=9,title=of%2C it::a: b\n\
                        ::error file=src/a.rs,line=5,col=9,title=of%2C it::get\n\
                        ::error file=src/a.rs,line=6,col=9,title=of%2C it::get\n\
                        ::error file=src/a.rs,line=7,col=9,title=of%2C it::get\n";
        assert_eq!(of_finding("of, it", &finding), expected);
    }

    #[test]
    fn without_a_mark_the_end_is_annotated() {
        let end = Row { location: Some("src/a.rs:7:1".to_owned()), ..Row::event(0, Event::Panicked("no".to_owned())) };
        let rows = vec![row("reads", Some("src/a.rs:1:2"), None), end, row("writes", Some("src/a.rs:9:9"), None)];
        let annotation = errors(&example(rows));
        assert!(annotation.starts_with("::error file=src/a.rs,line=7,col=1,"), "{annotation}");
        assert!(annotation.ends_with("::main panicked: no\n"), "{annotation}");
        assert!(errors(&example(vec![row("reads", Some("src/a.rs:1:2"), None)])).contains("line=1"));
        assert_eq!(errors(&example(vec![row("reads", None, None)])), "");
    }

    #[test]
    fn the_brief_says_what_where_and_how_to_replay() {
        let rows = vec![
            row("locks", Some("src/a.rs:1:2"), Some("▲ 1 of 3")),
            row("unlocks\u{1b}", Some("src/a.rs:3:4"), Some("▲ 2 of 3")),
            row("locks", Some("src/a.rs:5:6"), Some("▲ 3 of 3")),
        ];
        let brief =
            "✗ a::test: data race, 100% (execution 3)\n  at src/a.rs:3:4: main unlocks\\u{1b}\n  replay: cargo test\n";
        assert_eq!(example(rows).brief(), brief);
        let nowhere = Counterexample { replay: None, detail: String::new(), ..example(Vec::new()) };
        assert_eq!(nowhere.brief(), "✗ a::test: data race, 100%\n");
    }
}
