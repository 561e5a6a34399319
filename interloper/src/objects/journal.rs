//! The visits of a hunt in a file, so that another process can continue the hunt.
//!
//! The file has JSON Lines: the first line says which search it belongs to, and each further line is a visit. A visit is added
//! with a single write at the end, so a process that is killed leaves whole lines, or one last line that is cut. A line that is
//! cut is dropped when the file is opened again. Each line has a checksum of itself and of the lines before it.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use interloper_harness::hunt::{Visit, Visits};
use interloper_report::sealed::{Chain, Kind, MAX_BYTES, TORN};
use interloper_report::{file, json};
use serde::{Deserialize, Serialize};

use super::running::{self, Keeper};
use super::search::Search;

/// The format of the file. Before version 2 its lines had no checksums, before version 3 it did not say which program ran, before
/// version 4 a visit did not say of which schema it is.
pub const VERSION: u32 = 4;

const KIND: Kind = Kind { what: "the progress of a hunt", version: VERSION, remedy: "delete it to begin anew" };

/// The first line.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    version: u32,
    asked: String,
    program: String,
}

/// A file of visits that is open for more. No two processes may have it open at the same time: the caller holds a lock.
#[derive(Debug)]
pub struct Journal {
    file: File,
    chain: Chain,
}

impl Journal {
    /// Opens the file of a search, and gives the visits in it. Where no file exists, writes one without visits.
    ///
    /// # Errors
    /// In one line, with the path: when the file is that of another search or of another program, when it is damaged, and when it cannot
    /// be written.
    pub(super) fn open(path: &Path, search: &Search) -> Result<(Journal, Vec<Visit>), String> {
        let refused = |reason: String| format!("{}: {reason}", path.display());
        let failed = |error: io::Error| refused(error.to_string());
        if !path.exists() {
            let Search { asked, program } = search.clone();
            let head = serde_json::to_string(&Head { version: VERSION, asked, program }).expect("plain data");
            file::write(path, format!("{}\n", Chain::default().seal(&head)).as_bytes()).map_err(failed)?;
        }
        let text = file::read(path, MAX_BYTES).map_err(failed)?;
        let (visits, chain, whole) = parse(&text, search).map_err(refused)?;
        let file = File::options().append(true).open(path).map_err(failed)?;
        file.set_len(whole).map_err(failed)?;
        Ok((Journal { file, chain }, visits))
    }

    /// Adds a visit.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn add(&mut self, visit: &Visit) -> io::Result<()> {
        let visit = serde_json::to_string(visit).expect("numbers are always JSON");
        self.file.write_all(format!("{}\n", self.chain.seal(&visit)).as_bytes())
    }
}

/// The visits of the search that `asked` describes, by the program that runs: those in the file at `path` are made, and further ones are
/// kept there. The schema that runs is kept in a file beside it, `….running.json`, twice a second. `tell` hears if something cannot be
/// kept.
///
/// # Errors
/// In one line, when one of the files is that of another search or of another program, or is damaged or cannot be written, and when the
/// file of the program cannot be read.
pub fn visits(path: &Path, asked: &str, tell: impl Fn(&str) + 'static) -> Result<Visits, String> {
    let search = Search::new(asked)?;
    let (journal, made) = Journal::open(path, &search)?;
    let beside = path.with_extension("running.json");
    let running = running::read(&beside, &search)?;
    let keeper = Keeper::new(journal, beside, search, tell);
    Ok(Visits::after(made).within_schema(running).kept_by(keeper))
}

