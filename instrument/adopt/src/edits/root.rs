//! The line that a user's own crate has at its root, as text that a person reads.

use std::ops::Range;

use proc_macro2::{Delimiter, TokenTree};

use super::declared::{Declaration, declared_as, declared_inside, declares_mirror, module_named};
use super::source::Refused;
use crate::text;

/// What stands at the root of a crate that is under control. The cfg is set by `cargo interloper` alone.
const LINES: &str = "#[cfg(interloper)]\n#[macro_use]\nextern crate interloper_std as std;\n";

/// The same in the edition of 2015, where the compiler itself declares `std`. The copy of the crate has the mirror in its paths: see
/// [`source`](super::source).
const LINES_OF_2015: &str = "#[cfg(interloper)]\n#[macro_use]\nextern crate interloper_std;\n";

/// The same in a file that is the root of one crate and a module of another, as some in `tests/` are: macros are imported at the root of a
/// crate only.
const LINES_OF_MODULE: &str = "#[cfg(interloper)]\nextern crate interloper_std as std;\n";

/// What follows where the crate names through `core` what is mirrored.
const CORE: &str = "#[cfg(interloper)]\nextern crate interloper_std as core;\n";

/// What stands above a declaration of std or core of the crate's own, which would declare a second one.
const ELSEWHERE: &str = "#[cfg(not(interloper))]\n";

/// What [`put_in`] goes by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Form {
    /// Whether the crate is of the edition of 2015.
    pub(crate) of_2015: bool,
    /// Whether it names through `core` what is mirrored.
    pub(crate) names_core: bool,
    /// Whether its root is a module of another crate, too.
    pub(crate) is_module: bool,
}

/// Puts the lines in before the first item, with an empty line after them, or gives `None` where the crate has them. Those for core
/// are among them if the crate names it, and `core` is no module or other crate there. Lines of another edition become those of this.
///
/// # Errors
/// When the file is not Rust, or the crate has a module of its own that is named `std`.
pub(crate) fn put_in(source: &str, form: Form) -> Result<Option<String>, Refused> {
    let tokens = text::tokens(source).map_err(Refused::Bad)?;
    let of_another_edition = if form.of_2015 { LINES } else { LINES_OF_2015 };
    if source.contains(of_another_edition)
        && let Some(plain) = take_out(source)
    {
        return Ok(Some(put_in(&plain, form)?.unwrap_or(plain)));
    }
    if form.of_2015 && form.is_module {
        // The line of this edition is for its macros, which are imported at the root of a crate only.
        return Ok(None);
    }
    if form.of_2015 {
        return Ok((!declares_mirror(&tokens)).then(|| before_first_item(source, source, &tokens, LINES_OF_2015)));
    }
    let names_core = form.names_core;
    let lines = if form.is_module { LINES_OF_MODULE } else { LINES };
    let begin = text::preamble(source);
    let own_core = declared_as(&tokens, "core");
    let is_core = |declaration: &Range<usize>| {
        let text = &source[begin + declaration.start..begin + declaration.end];
        text.split_whitespace().collect::<Vec<_>>().ends_with(&["extern", "crate", "core;"])
    };
    let core =
        if names_core && own_core.iter().all(is_core) && module_named(&tokens, "core").is_none() { CORE } else { "" };
    if declares_mirror(&tokens) {
        let has_lines = !core.is_empty() && source.contains(lines);
        return Ok(has_lines.then(|| guarded(source, begin, own_core).replacen(lines, &format!("{lines}{core}"), 1)));
    }
    if let Some(line) = module_named(&tokens, "std") {
        return Err(Refused::Taken { line, name: "std".to_owned() });
    }
    let mut declarations = declared_as(&tokens, "std");
    if !core.is_empty() {
        declarations.extend(own_core);
    }
    let own = guarded(source, begin, declarations);
    Ok(Some(before_first_item(source, &own, &tokens, &format!("{lines}{core}"))))
}

