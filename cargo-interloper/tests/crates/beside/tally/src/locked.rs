use std::sync::{Mutex, PoisonError};

/// A number.
#[derive(Debug, Default)]
pub struct Tally(Mutex<u32>);

impl Tally {
    /// The number.
    pub fn get(&self) -> u32 {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes it another.
    pub fn set(&self, value: u32) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = value;
    }
}