/// The visits, where the chain of checksums goes on, and how many bytes are whole lines.
fn parse(bytes: &[u8], search: &Search) -> Result<(Vec<Visit>, Chain, u64), String> {
    let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    let damaged = |line: usize, error: String| KIND.damaged(format!("line {}: {error}", line + 1));
    let text = std::str::from_utf8(&bytes[..whole]).map_err(|error| damaged(0, error.to_string()))?;
    let (first, rest) = text.split_once('\n').ok_or_else(|| damaged(0, "it is missing".to_owned()))?;
    let wrong = |error: serde_json::Error| damaged(0, error.to_string());
    KIND.check(json::version(first).map_err(wrong)?)?;
    let mut chain = Chain::default();
    let mut open = |number: usize, line: &str| chain.open(line).ok_or_else(|| damaged(number, TORN.to_owned()));
    let Head { asked, program, .. } = serde_json::from_str(&open(0, first)?).map_err(wrong)?;
    if let Some(refusal) = search.refusal(&Search { asked, program }) {
        return Err(refusal);
    }
    let visit = |(number, line): (usize, &str)| {
        serde_json::from_str(&open(number, line)?)
            .map_err(|error: serde_json::Error| damaged(number, error.to_string()))
    };
    let visits = (1..).zip(rest.lines()).map(visit).collect::<Result<Vec<Visit>, String>>()?;
    Ok((visits, chain, whole as u64))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn visit(schema: u64) -> Visit {
        Visit { schema, executions: 3, pairs: [(0, 2)].into(), ..Visit::default() }
    }

    fn search() -> Search {
        Search { asked: "a hunt".to_owned(), program: "p".to_owned() }
    }

    /// Cut at any byte after its first line, the file gives the visits of its whole lines, and goes on from there.
    #[test]
    fn a_file_that_was_cut_goes_on_after_its_last_whole_line() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("hunt.jsonl");
        let (mut journal, none) = Journal::open(&path, &search()).expect("a new file");
        assert_eq!(none, []);
        let first = fs::metadata(&path).expect("a file").len() as usize;
        let visits: Vec<Visit> = (0..3).map(visit).collect();
        visits.iter().for_each(|visit| journal.add(visit).expect("a file"));
        drop(journal);
        let all = fs::read(&path).expect("a file");
        for cut in first..=all.len() {
            fs::write(&path, &all[..cut]).expect("a file");
            let whole = all[..cut].iter().filter(|&&byte| byte == b'\n').count() - 1;
            let (mut journal, kept) = Journal::open(&path, &search()).expect("whole lines");
            assert_eq!(kept, visits[..whole]);
            journal.add(&visit(9)).expect("a file");
            drop(journal);
            let (_, kept) = Journal::open(&path, &search()).expect("whole lines");
            assert_eq!(kept, [&visits[..whole], &[visit(9)]].concat());
        }
    }

    /// Any change of a byte within a whole line is noticed. The end of the last line is not part of the line.
    #[test]
    fn a_flipped_byte_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("hunt.jsonl");
        let (mut journal, _) = Journal::open(&path, &search()).expect("a new file");
        (0..3).for_each(|schema| journal.add(&visit(schema)).expect("a file"));
        drop(journal);
        let all = fs::read(&path).expect("a file");
        for at in 0..all.len() - 1 {
            let mut flipped = all.clone();
            flipped[at] ^= 1;
            fs::write(&path, &flipped).expect("a file");
            let error = Journal::open(&path, &search()).expect_err("a byte differs");
            assert_eq!(error.lines().count(), 1, "{at}: {error}");
        }
        fs::write(&path, &all).expect("a file");
        assert_eq!(
            Journal::open(&path, &search()).expect("as it was written").1,
            (0..3).map(visit).collect::<Vec<_>>()
        );
        // A line that is missing is noticed, too.
        let lines: Vec<&[u8]> = all.split_inclusive(|&byte| byte == b'\n').collect();
        fs::write(&path, [lines[0], lines[2], lines[3]].concat()).expect("a file");
        assert!(
            Journal::open(&path, &search()).is_err_and(|error| error.contains("line 2: its checksum does not fit"))
        );
    }

    #[test]
    fn what_is_something_else_is_refused_in_one_line() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("hunt.jsonl");
        let refused = |text: &str, reason: &str| {
            fs::write(&path, text).expect("a file");
            let error = Journal::open(&path, &search()).expect_err("it is something else");
            assert!(error.contains(reason) && error.lines().count() == 1, "{error}");
            // It stays as it was.
            assert_eq!(fs::read_to_string(&path).expect("a file"), text);
        };
        let sealed = |lines: &[&str]| {
            let mut chain = Chain::default();
            lines.iter().map(|line| chain.seal(line) + "\n").collect::<String>()
        };
        refused("", "not the progress of a hunt: line 1: it is missing");
        refused("{\"version\":2", "line 1: it is missing");
        refused(&sealed(&["{\"version\":4}"]), "line 1: missing field `asked`");
        for version in [2, 7] {
            let reason = format!("written by another interloper (version {version}, this one reads version 4)");
            refused(&format!("{{\"version\":{version},\"asked\":3}}\n"), &reason);
        }
        let other = sealed(&["{\"version\":4,\"asked\":\"b\",\"program\":\"p\"}"]);
        refused(&other, "the progress of another search: b, and a hunt; name another");
        let other = sealed(&["{\"version\":4,\"asked\":\"a hunt\",\"program\":\"q\"}"]);
        refused(
            &other,
            "the progress of another build of the program, which may do something else; name another folder",
        );
        let head = "{\"version\":4,\"asked\":\"a hunt\",\"program\":\"p\"}";
        refused(&format!("{}[\n{{}}\n", sealed(&[head, "{}"])), "line 3: its checksum does not fit: it was torn");
        refused(&sealed(&[head, "{\"shcema\":3}"]), "line 2: unknown field `shcema`");
        fs::remove_file(&path).expect("a file");
        fs::create_dir(&path).expect("a folder");
        assert!(Journal::open(&path, &search()).is_err_and(|error| error.contains("not a file")));
    }
}
