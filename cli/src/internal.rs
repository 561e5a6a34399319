//! A panic of the tool itself becomes a value: exit code 3 and one line.
//!
//! A panic of a method under test is a result and is caught where the method runs. Only panics that no other code
//! catches arrive here.

use interloper_scheduler::panics;

use crate::failure::Failure;

/// What `body` returns, or the panic that it ended with, which is not printed.
pub fn guard<T>(body: impl FnOnce() -> T) -> Result<T, Failure> {
    panics::quietly(|| panics::caught(body)).map_err(|panicked| Failure::Internal(panicked.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_internal_failure_with_its_message() {
        assert_eq!(guard(|| 3), Ok(3));
        let failure = guard(|| -> u32 { panic!("step {} of 2", 3) }).expect_err("it panicked");
        let Failure::Internal(message) = failure else { panic!("{failure:?}") };
        assert!(message.starts_with("step 3 of 2"), "{message}");
    }
}
