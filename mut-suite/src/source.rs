//! The cases' source text, cut out of the files that they are compiled from.

use std::collections::BTreeMap;
use std::sync::Mutex;

use interloper::{Check, Verdict};

use crate::Case;

/// A file of cases. The code of each stands between a line `// case: its-name` and a line `// end`.
#[derive(Clone, Copy)]
pub(crate) struct Family {
    origin: &'static str,
    file: &'static str,
}

impl Family {
    /// Cases from `origin` whose code is in `file`.
    pub const fn new(origin: &'static str, file: &'static str) -> Family {
        Family { origin, file }
    }

    /// The same file, another origin.
    pub const fn from(self, origin: &'static str) -> Family {
        Family { origin, ..self }
    }

    /// The code of the case `name`.
    pub fn code(self, name: &str) -> &'static str {
        cut(self.file, name)
    }

    /// A method that is atomic.
    pub fn good(self, name: &'static str, about: &'static str, build: fn() -> Box<dyn Check>) -> Case {
        self.case(name, about, Verdict::Linearizable, None, build)
    }

    /// A method that is not atomic.
    pub fn bad(
        self,
        name: &'static str,
        twin: &'static str,
        about: &'static str,
        build: fn() -> Box<dyn Check>,
    ) -> Case {
        self.case(name, about, Verdict::NotLinearizable, Some(twin), build)
    }

    /// A method that is atomic only in its own program.
    pub fn modular(
        self,
        name: &'static str,
        twin: &'static str,
        about: &'static str,
        build: fn() -> Box<dyn Check>,
    ) -> Case {
        self.case(name, about, Verdict::Modular, Some(twin), build)
    }

    fn case(
        self,
        name: &'static str,
        about: &'static str,
        expected: Verdict,
        twin: Option<&'static str>,
        build: fn() -> Box<dyn Check>,
    ) -> Case {
        Case { name, origin: self.origin, about, expected, twin, source: self.code(name), build }
    }
}

/// The text between the markers of `name`; empty without such markers. Every start of the command asks for all entries, so the text of a
/// file is searched once, for the markers, and not line by line.
pub(crate) fn cut(file: &'static str, name: &str) -> &'static str {
    /// The entries of files, by the place of the file in memory.
    static READ: Mutex<BTreeMap<usize, BTreeMap<&str, &str>>> = Mutex::new(BTreeMap::new());
    let mut read = READ.lock().expect("nothing panics while it has the lock");
    let entries = read.entry(file.as_ptr().addr()).or_insert_with(|| entries(file));
    entries.get(name).copied().unwrap_or("")
}

/// The text of each entry of a file, by its name.
fn entries(file: &str) -> BTreeMap<&str, &str> {
    const MARKER: &str = "// case: ";
    let mut entries = BTreeMap::new();
    for (at, _) in file.match_indices(MARKER).filter(|(at, _)| begins_line(file, *at)) {
        let line = &file[at..at + line_length(&file[at..])];
        let after = &file[at + line.len()..];
        if let Some(end) = line_of(after, "// end") {
            entries.entry(line[MARKER.len()..].trim_end()).or_insert(&after[..end]);
        }
    }
    entries
}

/// Where the first line begins that is this one, but for white space at its end.
fn line_of(file: &str, line: &str) -> Option<usize> {
    let is_line = |at: &usize| begins_line(file, *at) && file[*at..*at + line_length(&file[*at..])].trim_end() == line;
    file.match_indices(line).map(|(at, _)| at).find(is_line)
}

fn begins_line(file: &str, at: usize) -> bool {
    at == 0 || file.as_bytes()[at - 1] == b'\n'
}

/// How long the first line of a text is, with its end.
fn line_length(text: &str) -> usize {
    text.find('\n').map_or(text.len(), |end| end + 1)
}

#[cfg(test)]
mod tests {
    use super::{cut, entries};
    use crate::blocks::programs;
    use crate::cases;

    /// The same line by line.
    fn cut_by_lines<'f>(file: &'f str, name: &str) -> &'f str {
        let (mut start, mut at) = (None, 0);
        for line in file.split_inclusive('\n') {
            let end = at + line.len();
            match (start, line.trim_end()) {
                (None, text) if text.strip_prefix("// case: ") == Some(name) => start = Some(end),
                (Some(start), "// end") => return &file[start..at],
                _ => {}
            }
            at = end;
        }
        ""
    }

    /// Texts of five of these lines, with and without a line end after the last one.
    #[test]
    fn the_text_is_that_between_the_lines() {
        const LINES: [&str; 7] = ["// case: a", "// case: ab \t", " // case: a", "// end", "// ending", "x // end", ""];
        let text = |number: usize| {
            let lines = (0..5).map(|at| LINES[number / LINES.len().pow(at) % LINES.len()]);
            lines.collect::<Vec<&str>>().join("\n")
        };
        for number in 0..LINES.len().pow(5) {
            for end in ["", "\n"] {
                let file = text(number) + end;
                for name in ["a", "ab", "b"] {
                    let found = entries(&file).get(name).copied().unwrap_or("");
                    assert_eq!(found, cut_by_lines(&file, name), "{name} in {file:?}");
                }
            }
        }
    }

    #[test]
    fn each_entry_has_a_source() {
        assert!(cases().iter().all(|case| !case.source.is_empty()));
        assert!(programs().iter().all(|program| !program.source.is_empty()));
    }

    #[test]
    fn code_is_cut_between_its_markers() {
        const FILE: &str =
            "// case: a\nfn a() {}\n// end\n\n// case: b\nfn b() {}\nfn c() {}\n// end\n// case: d\nfn d() {}\n";
        assert_eq!(cut(FILE, "a"), "fn a() {}\n");
        assert_eq!(cut(FILE, "b"), "fn b() {}\nfn c() {}\n");
        assert_eq!(cut(FILE, "c"), "");
        assert_eq!(cut(FILE, "d"), "", "its end is missing");
    }
}
