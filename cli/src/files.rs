//! Files that commands write beside their result: pages, traces, histories.

use std::fs;
use std::io;
use std::path::Path;

use interloper_report::explorer::findings::linked;
use interloper_report::explorer::{Exploration, page};
use interloper_report::file;

use crate::failure::Failure;
use crate::output;

/// Writes a text into a file, and its folder where that is missing.
pub fn write_text(text: &str, path: &Path) -> Result<(), Failure> {
    make_folder(path)?;
    write_page(text, path)
}

/// Writes a text into a file of a folder that exists.
pub fn write_page(text: &str, path: &Path) -> Result<(), Failure> {
    file::write(path, text.as_bytes()).map_err(|error| cannot_write(path, &error))
}

/// Writes the pages of all findings: the first into this file, the others beside it. If there are several, each has links to the others,
/// and the finding of each file is named. Without any page, it says that the file was not written, and why: `no_finding`.
pub fn write_pages(pages: &[Exploration], path: &Path, no_finding: &str) -> Result<(), Failure> {
    if pages.is_empty() {
        output::note(&format!("{no_finding}, so {} was not written", path.display()));
    }
    let shown = |page: &Exploration| format!("{}, {}", page.name, page.verdict);
    let findings: Vec<_> = (1..).zip(pages).map(|(number, page)| (file::numbered(path, number), shown(page))).collect();
    for (own, ((path, shown), exploration)) in findings.iter().zip(pages).enumerate() {
        let page = page::render(exploration);
        write_page(&linked(&page, &findings, own).unwrap_or(page), path)?;
        if pages.len() > 1 {
            output::note(&format!("{}: {shown}", path.display()));
        }
    }
    Ok(())
}

/// Refuses a page that could not be written, and makes its folder, before the search whose result it is to hold.
pub fn page_can_be_written(path: Option<&Path>) -> Result<(), Failure> {
    let Some(path) = path else { return Ok(()) };
    make_folder(path)?;
    can_write(path)
}

/// Refuses a file that could not be written, before the search whose result it is to hold.
pub fn can_write(path: &Path) -> Result<(), Failure> {
    file::check(path).map_err(|error| cannot_write(path, &error))
}

/// Makes the folder of a file where it is missing.
pub fn make_folder(path: &Path) -> Result<(), Failure> {
    path.parent().map_or(Ok(()), fs::create_dir_all).map_err(|error| cannot_write(path, &error))
}

