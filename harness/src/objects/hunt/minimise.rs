//! Makes a schema that shows a violation smaller, as long as it shows one.

use std::collections::BTreeSet;

use interloper_commutativity::Value;
use interloper_linearize::schema::{Invocation, Schema};
use interloper_linearize::visibility::Visibility;

use super::{Engine, Found, What, attempt};
use crate::object::{Object, Role};
use crate::schemas::{keeps_apart, with_end};
use crate::stress::Next;

/// The result of a minimisation.
#[derive(Clone, Debug, PartialEq)]
pub struct Minimised {
    /// The smallest schema that was found, with what went wrong when it ran.
    pub found: Found,
    /// How many smaller schemas were tried.
    pub attempts: u64,
    /// Whether all ways to make it smaller were tried; false when the time was up or the watcher ended it.
    pub complete: bool,
}

/// Makes the schema of a finding smaller: without an invocation, then without a sequence, then with smaller values, then
/// without a constraint, and again from the beginning until nothing of that shows a violation any more.
///
/// A schema that shows no violation within the budget of the engine counts as correct. The reduction ends at the
/// engine's deadline. `watch` sees each schema before it is tried, with the number of schemas tried so far, and may end
/// the reduction.
pub fn minimise(
    object: &Object,
    visibility: &Visibility,
    bound: usize,
    engine: &mut Engine,
    found: Found,
    watch: &mut dyn FnMut(&Schema, u64) -> Next,
) -> Minimised {
    let deadline = engine.deadline();
    let mut minimised = Minimised { found, attempts: 0, complete: false };
    let mut failed: BTreeSet<String> = BTreeSet::new();
    'smaller: loop {
        for schema in candidates(object, &minimised.found.schema) {
            if !keeps_apart(object, &schema) {
                continue;
            }
            if deadline.is_over() {
                return minimised;
            }
            // Several larger schemas can lead to the same schema.
            if failed.contains(&schema.to_string()) {
                continue;
            }
            if watch(&schema, minimised.attempts) == Next::Stop {
                return minimised;
            }
            minimised.attempts += 1;
            if let Some(found) = shows(object, visibility, bound, engine, &schema, &minimised.found.what) {
                minimised.found = found;
                continue 'smaller;
            }
            failed.insert(schema.to_string());
        }
        minimised.complete = true;
        return minimised;
    }
}

/// What goes wrong when a schema runs, if it is of the same kind.
fn shows(
    object: &Object,
    visibility: &Visibility,
    bound: usize,
    engine: &mut Engine,
    schema: &Schema,
    kind: &What,
) -> Option<Found> {
    let program = object.program(schema).ok()?;
    attempt(&program, visibility, bound, engine).ok()?.finding(schema).filter(|found| found.what.is_like(kind))
}

/// The schemas that are one step smaller. Postconditions stay after all other calls: they look at what those have left.
fn candidates(object: &Object, schema: &Schema) -> Vec<Schema> {
    let Some(looks) = end(object, schema) else { return smaller(schema) };
    let rest = changed(schema, |sequences| sequences.last_mut().into_iter().for_each(Vec::clear));
    let less = smaller(&rest).into_iter().map(|rest| with_end(rest, looks.clone()));
    let fewer = (0..looks.len()).map(|without| {
        let kept = looks.iter().enumerate().filter(|(number, _)| *number != without);
        with_end(rest.clone(), kept.map(|(_, look)| look.clone()).collect())
    });
    less.chain(fewer).filter(|schema| !schema.is_empty()).collect()
}

/// The postconditions that come after all other calls, if the schema ends with some.
fn end(object: &Object, schema: &Schema) -> Option<Vec<Invocation>> {
    let (looks, others) = schema.sequences().split_last()?;
    let is_look = |call: &Invocation| {
        object.with_role(Role::Postcondition).any(|method| object.method(method).name == call.method)
    };
    if looks.is_empty() || !looks.iter().all(is_look) {
        return None;
    }
    // The sequences that something after them comes before the last one.
    let last = others.len();
    let mut earlier = BTreeSet::from([last]);
    while let Some((before, _)) =
        schema.happens_before().iter().find(|(before, after)| earlier.contains(after) && !earlier.contains(before))
    {
        earlier.insert(*before);
    }
    (earlier.len() == last + 1).then(|| looks.to_vec())
}

