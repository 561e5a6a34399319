//! Properties on random input.

use std::collections::BTreeMap;
use std::sync::Arc;

use interloper_commutativity::models::{map, models};
use interloper_commutativity::{
    Conflicts, Domain, Invocation, Method, MethodId, Model, Parameter, Value, commute, invocations,
};
use proptest::prelude::*;
use proptest::sample::Index;

/// Two calls from the state that some other calls reach: the oracle's answer is that of running both orders.
fn agrees(
    model: &Arc<dyn Model>,
    domain: &Domain,
    history: &[Index],
    pair: (Index, Index),
) -> Result<(), TestCaseError> {
    let open = invocations(&**model, |method| method.environment, domain);
    let all = invocations(&**model, |_| true, domain);
    let mut state = model.initial();
    let mut oracle = Conflicts::new(Arc::clone(model));
    let (a, b) = (pair.0.get(&all), pair.1.get(&all));
    for call in history {
        let expected = !commute(&**model, &state, a, b);
        prop_assert_eq!(
            oracle.conflicts(&state, a, b),
            expected,
            "{} × {} from {}",
            a.text(&**model),
            b.text(&**model),
            state
        );
        prop_assert_eq!(oracle.conflicts(&state, b, a), expected);
        model.apply(&mut state, call.get(&open));
    }
    Ok(())
}

fn integers(numbers: impl IntoIterator<Item = i64>) -> Vec<Value> {
    numbers.into_iter().map(Value::Int).collect()
}

fn histories() -> impl Strategy<Value = Vec<Index>> {
    proptest::collection::vec(any::<Index>(), 1..12)
}

/// A type without a table: documents with revisions, written only by those who name the latest one.
struct Documents;

const READ: MethodId = MethodId(0);
const WRITE: MethodId = MethodId(1);
const COUNT: MethodId = MethodId(2);

impl Model for Documents {
    fn name(&self) -> &str {
        "documents"
    }
    fn methods(&self) -> &[Method] {
        const {
            &[
                Method { name: "read", parameters: &[Parameter::Key], environment: true },
                Method {
                    name: "write",
                    parameters: &[Parameter::Key, Parameter::Amount, Parameter::Value],
                    environment: true,
                },
                Method { name: "count", parameters: &[], environment: false },
            ]
        }
    }
    fn initial(&self) -> Value {
        Value::map([])
    }
    fn apply(&self, state: &mut Value, call: &Invocation) -> Value {
        let Value::Map(documents) = state else { return Value::None };
        let revision = |found: Option<&Value>| match found {
            Some(Value::Tuple(document)) => document[0].clone(),
            _ => Value::Int(0),
        };
        match (call.method, call.arguments.as_slice()) {
            (READ, [key]) => Value::option(documents.get(key).cloned()),
            (WRITE, [key, Value::Int(latest), text]) => {
                let accepted = revision(documents.get(key)) == Value::Int(*latest);
                if accepted {
                    let document = Value::tuple([Value::Int(latest + 1), text.clone()]);
                    Arc::make_mut(documents).insert(key.clone(), document);
                }
                Value::Bool(accepted)
            }
            (COUNT, []) => Value::Int(documents.len() as i64),
            _ => Value::None,
        }
    }
}

/// Values of one shape: the same type in Rust, such as the keys of one map.
#[derive(Clone, Debug)]
enum Shape {
    Bool,
    Int,
    Text,
    Option(Box<Shape>),
    Case(Box<Shape>, Box<Shape>),
    Tuple(Vec<Shape>),
    List(Box<Shape>),
    Set(Box<Shape>),
    Map(Box<Shape>, Box<Shape>),
}

fn shapes() -> impl Strategy<Value = Shape> {
    let leaf = prop_oneof![Just(Shape::Bool), Just(Shape::Int), Just(Shape::Text)];
    leaf.prop_recursive(3, 8, 3, |inner| {
        let boxed = inner.clone().prop_map(Box::new).boxed();
        prop_oneof![
            boxed.clone().prop_map(Shape::Option),
            (boxed.clone(), boxed.clone()).prop_map(|(a, b)| Shape::Case(a, b)),
            proptest::collection::vec(inner, 0..3).prop_map(Shape::Tuple),
            boxed.clone().prop_map(Shape::List),
            boxed.clone().prop_map(Shape::Set),
            (boxed.clone(), boxed).prop_map(|(a, b)| Shape::Map(a, b)),
        ]
    })
}

