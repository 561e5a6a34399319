//! Schemas with core methods in the place of another method.

use interloper_linearize::schema::{Invocation, Schema};
use interloper_random::{Purpose, Stream};
use rand::RngExt;

use super::alphabet::Call;
use crate::object::{MethodId, Object, Role};

/// Random arguments are about so many values.
const VALUES: u8 = 2;
/// So many schemas are drawn: where a call of a core method is understood as one of `method`, none of them may be of use.
const DRAWN: usize = 10_000;

/// Schemas that have core methods where a schema calls `method`. At first each core method in turn takes the place of
/// all its calls, with their arguments, if it takes such arguments. After that one or two calls of core methods, drawn at random, take
/// the place of each call.
pub(crate) fn with_core_instead(
    object: &Object,
    schema: &Schema,
    method: MethodId,
    seed: u64,
) -> impl Iterator<Item = Schema> {
    let calls = object.program(schema).map_or_else(|_| Vec::new(), |program| program.calls().to_vec());
    let replaced: Vec<bool> = calls.iter().map(|&(called, _)| called == method).collect();
    let beside = object.beside();
    let core: Vec<MethodId> = object.with_role(Role::Core).filter(|core| beside.contains(core)).collect();
    let draws = if core.is_empty() { 0 } else { DRAWN };
    let same = {
        let replaced = replaced.clone();
        core.clone().into_iter().map(move |core| {
            let name = object.method(core).name.clone();
            with(schema, &replaced, |call| vec![Invocation::new(name.clone(), call.arguments.iter().cloned())])
        })
    };
    let mut random = Stream::new(seed, Purpose::Schemas, 1 + method.0 as u64);
    let drawn = std::iter::repeat_with(move || {
        with(schema, &replaced, |_| {
            let calls = random.random_range(1..=2);
            let mut draw = |_| {
                let core = core[random.random_range(0..core.len())];
                Call::random(object, core, VALUES, &mut random).invocation(object)
            };
            (0..calls).map(&mut draw).collect()
        })
    });
    let is_without = move |schema: &Schema| {
        object.program(schema).is_ok_and(|program| program.calls().iter().all(|&(called, _)| called != method))
    };
    same.chain(drawn.take(draws)).filter(is_without)
}

/// The schema with other calls in the place of those that are `replaced`, in the order of the calls.
fn with(schema: &Schema, replaced: &[bool], mut calls: impl FnMut(&Invocation) -> Vec<Invocation>) -> Schema {
    let mut replaced = replaced.iter();
    let mut sequence = |sequence: &Vec<Invocation>| -> Vec<Invocation> {
        let mut of_call = |call: &Invocation| match replaced.next() {
            Some(true) => calls(call),
            _ => vec![call.clone()],
        };
        sequence.iter().flat_map(&mut of_call).collect()
    };
    let sequences = schema.sequences().iter().map(&mut sequence).collect();
    Schema::new(sequences, schema.happens_before().to_vec()).expect("the order is that of the schema")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::testing::method;

    fn object() -> Object {
        Object::describe("set", || ())
            .core("add", |_, (_,): (i64,)| ())
            .core("get", |_, ()| ())
            .method("fill", |_, (_,): (i64,)| ())
            .method("len", |_, ()| ())
            .build()
    }

    #[test]
    fn the_same_arguments_come_first_and_then_one_or_two_calls() {
        let object = object();
        let schema = Schema::parse("{ fill(1); get() } || { len(); fill(0) }").unwrap();
        let schemas: Vec<String> =
            with_core_instead(&object, &schema, method(&object, "fill"), 7).map(|schema| schema.to_string()).collect();
        // `get` takes no argument.
        assert_eq!(schemas[0], "{ add(1); get() } || { len(); add(0) }");
        let different: BTreeSet<&String> = schemas.iter().collect();
        // One or two of `add(0)`, `add(1)` and `get()`: 3 + 9 for each of the two calls.
        assert_eq!(different.len(), 12 * 12);
        assert!(schemas.iter().all(|schema| !schema.contains("fill")));
    }

    #[test]
    fn a_core_method_without_arguments_takes_the_place_of_one_without() {
        let object = object();
        let schema = Schema::parse("{ len() } || { fill(0) }").unwrap();
        let mut schemas = with_core_instead(&object, &schema, method(&object, "len"), 7);
        assert_eq!(schemas.next().unwrap().to_string(), "{ get() } || { fill(0) }");
    }

    #[test]
    fn without_core_methods_there_are_none() {
        let object = Object::describe("set", || ()).method("len", |_, ()| ()).build();
        let schema = Schema::parse("{ len() }").unwrap();
        assert_eq!(with_core_instead(&object, &schema, method(&object, "len"), 7).count(), 0);
    }
}
