//! Fences beside assembly.
//!
//! Some crates write a fence as assembly: on x86, `lock not` on a local variable is quicker than `mfence`. A scheduler
//! sees no assembly, so under weak memory the crate would look as if it had no fence there, and would be accused of what
//! no machine can do. Assembly that may order memory therefore gets a sequentially consistent fence of the mirror in front
//! of it, which is at least as strong.

use std::ops::Range;

use proc_macro2::{TokenStream, TokenTree};

/// What assembly does to memory that other threads can see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Assembly {
    /// It orders what is before it and after it.
    Fence,
    /// It changes memory atomically: a step that nobody sees.
    Update,
}

/// The beginnings of instructions that order memory.
const FENCES: [&str; 7] = ["lock", "mfence", "lfence", "sfence", "dmb", "dsb", "fence"];

/// The beginnings of instructions that change memory atomically.
const UPDATES: [&str; 20] = [
    "xchg", "cmpxchg", "xadd", "xacquire", "xrelease", "xbegin", // x86
    "ldar", "ldax", "ldx", "ldrex", "stlr", "stx", "stlx", "strex", "casa", "casl", "swp", // ARM
    "amo", "lr.", "sc.", // RISC-V
];

/// Where in the text that the tokens are of there is an `asm!` that may order memory: from its path to its last bracket.
pub(crate) fn places(tokens: &[TokenTree]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        if let TokenTree::Group(group) = token {
            found.extend(places(&group.stream().into_iter().collect::<Vec<TokenTree>>()));
        }
        if let [TokenTree::Ident(name), TokenTree::Punct(mark), TokenTree::Group(code), ..] = &tokens[at..]
            && name == "asm"
            && mark.as_char() == '!'
            && of(code.stream()).is_some()
        {
            let start = tokens[path_start(tokens, at)].span().byte_range().start;
            found.push(start..code.span().byte_range().end);
        }
    }
    found
}

/// What the text of an `asm!` does, as far as its instructions say.
pub(crate) fn of(code: TokenStream) -> Option<Assembly> {
    let does = |token: TokenTree| match token {
        TokenTree::Group(group) => of(group.stream()),
        TokenTree::Literal(literal) => {
            let text = literal.to_string().to_lowercase();
            let words = text.split(|character: char| !(character.is_ascii_alphanumeric() || character == '.'));
            words.filter_map(instruction).max()
        }
        _ => None,
    };
    code.into_iter().filter_map(does).max()
}

fn instruction(word: &str) -> Option<Assembly> {
    let begins = |instructions: &[&str]| instructions.iter().any(|instruction| word.starts_with(instruction));
    let fence = begins(&FENCES).then_some(Assembly::Fence);
    if begins(&UPDATES) { Some(Assembly::Update) } else { fence }
}

/// Where the path that ends with the name at `at` begins: `core::arch::asm`.
fn path_start(tokens: &[TokenTree], at: usize) -> usize {
    let colons = |at: usize| {
        let is = |at: usize| matches!(&tokens[at], TokenTree::Punct(punct) if punct.as_char() == ':');
        at >= 2 && is(at - 1) && is(at - 2)
    };
    let mut first = at;
    while colons(first) {
        first -= 2;
        if first > 0 && matches!(tokens[first - 1], TokenTree::Ident(_)) {
            first -= 1;
        }
    }
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(source: &str, expected: &[&str]) {
        let stream: TokenStream = source.parse().expect("tokens");
        let found = places(&stream.into_iter().collect::<Vec<TokenTree>>());
        assert_eq!(found.into_iter().map(|range| &source[range]).collect::<Vec<&str>>(), expected, "{source}");
    }

    #[test]
    fn assembly_that_orders_memory() {
        check("unsafe { asm!(\"lock not {0}\", in(reg) a) }", &["asm!(\"lock not {0}\", in(reg) a)"]);
        check("core::arch::asm!(\"mfence\");", &["core::arch::asm!(\"mfence\")"]);
        check("::core::arch::asm!(\"mfence\")", &["::core::arch::asm!(\"mfence\")"]);
        check("f(); asm!(\"nop\", \"dmb ish\")", &["asm!(\"nop\", \"dmb ish\")"]);
        check("asm!(concat!(\"ldaxr {0:w}, [\", \"{1}]\"))", &["asm!(concat!(\"ldaxr {0:w}, [\", \"{1}]\"))"]);
        check("macro_rules! m { () => { asm!(\"xchg {}, {}\") } }", &["asm!(\"xchg {}, {}\")"]);
    }

    #[test]
    fn an_update_is_more_than_a_fence() {
        let what = |source: &str| of(source.parse().expect("tokens"));
        assert_eq!(what("\"lock not {0}\", in(reg) a"), Some(Assembly::Fence));
        assert_eq!(what("\"lock cmpxchg [{0}], {1}\""), Some(Assembly::Update));
        assert_eq!(what("\"xacquire\", \"lock\", \"cmpxchg\""), Some(Assembly::Update));
        assert_eq!(what("\"fence rw, rw\""), Some(Assembly::Fence));
        assert_eq!(what("\"cpuid\", out(\"eax\") _"), None);
    }

    #[test]
    fn assembly_that_does_not() {
        check("asm!(\"nop\"); asm!(\"rdtsc\", out(\"eax\") low)", &[]);
        check("asm!(\"pause\")", &[]);
        check("asm!(\"block {}\")", &[]);
        check("if asm != lock { fence(\"mfence\") }", &[]);
    }
}
