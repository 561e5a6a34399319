//! The programs of the mirror of parking_lot, over the real one above the replacement of its core.

#![cfg(interloper)]
#[macro_use]
extern crate interloper_std as std;

macro_rules! program {
    ($name:ident $body:block) => {
        #[test]
        fn $name() $body
    };
}

#[path = "../../../../../instrument/parking_lot/tests/drop_in/mod.rs"]
mod drop_in;
#[path = "../../../../../instrument/tests/schedules/mod.rs"]
mod schedules;

#[test]
fn every_program_comes_to_its_end_whatever_the_schedule() {
    schedules::every_program_ends(drop_in::PROGRAMS);
}
