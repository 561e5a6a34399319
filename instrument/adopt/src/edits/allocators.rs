//! Allocators of the program.
//!
//! The scheduler allocates, also while it decides about a step. If the program has an allocator of its own under control, as a test that
//! counts what is allocated does, the atomics of that allocator must not ask the scheduler for another step. So each method of a
//! `GlobalAlloc` gets a first statement, which says that an allocator is at work.
//!
//! The global allocator of the checker keeps what an execution frees. A program has one global allocator, so that of the program becomes
//! an ordinary static, which the checker's asks for memory; and where it asks the system for memory, it asks the checker instead. Lines
//! keep their numbers.

use std::ops::Range;

use proc_macro2::{Delimiter, TokenTree};

use super::MIRROR_CRATE;

/// A text without this has no implementation of an allocator.
pub(crate) const SIGN: &str = "GlobalAlloc";

/// A text without this names no global allocator.
pub(crate) const ATTRIBUTE: &str = "global_allocator";

/// The methods of the trait.
const METHODS: [&str; 4] = ["alloc", "alloc_zeroed", "dealloc", "realloc"];

/// The name of the allocator of the system, in std.
pub(crate) const SYSTEM: &str = "System";

/// A static that is the global allocator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Global {
    name: String,
    /// The last name in the path of its type.
    pub(crate) of: String,
    /// The line of its attribute.
    pub(crate) line: usize,
    attribute: Range<usize>,
    value: Range<usize>,
}

/// The global allocators of a text; `None` if it names one in another way, as in the arguments of `cfg_attr`.
pub(crate) fn globals(tokens: &[TokenTree]) -> Option<Vec<Global>> {
    let mut found = Vec::new();
    look_for_globals(tokens, &mut found).then_some(found)
}

fn look_for_globals(tokens: &[TokenTree], found: &mut Vec<Global>) -> bool {
    tokens.iter().enumerate().all(|(at, token)| match token {
        TokenTree::Group(group) => {
            let inside: Vec<TokenTree> = group.stream().into_iter().collect();
            match &inside[..] {
                [TokenTree::Ident(only)] if only == ATTRIBUTE && group.delimiter() == Delimiter::Bracket => {
                    let global = at.checked_sub(1).and_then(|hash| global(&tokens[hash..]));
                    found.extend(global.clone());
                    global.is_some()
                }
                inside => look_for_globals(inside, found),
            }
        }
        TokenTree::Ident(name) => name != ATTRIBUTE,
        _ => true,
    })
}

/// The static that these tokens begin with: its attribute comes first.
fn global(tokens: &[TokenTree]) -> Option<Global> {
    let is = |at: usize, char| matches!(tokens.get(at), Some(TokenTree::Punct(punct)) if punct.as_char() == char);
    let word = |at: usize| match tokens.get(at) {
        Some(TokenTree::Ident(word)) => Some(word.to_string()),
        _ => None,
    };
    let end = (0..tokens.len()).find(|at| is(*at, ';'))?;
    let begin = (0..end).find(|at| word(*at).is_some_and(|word| word == "static"))?;
    let equals = (begin..end).find(|at| is(*at, '='))?;
    let of = (begin + 3..equals).take_while(|at| !is(*at, '<')).filter_map(word).last()?;
    if !is(begin + 2, ':') || equals + 1 == end {
        return None;
    }
    Some(Global {
        name: word(begin + 1)?,
        of,
        line: tokens[0].span().start().line,
        attribute: tokens[0].span().byte_range().start..tokens[1].span().byte_range().end,
        value: tokens[equals + 1].span().byte_range().start..tokens[end - 1].span().byte_range().end,
    })
}

/// A type that is an allocator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Implementation {
    /// The last name in the path of the type.
    pub(crate) of: String,
    methods: Vec<Method>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Method {
    /// Its body, without the braces.
    body: Range<usize>,
    /// Where it asks the system's allocator for the same: the whole path.
    systems: Vec<Range<usize>>,
}

impl Implementation {
    /// Whether each of its methods asks the system for the same.
    pub(crate) fn is_of_system(&self) -> bool {
        !self.methods.is_empty() && self.methods.iter().all(|method| !method.systems.is_empty())
    }
}

/// The allocators in a text.
pub(crate) fn implementations(tokens: &[TokenTree]) -> Vec<Implementation> {
    let mut found = Vec::new();
    look_for_implementations(tokens, &mut found);
    found
}

