//! Fibers that are never resumed, and whose frames something may still refer to.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use super::Fiber;

/// So many of them keep their stacks. The system has room for some 30,000 stacks, and who shrinks many failures makes that many.
const MOST: usize = 4_096;

struct Abandoned(Fiber);

// SAFETY: nobody resumes the fiber, and its stack is memory of the process like any other.
unsafe impl Send for Abandoned {}

/// Keeps the stack of a fiber as it is, until many others have been abandoned.
pub(super) fn keep(fiber: Fiber) {
    static ALL: Mutex<VecDeque<Abandoned>> = Mutex::new(VecDeque::new());
    let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
    all.push_back(Abandoned(fiber));
    if all.len() > MOST
        && let Some(Abandoned(oldest)) = all.pop_front()
    {
        // SAFETY: its execution has ended long ago, with those of thousands of other tasks after it. What referred to its frames was
        // dropped with that execution, or is never looked at.
        drop(unsafe { oldest.into_stack() });
    }
}
