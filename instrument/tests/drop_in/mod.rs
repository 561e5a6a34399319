//! Programs that use all of what is mirrored. They are compiled and run with the real `std`, with the mirror, and with
//! the mirror under control. Whatever the schedule, they come to their end.

/// Makes tests of functions, and a list of them.
macro_rules! programs {
    ($(fn $name:ident() $body:block)*) => {
        $(
            #[test]
            fn $name() $body
        )*

        /// The programs of this module by name.
        #[allow(dead_code)]
        pub const PROGRAMS: &[(&str, fn())] = &[$((concat!(module_path!(), "::", stringify!($name)), $name)),*];
    };
}

mod atomics;
mod locks;
mod threads;
mod time;

/// All programs.
#[allow(dead_code)]
pub const PROGRAMS: &[&[(&str, fn())]] = &[atomics::PROGRAMS, locks::PROGRAMS, threads::PROGRAMS, time::PROGRAMS];