fn look_for_implementations(tokens: &[TokenTree], found: &mut Vec<Implementation>) {
    // The last name of the type, once it is known to be an allocator; the type ends where its parameters begin.
    let mut implements: Option<(String, bool)> = None;
    for (at, token) in tokens.iter().enumerate() {
        match token {
            // `impl GlobalAlloc for`, and not `trait Mine: GlobalAlloc`.
            TokenTree::Ident(name) if name == SIGN => {
                let is_implemented = matches!(tokens.get(at + 1), Some(TokenTree::Ident(next)) if next == "for");
                implements = is_implemented.then(|| (String::new(), false));
            }
            TokenTree::Ident(name) if name == "where" => implements.iter_mut().for_each(|(_, ends)| *ends = true),
            TokenTree::Ident(name) if name != "for" => {
                implements.iter_mut().filter(|(_, ends)| !ends).for_each(|(of, _)| *of = name.to_string());
            }
            TokenTree::Punct(end) if end.as_char() == ';' => implements = None,
            TokenTree::Punct(end) if end.as_char() == '<' => {
                implements.iter_mut().for_each(|(_, ends)| *ends = true);
            }
            TokenTree::Group(group) => {
                let inside: Vec<TokenTree> = group.stream().into_iter().collect();
                let is_body = group.delimiter() == Delimiter::Brace;
                match implements.take_if(|_| is_body) {
                    Some((of, _)) => found.push(Implementation { of, methods: methods(&inside) }),
                    None => look_for_implementations(&inside, found),
                }
            }
            _ => {}
        }
    }
}

/// The methods in the body of an implementation.
fn methods(tokens: &[TokenTree]) -> Vec<Method> {
    let mut found = Vec::new();
    let mut method = None;
    for (at, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Ident(name) if at > 0 && METHODS.iter().any(|method| name == method) => {
                let is_named = matches!(&tokens[at - 1], TokenTree::Ident(word) if word == "fn");
                method = is_named.then(|| name.to_string());
            }
            TokenTree::Group(body) if body.delimiter() == Delimiter::Brace => {
                if let Some(name) = method.take() {
                    let mut systems = Vec::new();
                    look_for_system(&body.stream().into_iter().collect::<Vec<_>>(), &name, &mut systems);
                    let body = body.span_open().byte_range().end..body.span_close().byte_range().start;
                    found.push(Method { body, systems });
                }
            }
            _ => {}
        }
    }
    found
}

/// Looks for `System.method`, with what the name is reached by.
fn look_for_system(tokens: &[TokenTree], method: &str, found: &mut Vec<Range<usize>>) {
    let is = |at: usize, char| matches!(tokens.get(at), Some(TokenTree::Punct(punct)) if punct.as_char() == char);
    let word = |at: usize, wanted: &str| matches!(tokens.get(at), Some(TokenTree::Ident(word)) if word == wanted);
    for (at, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Ident(name) if name == SYSTEM && is(at + 1, '.') && word(at + 2, method) => {
                let mut begin = at;
                while begin >= 2 && is(begin - 1, ':') && is(begin - 2, ':') {
                    let named = begin >= 3 && matches!(&tokens[begin - 3], TokenTree::Ident(_));
                    begin -= if named { 3 } else { 2 };
                }
                found.push(tokens[begin].span().byte_range().start..token.span().byte_range().end);
            }
            TokenTree::Group(group) => {
                look_for_system(&group.stream().into_iter().collect::<Vec<_>>(), method, found);
            }
            _ => {}
        }
    }
}

/// What says at the beginning of a method that an allocator is at work.
fn mark() -> String {
    format!(" let _interloper_allocates = ::{MIRROR_CRATE}::runtime::allocating();")
}

/// Pieces of a text with what comes in their place: those that mark the methods.
pub(crate) fn marks(implementations: &[Implementation], text: &str) -> Vec<(Range<usize>, String)> {
    let methods = implementations.iter().flat_map(|implementation| &implementation.methods);
    let unmarked = methods.filter(|method| !text[method.body.clone()].starts_with(&mark()));
    unmarked.map(|method| (method.body.start..method.body.start, mark())).collect()
}

/// Pieces of a text with what comes in their place: those that make these allocators ask the checker for memory.
pub(crate) fn above_ours(implementations: &[&Implementation]) -> Vec<(Range<usize>, String)> {
    let methods = implementations.iter().flat_map(|implementation| &implementation.methods);
    // The name stays, since an import of it must not be one too many.
    let (before, after) = (format!("::{MIRROR_CRATE}::plain::Beneath::of("), ")".to_owned());
    let systems = methods.flat_map(|method| &method.systems);
    systems.flat_map(|at| [(at.start..at.start, before.clone()), (at.end..at.end, after.clone())]).collect()
}

impl Global {
    /// Pieces of a text with what comes in their place: those that make it an ordinary static, which the checker asks for memory if
    /// `asked`.
    pub(crate) fn demoted(&self, asked: bool) -> Vec<(Range<usize>, String)> {
        // Nothing else may name it.
        let mut pieces = vec![(self.attribute.clone(), "#[allow(dead_code)]".to_owned())];
        if asked {
            let Range { start, end } = self.value;
            let registered = format!("{{ ::{MIRROR_CRATE}::__own_allocator!({}); ", self.name);
            pieces.extend([(start..start, registered), (end..end, " }".to_owned())]);
        }
        pieces
    }
}

#[cfg(test)]
mod tests;