/// A file of a crate with the line, in which modules that declare std themselves do so only where the mirror is not: elsewhere `std` is
/// what the line says. Of core the same if the line is one for core, too. `None` if nothing changes.
///
/// # Errors
/// When the file is not Rust.
pub(crate) fn guard_inside(source: &str, is_root: bool, with_core: bool) -> Result<Option<String>, Refused> {
    let tokens = text::tokens(source).map_err(Refused::Bad)?;
    let inside = declared_inside(&tokens, is_root, with_core).into_iter().filter(Declaration::can_be_left_out);
    let inside = inside.map(|one| one.whole).collect();
    let changed = guarded(source, text::preamble(source), inside);
    Ok((changed != source).then_some(changed))
}

/// The line of the first declaration of std, or core, in a module that is there where the mirror is, and whether [`guard_inside`] would
/// guard it.
pub(crate) fn unguarded_inside(source: &str, is_root: bool, with_core: bool) -> Option<(usize, bool)> {
    let tokens = text::tokens(source).ok()?;
    let begin = text::preamble(source);
    let inside = declared_inside(&tokens, is_root, with_core).into_iter();
    let mut open = inside.filter(|one| !source[begin + one.whole.start..].starts_with(ELSEWHERE));
    open.next().map(|one| (one.line, one.can_be_left_out()))
}

/// Takes out again what [`guard_inside`] puts in. `None` if nothing changes.
pub(crate) fn unguard_inside(source: &str, is_root: bool) -> Option<String> {
    let tokens = text::tokens(source).ok()?;
    let inside = declared_inside(&tokens, is_root, true).into_iter().filter(Declaration::can_be_left_out);
    let inside = inside.map(|one| one.whole).collect();
    let changed = unguarded(source.to_owned(), text::preamble(source), inside);
    (changed != source).then_some(changed)
}

/// Puts `lines` in before the first item of `own`, which is `source` but for what comes after the beginning of that item.
fn before_first_item(source: &str, own: &str, tokens: &[TokenTree], lines: &str) -> String {
    let at = first_item(tokens).map_or(source.len(), |item| text::preamble(source) + item.start);
    // An item that follows an attribute on the same line stays there; all others have a line of their own.
    let line = beginning_of_line(source, at);
    let at = if source[line..at].trim().is_empty() { line } else { at };
    let (before, after) = own.split_at(at);
    let ended = if before.is_empty() || before.ends_with('\n') { "" } else { "\n" };
    format!("{before}{ended}{lines}\n{after}")
}

/// The source with these declarations, counted from `begin`, only where the mirror is not.
fn guarded(source: &str, begin: usize, mut declarations: Vec<Range<usize>>) -> String {
    let mut own = source.to_owned();
    declarations.sort_by_key(|declaration| declaration.start);
    for declaration in declarations.iter().rev() {
        let at = begin + declaration.start;
        if source[at..].starts_with(ELSEWHERE) {
            continue;
        }
        let line = beginning_of_line(source, at);
        let indent = if source[line..at].trim().is_empty() { &source[line..at] } else { "" };
        own.insert_str(at, &format!("{ELSEWHERE}{indent}"));
    }
    own
}

/// The source without the lines, wherever they stand in the form in which they are put in. What is left need not compile.
pub(crate) fn without_lines(source: &str) -> String {
    let texts = [LINES, LINES_OF_2015, LINES_OF_MODULE, CORE, ELSEWHERE];
    texts.iter().fold(source.to_owned(), |source, text| source.replace(text, ""))
}

/// Takes the lines out again, or gives `None` where the crate does not have them in the form in which they are put in.
pub(crate) fn take_out(source: &str) -> Option<String> {
    let (at, lines) =
        [LINES, LINES_OF_2015, LINES_OF_MODULE].into_iter().find_map(|lines| Some((source.find(lines)?, lines)))?;
    let after = &source[at + lines.len()..];
    let after = after.strip_prefix(CORE).unwrap_or(after);
    let without = format!("{}{}", &source[..at], after.strip_prefix('\n').unwrap_or(after));
    let begin = text::preamble(&without);
    let tokens = text::tokens(&without).unwrap_or_default();
    Some(unguarded(without, begin, [declared_as(&tokens, "std"), declared_as(&tokens, "core")].concat()))
}

