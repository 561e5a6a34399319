//! Fences that a scheduler would not see.
//!
//! Some crates write a fence as assembly: on x86, `lock not` on a local variable is quicker than `mfence`. A scheduler
//! sees no assembly, so under weak memory the crate would look as if it had no fence there, and would be accused of what
//! no machine can do. Such a place therefore gets a sequentially consistent fence of the mirror, which is at least as strong:
//!
//! - assembly that may order memory;
//! - the branch for x86 of `if cfg!(…) { … } else { … }` whose other branch has a fence, and which has an atomic update instead
//!   (crossbeam-epoch, sdd): on x86 every update is a full barrier, which C++20 does not promise;
//! - the call of `membarrier`, which is a fence in every thread, and the `compiler_fence`s of the same file, which rely on it.

use std::ops::Range;

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};

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
const UPDATES: [&str; 23] = [
    "xchg", "cmpxchg", "xadd", "xacquire", "xrelease", "xbegin", "btc", "btr", "bts", // x86
    "ldar", "ldax", "ldx", "ldrex", "stlr", "stx", "stlx", "strex", "casa", "casl", "swp", // ARM
    "amo", "lr.", "sc.", // RISC-V
];

/// Where a fence stands in for what the scheduler does not see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// In front of this expression.
    Before(Range<usize>, &'static str),
    /// After what stands in this block: it stands for the atomic update there.
    After(Range<usize>),
}

/// A text without any of these has no such place.
pub(crate) const SIGNS: [&str; 3] = ["asm!", "cfg!(", "SYS_membarrier"];

/// The places in the text that the tokens are of.
pub(crate) fn places(tokens: &[TokenTree]) -> Vec<Place> {
    let mut found = Vec::new();
    add_places(tokens, has_call(tokens, &is_membarrier), &mut found);
    found
}

fn add_places(tokens: &[TokenTree], with_membarrier: bool, found: &mut Vec<Place>) {
    for (at, token) in tokens.iter().enumerate() {
        if let TokenTree::Group(group) = token {
            add_places(&group.stream().into_iter().collect::<Vec<TokenTree>>(), with_membarrier, found);
        }
        let mut before = |end: &Group, what| {
            let start = tokens[path_start(tokens, at)].span().byte_range().start;
            found.push(Place::Before(start..end.span().byte_range().end, what));
        };
        match &tokens[at..] {
            [TokenTree::Ident(name), TokenTree::Punct(mark), TokenTree::Group(code), ..]
                if name == "asm" && mark.as_char() == '!' && of(code.stream()).is_some() =>
            {
                before(code, "assembly");
            }
            [TokenTree::Ident(name), TokenTree::Group(arguments), ..] if is_membarrier(name, arguments) => {
                before(arguments, "membarrier");
            }
            [TokenTree::Ident(name), TokenTree::Group(arguments), ..]
                if with_membarrier && name == "compiler_fence" && !follows(tokens, at, "fn") =>
            {
                before(arguments, "a compiler fence that relies on membarrier");
            }
            [TokenTree::Ident(name), rest @ ..] if name == "if" => {
                found.extend(unfenced_branch(rest).map(Place::After));
            }
            _ => {}
        }
    }
}

/// Whether this is the system call `membarrier`.
fn is_membarrier(name: &Ident, arguments: &Group) -> bool {
    let names_it = |token: TokenTree| matches!(token, TokenTree::Ident(name) if name == "SYS_membarrier");
    name == "syscall" && arguments.stream().into_iter().any(names_it)
}

/// The content of the branch for x86 that has an update where the other branch has a fence. The tokens come after `if`.
fn unfenced_branch(tokens: &[TokenTree]) -> Option<Range<usize>> {
    let is_block =
        |token: &TokenTree| matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace);
    let first = tokens.iter().position(is_block)?;
    let (condition, rest) = tokens.split_at(first);
    let [TokenTree::Group(one), TokenTree::Ident(otherwise), TokenTree::Group(other), ..] = rest else { return None };
    let text: String = condition.iter().map(ToString::to_string).collect();
    if !text.starts_with("cfg!") && !text.starts_with("!cfg!") || !text.contains("x86") || otherwise != "else" {
        return None;
    }
    let all = |block: &Group| block.stream().into_iter().collect::<Vec<TokenTree>>();
    let is_fenced = |block: &Group| has_call(&all(block), &|name, _| name == "fence");
    let updates = |block: &Group| {
        let is_update =
            |name: &str| name == "swap" || name.starts_with("compare_exchange") || name.starts_with("fetch_");
        has_call(&all(block), &|name, _| is_update(&name.to_string()))
    };
    let (fenced, unfenced) = if is_fenced(one) { (one, other) } else { (other, one) };
    let stands_in = is_fenced(fenced) && !is_fenced(unfenced) && updates(unfenced);
    stands_in.then(|| unfenced.span_open().byte_range().end..unfenced.span_close().byte_range().start)
}

