//! Marks that say where calls of a collection begin and end.
//!
//! A method under test calls a published collection as it is. To run each call as one turn, the driver has to hear it:
//! `interloper_std::runtime::calls`. So each method that other crates can call gets a first statement. Lines keep their
//! numbers.
//!
//! Methods are functions that take `self`: public ones of inherent `impl` blocks, and all of traits and their
//! implementations. What macros make is not marked. Neither are functions that cannot have the statement (`const`), whose
//! end is not the end of the call (`async`), or that other languages call (`extern`).

use proc_macro2::{Delimiter, Group, TokenTree};

/// A method to be marked, by places in the text that the tokens are of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Method {
    pub(super) name: String,
    /// Where its body begins, after the brace.
    pub(super) body: usize,
    /// Whether it is part of the call before it: `Drop::drop`, and unsafe functions such as `unlock`, which a guard calls.
    pub(super) drops: bool,
}

/// The methods of a file that other crates can call.
pub(super) fn methods(tokens: &[TokenTree]) -> Vec<Method> {
    let mut all = Vec::new();
    items(tokens, Around::Module, &mut all);
    all
}

/// What items stand in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Around {
    /// A file or a module.
    Module,
    /// `impl Type`: public methods can be called.
    Type,
    /// A trait, or an implementation of one: all methods can be called.
    Trait,
    /// `impl Drop for Type`.
    Drop,
}

fn items(tokens: &[TokenTree], around: Around, all: &mut Vec<Method>) {
    let mut at = 0;
    while at < tokens.len() {
        let item = after_attributes(tokens, at);
        at = match keyword(tokens, item) {
            Some((keyword, "fn")) => function(tokens, (at, item, keyword), around, all),
            Some((keyword, word)) => {
                let end = brace(tokens, keyword).unwrap_or(tokens.len());
                if let Some(TokenTree::Group(body)) = tokens.get(end) {
                    let inner = match word {
                        "mod" => Around::Module,
                        "trait" => Around::Trait,
                        _ => implemented(&tokens[keyword..end]),
                    };
                    items(&inner_tokens(body), inner, all);
                }
                end + 1
            }
            None => end_of_item(tokens, item),
        };
    }
}

/// The keyword of an item that can have methods, with its index; `None` if the item ends before such a keyword.
fn keyword(tokens: &[TokenTree], item: usize) -> Option<(usize, &'static str)> {
    const WORDS: [&str; 4] = ["fn", "impl", "mod", "trait"];
    const BEFORE: [&str; 9] = ["pub", "const", "async", "unsafe", "extern", "default", "safe", "auto", "crate"];
    for (index, token) in tokens.iter().enumerate().skip(item) {
        match token {
            TokenTree::Ident(word) => {
                if let Some(found) = WORDS.iter().find(|wanted| word == *wanted) {
                    let ends_at_once = *found == "mod" && is_punct(tokens.get(index + 2), ';');
                    return (!ends_at_once).then_some((index, *found));
                }
                if !BEFORE.iter().any(|before| word == before) {
                    return None;
                }
            }
            // `pub(crate)`, `extern "C"`.
            TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis => {}
            TokenTree::Literal(_) => {}
            _ => return None,
        }
    }
    None
}

/// A function, by where its attributes and its qualifiers begin and by its keyword. Gives where the next item begins.
fn function(
    tokens: &[TokenTree],
    (attributes, item, keyword): (usize, usize, usize),
    around: Around,
    all: &mut Vec<Method>,
) -> usize {
    let end = end_of_item(tokens, keyword);
    let (Some(TokenTree::Ident(name)), Some(TokenTree::Group(body))) = (tokens.get(keyword + 1), tokens.get(end - 1))
    else {
        return end;
    };
    let qualifiers = &tokens[item..keyword];
    let has = |word: &str| qualifiers.iter().any(|token| matches!(token, TokenTree::Ident(name) if name == word));
    let restricted = matches!(qualifiers.get(1), Some(TokenTree::Group(_)));
    let callable = match around {
        Around::Module => false,
        Around::Type => has("pub") && !restricted,
        Around::Trait | Around::Drop => true,
    };
    let unfit = has("const") || has("async") || has("extern") || begins_with_attribute(body);
    let attribute = |wanted: &str| tokens[attributes..item].iter().any(|token| token.to_string().contains(wanted));
    let unfit = unfit || attribute("target_feature") || attribute("naked");
    if body.delimiter() == Delimiter::Brace && callable && !unfit && takes_self(tokens, keyword + 2) {
        all.push(Method {
            name: name.to_string(),
            body: body.span_open().byte_range().end,
            drops: around == Around::Drop || has("unsafe"),
        });
    }
    end
}

/// Whether the first parameter is `self`, in whatever form. `at` is after the name of the function.
fn takes_self(tokens: &[TokenTree], at: usize) -> bool {
    let mut depth = 0;
    for index in at..tokens.len() {
        match &tokens[index] {
            TokenTree::Punct(punct) if punct.as_char() == '<' => depth += 1,
            TokenTree::Punct(punct) if punct.as_char() == '>' && !is_punct(tokens.get(index - 1), '-') => depth -= 1,
            TokenTree::Group(group) if depth == 0 && group.delimiter() == Delimiter::Parenthesis => {
                let first = group.stream().into_iter().take_while(|token| !is_punct(Some(token), ','));
                return first
                    .take_while(|token| !is_punct(Some(token), ':'))
                    .any(|token| matches!(&token, TokenTree::Ident(word) if word == "self"));
            }
            _ => {}
        }
    }
    false
}

