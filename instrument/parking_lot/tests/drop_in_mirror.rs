//! The programs of `drop_in`, over the mirrors, outside a controlled run: only the names are shadowed.

#[macro_use]
extern crate interloper_std as std;
extern crate interloper_parking_lot as parking_lot;

macro_rules! program {
    ($name:ident $body:block) => {
        #[test]
        fn $name() $body
    };
}

mod drop_in;
