//! The cases' source text, cut out of the files that they are compiled from.

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

/// The text between the markers of `name`; empty without such markers.
pub(crate) fn cut(file: &'static str, name: &str) -> &'static str {
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

#[cfg(test)]
mod tests {
    use super::cut;

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
