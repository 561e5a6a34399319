//! The programs of `drop_in`, over the mirrors, under control.

#[macro_use]
extern crate interloper_std as std;
extern crate interloper_channel as crossbeam_channel;

macro_rules! program {
    ($name:ident $body:block) => {
        fn $name() $body
    };
}

mod drop_in;
#[path = "../../tests/schedules/mod.rs"]
mod schedules;

#[test]
fn every_program_comes_to_its_end_whatever_the_schedule() {
    schedules::every_program_ends(drop_in::PROGRAMS);
}
