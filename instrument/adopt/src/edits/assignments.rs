//! Assignments to elements in constant functions.
//!
//! An assignment drops what was there. A constant function cannot do that where the old value has a destructor, and an atomic
//! of the mirror has one: it forgets its address. heapless fills an array of cells with atomics so. In a file that names
//! atomics, such an assignment puts the new value there and forgets the old one. That drops nothing, as std's atomics do.

use std::ops::Range;

use proc_macro2::{Delimiter, Spacing, TokenTree};

/// An assignment, by its places in the text: what it assigns to, and the value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Assignment {
    pub(crate) to: Range<usize>,
    pub(crate) value: Range<usize>,
}

/// The quick question: false where there is no such assignment.
pub(crate) fn may_be_in(source: &str) -> bool {
    source.contains("Atomic") && source.contains("const ")
}

/// The assignments to elements in constant functions of the text that the tokens are of.
pub(crate) fn places(tokens: &[TokenTree]) -> Vec<Assignment> {
    let mut found = Vec::new();
    if names_atomics(tokens) {
        add_functions(tokens, &mut found);
    }
    found
}

fn names_atomics(tokens: &[TokenTree]) -> bool {
    tokens.iter().any(|token| match token {
        TokenTree::Ident(name) => name.to_string().starts_with("Atomic"),
        TokenTree::Group(group) => names_atomics(&group.stream().into_iter().collect::<Vec<TokenTree>>()),
        _ => false,
    })
}

/// Looks for constant functions.
fn add_functions(tokens: &[TokenTree], found: &mut Vec<Assignment>) {
    let mut is_constant = false;
    for (at, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Ident(name) if name == "fn" => is_constant = is_const(&tokens[..at]),
            TokenTree::Punct(mark) if mark.as_char() == ';' => is_constant = false,
            TokenTree::Group(group) => {
                let inside: Vec<TokenTree> = group.stream().into_iter().collect();
                let is_body = group.delimiter() == Delimiter::Brace;
                match is_constant && is_body {
                    true => add_assignments(&inside, found),
                    false => add_functions(&inside, found),
                }
                is_constant &= !is_body;
            }
            _ => {}
        }
    }
}

/// Whether `const` stands among the words in front of `fn`: `pub const unsafe fn`.
fn is_const(before: &[TokenTree]) -> bool {
    let words = before.iter().rev().map_while(|token| match token {
        TokenTree::Ident(word) => Some(word.to_string()),
        TokenTree::Literal(abi) => Some(abi.to_string()),
        _ => None,
    });
    words.take_while(|word| word != "fn").any(|word| word == "const")
}

/// Looks for assignments in the body of a function, or in a block.
fn add_assignments(tokens: &[TokenTree], found: &mut Vec<Assignment>) {
    let mut start = 0;
    for (at, token) in tokens.iter().enumerate() {
        if let TokenTree::Group(group) = token {
            add_assignments(&group.stream().into_iter().collect::<Vec<TokenTree>>(), found);
        }
        let ends = match token {
            TokenTree::Punct(mark) if mark.as_char() == ';' => {
                found.extend(assignment(&tokens[start..at]));
                true
            }
            TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
            _ => false,
        };
        if ends {
            start = at + 1;
        }
    }
}

/// A statement without its semicolon, if it assigns to an element: `all[index].first = value` does not.
fn assignment(statement: &[TokenTree]) -> Option<Assignment> {
    let equals = statement.iter().position(|token| matches!(token, TokenTree::Punct(mark) if mark.as_char() == '='))?;
    let (to, value) = (&statement[..equals], &statement[equals + 1..]);
    let is_place = to.iter().all(|token| match token {
        TokenTree::Ident(word) => word != "let" && word != "const",
        TokenTree::Punct(mark) => mark.as_char() == '.',
        TokenTree::Group(index) => index.delimiter() == Delimiter::Bracket,
        TokenTree::Literal(_) => true,
    });
    let is_element = matches!(to, [TokenTree::Ident(_), .., TokenTree::Group(_)]);
    let is_assigned = matches!(&statement[equals], TokenTree::Punct(mark) if mark.spacing() == Spacing::Alone);
    let range = |tokens: &[TokenTree]| {
        let (first, last) = (tokens.first()?, tokens.last()?);
        Some(first.span().byte_range().start..last.span().byte_range().end)
    };
    (is_place && is_element && is_assigned).then_some(())?;
    Some(Assignment { to: range(to)?, value: range(value)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(source: &str, expected: &[(&str, &str)]) {
        let stream: proc_macro2::TokenStream = source.parse().expect("tokens");
        let found = places(&stream.into_iter().collect::<Vec<TokenTree>>());
        let text = |one: Assignment| (&source[one.to], &source[one.value]);
        assert_eq!(found.into_iter().map(text).collect::<Vec<_>>(), expected, "{source}");
    }

    #[test]
    fn elements_that_constant_functions_assign() {
        let atomic = "struct Cell(AtomicU8);";
        check(
            &format!(
                "{atomic} impl A {{ pub const fn new() -> A {{ while i < N {{ cells[i] = Cell::new(i); i += 1; }} A {{ cells }} }} }}"
            ),
            &[("cells[i]", "Cell::new(i)")],
        );
        check(&format!("{atomic} const unsafe fn f() {{ a.b[0][1] = b[2]; }}"), &[("a.b[0][1]", "b[2]")]);
        // In other functions and files, and what assigns to no element.
        check(&format!("{atomic} fn f() {{ a[0] = b; }}"), &[]);
        check(&format!("{atomic} const A: [u8; 1] = [0]; fn f() {{ a[0] = b; }}"), &[]);
        check("const fn f() { a[0] = b; }", &[]);
        check(&format!("{atomic} const fn f() {{ let a = b[0]; a = 1; a[0] += 1; a[0].c = 2; a[0] == 3; }}"), &[]);
    }
}
