//! A crate without the prelude of std that imports one, as futures 0.1 does: `thread_local!` is that of the mirror all the same.

#![no_std]

#[macro_use]
extern crate interloper_std as std;

mod imported {
    use std::cell::Cell;
    use std::prelude::v1::*;

    thread_local!(pub static COUNT: Cell<Option<u8>> = const { Cell::new(None) });
}

mod of_an_edition {
    use std::cell::Cell;
    use std::prelude::rust_2024::*;

    thread_local!(pub static COUNT: Cell<Option<u8>> = const { Cell::new(None) });
}

mod without {
    use std::cell::Cell;

    thread_local!(pub static COUNT: Cell<Option<u8>> = const { Cell::new(None) });
}

type Key = interloper_std::thread::LocalKey<std::cell::Cell<Option<u8>>>;

#[test]
fn each_is_of_the_mirror_and_of_its_thread() {
    let keys: [&'static Key; 3] = [&imported::COUNT, &of_an_edition::COUNT, &without::COUNT];
    for key in keys {
        key.set(Some(1));
        assert_eq!(std::thread::spawn(|| key.get()).join().unwrap(), None);
        assert_eq!(key.get(), Some(1));
    }
}
