//! Which methods are at fault for a finding.

use std::collections::BTreeSet;

use interloper_linearize::schema::Schema;
use interloper_scheduler::Deadline;

use super::{Campaign, Engine, Found, Hunt, Minimised, Source, attempt, changed};
use crate::object::{MethodId, Role};
use crate::schemas::{Bounds, Pool, with_core_instead};
use crate::stress::Next;

/// So many schemas of a set of core methods are tried before a larger set is to blame.
const TRIED_TO_BLAME: u64 = 60;

/// So many schemas with core methods in the place of one method of a pair are tried before both are to blame.
const TRIED_INSTEAD: usize = 100;

impl Campaign {
    /// A finding of one of these methods beside core methods, if this finding of several has one: if a schema with core methods in the
    /// place of another one of them shows a violation, too.
    pub(super) fn of_one(&self, minimised: Minimised, tested: &[MethodId], deadline: Deadline) -> Minimised {
        let mut engine = self.brief(deadline);
        for &method in tested {
            for schema in
                with_core_instead(&self.object, &minimised.found.schema, method, self.seed).take(TRIED_INSTEAD)
            {
                if deadline.is_over() {
                    break;
                }
                let Ok(program) = self.object.program(&schema) else { continue };
                let attempt = attempt(&program, &self.visibility, self.bound, &mut engine).ok();
                if let Some(found) = attempt.and_then(|attempt| attempt.finding(&schema)) {
                    return self.minimised_until(found, deadline, &mut |_, _| Next::Continue);
                }
            }
        }
        minimised
    }

    /// The finding of a schema without the calls of one method, if it has one: then the other methods are at fault.
    pub(crate) fn core_alone_until(&self, method: MethodId, schema: &Schema, deadline: Deadline) -> Option<Found> {
        let program = self.object.program(schema).ok()?;
        let mut called = program.calls().iter().map(|&(called, _)| called);
        let rest = changed(schema, |sequences| {
            sequences.iter_mut().for_each(|sequence| sequence.retain(|_| called.next() != Some(method)));
        });
        let rest = Some(rest).filter(|rest| !rest.is_empty())?;
        let program = self.object.program(&rest).ok()?;
        attempt(&program, &self.visibility, self.bound, &mut self.longer(deadline)).ok()?.finding(&rest)
    }

    /// The methods that a schema calls. Postconditions only look at what the others have left.
    pub(super) fn called(&self, schema: &Schema) -> BTreeSet<MethodId> {
        let calls = self.object.program(schema).map_or_else(|_| Vec::new(), |program| program.calls().to_vec());
        let called = calls.into_iter().map(|(called, _)| called);
        called.filter(|&called| self.object.method(called).role != Role::Postcondition).collect()
    }

    /// Many schemas are tried to blame, each as briefly as the first pass tries it.
    fn brief(&self, deadline: Deadline) -> Engine {
        match self.passes.first() {
            Some(first) => Engine::Passes(vec![first.clone()]).until(deadline),
            None => self.engine.until(deadline),
        }
    }

    /// A finding of fewer methods than this one, if a few schemas of some of its methods show one: the fewest are to blame.
    pub(super) fn fewest(&self, minimised: Minimised, deadline: Deadline) -> Minimised {
        let called: Vec<MethodId> = self.called(&minimised.found.schema).into_iter().collect();
        let sets = 1..(1_u64 << called.len()) - 1;
        let mut sets: Vec<Vec<MethodId>> = sets
            .map(|set| (0..called.len()).filter(|index| set & 1 << index != 0).map(|index| called[index]).collect())
            .collect();
        sets.sort_by_key(Vec::len);
        let engine = self.brief(deadline);
        for methods in sets {
            let bounds = Bounds { invocations: 2..=4, ..Bounds::default() };
            let hunt = Hunt {
                object: self.object.clone(),
                pool: Pool::Only(methods),
                source: Source::Random { bounds, seed: self.seed },
                visibility: self.visibility.clone(),
                engine: engine.clone(),
                bound: self.bound,
                schemas: Some(TRIED_TO_BLAME),
                time: None,
            };
            if let Some(found) = hunt.run(&mut |_| Next::Continue).found() {
                return self.minimised_until(found.clone(), deadline, &mut |_, _| Next::Continue);
            }
        }
        minimised
    }
}
