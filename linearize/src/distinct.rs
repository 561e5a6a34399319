//! Linearizability in O(n log n) where every value is inserted at most once.
//!
//! In a history of a queue, stack, priority queue, set, register or text whose values are distinct, the values tell
//! which insertion a removal or a read belongs to. A direct construction can then replace the search of
//! [`crate::general`]. This is due to Gibbons and Korach (*Testing shared memories*, 1997) for registers, to Bouajjani,
//! Emmi, Enea and Hamza (*On reducing linearizability to state reachability*, 2015) for queues and stacks, and to Lee
//! and Mathur (*Efficient decrease-and-conquer linearizability monitoring*, 2025) in this time for all types. Each
//! module says why its construction is complete.
//!
//! All constructions look at the *gaps* between two events of the history, one after the other: a call takes effect in
//! a gap between its invocation and its return, and several calls may take effect in the same gap, in any order.
//! Consequently:
//!
//! - A list of calls is a linearization of the real-time order when each call can be given a gap of its own interval so
//!   that the gaps never decrease along the list.
//! - A value is *certainly in* a collection in the gaps between the return of its insertion and the invocation of its
//!   removal. In all other gaps of its life it can be in or out.
//!
//! A history outside these limits is not judged, see [`NotApplicable`]. The judgement agrees with the general search;
//! the witness of a violation has only one longest linearization.

mod calls;
mod collection;
mod cover;
mod events;
mod priority_queue;
mod queue;
mod register;
mod set;
mod stack;
#[cfg(test)]
mod tests;
mod text;
mod unknown;

use crate::general::{Verdict, Witness};
use crate::history::History;
use collection::{Lives, Unfit};
use events::{Cut, Events};

pub use calls::{CollectionCall, NotApplicable, RegisterCall, SetAction, SetCall, TextCall, ValueId};

/// A first-in-first-out queue that is empty at first.
///
/// # Errors
/// When a value is inserted twice, or pending removals may have removed too many values.
///
/// # Panics
/// When there is not one call for each call of the history.
pub fn queue(history: &History, calls: &[CollectionCall]) -> Result<Verdict, NotApplicable> {
    collection(history, calls, queue::order)
}

/// A last-in-first-out stack that is empty at first.
///
/// # Errors
/// When a value is inserted twice, or pending removals may have removed too many values.
///
/// # Panics
/// When there is not one call for each call of the history.
pub fn stack(history: &History, calls: &[CollectionCall]) -> Result<Verdict, NotApplicable> {
    collection(history, calls, stack::order)
}

/// A priority queue that is empty at first; the smallest [`ValueId`] leaves first.
///
/// # Errors
/// When a value is inserted twice, or pending removals may have removed too many values.
///
/// # Panics
/// When there is not one call for each call of the history.
pub fn priority_queue(history: &History, calls: &[CollectionCall]) -> Result<Verdict, NotApplicable> {
    collection(history, calls, priority_queue::order)
}

/// A set that is empty at first.
///
/// # Errors
/// When an element is added or removed more than once, or an addition or removal is pending.
///
/// # Panics
/// When there is not one call for each call of the history.
pub fn set(history: &History, calls: &[SetCall]) -> Result<Verdict, NotApplicable> {
    assert_eq!(history.calls().len(), calls.len(), "one action for each call");
    let events = Events::new(history);
    let plan = set::Plan::new(calls)?;
    Ok(judge(&events, |cut| plan.order(&events, calls, cut)))
}

/// A register.
///
/// # Errors
/// When a value is written twice.
///
/// # Panics
/// When there is not one call for each call of the history.
pub fn register(history: &History, calls: &[RegisterCall]) -> Result<Verdict, NotApplicable> {
    assert_eq!(history.calls().len(), calls.len(), "one action for each call");
    let events = Events::new(history);
    let plan = register::Plan::new(calls)?;
    Ok(judge(&events, |cut| plan.order(&events, calls, cut)))
}

/// A text that is empty at first.
///
/// # Errors
/// When a piece that is put or appended is empty, or the beginning of another one.
///
/// # Panics
/// When there is not one call for each call of the history.
pub fn text(history: &History, calls: &[TextCall<'_>]) -> Result<Verdict, NotApplicable> {
    assert_eq!(history.calls().len(), calls.len(), "one action for each call");
    let events = Events::new(history);
    let plan = text::Plan::new(calls)?;
    Ok(judge(&events, |cut| plan.order(&events, calls, cut)))
}

fn collection(
    history: &History,
    calls: &[CollectionCall],
    order: impl Fn(&Events, &Lives) -> Option<Vec<usize>>,
) -> Result<Verdict, NotApplicable> {
    assert_eq!(history.calls().len(), calls.len(), "one action for each call");
    let events = Events::new(history);
    let known = |calls: &[CollectionCall]| {
        let whole = match Lives::new(&events, calls, events.whole()) {
            Err(Unfit::NotApplicable) => return Err(NotApplicable),
            Err(Unfit::Impossible) => None,
            Ok(lives) => order(&events, &lives),
        };
        let part = |cut| Lives::new(&events, calls, cut).ok().and_then(|lives| order(&events, &lives));
        Ok(judge_with(&events, whole, part))
    };
    if calls.contains(&CollectionCall::UnknownRemoval) { unknown::judge(history, calls, known) } else { known(calls) }
}

/// The verdict. `order` linearizes the part of the history before a cut.
fn judge(events: &Events, order: impl Fn(Cut) -> Option<Vec<usize>>) -> Verdict {
    judge_with(events, order(events.whole()), order)
}

/// Finds the first return that makes the history not linearizable. A part of a linearizable history is linearizable,
/// so this is a binary search.
fn judge_with(events: &Events, whole: Option<Vec<usize>>, order: impl Fn(Cut) -> Option<Vec<usize>>) -> Verdict {
    if let Some(order) = whole {
        return Verdict::Linearizable { order };
    }
    let (mut good, mut bad) = (0, events.returns.len());
    let mut longest = Vec::new();
    while good + 1 < bad {
        let middle = good.midpoint(bad);
        match order(events.after_returns(middle)) {
            Some(order) => {
                good = middle;
                longest = order;
            }
            None => bad = middle,
        }
    }
    // What happened before the failing return: the same returns, and the invocations since the last of them.
    if let Some(order) = order(events.before_return(bad)) {
        longest = order;
    }
    Verdict::NotLinearizable(Witness { stuck: Some(events.returns[bad - 1]), longest: vec![longest] })
}
