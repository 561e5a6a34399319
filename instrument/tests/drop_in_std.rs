//! The programs of `drop_in`, over the real `std`.

macro_rules! program {
    ($name:ident $body:block) => {
        #[test]
        fn $name() $body
    };
}

mod drop_in;
