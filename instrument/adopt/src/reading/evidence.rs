//! What in the tokens of a crate says that it must come along, or that it cannot.

use proc_macro2::{Delimiter, Span, TokenTree};

use super::paths;
use crate::edits::fences::{self, Assembly};

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// Synchronisation or threads of the standard library.
    Synchronises,
    /// A wait in the kernel by address.
    Futex,
    /// Assembly that orders memory.
    Fence,
    /// Assembly that changes memory atomically.
    Assembly,
    /// A call of a foreign function that waits.
    BlockingCall,
    /// The clock, or hashers with keys of the system: an execution has its own.
    Reads,
}

/// One piece of evidence.
#[derive(Clone, Debug)]
pub(crate) struct Evidence {
    pub(crate) kind: Kind,
    /// The name that was found.
    pub(crate) text: String,
    pub(crate) span: Span,
}

/// The evidence that begins at `tokens[at]`.
pub(crate) fn at(tokens: &[TokenTree], at: usize) -> Vec<Evidence> {
    let TokenTree::Ident(name) = &tokens[at] else { return Vec::new() };
    let (text, span) = (name.to_string(), name.span());
    let one = |kind| Vec::from([Evidence { kind, text: text.clone(), span }]);
    if followed_by(tokens, at, '!') {
        return match text.as_str() {
            "thread_local" => one(Kind::Synchronises),
            "asm" | "global_asm" | "naked_asm" => match tokens.get(at + 2) {
                Some(TokenTree::Group(code)) => fences::of(code.stream()).map_or_else(Vec::new, |does| match does {
                    Assembly::Fence => one(Kind::Fence),
                    Assembly::Update => one(Kind::Assembly),
                }),
                _ => Vec::new(),
            },
            _ => Vec::new(),
        };
    }
    let declared = at > 0 && matches!(&tokens[at - 1], TokenTree::Ident(word) if word == "const" || word == "fn");
    if !declared && (FUTEX.contains(&text.as_str()) || text.starts_with("FUTEX_WAIT")) {
        return one(Kind::Futex);
    }
    let of_libc = at > 2 && matches!(&tokens[at - 3], TokenTree::Ident(module) if module == "libc");
    let blocks = BLOCKING.contains(&text.as_str()) || (of_libc && BLOCKING_IN_LIBC.contains(&text.as_str()));
    if !declared && blocks && called(tokens, at) {
        return one(Kind::BlockingCall);
    }
    let hands_on = is_handed_on(&tokens[..at]);
    let kind = |path: &[String]| match () {
        () if synchronises(path) || (hands_on && is_clock(path)) => Some(Kind::Synchronises),
        () if reads(path) => Some(Kind::Reads),
        () => None,
    };
    let used = paths::at(tokens, at).into_iter();
    used.filter_map(|path| Some(Evidence { kind: kind(&path.segments)?, text: path.text(), span: path.span })).collect()
}

/// System calls that wait by address.
const FUTEX: [&str; 6] =
    ["SYS_futex", "SYS_futex_wait", "__ulock_wait", "_umtx_op", "WaitOnAddress", "NtWaitForKeyedEvent"];

/// Functions that wait, whose names nothing else has. What waits for input and output (`epoll_wait`, `poll`, `accept`) is not
/// among them: the mirror has functions of these names, which the linker takes for the whole program.
const BLOCKING: [&str; 18] = [
    "SleepConditionVariableCS",
    "SleepConditionVariableSRW",
    "WaitForMultipleObjects",
    "WaitForSingleObject",
    "WaitForSingleObjectEx",
    "AcquireSRWLockExclusive",
    "AcquireSRWLockShared",
    "clock_nanosleep",
    "nanosleep",
    "pthread_barrier_wait",
    "pthread_cond_timedwait",
    "pthread_cond_wait",
    "pthread_join",
    "pthread_mutex_lock",
    "pthread_rwlock_rdlock",
    "pthread_rwlock_wrlock",
    "sem_timedwait",
    "sem_wait",
];

/// Functions that wait, whose names other functions have, too.
const BLOCKING_IN_LIBC: [&str; 9] =
    ["flock", "kevent", "pause", "pselect", "select", "sigwait", "sleep", "usleep", "waitpid"];

/// Whether a path of the standard library is one that a scheduler must see. What only counts references ([`Arc`]) or
/// only names a result is not.
///
/// [`Arc`]: std::sync::Arc
fn synchronises(path: &[String]) -> bool {
    let segment = |index: usize| path.get(index).map(String::as_str);
    match (segment(1), segment(2)) {
        (Some("sync"), None) => segment(0) != Some("alloc"),
        (Some("sync"), Some("atomic")) => segment(3) != Some("Ordering"),
        (Some("sync"), Some(name)) => {
            !["Arc", "Weak", "PoisonError", "TryLockError", "LockResult", "TryLockResult", "Exclusive"].contains(&name)
                && segment(0) != Some("alloc")
        }
        (Some("thread"), Some(name)) => !["panicking", "Result"].contains(&name),
        (Some("thread"), None) => true,
        (Some("hint"), Some("spin_loop")) => true,
        _ => false,
    }
}

/// Whether what follows is for other crates: `pub use` or `pub type Name =` comes before it.
fn is_handed_on(before: &[TokenTree]) -> bool {
    let before = match before {
        [.., TokenTree::Punct(first), TokenTree::Punct(_)] if first.as_char() == ':' => &before[..before.len() - 2],
        _ => before,
    };
    let is = |token: &TokenTree, word: &str| matches!(token, TokenTree::Ident(name) if name == word);
    match before {
        [.., visible, used] if is(used, "use") => is(visible, "pub"),
        [.., visible, named, TokenTree::Ident(_), TokenTree::Punct(equals)] if is(named, "type") => {
            is(visible, "pub") && equals.as_char() == '='
        }
        _ => false,
    }
}