/// The source without the guards of these declarations, counted from `begin`.
fn unguarded(mut without: String, begin: usize, mut declarations: Vec<Range<usize>>) -> String {
    declarations.sort_by_key(|declaration| declaration.start);
    for declaration in declarations.iter().rev() {
        let at = begin + declaration.start;
        if let Some(after) = without[at..].strip_prefix(ELSEWHERE) {
            let length = without.len() - at - after.trim_start_matches([' ', '\t']).len();
            without.replace_range(at..at + length, "");
        }
    }
    without
}

fn beginning_of_line(source: &str, at: usize) -> usize {
    source[..at].rfind('\n').map_or(0, |end| end + 1)
}

/// The first token that belongs to no inner attribute, in bytes.
fn first_item(tokens: &[TokenTree]) -> Option<Range<usize>> {
    let is = |token: &TokenTree, char| matches!(token, TokenTree::Punct(punct) if punct.as_char() == char);
    let mut rest = tokens;
    while let [hash, mark, TokenTree::Group(attribute), others @ ..] = rest {
        if !is(hash, '#') || !is(mark, '!') || attribute.delimiter() != Delimiter::Bracket {
            break;
        }
        rest = others;
    }
    rest.first().map(|token| token.span().byte_range())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Form = Form { of_2015: false, names_core: false, is_module: false };
    const WITH_CORE: Form = Form { names_core: true, ..PLAIN };
    const OF_2015: Form = Form { of_2015: true, ..PLAIN };

    #[track_caller]
    fn check(source: &str, expected: &str) {
        let put = put_in(source, PLAIN).expect("Rust").expect("changed");
        assert_eq!(put, expected.replace("LINES\n", LINES));
        assert_eq!(put_in(&put, PLAIN).expect("Rust"), None, "the second time changes nothing");
        assert_eq!(take_out(&put).as_deref(), Some(source), "taking it out gives what was there");
    }

    #[test]
    fn the_lines_stand_before_the_first_item() {
        check("fn f() {}\n", "LINES\n\nfn f() {}\n");
        check("//! About.\n\nuse std::sync::Mutex;\n", "//! About.\n\nLINES\n\nuse std::sync::Mutex;\n");
        // An attribute of the whole crate comes before all items.
        check("#![allow(dead_code)]\nmod a;\n", "#![allow(dead_code)]\nLINES\n\nmod a;\n");
        check(
            "// Copyright.\n\n//! About.\n#![no_std]\n\n/// A function.\nfn f() {}\n",
            "// Copyright.\n\n//! About.\n#![no_std]\n\nLINES\n\n/// A function.\nfn f() {}\n",
        );
        check("#!/usr/bin/env cargo\nfn main() {}\n", "#!/usr/bin/env cargo\nLINES\n\nfn main() {}\n");
        check("\u{feff}//! About.\nfn f() {}\n", "\u{feff}//! About.\nLINES\n\nfn f() {}\n");
        check("//! Nothing yet.\n", "//! Nothing yet.\nLINES\n\n");
        check("", "LINES\n\n");
    }

    /// As in crossbeam-queue. What has another name, or stands in a module, is no second `std`.
    #[test]
    fn a_declaration_of_std_is_there_where_the_mirror_is_not() {
        check(
            "#![no_std]\n\nextern crate alloc;\n#[cfg(feature = \"std\")]\n#[macro_use]\nextern crate std;\nmod a;\n",
            "#![no_std]\n\nLINES\n\nextern crate alloc;\n#[cfg(not(interloper))]\n#[cfg(feature = \"std\")]\n#[macro_use]\n\
             extern crate std;\nmod a;\n",
        );
        check(
            "pub extern crate std;\nfn f() {}\n",
            "LINES\n\n#[cfg(not(interloper))]\npub extern crate std;\nfn f() {}\n",
        );
        check(
            "cfg_if! { if #[cfg(a)] {\n    extern crate std;\n} }\n",
            "LINES\n\ncfg_if! { if #[cfg(a)] {\n    #[cfg(not(interloper))]\n    extern crate std;\n} }\n",
        );
        check("mod a { extern crate std; }\n", "LINES\n\nmod a { extern crate std; }\n");
        check("extern crate std as alloc;\n", "LINES\n\nextern crate std as alloc;\n");
    }

    #[test]
    fn a_root_that_is_a_module_elsewhere_imports_no_macros() {
        let source = "pub fn help() {}\n";
        let form = Form { is_module: true, ..PLAIN };
        let put = put_in(source, form).expect("Rust").expect("changed");
        assert_eq!(put, format!("{LINES_OF_MODULE}\n{source}"));
        assert_eq!(put_in(&put, form).expect("Rust"), None);
        assert_eq!(take_out(&put).as_deref(), Some(source));
        assert_eq!(without_lines(&put).trim_start(), source);
    }

    /// As in tests of crates with `#![no_std]`.
    #[test]
    fn a_module_that_declares_std_does_so_where_the_mirror_is_not() {
        let source = "mod tests {\n    use super::*;\n\n    extern crate std;\n    extern crate core;\n}\n";
        let guarded = source.replace("extern crate std", &format!("{ELSEWHERE}    extern crate std"));
        let inside = |source: &str, is_root| guard_inside(source, is_root, false).expect("Rust");
        assert_eq!(inside(source, true).as_deref(), Some(&*guarded));
        assert_eq!((inside(&guarded, true), unguarded_inside(&guarded, true, false)), (None, None));
        assert_eq!(
            (unguarded_inside(source, true, false), unguarded_inside(&guarded, true, true)),
            (Some((4, true)), Some((6, true)))
        );
        assert_eq!(unguard_inside(&guarded, true).as_deref(), Some(source));
        // In the root of a crate the line stands for it; in another file nothing does.
        let file = "extern crate std;\nextern crate std as real;\n";
        assert_eq!(inside(file, true), None);
        assert_eq!(inside(file, false), Some(format!("{ELSEWHERE}{file}")));
        // What others use, or what has a name of its own, stays.
        for stays in ["mod a { pub extern crate std; }\n", "mod a { extern crate std as real; }\n"] {
            assert_eq!(
                (inside(stays, true), unguarded_inside(stays, true, false)),
                (None, Some((1, false))),
                "{stays}"
            );
        }
    }

    #[test]
    fn what_core_has_is_under_control_where_it_is_named() {
        let source = "#![no_std]\nuse core::sync::atomic::AtomicU8;\n";
        let with_core = format!("#![no_std]\n{LINES}{CORE}\nuse core::sync::atomic::AtomicU8;\n");
        assert_eq!(put_in(source, WITH_CORE).expect("Rust").as_deref(), Some(&*with_core));
        assert_eq!(put_in(&with_core, WITH_CORE).expect("Rust"), None, "the second time changes nothing");
        assert_eq!(take_out(&with_core).as_deref(), Some(source));
        // Code that came to name it later.
        let without = put_in(source, PLAIN).expect("Rust").expect("changed");
        assert!(!without.contains(CORE));
        assert_eq!(put_in(&without, WITH_CORE).expect("Rust").as_deref(), Some(&*with_core));
        for own in ["mod core;\n", "extern crate other as core;\n", "extern crate std as core;\n"] {
            assert_eq!(put_in(own, WITH_CORE).expect("Rust"), put_in(own, PLAIN).expect("Rust"), "{own}");
        }
        let inside = put_in("mod a { mod core {} }\n", WITH_CORE).expect("Rust").expect("changed");
        assert!(inside.contains(CORE), "{inside}");
    }

    /// As in spin.
    #[test]
    fn a_declaration_of_core_is_there_where_the_mirror_is_not() {
        let source = "#![no_std]\n\n#[cfg(test)]\nextern crate core;\nextern crate std;\nuse core::sync::atomic;\n";
        let put = put_in(source, WITH_CORE).expect("Rust").expect("changed");
        let expected = format!(
            "#![no_std]\n\n{LINES}{CORE}\n{ELSEWHERE}#[cfg(test)]\nextern crate core;\n{ELSEWHERE}extern crate std;\n\
             use core::sync::atomic;\n"
        );
        assert_eq!(put, expected);
        assert_eq!(put_in(&put, WITH_CORE).expect("Rust"), None, "the second time changes nothing");
        assert_eq!(take_out(&put).as_deref(), Some(source));
    }

    /// A crate that came to name it after it had the lines for std.
    #[test]
    fn a_declaration_of_core_gives_way_in_a_crate_with_the_lines_too() {
        let source = "#![no_std]\n\nextern crate core;\nuse core::sync::atomic;\n";
        let lines = put_in(source, PLAIN).expect("Rust").expect("changed");
        let put = put_in(&lines, WITH_CORE).expect("Rust").expect("changed");
        assert_eq!(put_in(source, WITH_CORE).expect("Rust").as_deref(), Some(&*put), "as if both were put in at once");
        assert_eq!(put_in(&put, WITH_CORE).expect("Rust"), None, "the second time changes nothing");
        assert_eq!(take_out(&put).as_deref(), Some(source));
        // Somebody has made room already.
        let guarded = lines.replace("extern crate core;", &format!("{ELSEWHERE}extern crate core;"));
        assert_eq!(put_in(&guarded, WITH_CORE).expect("Rust").as_deref(), Some(&*put));
        // Without the name of something mirrored, or where `core` is another crate, nothing changes.
        assert_eq!(put_in(&lines, PLAIN).expect("Rust"), None);
        assert_eq!(put_in(&lines.replace("core;\n", "other as core;\n"), WITH_CORE).expect("Rust"), None);
    }

    /// As in threadpool. What the crate declares itself stays: only its copy is changed.
    #[test]
    fn in_the_edition_of_2015_the_compiler_declares_std() {
        for form in [OF_2015, Form { names_core: true, ..OF_2015 }] {
            let check = |source: &str, expected: &str| {
                let put = put_in(source, form).expect("Rust").expect("changed");
                assert_eq!(put, expected.replace("LINES\n", LINES_OF_2015));
                assert_eq!(put_in(&put, form).expect("Rust"), None, "the second time changes nothing");
                assert_eq!(take_out(&put).as_deref(), Some(source), "taking it out gives what was there");
            };
            check(
                "//! About.\n\nextern crate num_cpus;\nuse std::fmt;\n",
                "//! About.\n\nLINES\n\nextern crate num_cpus;\nuse std::fmt;\n",
            );
            let own = "#![no_std]\nextern crate std;\nmod core {}\n";
            check(own, &own.replace("extern", "LINES\n\nextern"));
        }
        assert!(matches!(put_in("fn f(", OF_2015), Err(Refused::Bad(_))));
    }

    /// After `cargo fix --edition`.
    #[test]
    fn the_lines_follow_the_edition() {
        let source = "#![no_std]\nextern crate std;\n";
        let [old, new] = [OF_2015, PLAIN].map(|form| put_in(source, form).expect("Rust").expect("changed"));
        assert_ne!(old, new);
        assert_eq!(put_in(&old, PLAIN).expect("Rust").as_deref(), Some(&*new));
        assert_eq!(put_in(&new, OF_2015).expect("Rust").as_deref(), Some(&*old));
        // A module `std` has no place beside the line of the later editions.
        let taken = put_in("mod std {}\n", OF_2015).expect("Rust").expect("changed");
        assert!(matches!(put_in(&taken, PLAIN), Err(Refused::Taken { .. })));
    }

    #[test]
    fn a_crate_with_the_line_keeps_it() {
        let one_line = "#[cfg(interloper)] #[macro_use] extern crate interloper_std as std;\nfn f() {}\n";
        assert_eq!(put_in(one_line, WITH_CORE).expect("Rust"), None);
        assert_eq!(take_out(one_line), None, "somebody wrote it in another form");
    }

    #[test]
    fn what_cannot_have_the_line_is_refused() {
        assert!(matches!(put_in("fn f(", PLAIN), Err(Refused::Bad(_))));
        assert!(matches!(put_in("fn f() {}\nmod std {}\n", PLAIN), Err(Refused::Taken { line: 2, .. })));
    }
}
