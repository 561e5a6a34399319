//! The programs of `drop_in`, over the real `std`.

mod drop_in;
