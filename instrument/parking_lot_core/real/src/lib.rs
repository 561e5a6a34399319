//! The real parking_lot with the lines that put a crate under control.

#![allow(warnings, clippy::all, clippy::undocumented_unsafe_blocks)]

#[macro_use]
extern crate interloper_std as std;
extern crate interloper_std as core;

include!(concat!(env!("OUT_DIR"), "/lib.rs"));
