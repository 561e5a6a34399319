//! The paths that begin with the name of a standard crate.

use std::iter::Peekable;
use std::slice::Iter;

use proc_macro2::{Delimiter, Ident, Span, TokenTree};

/// A path, its braces resolved: `std::sync::{Arc, atomic::*}` is two of them. The last segment is `*` for a glob.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) segments: Vec<String>,
    /// Of the last segment.
    pub(crate) span: Span,
}

impl Found {
    /// As it is written.
    pub(crate) fn text(&self) -> String {
        self.segments.join("::")
    }
}

/// The names of the standard crates.
pub(crate) const STANDARD: [&str; 3] = ["std", "core", "alloc"];

/// The paths that begin at `tokens[at]`, if a standard crate is named there and something of it.
pub(crate) fn at(tokens: &[TokenTree], at: usize) -> Vec<Found> {
    let TokenTree::Ident(name) = &tokens[at] else { return Vec::new() };
    let mut found = Vec::new();
    if STANDARD.iter().any(|standard| name == standard) {
        let mut rest = tokens[at + 1..].iter().peekable();
        continue_path(&mut Vec::from([name.to_string()]), name.span(), &mut rest, &mut found);
    }
    found.retain(|path| path.segments.len() > 1);
    found
}

/// Reads what follows a segment: `::` and another segment, braces or a star, or something else, which ends the path.
fn continue_path(
    segments: &mut Vec<String>,
    span: Span,
    rest: &mut Peekable<Iter<'_, TokenTree>>,
    found: &mut Vec<Found>,
) {
    let ends = Found { segments: segments.clone(), span };
    if !colons(rest) {
        found.push(ends);
        return;
    }
    match rest.peek() {
        Some(TokenTree::Ident(name)) => {
            rest.next();
            segment(segments, name, rest, found);
        }
        Some(TokenTree::Punct(star)) if star.as_char() == '*' => {
            rest.next();
            segments.push("*".to_owned());
            found.push(Found { segments: segments.clone(), span: star.span() });
            segments.pop();
        }
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
            rest.next();
            let inner: Vec<TokenTree> = group.stream().into_iter().collect();
            for part in inner.split(|token| is(token, ',')) {
                let mut part = part.iter().peekable();
                match part.next() {
                    Some(TokenTree::Ident(name)) if name == "self" => found.push(Found { span, ..ends.clone() }),
                    Some(TokenTree::Ident(name)) => segment(segments, name, &mut part, found),
                    Some(token) if is(token, '*') => {
                        segments.push("*".to_owned());
                        found.push(Found { segments: segments.clone(), span: token.span() });
                        segments.pop();
                    }
                    _ => {}
                }
            }
        }
        // `Vec::<u8>::new`: what follows are parameters.
        _ => found.push(ends),
    }
}

fn segment(segments: &mut Vec<String>, name: &Ident, rest: &mut Peekable<Iter<'_, TokenTree>>, found: &mut Vec<Found>) {
    segments.push(name.to_string());
    continue_path(segments, name.span(), rest, found);
    segments.pop();
}

/// Takes `::`.
fn colons(rest: &mut Peekable<Iter<'_, TokenTree>>) -> bool {
    let mut ahead = rest.clone();
    let two = ahead.next().is_some_and(|token| is(token, ':')) && ahead.next().is_some_and(|token| is(token, ':'));
    if two {
        *rest = ahead;
    }
    two
}

fn is(token: &TokenTree, char: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == char)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(source: &str, expected: &[&str]) {
        let stream: proc_macro2::TokenStream = source.parse().unwrap();
        let tokens: Vec<TokenTree> = stream.into_iter().collect();
        let found = (0..tokens.len()).flat_map(|index| at(&tokens, index));
        assert_eq!(found.map(|path| path.text()).collect::<Vec<String>>(), expected, "{source}");
    }

    #[test]
    fn braces_are_resolved() {
        check("use std::sync::Mutex;", &["std::sync::Mutex"]);
        check(
            "use ::core::sync::atomic::{AtomicBool, Ordering::*};",
            &["core::sync::atomic::AtomicBool", "core::sync::atomic::Ordering::*"],
        );
        check(
            "use std::{sync::{self, Arc, atomic::{self as a, AtomicU8}}, thread, *};",
            &[
                "std::sync",
                "std::sync::Arc",
                "std::sync::atomic",
                "std::sync::atomic::AtomicU8",
                "std::thread",
                "std::*",
            ],
        );
        check("use alloc::{vec::Vec, };", &["alloc::vec::Vec"]);
    }

    #[test]
    fn expressions_and_types_end_where_they_end() {
        check("let x = std::sync::Mutex::new(std::thread::current());", &["std::sync::Mutex::new"]);
        check("fn f(a: std::sync::Mutex<u8>, b: core::cell::Cell::<u8>)", &[]);
        check("a: std::sync::Mutex<u8>, b: core::cell::Cell::<u8>", &["std::sync::Mutex", "core::cell::Cell"]);
        check("extern crate std;", &[]);
        check("my::sync::Mutex", &[]);
    }
}
