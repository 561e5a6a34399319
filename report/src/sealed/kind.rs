//! Sealed documents that are read again in another process.

use std::fmt::Display;
use std::io::ErrorKind;
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{open, seal};
use crate::{file, json};

/// A larger document is something else.
pub const MAX_BYTES: u64 = 1 << 30;

/// Why a text is refused whose checksum is another.
pub const TORN: &str = "its checksum does not fit: it was torn or edited";

/// A kind of sealed documents: JSON objects that have a field `version`.
pub struct Kind {
    /// What they are, such as "the progress of a search".
    pub what: &'static str,
    /// The version that is written and read.
    pub version: u32,
    /// What to do about a damaged one, such as "delete it to begin anew".
    pub remedy: &'static str,
}

impl Kind {
    /// Why a text is refused that is damaged, or something else.
    pub fn damaged(&self, reason: impl Display) -> String {
        format!("not {}: {reason}; {}", self.what, self.remedy)
    }

    /// Refuses another version: the rest cannot be expected to have today's shape.
    ///
    /// # Errors
    /// When `version` is not the one that is read.
    pub fn check(&self, version: u32) -> Result<(), String> {
        let known = self.version;
        if version == known {
            return Ok(());
        }
        Err(format!("written by another interloper (version {version}, this one reads version {known})"))
    }

    /// The document with this text. A line end after it does not count.
    ///
    /// # Errors
    /// When it has another version, when its checksum does not fit, and when it is something else.
    pub fn parse<T: DeserializeOwned>(&self, text: &str) -> Result<T, String> {
        let damaged = |error: serde_json::Error| self.damaged(error);
        self.check(json::version(text).map_err(damaged)?)?;
        let object = open(text).or_else(|| open(text.strip_suffix('\n')?)).ok_or_else(|| self.damaged(TORN))?;
        serde_json::from_str(&object).map_err(damaged)
    }

    /// The document in a file. `None` where no file exists.
    ///
    /// # Errors
    /// When the file cannot be read, and as [`Kind::parse`].
    pub fn read<T: DeserializeOwned>(&self, path: &Path) -> Result<Option<T>, String> {
        match file::read(path, MAX_BYTES) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.to_string()),
            Ok(bytes) => self.parse(std::str::from_utf8(&bytes).map_err(|error| self.damaged(error))?).map(Some),
        }
    }
}

/// A document in one line, sealed.
///
/// # Panics
/// If it is not an object with a field.
pub fn in_a_line(document: &impl Serialize) -> String {
    seal(&serde_json::to_string(document).expect("plain data is always JSON"))
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Document {
        version: u32,
        text: String,
    }

    const KIND: Kind = Kind { what: "a note", version: 2, remedy: "write it again" };

    #[test]
    fn a_document_is_read_as_it_was_written() {
        let document = Document { version: 2, text: "a\nb".to_owned() };
        let line = in_a_line(&document);
        assert_eq!(KIND.parse(&line).as_ref(), Ok(&document));
        assert_eq!(KIND.parse(&format!("{line}\n")).as_ref(), Ok(&document));
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("note.json");
        assert_eq!(KIND.read::<Document>(&path), Ok(None));
        file::write(&path, line.as_bytes()).expect("it is written");
        assert_eq!(KIND.read(&path), Ok(Some(document)));
        assert_eq!(KIND.read::<Document>(folder.path()), Err("it is not a file".to_owned()));
    }

    #[test]
    fn what_is_damaged_or_something_else_is_refused() {
        let refused = |text: &str, reason: &str| assert_eq!(KIND.parse::<Document>(text), Err(reason.to_owned()));
        refused("{}", "not a note: missing field `version` at line 1 column 2; write it again");
        refused("{\"version\":3}", "written by another interloper (version 3, this one reads version 2)");
        let torn = "not a note: its checksum does not fit: it was torn or edited; write it again";
        refused("{\"version\":2,\"text\":\"\"}", torn);
        let line = in_a_line(&Document { version: 2, text: "ab".to_owned() });
        refused(&line.replace("ab", "ac"), torn);
        refused(&format!("{line}\n\n"), torn);
        let other = in_a_line(&serde_json::json!({ "version": 2 }));
        refused(&other, "not a note: missing field `text` at line 1 column 13; write it again");
    }
}
