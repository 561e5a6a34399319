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
