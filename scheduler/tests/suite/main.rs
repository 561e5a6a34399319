//! The engine and the strategies, by programs of a few lines.

mod common;
#[path = "../continued/mod.rs"]
mod continuing;
mod programs;

mod clock;
mod ends;
mod schedules;
mod tasks;
mod unwinding;
mod waiting;

mod atom_fuzzer;
mod bounded;
mod continued;
mod crashes;
mod exhaustive;
mod naming;
mod own_stack;
mod replay;
mod sampling;
mod tidy;