/// The schemas that are one step smaller, whatever their methods are for.
fn smaller(schema: &Schema) -> Vec<Schema> {
    let sequences = schema.sequences();
    let mut all = Vec::new();
    for (number, sequence) in sequences.iter().enumerate() {
        for place in 0..sequence.len() {
            all.push(changed(schema, |sequences| drop(sequences[number].remove(place))));
        }
    }
    for number in 0..sequences.len() {
        if sequences[number].len() > 1 {
            all.push(changed(schema, |sequences| sequences[number].clear()));
        }
    }
    for (number, sequence) in sequences.iter().enumerate() {
        for (place, invocation) in sequence.iter().enumerate() {
            for (index, argument) in invocation.arguments.iter().enumerate() {
                for smaller in smaller_values(argument) {
                    let change = |sequences: &mut Vec<Vec<Invocation>>| {
                        sequences[number][place].arguments[index] = smaller;
                    };
                    all.push(changed(schema, change));
                }
            }
        }
    }
    for dropped in schema.happens_before() {
        let rest = schema.happens_before().iter().filter(|pair| *pair != dropped).copied();
        all.push(Schema::new(sequences.to_vec(), rest.collect()).expect("fewer constraints have no cycle either"));
    }
    all.retain(|schema| !schema.is_empty());
    all
}

/// A schema with other sequences, of which the empty ones are left out. What a sequence was between stays ordered.
pub(super) fn changed(schema: &Schema, change: impl FnOnce(&mut Vec<Vec<Invocation>>)) -> Schema {
    let mut sequences = schema.sequences().to_vec();
    change(&mut sequences);
    let mut before = schema.happens_before().to_vec();
    for number in (0..sequences.len()).rev() {
        if sequences[number].is_empty() {
            sequences.remove(number);
            let earlier: Vec<usize> = before.iter().filter(|pair| pair.1 == number).map(|pair| pair.0).collect();
            let later: Vec<usize> = before.iter().filter(|pair| pair.0 == number).map(|pair| pair.1).collect();
            before.retain(|pair| pair.0 != number && pair.1 != number);
            before.extend(earlier.iter().flat_map(|&first| later.iter().map(move |&second| (first, second))));
            let shifted = |sequence: usize| sequence - usize::from(sequence > number);
            before = before.into_iter().map(|(first, second)| (shifted(first), shifted(second))).collect();
        }
    }
    Schema::new(sequences, before).expect("what is left of an order is one")
}

/// Values that are one step smaller: integers towards 0, collections with an element less or with a smaller one.
fn smaller_values(value: &Value) -> Vec<Value> {
    match value {
        Value::Int(number) => (0..*number).take(3).map(Value::Int).collect(),
        Value::List(items) => {
            let without = (0..items.len()).map(|index| {
                let rest = items.iter().enumerate().filter(|(place, _)| *place != index);
                Value::list(rest.map(|(_, item)| item.clone()))
            });
            let with_smaller = (0..items.len()).flat_map(|index| {
                smaller_values(&items[index]).into_iter().map(move |smaller| {
                    let mut items = items.to_vec();
                    items[index] = smaller;
                    Value::list(items)
                })
            });
            without.chain(with_smaller).collect()
        }
        Value::Map(entries) => {
            let without = entries.keys().map(|dropped| {
                let rest = entries.iter().filter(|(key, _)| *key != dropped);
                Value::map(rest.map(|(key, content)| (key.clone(), content.clone())))
            });
            let with_smaller = entries.iter().flat_map(|(key, content)| {
                smaller_values(content).into_iter().map(move |smaller| {
                    let mut entries = (**entries).clone();
                    entries.insert(key.clone(), smaller);
                    Value::map(entries)
                })
            });
            without.chain(with_smaller).collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(schema: &str, expected: &[&str]) {
        let texts: Vec<String> =
            smaller(&Schema::parse(schema).expect("a schema")).iter().map(Schema::to_string).collect();
        assert_eq!(texts, expected, "{schema}");
    }

    #[test]
    fn one_step_smaller() {
        check(
            "{ f(1); g() } || { h() }",
            &["{ g() } || { h() }", "{ f(1) } || { h() }", "{ f(1); g() }", "{ h() }", "{ f(0); g() } || { h() }"],
        );
        check("{ f() }", &[]);
        check("{ f([1]) }", &["{ f([]) }", "{ f([0]) }"]);
        check("{ f({1=1}) }", &["{ f({}) }", "{ f({1=0}) }"]);
    }

    #[test]
    fn the_order_of_what_is_left_stays() {
        check(
            "[f()], [g()], [h()], {0<1, 1<2}",
            &[
                "[g()], [h()], {0<1}",
                "[f()], [h()], {0<1}",
                "[f()], [g()], {0<1}",
                "[f()], [g()], [h()], {1<2}",
                "[f()], [g()], [h()], {0<1}",
            ],
        );
    }
}
