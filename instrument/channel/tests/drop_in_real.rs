//! The programs of `drop_in`, over the real `crossbeam_channel` and `std`.

macro_rules! program {
    ($name:ident $body:block) => {
        #[test]
        fn $name() $body
    };
}

mod drop_in;

#[test]
fn there_are_programs() {
    assert!(drop_in::PROGRAMS.len() > 10);
}