/// Why a file could not be written.
pub fn cannot_write(path: &Path, error: &io::Error) -> Failure {
    Failure::Request(format!("cannot write {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use interloper::objects::{journal, running};
    use interloper_report::replay_file::{About, ReplayFile};
    use interloper_report::{explorer, json, replay_file};
    use serde_json::Value;

    use crate::answer::JSON_VERSION;
    use crate::progress::events::Event;
    use crate::reference::assert_table;
    use crate::{shards, state};

    const PAGE: &str = include_str!("../../docs/reference/files.md");

    #[test]
    fn the_page_of_files_has_the_versions() {
        let versions = [
            ("replay files", replay_file::VERSION),
            ("pages", explorer::VERSION),
            ("`--format json`", JSON_VERSION),
            ("a counterexample in JSON", json::VERSION),
            ("results of shards", shards::VERSION),
            ("progress of searches", state::VERSION),
            ("progress of hunts", journal::VERSION),
            ("the schema that a hunt is at", running::VERSION),
            ("traces", explorer::trace::TRACE_VERSION),
        ];
        let rows = versions.map(|(file, version)| vec![file.to_owned(), version.to_string()]);
        assert_table("files.md", "## Versions", &rows);
    }

    /// For each row of the table below a heading: the names in its first cell, and in its second.
    fn rows(heading: &str) -> Vec<(BTreeSet<String>, BTreeSet<String>)> {
        let below = PAGE.split_once(&format!("\n{heading}\n")).expect("the heading").1;
        let lines = below.lines().skip_while(|line| !line.starts_with('|')).skip(2);
        let quoted = |cell: &str| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect();
        let cells = |line: &str| line.trim_matches('|').split_once('|').map(|(one, two)| (quoted(one), quoted(two)));
        lines.take_while(|line| line.starts_with('|')).filter_map(cells).collect()
    }

    fn fields(value: &Value) -> BTreeSet<String> {
        value.as_object().expect("an object").keys().cloned().collect()
    }

    #[test]
    fn the_page_of_files_has_the_fields_of_a_replay_file() {
        let text = |text: &str| text.to_owned();
        let about = [
            About::Case { name: text(""), adversary: text(""), environment: text(""), bound: 1 },
            About::Program { name: text(""), strategy: text("") },
            About::Test { name: text(""), strategy: text(""), critical_sections: false },
            About::Schema {
                object: text(""),
                method: text(""),
                schema: text(""),
                unlock_is_a_step: false,
                hasher_seed: 0,
            },
            About::Pair { name: text(""), methods: [text(""), text("")], shape: 0 },
        ];
        let mut kinds = BTreeSet::new();
        for about in about {
            // A further kind is to be added here.
            match about {
                About::Case { .. }
                | About::Program { .. }
                | About::Test { .. }
                | About::Schema { .. }
                | About::Pair { .. } => {}
            }
            let file = ReplayFile::new(about, 1, 1, "panic", text(""), Vec::new());
            let value = serde_json::to_value(&file).expect("a replay file is JSON");
            kinds.insert(value["about"]["kind"].as_str().expect("a kind").to_owned());
            // What is left out where it is not known is on the page, too.
            let mut expected = fields(&value);
            expected.extend(["found", "counterexample", "origin"].map(str::to_owned));
            let rows = rows("## Replay files");
            assert_eq!(rows.iter().flat_map(|(names, _)| names.clone()).collect::<BTreeSet<String>>(), expected);
            let said = rows.into_iter().find(|(names, _)| names.contains("about")).expect("the row").1;
            assert!(kinds.is_subset(&said), "{said:?}");
        }
        let said = rows("## Replay files").into_iter().find(|(names, _)| names.contains("about")).expect("the row").1;
        kinds.insert("kind".to_owned());
        assert_eq!(said, kinds);
    }

    #[test]
    fn the_page_of_files_has_the_events_and_their_fields() {
        let events = [
            Event::Started { what: "", total: None },
            Event::Phase { name: "", phase: "" },
            Event::Progress { done: 0, total: None, name: "", executions: None, seconds: 0.0 },
            Event::Finding { name: "", verdict: "", expected: false, places: Vec::new() },
            Event::Note { says: "" },
            Event::NothingToDo { shards: Vec::new() },
            Event::Finished { what: "", done: 0, executions: None, seconds: 0.0 },
        ];
        let rows = rows("## Progress events");
        let rows: BTreeMap<String, BTreeSet<String>> =
            rows.into_iter().map(|(names, said)| (names.into_iter().next().expect("an event"), said)).collect();
        assert_eq!(rows.len(), events.len());
        for event in events {
            // A further event is to be added here; so are its words, where the page names values or parts of a field.
            let also: &[&str] = match event {
                Event::Started { .. } => {
                    &["case", "program", "schema", "history", "replay", "test", "object", "operation", "ordering"]
                }
                Event::Phase { .. } => &["searching", "running serial orders", "shrinking the finding"],
                Event::Progress { .. } => &["started"],
                Event::Finding { .. } => &["file", "line", "column", "says"],
                Event::Note { .. } | Event::NothingToDo { .. } | Event::Finished { .. } => &[],
            };
            let value = serde_json::to_value(&event).expect("an event is JSON");
            let mut expected = fields(&value);
            expected.remove("event");
            expected.extend(also.iter().map(|word| (*word).to_owned()));
            assert_eq!(rows[value["event"].as_str().expect("a name")], expected);
        }
    }
}
