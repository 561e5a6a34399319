//! The programs of `drop_in`, over the mirror, outside of a controlled run: nothing but this line is different.

#[macro_use]
extern crate interloper_std as std;

mod drop_in;
