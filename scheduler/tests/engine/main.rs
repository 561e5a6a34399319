//! The engine, by programs of a few lines.

#[path = "../common/mod.rs"]
mod common;

mod ends;
mod schedules;
mod tasks;
mod unwinding;
mod waiting;