/// The types of a clock. A crate that hands them on, as `instant` and `web-time` do, has to hand on those of the mirror: a time-out
/// of another crate would not have the type that it waits with, and the clock would be that of the system.
fn is_clock(path: &[String]) -> bool {
    let segments: Vec<&str> = path.iter().map(String::as_str).collect();
    matches!(segments[..], ["std", "time"] | ["std", "time", "Instant" | "SystemTime" | "*"])
}

/// Whether a path leads to the clock or to hashers, of which each execution has its own.
fn reads(path: &[String]) -> bool {
    let is = |at: usize, names: &[&str]| path.get(at).is_some_and(|segment| names.contains(&segment.as_str()));
    let clock = is(1, &["time"]) && (path.len() == 2 || is(2, &["Instant", "SystemTime", "*"]));
    clock || path.iter().any(|segment| segment == "RandomState")
}

fn followed_by(tokens: &[TokenTree], at: usize, char: char) -> bool {
    // `asm != x` is a comparison.
    matches!(tokens.get(at + 1), Some(TokenTree::Punct(punct)) if punct.as_char() == char)
        && !matches!(tokens.get(at + 2), Some(TokenTree::Punct(punct)) if punct.as_char() == '=')
}

fn called(tokens: &[TokenTree], at: usize) -> bool {
    matches!(tokens.get(at + 1), Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(source: &str, expected: &[(Kind, &str)]) {
        let stream: proc_macro2::TokenStream = source.parse().unwrap();
        let tokens: Vec<TokenTree> = stream.into_iter().collect();
        let found: Vec<Evidence> = (0..tokens.len()).flat_map(|index| at(&tokens, index)).collect();
        let found: Vec<(Kind, &str)> = found.iter().map(|found| (found.kind, found.text.as_str())).collect();
        assert_eq!(found, expected, "{source}");
    }

    #[test]
    fn what_a_scheduler_must_see() {
        use Kind::Synchronises;
        check("use std::sync::{Arc, Mutex};", &[(Synchronises, "std::sync::Mutex")]);
        check("use core::sync::atomic::{AtomicU8, Ordering};", &[(Synchronises, "core::sync::atomic::AtomicU8")]);
        check("std::thread::spawn", &[(Synchronises, "std::thread::spawn")]);
        check("use std::thread;", &[(Synchronises, "std::thread")]);
        check("core::hint::spin_loop()", &[(Synchronises, "core::hint::spin_loop")]);
        check("thread_local! { }", &[(Synchronises, "thread_local")]);
        check("std::thread_local! { }", &[(Synchronises, "thread_local")]);
    }

    #[test]
    fn what_it_need_not_see() {
        check("use std::sync::{Arc, Weak, PoisonError};", &[]);
        check("use alloc::sync::Arc; use alloc::sync;", &[]);
        check("use core::sync::atomic::Ordering;", &[]);
        check("if std::thread::panicking() { }", &[]);
        check("use std::collections::HashMap;", &[]);
        check("core::hint::black_box", &[]);
    }

    #[test]
    fn a_clock_that_is_handed_on() {
        use Kind::Synchronises;
        check("pub type Instant = std::time::Instant;", &[(Synchronises, "std::time::Instant")]);
        check("pub use std::time::*;", &[(Synchronises, "std::time::*")]);
        check("pub use ::std::time;", &[(Synchronises, "std::time")]);
        let reads = (Kind::Reads, "std::time::Instant");
        check("use std::time::Instant; fn f() -> std::time::Instant {}", &[reads, reads]);
        check("pub use std::time::Duration; type Time = std::time::Instant;", &[reads]);
    }

    #[test]
    fn what_an_execution_has_of_its_own() {
        use Kind::Reads;
        check("use std::time::{Duration, SystemTime};", &[(Reads, "std::time::SystemTime")]);
        check("use std::time;", &[(Reads, "std::time")]);
        check("std::time::Instant::now()", &[(Reads, "std::time::Instant::now")]);
        check(
            "use std::collections::hash_map::{Entry, RandomState};",
            &[(Reads, "std::collections::hash_map::RandomState")],
        );
        check("std::hash::RandomState::new()", &[(Reads, "std::hash::RandomState::new")]);
        check("use std::time::Duration; use other::RandomState;", &[]);
    }

    #[test]
    fn what_nobody_can_see() {
        use Kind::{Assembly, BlockingCall, Futex};
        check("core::arch::asm!(\"lock xadd\")", &[(Assembly, "asm")]);
        check("core::arch::asm!(\"mfence\")", &[(Kind::Fence, "asm")]);
        check("core::arch::asm!(\"pause\")", &[]);
        check("if asm != other {}", &[]);
        check("libc::syscall(SYS_futex)", &[]);
        check("SYS_futex, x", &[(Futex, "SYS_futex")]);
        check("pub const SYS_futex: c_long = 202;", &[]);
        check("pthread_mutex_lock(mutex)", &[(BlockingCall, "pthread_mutex_lock")]);
        check("fn pthread_mutex_lock(mutex: *mut c_void);", &[]);
        check("libc::select(fds)", &[(BlockingCall, "select")]);
        check("libc::poll(fds)", &[]);
        check("future.poll(context)", &[]);
    }
}
