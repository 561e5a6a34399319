//! Which search a file belongs to, and which program ran the search.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::OnceLock;

use interloper_report::sealed;

/// Why progress is refused that another build of the program has left. The file comes before it.
pub const ANOTHER_BUILD: &str =
    "the progress of another build of the program, which may do something else; name another folder";

/// A search by a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Search {
    /// What was asked for, in a line.
    pub(super) asked: String,
    /// Identifies the program.
    pub(super) program: String,
}

impl Search {
    /// A search of the program that runs.
    ///
    /// # Errors
    /// As [`program`].
    pub(super) fn new(asked: &str) -> Result<Search, String> {
        Ok(Search { asked: asked.to_owned(), program: program()?.to_owned() })
    }

    /// Why a search cannot continue what an earlier one has left. `None` if it can.
    pub(super) fn refusal(&self, earlier: &Search) -> Option<String> {
        if earlier.asked != self.asked {
            let (then, now) = (&earlier.asked, &self.asked);
            return Some(format!("the progress of another search: {then}, and {now}; name another folder"));
        }
        (earlier.program != self.program).then(|| ANOTHER_BUILD.to_owned())
    }
}

/// Identifies the program that runs: a hash of its file, FNV-1a as 16 hexadecimal digits. What an execution shows is a function of the
/// program, so progress is that of one program. Libraries that are loaded while the program runs are not part of its file.
///
/// # Errors
/// In one line, when the file of the program cannot be read.
pub fn program() -> Result<&'static str, String> {
    static PROGRAM: OnceLock<Result<String, String>> = OnceLock::new();
    let hash = || file().and_then(sealed::of_bytes).map_err(|error| format!("cannot read the program: {error}"));
    PROGRAM.get_or_init(hash).as_deref().map_err(Clone::clone)
}

/// The file of the program. A build replaces it under its name, and Linux still has the one that runs.
fn file() -> io::Result<File> {
    let path = if cfg!(target_os = "linux") { PathBuf::from("/proc/self/exe") } else { std::env::current_exe()? };
    File::open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_continues_what_the_same_program_was_asked_for() {
        let search = |asked: &str, program: &str| Search { asked: asked.to_owned(), program: program.to_owned() };
        let now = search("a hunt", "p");
        assert_eq!(now.refusal(&search("a hunt", "p")), None);
        assert_eq!(now.refusal(&search("a hunt", "q")).as_deref(), Some(ANOTHER_BUILD));
        let other = "the progress of another search: b, and a hunt; name another folder";
        assert_eq!(now.refusal(&search("b", "q")).as_deref(), Some(other));
    }

    #[test]
    fn the_program_is_the_file_that_runs() {
        let own = std::fs::read(std::env::current_exe().expect("a path")).expect("a file");
        assert_eq!(program(), Ok(&*sealed::of_bytes(&own[..]).expect("no file is read")));
        assert_eq!(program().map(str::len), Ok(16));
    }
}
