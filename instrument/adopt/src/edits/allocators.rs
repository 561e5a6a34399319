//! Allocators of the program.
//!
//! The scheduler allocates, also while it decides about a step. If the program has an allocator of its own under control, as a test that
//! counts what is allocated does, the atomics of that allocator must not ask the scheduler for another step. So each method of a
//! `GlobalAlloc` gets a first statement, which says that an allocator is at work. Lines keep their numbers.

use proc_macro2::{Delimiter, TokenTree};

/// A text without this has no allocator.
pub(crate) const SIGN: &str = "GlobalAlloc";

/// The methods of the trait.
const METHODS: [&str; 4] = ["alloc", "alloc_zeroed", "dealloc", "realloc"];

/// Where the bodies of the methods of allocators begin, after the brace.
pub(super) fn methods(tokens: &[TokenTree]) -> Vec<usize> {
    let mut found = Vec::new();
    look_for_allocators(tokens, &mut found);
    found
}

fn look_for_allocators(tokens: &[TokenTree], found: &mut Vec<usize>) {
    let mut implements = false;
    for (at, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Ident(name) if name == SIGN => {
                // `impl GlobalAlloc for`, and not `trait Mine: GlobalAlloc`.
                implements = matches!(tokens.get(at + 1), Some(TokenTree::Ident(next)) if next == "for");
            }
            TokenTree::Punct(end) if end.as_char() == ';' => implements = false,
            TokenTree::Group(group) => {
                let inside: Vec<TokenTree> = group.stream().into_iter().collect();
                let is_body = group.delimiter() == Delimiter::Brace;
                match implements && is_body {
                    true => add_methods(&inside, found),
                    false => look_for_allocators(&inside, found),
                }
                implements &= !is_body;
            }
            _ => {}
        }
    }
}

/// Adds the methods in the body of an implementation.
fn add_methods(tokens: &[TokenTree], found: &mut Vec<usize>) {
    let mut in_method = false;
    for (at, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Ident(name) if at > 0 && METHODS.iter().any(|method| name == method) => {
                in_method = matches!(&tokens[at - 1], TokenTree::Ident(word) if word == "fn");
            }
            TokenTree::Group(body) if body.delimiter() == Delimiter::Brace => {
                if in_method {
                    found.push(body.span_open().byte_range().end);
                }
                in_method = false;
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::tokens;

    /// The text with a mark where each method begins.
    fn marked(source: &str) -> String {
        let mut text = source.to_owned();
        let places = methods(&tokens(source).unwrap());
        places.iter().rev().for_each(|place| text.insert(*place, '!'));
        text
    }

    #[test]
    fn the_methods_of_allocators_are_found() {
        let allocator = "mod inner { unsafe impl<T> std::alloc::GlobalAlloc for Own<T> { \
                         unsafe fn alloc(&self, layout: Layout) -> *mut u8 {! System.alloc(layout) } \
                         unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {! System.dealloc(block, layout) } } }";
        assert_eq!(marked(&allocator.replace('!', "")), allocator);
    }

    #[test]
    fn other_methods_are_left() {
        for source in [
            "impl Own { fn alloc(&self) { } } unsafe impl GlobalAlloc for Own { fn other(&self) { } }",
            "use std::alloc::GlobalAlloc; impl Pool for Own { fn alloc(&self) { } }",
            "trait Mine: GlobalAlloc { fn alloc(&self) { } }",
        ] {
            assert_eq!(marked(source), source);
        }
    }
}
