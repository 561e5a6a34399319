//! What a command gives: a text for standard output, and what it amounts to.

use std::io::{self, Write};

use serde::Serialize;

use crate::failure::Finding;

/// The result of a command.
pub struct Answer {
    /// For standard output.
    pub text: String,
    /// What follows the text, where that may be too much to keep in memory.
    pub rest: Option<Rest>,
    /// What it amounts to.
    pub finding: Finding,
}

/// Writes the end of an answer.
pub type Rest = Box<dyn FnOnce(&mut dyn Write) -> io::Result<()>>;

impl Answer {
    /// An answer that is one text.
    pub fn new(text: String, finding: Finding) -> Self {
        Self { text, rest: None, finding }
    }

    /// An answer with nothing unexpected in it.
    pub fn expected(text: String) -> Self {
        Self::new(text, Finding::Expected)
    }
}

/// The version of every JSON document that the commands print.
pub const JSON_VERSION: u32 = 1;

/// A JSON document: indented, ended by a newline.
pub fn json(document: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(document).expect("strings, numbers and lists are always JSON");
    text.push('\n');
    text
}
