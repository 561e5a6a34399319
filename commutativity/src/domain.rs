//! Finite domains of arguments, and what can be reached with them.

use std::collections::BTreeSet;

use crate::{Invocation, Method, MethodId, Model, Parameter, Value};

/// The values that arguments are drawn from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Domain {
    /// For [`Parameter::Key`]; [`Parameter::Cursor`] ranges over `none` and these.
    pub keys: Vec<Value>,
    /// For [`Parameter::Value`].
    pub values: Vec<Value>,
    /// For [`Parameter::Amount`].
    pub amounts: Vec<Value>,
}

impl Domain {
    /// What a parameter of this kind ranges over, in order.
    pub fn of(&self, parameter: Parameter) -> Vec<Value> {
        match parameter {
            Parameter::Key => self.keys.clone(),
            Parameter::Value => self.values.clone(),
            Parameter::Amount => self.amounts.clone(),
            Parameter::Cursor => {
                let visited = self.keys.iter().map(|key| Value::option(Some(key.clone())));
                [Value::None].into_iter().chain(visited).collect()
            }
        }
    }
}

/// Every call over `domain` of the methods that `include` accepts: in the order of the methods, then of the arguments,
/// the last argument changing fastest.
pub fn invocations(model: &dyn Model, include: impl Fn(&Method) -> bool, domain: &Domain) -> Vec<Invocation> {
    let mut calls = Vec::new();
    for (method, id) in model.methods().iter().zip((0..).map(MethodId)) {
        if include(method) {
            calls.extend(arguments(method.parameters, domain).into_iter().map(|list| Invocation::new(id, list)));
        }
    }
    calls
}

fn arguments(parameters: &[Parameter], domain: &Domain) -> Vec<Vec<Value>> {
    let mut lists = vec![Vec::new()];
    for &parameter in parameters {
        let choices = domain.of(parameter);
        let extend =
            |list: Vec<Value>| choices.iter().map(move |value| [&list[..], std::slice::from_ref(value)].concat());
        lists = lists.into_iter().flat_map(extend).collect();
    }
    lists
}

/// The states that at most `max_size` operations of an open environment reach from the initial state without ever
/// holding more than `max_size` elements.
///
/// Smallest first: by the number of elements ([`Value::len`]), then by the number of operations needed, then in the
/// order of values. A type whose states hold no elements (a counter) has its initial state first.
pub fn states(model: &dyn Model, domain: &Domain, max_size: usize) -> Vec<Value> {
    let calls = invocations(model, |method| method.environment, domain);
    let initial = model.initial();
    if initial.len() > max_size {
        return Vec::new();
    }
    let mut reached = vec![(initial.len(), 0, initial.clone())];
    let mut seen = BTreeSet::from([initial.clone()]);
    let mut frontier = vec![initial];
    for depth in 1..=max_size {
        let mut next = Vec::new();
        for (state, call) in frontier.iter().flat_map(|state| calls.iter().map(move |call| (state, call))) {
            let mut after = state.clone();
            model.apply(&mut after, call);
            if after.len() <= max_size && !seen.contains(&after) {
                seen.insert(after.clone());
                reached.push((after.len(), depth, after.clone()));
                next.push(after);
            }
        }
        frontier = next;
    }
    reached.sort();
    reached.into_iter().map(|(_, _, state)| state).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::model_named;

    fn integers(numbers: &[i64]) -> Vec<Value> {
        numbers.iter().copied().map(Value::Int).collect()
    }

    fn small() -> Domain {
        Domain { keys: integers(&[1, 2]), values: integers(&[10, 20]), amounts: integers(&[1, 2]) }
    }

    fn texts(model: &str, max_size: usize) -> Vec<String> {
        let model = model_named(model).expect("a model of that name");
        states(&*model, &small(), max_size).iter().map(Value::to_string).collect()
    }

    #[test]
    fn states_come_smallest_first() {
        assert_eq!(texts("map", 1), ["{}", "{1: 10}", "{1: 20}", "{2: 10}", "{2: 20}"]);
        assert_eq!(texts("set", 4), ["{}", "{1}", "{2}", "{1, 2}"]);
        assert_eq!(texts("stack", 2), ["[]", "[10]", "[20]", "[10, 10]", "[10, 20]", "[20, 10]", "[20, 20]"]);
        assert_eq!(texts("priority-queue", 2), ["[]", "[10]", "[20]", "[10, 10]", "[10, 20]", "[20, 20]"]);
        assert_eq!(texts("counter", 1), ["0", "-2", "-1", "1", "2"]);
        assert_eq!(texts("register", 4), ["0", "10", "20"]);
    }

    /// Each of the n elements is one of 2 in a list (2^n), absent or one of 2 in a map of 2 keys (3^2).
    #[test]
    fn all_states_are_there() {
        assert_eq!(texts("queue", 4).len(), 1 + 2 + 4 + 8 + 16);
        assert_eq!(texts("bounded-queue", 4).len(), 1 + 2 + 4);
        assert_eq!(texts("map", 4).len(), 9);
        assert_eq!(texts("sorted-set", 4).len(), 4);
        assert_eq!(texts("counter", 4).len(), 17);
        assert_eq!(texts("map", 0), ["{}"]);
    }

    #[test]
    fn calls_come_in_the_order_of_methods_and_arguments() {
        let model = model_named("map").expect("the map");
        let text = |include: &dyn Fn(&Method) -> bool| {
            let calls = invocations(&*model, include, &small());
            calls.iter().map(|call| call.text(&*model)).collect::<Vec<_>>().join(" ")
        };
        let open = "get(1) get(2) insert(1, 10) insert(1, 20) insert(2, 10) insert(2, 20) insert_if_absent(1, 10) \
                    insert_if_absent(1, 20) insert_if_absent(2, 10) insert_if_absent(2, 20) remove(1) remove(2)";
        assert_eq!(text(&|method| method.environment), open);
        assert_eq!(text(&|method| method.name == "next_after"), "next_after(none) next_after(1) next_after(2)");
        assert_eq!(text(&|_| false), "");
    }
}
