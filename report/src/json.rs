//! A counterexample as one JSON document.

use serde::{Deserialize, Serialize};

use crate::Counterexample;

/// The version that [`render`] writes and [`parse`] reads.
pub const VERSION: u32 = 1;

/// The document: a version, and the fields of the counterexample beside it.
#[derive(Serialize, Deserialize)]
struct Document<C> {
    version: u32,
    #[serde(flatten)]
    counterexample: C,
}

/// The version of a document: it decides whether the rest can be expected to have today's shape.
///
/// # Errors
/// When the text is not JSON, and when it has no version.
pub fn version(document: impl AsRef<[u8]>) -> serde_json::Result<u32> {
    #[derive(Deserialize)]
    struct Header {
        version: u32,
    }
    serde_json::from_slice(document.as_ref()).map(|Header { version }| version)
}

/// The counterexample as indented JSON, ended by a newline: `{"version": 1, "name": …, "rows": […], …}`.
///
/// Fields have the names and the order of [`Counterexample`].
#[must_use]
pub fn render(counterexample: &Counterexample) -> String {
    let document = Document { version: VERSION, counterexample };
    let mut text = serde_json::to_string_pretty(&document).expect("strings, numbers and lists are always JSON");
    text.push('\n');
    text
}

/// Reads what [`render`] wrote.
///
/// # Errors
///
/// When the text is not JSON, has another version, or lacks a field.
pub fn parse(text: &str) -> Result<Counterexample, ParseError> {
    let version = version(text).map_err(ParseError::Damaged)?;
    if version != VERSION {
        return Err(ParseError::Version(version));
    }
    let document: Document<Counterexample> = serde_json::from_str(text).map_err(ParseError::Damaged)?;
    Ok(document.counterexample)
}

/// Why a document is not a counterexample.
#[derive(Debug)]
pub enum ParseError {
    /// Not JSON, or not with the fields of a counterexample.
    Damaged(serde_json::Error),
    /// Written by another version of the format.
    Version(u32),
}

impl std::fmt::Display for ParseError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Damaged(error) => write!(f, "not a counterexample: {error}"),
            Self::Version(version) => write!(f, "version {version} is not supported, only version {VERSION} is"),
        }
    }
}

impl std::error::Error for ParseError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Damaged(error) => Some(error),
            Self::Version(_) => None,
        }
    }
}
