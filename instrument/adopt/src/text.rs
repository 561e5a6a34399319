//! Source text as tokens.

use std::ops::Range;
use std::str::FromStr;

use proc_macro2::{TokenStream, TokenTree};

/// Text that is not Rust.
#[derive(Debug)]
pub(crate) struct Bad {
    pub(crate) line: usize,
    pub(crate) reason: String,
}

/// How many bytes at the beginning are not tokens: a byte order mark, and the line that names an interpreter.
pub(crate) fn preamble(source: &str) -> usize {
    let mark = if source.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let rest = &source[mark..];
    let attribute = rest.strip_prefix("#!").is_some_and(|rest| rest.trim_start().starts_with('['));
    if !rest.starts_with("#!") || attribute {
        return mark;
    }
    // The end of the line stays: it separates tokens.
    mark + rest.find('\n').unwrap_or(rest.len())
}

/// The tokens of a file. Lines are counted as in the file; bytes are counted from the end of the preamble.
///
/// # Errors
/// When brackets do not match or a literal does not end.
pub(crate) fn tokens(source: &str) -> Result<Vec<TokenTree>, Bad> {
    let stream = TokenStream::from_str(&source[preamble(source)..]);
    // The error itself names nothing but the line.
    let reason = || "a bracket has no partner, or a literal does not end".to_owned();
    let stream = stream.map_err(|error| Bad { line: error.span().start().line, reason: reason() })?;
    Ok(stream.into_iter().collect())
}

/// The source with these texts in the place of its pieces. Of two at one place, the first comes first.
pub(crate) fn replaced(source: &str, mut pieces: Vec<(Range<usize>, String)>) -> String {
    pieces.sort_by_key(|(range, _)| (range.start, range.end));
    let mut text = String::with_capacity(source.len() + 128);
    let mut at = 0;
    for (range, new) in &pieces {
        text.push_str(&source[at..range.start]);
        text.push_str(new);
        at = range.end;
    }
    text.push_str(&source[at..]);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_preamble_is_no_token() {
        for (source, length) in [
            ("fn f() {}", 0),
            ("#![no_std]", 0),
            ("#! [no_std]", 0),
            ("\u{feff}fn f() {}", 3),
            ("#!/usr/bin/env cargo\nfn f() {}", 20),
            ("\u{feff}#!/bin/x\nfn f() {}", 11),
        ] {
            assert_eq!(preamble(source), length, "{source}");
            assert!(tokens(source).is_ok_and(|tokens| !tokens.is_empty()), "{source}");
        }
    }

    #[test]
    fn a_bracket_without_its_other_half_has_a_line() {
        let bad = tokens("fn f() {\n\n)").expect_err("refused");
        assert_eq!(bad.line, 3);
    }
}
