//! Programs with blocks on the command line.

pub mod checking;
pub mod files;
pub mod printing;
