//! A search that goes on without other methods that are at fault.

use std::collections::BTreeSet;

use interloper_scheduler::Deadline;

use super::{Campaign, Hunted, Minimised, Progress, Reproduced, Searched, Visits};
use crate::object::MethodId;
use crate::schemas::Bounds;
use crate::stress::Next;

/// Methods that show a violation by themselves.
#[derive(Clone, Debug, PartialEq)]
pub struct Faulty {
    /// As few as a violation was found with.
    pub methods: BTreeSet<MethodId>,
    /// The violation. If it calls other methods, too, each of their calls runs as one step.
    pub smallest: Minimised,
    /// See [`Searched::interrupted`].
    pub interrupted: Vec<BTreeSet<MethodId>>,
    /// If real threads found it: whether the scheduler shows it, too.
    pub reproduced: Option<Reproduced>,
}

impl Campaign {
    /// [`Campaign::method_after`]. If the search ends because other methods show a violation by themselves, it begins again without
    /// these, as long as there is time: so something is known of this method, too, though from no more schemas than the campaign
    /// names. Some of these begin with calls of the methods that are at fault, which do not run beside others.
    ///
    /// `visits` are those of a whole search: a part does not go on, since its further searches would end where another part found something.
    pub fn method_apart(
        &self,
        method: MethodId,
        visits: &mut Visits,
        watch: &mut dyn FnMut(&Progress<'_>) -> Next,
    ) -> Searched {
        let deadline = Deadline::of(self.time);
        let mut searched = self.method_until(method, visits, deadline, watch);
        let mut out = BTreeSet::new();
        while let Some(smallest) = searched.smallest.as_ref().filter(|_| searched.of_core) {
            let faulty = Faulty {
                methods: searched.blamed.clone(),
                smallest: smallest.clone(),
                interrupted: searched.interrupted.clone(),
                reproduced: searched.reproduced.clone(),
            };
            let known = out.len();
            out.extend(&faulty.methods);
            if out.len() == known || deadline.is_over() {
                break;
            }
            // An object that is known to be wrong is mended and hunted again: what takes longest is left for then.
            let rest = Campaign { object: self.object.without(&out), goes_on_while_cheap: false, ..self.clone() };
            let rest = Campaign { random: begun(rest.random), repeated: begun(rest.repeated), ..rest };
            let Hunted { schemas, executions, took, .. } = searched.hunted;
            let next = rest.method_until(method, visits, deadline, &mut |progress| {
                let (schemas, executions) = (schemas + progress.schemas, executions + progress.executions);
                watch(&Progress { schemas, executions, took: took + progress.took, ..*progress })
            });
            // Nothing is left beside it, or no time.
            if next.hunted.schemas == 0 {
                break;
            }
            let Searched { mut hunted, mut left_out, .. } = searched;
            hunted.extend(next.hunted.clone());
            left_out.push(faulty);
            searched = Searched { hunted, left_out, ..next };
        }
        searched
    }
}

/// The same schemas, many of which begin with calls on one thread: there, the methods that are left out may be called, too.
fn begun(stage: Option<(Bounds, u64)>) -> Option<(Bounds, u64)> {
    stage.map(|(bounds, most)| (Bounds { start: 0..=3, ..bounds }, most))
}

#[cfg(test)]
mod tests;
