//! Composed operations against an adversary, end to end: one binary, since each would compile the driver again.

mod adversaries;
mod classes;
mod concurrent;
mod cones;
mod driver;
mod foreign;
mod histories;
mod kept;
mod lost;
mod mirrored;
mod modes;
mod object;
mod published;
mod wrappers;
