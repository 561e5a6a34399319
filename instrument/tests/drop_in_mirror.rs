//! The programs of `drop_in`, over the mirror, outside a controlled execution: only the line that shadows `std` is added.

#[macro_use]
extern crate interloper_std as std;

macro_rules! program {
    ($name:ident $body:block) => {
        #[test]
        fn $name() $body
    };
}

mod drop_in;

#[test]
fn each_program_has_a_name_of_its_own() {
    let mut names: Vec<_> = drop_in::PROGRAMS.iter().copied().flatten().map(|&(name, _)| name).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
}
