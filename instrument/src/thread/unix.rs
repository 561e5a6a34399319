//! The extensions of std for threads on Unix.

use std::os::unix::thread::{JoinHandleExt, RawPthread};

use super::JoinHandle;
use super::join::Kind;

/// # Panics
/// Under control: a thread is a task there, without a handle of the system.
impl<T> JoinHandleExt for JoinHandle<T> {
    fn as_pthread_t(&self) -> RawPthread {
        match &self.started.kind {
            Kind::Real(handle) => handle.as_pthread_t(),
            Kind::Task(..) => none(),
        }
    }

    fn into_pthread_t(self) -> RawPthread {
        match self.started.kind {
            Kind::Real(handle) => handle.into_pthread_t(),
            Kind::Task(..) => none(),
        }
    }
}

fn none() -> ! {
    panic!("a thread under control is a task of the run: it has no handle of the system")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outside_of_a_run_the_handle_is_the_real_one() {
        let handle = crate::thread::spawn(|| ());
        assert_eq!(handle.as_pthread_t(), handle.as_pthread_t());
        handle.join().unwrap();
        // The thread is detached: no thread joins it.
        let _ = crate::thread::spawn(|| ()).into_pthread_t();
    }
}
