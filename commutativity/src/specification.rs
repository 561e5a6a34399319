//! When two operations do not commute.

use crate::{Invocation, Model, Value};

/// Whether two calls commute from `state`: both orders give each call the same result and end in the same state
/// (COLT, section 3.3).
pub fn commute(model: &dyn Model, state: &Value, first: &Invocation, second: &Invocation) -> bool {
    let run = |one: &Invocation, other: &Invocation| {
        let mut state = state.clone();
        let result_of_one = model.apply(&mut state, one);
        let result_of_other = model.apply(&mut state, other);
        (result_of_one, result_of_other, state)
    };
    let (a1, b1, end1) = run(first, second);
    let (b2, a2, end2) = run(second, first);
    a1 == a2 && b1 == b2 && end1 == end2
}

/// A non-commutativity table as in Figure 5.
#[derive(Clone, Debug)]
pub struct Specification {}
