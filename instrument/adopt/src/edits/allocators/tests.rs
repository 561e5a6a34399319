use super::*;
use crate::text::{replaced as changed, tokens};

/// The text with a mark where each method of an allocator begins.
fn marked(source: &str) -> String {
    let pieces = marks(&implementations(&tokens(source).unwrap()), source);
    changed(source, pieces.into_iter().map(|(place, _)| (place, "!".to_owned())).collect())
}

const ALLOCATOR: &str = "mod inner { unsafe impl<T: GlobalAlloc> std::alloc::GlobalAlloc for own::Own<T> where T: Copy { \
     unsafe fn alloc(&self, layout: Layout) -> *mut u8 {! System.alloc(layout) } \
     unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {! unsafe { std::alloc::System.dealloc(block, layout) } } } }";

#[test]
fn the_methods_of_allocators_are_found() {
    let source = ALLOCATOR.replace('!', "");
    assert_eq!(marked(&source), ALLOCATOR);
    let with_marks = changed(&source, marks(&implementations(&tokens(&source).unwrap()), &source));
    assert_eq!(marked(&with_marks), with_marks, "none is marked twice");
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

#[test]
fn an_allocator_that_asks_the_system_asks_the_checker() {
    let source = ALLOCATOR.replace('!', "");
    let found = implementations(&tokens(&source).unwrap());
    assert_eq!(found.iter().map(|found| &found.of[..]).collect::<Vec<_>>(), ["Own"]);
    assert!(found[0].is_of_system());
    let text = changed(&source, above_ours(&found.iter().collect::<Vec<_>>()));
    assert!(text.contains("{ ::interloper_std::plain::Beneath::of(System).alloc(layout) }"), "{text}");
    assert!(
        text.contains("unsafe { ::interloper_std::plain::Beneath::of(std::alloc::System).dealloc(block, layout) }"),
        "{text}"
    );
}

#[test]
fn an_allocator_with_memory_of_its_own_is_none_of_the_system() {
    for (source, is_of_system) in [
        (
            "impl GlobalAlloc for A { fn alloc(&self) { System.alloc(a) } fn dealloc(&self) { System.dealloc(a) } }",
            true,
        ),
        ("impl GlobalAlloc for A { fn alloc(&self) { malloc(a) } fn dealloc(&self) { free(a) } }", false),
        // It never gives anything back.
        ("impl GlobalAlloc for A { fn alloc(&self) { System.alloc(a) } fn dealloc(&self) { } }", false),
        ("impl GlobalAlloc for A { fn alloc(&self) { self.inner.alloc(a) } }", false),
        ("impl GlobalAlloc for A { }", false),
    ] {
        let found = implementations(&tokens(source).unwrap());
        assert_eq!(found.iter().map(Implementation::is_of_system).collect::<Vec<_>>(), [is_of_system], "{source}");
    }
}

#[test]
fn a_global_allocator_becomes_an_ordinary_static() {
    let source = "mod m { #[cfg(test)] #[global_allocator] pub static A: inner::Counting<System> = Counting { of: System }; } fn f() {}";
    let found = globals(&tokens(source).unwrap()).expect("plain");
    let [global] = &found[..] else { panic!("{found:?}") };
    assert_eq!((&global.name[..], &global.of[..], global.line), ("A", "Counting", 1));
    let left_out = source.replace("#[global_allocator]", "#[allow(dead_code)]");
    assert_eq!(changed(source, global.demoted(false)), left_out);
    let asked = left_out
        .replace("Counting { of: System }", "{ ::interloper_std::__own_allocator!(A); Counting { of: System } }");
    assert_eq!(changed(source, global.demoted(true)), asked);
}

#[test]
fn a_global_allocator_that_is_named_in_another_way_is_not_changed() {
    for source in [
        "#[cfg_attr(unix, global_allocator)] static A: System = System;",
        "macro_rules! global { ($name:ident) => { #[global_allocator] $name! {} } }",
    ] {
        assert_eq!(globals(&tokens(source).unwrap()), None, "{source}");
    }
    assert_eq!(globals(&tokens("static A: System = System;").unwrap()), Some(Vec::new()));
}