/// What an `impl` block implements, by what stands before its brace.
fn implemented(header: &[TokenTree]) -> Around {
    let of = (1..header.len()).find(|&index| {
        let is_for = matches!(&header[index], TokenTree::Ident(word) if word == "for");
        // `for<'a>` is of a bound.
        is_for && !is_punct(header.get(index + 1), '<')
    });
    match of.map(|of| &header[of - 1]) {
        None => Around::Type,
        Some(TokenTree::Ident(name)) if name == "Drop" => Around::Drop,
        Some(_) => Around::Trait,
    }
}

fn after_attributes(tokens: &[TokenTree], mut at: usize) -> usize {
    loop {
        let mark = usize::from(is_punct(tokens.get(at + 1), '!'));
        match (tokens.get(at), tokens.get(at + 1 + mark)) {
            (Some(hash), Some(TokenTree::Group(group)))
                if is_punct(Some(hash), '#') && group.delimiter() == Delimiter::Bracket =>
            {
                at += 2 + mark;
            }
            _ => return at,
        }
    }
}

/// Behind the semicolon or the braces that end an item.
fn end_of_item(tokens: &[TokenTree], at: usize) -> usize {
    let ends = |index: &usize| is_punct(tokens.get(*index), ';') || is_body(tokens, *index);
    (at..tokens.len()).find(ends).map_or(tokens.len(), |end| end + 1)
}

/// The next braces.
fn brace(tokens: &[TokenTree], at: usize) -> Option<usize> {
    (at..tokens.len()).find(|&index| is_body(tokens, index))
}

/// Braces that are not an argument of a type: `Array<{ N }>`.
fn is_body(tokens: &[TokenTree], index: usize) -> bool {
    let braces = matches!(&tokens[index], TokenTree::Group(group) if group.delimiter() == Delimiter::Brace);
    let argument = index > 0 && (is_punct(tokens.get(index - 1), '<') || is_punct(tokens.get(index + 1), '>'));
    braces && !argument
}

fn begins_with_attribute(body: &Group) -> bool {
    let mut tokens = body.stream().into_iter();
    is_punct(tokens.next().as_ref(), '#') && is_punct(tokens.next().as_ref(), '!')
}

fn is_punct(token: Option<&TokenTree>, wanted: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == wanted)
}

fn inner_tokens(group: &Group) -> Vec<TokenTree> {
    group.stream().into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text;

    #[track_caller]
    fn check(source: &str, expected: &[&str]) {
        let tokens = text::tokens(source).expect("it is Rust");
        let names: Vec<String> = methods(&tokens).into_iter().map(|method| method.name).collect();
        assert_eq!(names, expected);
    }

    #[test]
    fn public_methods_are_marked() {
        check("impl A { pub fn a(&self) {} fn b(&self) {} pub(crate) fn c(&self) {} pub fn d(x: u8) {} }", &["a"]);
        check("impl<'a, T: Fn(&u8) -> u8> A<T> { pub fn a<F: Fn(u8)>(&'a mut self, f: F) -> u8 { 1 } }", &["a"]);
        check(
            "impl A { pub fn a(self: Arc<Self>) {} pub fn b(mut self) {} pub unsafe fn c(self) {} }",
            &["a", "b", "c"],
        );
        check("pub fn a(this: &A) {} struct B { c: u8 } mod d { impl A { pub fn e(&self) {} } }", &["e"]);
        check("use a::{b, c}; static D: u8 = { 1 }; impl A { const E: u8 = { 2 }; pub fn f(&self) {} }", &["f"]);
        check("mod a; impl A { pub fn b(&self) {} }", &["b"]);
    }

    #[test]
    fn all_methods_of_traits_are_marked() {
        check("impl<'a> Iterator for A<'a> { type Item = u8; fn next(&mut self) -> Option<u8> { None } }", &["next"]);
        check("pub unsafe trait A { fn a(&self); fn b(&self) {} fn c() {} }", &["b"]);
        check("impl A for B where for<'a> C: D<&'a u8> { fn e(&self) {} }", &["e"]);
    }

    #[test]
    fn what_cannot_be_marked_is_not() {
        check("impl A { pub const fn a(&self) {} pub async fn b(&self) {} pub extern \"C\" fn c(&self) {} }", &[]);
        check("impl A { #[target_feature(enable = \"avx\")] pub fn a(&self) {} }", &[]);
        check("impl A { pub fn a(&self) { #![allow(unused)] } }", &[]);
        check("macro_rules! a { () => { impl A { pub fn b(&self) {} } } } c! { impl A { pub fn d(&self) {} } }", &[]);
        check("impl A { pub fn a(&self, other: &B) -> [u8; { 1 }]; }", &[]);
    }

    #[test]
    fn destructors_are_told() {
        let source = "impl Drop for A { #[inline] fn drop(&mut self) { b() } } impl A { pub fn drop(&self) {} }";
        let tokens = text::tokens(source).expect("it is Rust");
        let [destructor, other] = &methods(&tokens)[..] else { panic!("two methods") };
        assert!(destructor.drops && !other.drops);
        let tokens = text::tokens("unsafe impl RawLock for A { unsafe fn unlock(&self) {} }").expect("it is Rust");
        assert!(methods(&tokens)[0].drops);
        assert!(source[..destructor.body].ends_with("fn drop(&mut self) {"));
        assert!(source[..other.body].ends_with("pub fn drop(&self) {"));
    }
}
