//! Programs that use all of what is mirrored. They are compiled and run with the real `std`, with the mirror, and with
//! the mirror under control. Whatever the schedule, they end.

/// Makes functions, with the includer's `program!`, and a list of them.
macro_rules! programs {
    ($(fn $name:ident() $body:block)*) => {
        $(program! { $name $body })*

        /// The programs of this module by name.
        pub const PROGRAMS: &[super::Program] = &[$((concat!(module_path!(), "::", stringify!($name)), $name)),*];
    };
}

mod atomics;
mod channels;
mod collections;
mod lazy;
mod locks;
mod threads;
mod time;

/// A program with its name.
pub type Program = (&'static str, fn());

/// All programs.
pub const PROGRAMS: &[&[Program]] = &[
    atomics::PROGRAMS,
    channels::PROGRAMS,
    collections::PROGRAMS,
    lazy::PROGRAMS,
    locks::PROGRAMS,
    threads::PROGRAMS,
    time::PROGRAMS,
];

#[test]
fn each_program_has_a_name_of_its_own() {
    let mut names: Vec<_> = PROGRAMS.iter().copied().flatten().map(|&(name, _)| name).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
}
