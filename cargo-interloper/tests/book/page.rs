//! A page of the book, as text with code blocks.

use std::fs;
use std::path::{Component, Path};

/// A page, by its name relative to the folder of the book.
pub struct Page {
    pub name: String,
    text: String,
}

/// A code block of a page.
pub struct Block<'a> {
    /// What the comment before the block says: `file: src/lib.rs`.
    pub note: Option<&'a str>,
    /// `rust,ignore`, `console`, …
    pub language: &'a str,
    pub code: &'a str,
}

impl Page {
    pub fn read(folder: &Path, name: &str) -> Page {
        let text = fs::read_to_string(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        Page { name: name.to_owned(), text }
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// The targets of the page's links, outside of code blocks.
    pub fn links(&self) -> impl Iterator<Item = &str> {
        self.prose().flat_map(|line| line.split("](").skip(1)).filter_map(|rest| rest.split_once(')')).map(|(to, _)| to)
    }

    /// Whether a heading has this name, as renderers derive it: lower case, hyphens for spaces, and no other punctuation.
    pub fn has_heading(&self, name: &str) -> bool {
        let named = |heading: &str| -> String {
            let kept = heading.trim().to_lowercase().replace(' ', "-");
            kept.chars().filter(|character| character.is_alphanumeric() || *character == '-').collect()
        };
        self.prose().filter(|line| line.starts_with('#')).any(|line| named(line.trim_start_matches('#')) == name)
    }

    /// The lines outside of code blocks.
    fn prose(&self) -> impl Iterator<Item = &str> {
        let mut inside = false;
        self.text.lines().filter(move |line| {
            let fence = line.starts_with("```");
            inside ^= fence;
            !inside && !fence
        })
    }

    /// The code blocks, in their order.
    pub fn blocks(&self) -> Vec<Block<'_>> {
        let mut blocks = Vec::new();
        let mut before = "";
        let mut parts = self.text.split("```");
        while let Some(prose) = parts.next() {
            let Some((language, code)) = parts.next().and_then(|block| block.split_once('\n')) else { break };
            before = if prose.is_empty() { before } else { prose };
            let note = before.trim_end().strip_suffix("-->").and_then(|text| text.rsplit_once("<!--"));
            blocks.push(Block { note: note.map(|(_, note)| note.trim()), language, code });
        }
        blocks
    }
}

/// A path without `..` and `.` in it.
pub fn normal(path: &Path) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(parts.pop().expect("a link stays in the book")),
            Component::Normal(name) => parts.push(name.to_str().expect("a plain name")),
            _ => {}
        }
    }
    parts.join("/")
}
