//! The strategies, one short file each.

mod guided;
mod random_walk;

pub use guided::Guided;
pub use random_walk::RandomWalk;