/// Small ranges, so that two values are often equal or nearly so.
fn values(shape: &Shape) -> BoxedStrategy<Value> {
    use proptest::collection::vec;
    match shape {
        Shape::Bool => any::<bool>().prop_map(Value::Bool).boxed(),
        Shape::Int => prop_oneof![-2..12i64, any::<i64>()].prop_map(Value::Int).boxed(),
        Shape::Text => "[a,:\"\\\\ ({\\[]{0,3}".prop_map(Value::text).boxed(),
        Shape::Option(inner) => proptest::option::of(values(inner)).prop_map(Value::option).boxed(),
        Shape::Case(ok, err) => prop_oneof![
            values(ok).prop_map(|value| Value::variant("Ok", [value])),
            values(err).prop_map(|value| Value::variant("Err", [value])),
        ]
        .boxed(),
        Shape::Tuple(shapes) => shapes.iter().map(values).collect::<Vec<_>>().prop_map(Value::tuple).boxed(),
        Shape::List(inner) => vec(values(inner), 0..3).prop_map(Value::list).boxed(),
        Shape::Set(inner) => vec(values(inner), 0..3).prop_map(Value::set).boxed(),
        Shape::Map(key, value) => vec((values(key), values(value)), 0..3).prop_map(Value::map).boxed(),
    }
}

fn three_of_one_shape() -> impl Strategy<Value = (Value, Value, Value)> {
    shapes().prop_flat_map(|shape| (values(&shape), values(&shape), values(&shape)))
}

proptest! {
    #[test]
    fn an_oracle_without_a_table(history in histories(), pair: (Index, Index)) {
        let domain = Domain { keys: integers(1..=2), values: integers(1..=2), amounts: integers(0..=2) };
        let model: Arc<dyn Model> = Arc::new(Documents);
        prop_assert!(model.specification().is_none());
        agrees(&model, &domain, &history, pair)?;
    }

    #[test]
    fn an_oracle_with_a_table(history in histories(), which: Index, pair: (Index, Index)) {
        let domain = Domain { keys: integers(1..=4), values: integers(1..=3), amounts: integers(-1..=2) };
        agrees(which.get(&models()), &domain, &history, pair)?;
    }

    /// Total: reflexive, antisymmetric and transitive, and any two values compare.
    #[test]
    fn the_order_of_values_is_total((a, b, c) in three_of_one_shape()) {
        prop_assert_eq!(a.cmp(&a), std::cmp::Ordering::Equal);
        prop_assert_eq!(a.cmp(&b), b.cmp(&a).reverse());
        prop_assert_eq!(a.cmp(&b).is_eq(), a == b);
        if a <= b && b <= c {
            prop_assert!(a <= c);
        }
    }

    /// Injective: different values of one shape have different texts.
    #[test]
    fn the_text_of_values_is_injective((a, b, _) in three_of_one_shape()) {
        prop_assert_eq!(a.to_string() == b.to_string(), a == b);
    }

    /// The form of an option gives its content back.
    #[test]
    fn options_round_trip((a, b, _) in three_of_one_shape()) {
        for content in [None, Some(a), Some(Value::option(Some(b))), Some(Value::None)] {
            let form = Value::option(content.clone());
            prop_assert_eq!(form.content(), content.as_ref());
        }
    }

    /// The map's model is a map: the same script on `std`'s gives the same results and content.
    #[test]
    fn the_model_of_a_map_is_a_map(script in proptest::collection::vec((0..4u8, 0..4i64, 0..3i64), 0..20)) {
        let model = &models()[0];
        let (mut state, mut twin) = (model.initial(), BTreeMap::new());
        for (method, key, value) in script {
            let (key, value) = (Value::Int(key), Value::Int(value));
            let (call, expected) = match method {
                0 => (Invocation::new(map::GET, [key.clone()]), twin.get(&key).cloned()),
                1 => (Invocation::new(map::INSERT, [key.clone(), value.clone()]), twin.insert(key, value)),
                2 => (Invocation::new(map::REMOVE, [key.clone()]), twin.remove(&key)),
                _ => {
                    let before = twin.get(&key).cloned();
                    twin.entry(key.clone()).or_insert_with(|| value.clone());
                    (Invocation::new(map::INSERT_IF_ABSENT, [key, value]), before)
                }
            };
            prop_assert_eq!(model.apply(&mut state, &call), Value::option(expected));
        }
        prop_assert_eq!(state, Value::map(twin));
    }
}