/// Whether a function or a method is called, here or in brackets.
fn has_call(tokens: &[TokenTree], is_it: &dyn Fn(&Ident, &Group) -> bool) -> bool {
    let inside = |group: &Group| has_call(&group.stream().into_iter().collect::<Vec<TokenTree>>(), is_it);
    tokens.iter().enumerate().any(|(at, token)| match (token, tokens.get(at + 1)) {
        (TokenTree::Group(group), _) => inside(group),
        (TokenTree::Ident(name), Some(TokenTree::Group(arguments))) => {
            arguments.delimiter() == Delimiter::Parenthesis && is_it(name, arguments)
        }
        _ => false,
    })
}

/// Whether this word stands in front of the token at `at`.
fn follows(tokens: &[TokenTree], at: usize, word: &str) -> bool {
    matches!(at.checked_sub(1).map(|before| &tokens[before]), Some(TokenTree::Ident(name)) if name == word)
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
        assert!(found.is_empty() || SIGNS.iter().any(|sign| source.contains(sign)), "{source}");
        let text = |place: Place| match place {
            Place::Before(range, _) => source[range].to_owned(),
            Place::After(range) => format!("{} …", source[range].trim()),
        };
        assert_eq!(found.into_iter().map(text).collect::<Vec<String>>(), expected, "{source}");
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
        assert_eq!(what("\"lock bts qword ptr [{0}], 0\""), Some(Assembly::Update));
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

    #[test]
    fn a_branch_for_x86_with_an_update_in_the_place_of_a_fence() {
        let x86 = "any(target_arch = \"x86\", target_arch = \"x86_64\")";
        let both = |condition: &str, one: &str, other: &str| format!("if {condition} {{ {one} }} else {{ {other} }}");
        let (swap, fence) =
            ("state.swap(1, SeqCst); compiler_fence(SeqCst);", "state.store(1, Relaxed); fence(SeqCst);");
        let is = format!("cfg!(all({x86}, not(miri)))");
        check(&both(&is, swap, fence), &[&format!("{swap} …")]);
        check(&both(&format!("cfg!(miri) || cfg!(not({x86}))"), fence, swap), &[&format!("{swap} …")]);
        let exchange = "a.compare_exchange(1, 2, SeqCst, SeqCst)";
        let nested = both(&is, exchange, "{ atomic::fence(SeqCst) }");
        check(&format!("fn pin() {{ {nested} }}"), &[&format!("{exchange} …")]);
        // Both branches are fenced, or none is; no update stands for the fence; it is not about x86.
        check(&both(&is, fence, fence), &[]);
        check(&both(&is, swap, swap), &[]);
        check(&both(&is, "state.store(1, SeqCst);", fence), &[]);
        check(&both("cfg!(miri)", swap, fence), &[]);
        check(&both("state.is_x86()", swap, fence), &[]);
    }

    #[test]
    fn membarrier_and_the_compiler_fences_that_rely_on_it() {
        let light = "fn light() { atomic::compiler_fence(SeqCst) }";
        check(light, &[]);
        let heavy = "fn heavy() { unsafe { libc::syscall(libc::SYS_membarrier, 8) } }";
        check(
            &format!("{light} mod linux {{ {heavy} }}"),
            &["atomic::compiler_fence(SeqCst)", "libc::syscall(libc::SYS_membarrier, 8)"],
        );
        check(&format!("fn compiler_fence(order: Ordering) {{}} {heavy}"), &["libc::syscall(libc::SYS_membarrier, 8)"]);
        check("fn other() { unsafe { libc::syscall(libc::SYS_gettid) } }", &[]);
    }
}
