//! The correct outcomes of a program. A judge is pure: [`judged`](crate::judged) runs one with a clock beside it.

use std::fmt;

use interloper_commutativity::Value;
use interloper_linearize::outcomes::{Outcomes, outcomes};
use interloper_linearize::program::{Behaviour, Program as Order, TooLarge, Typed};
use interloper_linearize::schema::{Mistake, Schema};
use interloper_linearize::types::DataType;
use interloper_linearize::visibility::Visibility;
use interloper_scheduler::Crash;

use crate::object::sequential::late;
use crate::object::{Program, Sequential, State, Trouble};

/// Judges the outcomes of one program: it looks up each outcome among the correct outcomes, which it computes once, from the
/// sequential behaviour of the object (Violat, section 4) or of its model.
pub struct Judge {
    admitted: Outcomes,
    blocks: Option<usize>,
}

impl Judge {
    /// The judge of a program whose methods see as much as `visibility` says. At most this many configurations are
    /// explored.
    ///
    /// # Errors
    /// When the correct outcomes are unknown, and why.
    pub fn new(
        program: &Program,
        sequential: &mut Sequential,
        visibility: &Visibility,
        bound: usize,
    ) -> Result<Judge, Refusal> {
        let order = Order::new(program.schema(), visibility).map_err(Refusal::TooLarge)?;
        let model = program.object().model();
        let explored = match model {
            None => outcomes(sequential, &order, bound),
            Some(model) => {
                program.schema().check(model).map_err(Refusal::Model)?;
                let mut both = Lockstep::new(model, program.schema(), sequential);
                let explored = outcomes(&mut both, &order, bound);
                let disagreement = both.disagreement;
                if let (Some(disagreement), None) = (disagreement, sequential.blocks()) {
                    return Err(Refusal::Disagreement(disagreement));
                }
                explored
            }
        };
        sequential.confirm(&(0..program.schema().len()).collect::<Vec<usize>>());
        if let Some(trouble) = sequential.trouble() {
            return Err(Refusal::Trouble(trouble.clone()));
        }
        // A call that returns in no order may need another one that is under way, as the two sides of a rendezvous do: then its outcomes
        // are not those of any order. Models, and calls that miss others, say nothing of calls that block.
        let is_ordinary = model.is_none() && (0..order.len()).all(|call| order.is_complete(call));
        let refused = if is_ordinary { sequential.never_returns() } else { sequential.blocks() };
        // Two methods that wait at the same time may let each other go on, too, where something else makes each return alone.
        let method = |call: usize| program.calls()[call].0;
        let mut together = sequential.blocked_together();
        let partners = together.find(|&(one, other)| method(one) != method(other));
        drop(together);
        match (refused, partners) {
            (Some(call), _) => Err(Refusal::Blocked(call)),
            (None, Some((one, other))) => Err(Refusal::Partners(one, other)),
            (None, None) => Ok(Judge { admitted: explored.map_err(Refusal::TooLarge)?, blocks: sequential.blocks() }),
        }
    }

    /// The first invocation that blocks in some order. Outcomes of executions in which no call can go on are known, too; real
    /// threads do not show that no call can go on.
    pub fn blocks(&self) -> Option<usize> {
        self.blocks
    }

    /// Whether an outcome, the results in text order, is correct.
    pub fn admits(&self, outcome: &[Value]) -> bool {
        self.admitted.contains(outcome)
    }

    /// The correct outcomes, at most this many, sorted.
    pub fn admitted(&mut self, most: usize) -> Vec<Vec<Value>> {
        let mut all = Vec::new();
        self.admitted.each(|outcome| {
            // A call that comes too late makes no order.
            if all.len() < most && !outcome.contains(&&late()) {
                all.push(outcome.iter().map(|&value| value.clone()).collect());
            }
            all.len() < most
        });
        all
    }
}

/// Why the correct outcomes of a program are unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The exploration is too large.
    TooLarge(TooLarge),
    /// The object has no sequential behaviour.
    Trouble(Trouble),
    /// The invocation with this index in text order does not return on one thread.
    Blocked(usize),
    /// The invocations with these indices in text order wait at the same time in some order.
    Partners(usize, usize),
    /// The method of the invocation with this index in text order did not return in another schema, and nothing that the scheduler
    /// sees kept it waiting.
    Outside(usize),
    /// The model does not have the call.
    Model(Mistake),
    /// The object differs from its model, even on one thread.
    Disagreement(Disagreement),
    /// The time ran out before the correct outcomes were known.
    OutOfTime,
}

/// A call for which an object and its model give different results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disagreement {
    /// The invocations, as indices in text order, in the order in which they ran on one thread. Invocations before the
    /// last one that only read are left out.
    pub order: Vec<usize>,
    /// The result of the last invocation.
    pub object: Value,
    /// The result of the model.
    pub model: Value,
}

impl Refusal {
    /// Whether calls on one thread do what the system kills a process for. No specification allows that.
    pub fn is_crash(&self) -> bool {
        matches!(self, Refusal::Trouble(Trouble::Lost { how, .. }) if Crash::of_text(how).is_some())
    }

    /// One clear line, in the terms of the schema.
    pub fn text(&self, schema: &Schema) -> String {
        let calls = |order: &[usize]| {
            let invocations: Vec<_> = schema.invocations().collect();
            order.iter().map(|&index| invocations[index].to_string()).collect::<Vec<_>>().join("; ")
        };
        match self {
            Refusal::TooLarge(reason) => reason.to_string(),
            Refusal::Trouble(Trouble::NoObject(message)) => format!("the constructor panicked: {message}"),
            Refusal::Trouble(Trouble::Lost { call: Some(call), how }) => {
                let what = if self.is_crash() { "crashes" } else { "does not return" };
                format!("{} {what} on one thread: {how}", calls(&[*call]))
            }
            Refusal::Trouble(Trouble::Lost { call: None, how }) => {
                format!("no object can be created or dropped: {how}")
            }
            Refusal::Trouble(Trouble::Varies { order, first, then, .. }) => format!(
                "the object is not deterministic on one thread: after {}, the last call gave {first} the first time \
                 and {then} the second time; perhaps a method described as reading changes something",
                calls(order)
            ),
            Refusal::Blocked(call) => format!("{} does not return on one thread", calls(&[*call])),
            Refusal::Partners(one, other) => format!(
                "{} and {} wait at the same time in some order; if they let each other go on, no order says so",
                calls(&[*one]),
                calls(&[*other])
            ),
            Refusal::Outside(call) => format!(
                "a call of the method of {} did not return in another schema, so schemas with this method are not judged: it \
                 waits for something outside control, or takes too long",
                calls(&[*call])
            ),
            Refusal::Model(mistake) => mistake.to_string(),
            Refusal::OutOfTime => "the time ran out before the correct outcomes were known".to_owned(),
            Refusal::Disagreement(Disagreement { order, object, model }) => format!(
                "the object differs from its model on one thread: the last call of {} gives {object}, and the model \
                 gives {model}",
                calls(order)
            ),
        }
    }
}

impl fmt::Debug for Judge {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Judge({:?} outcomes)", self.admitted.count())
    }
}

/// A model and an object that take every step together.
struct Lockstep<'a> {
    model: Typed,
    object: &'a mut Sequential,
    disagreement: Option<Disagreement>,
}

impl<'a> Lockstep<'a> {
    fn new(model: &'a DataType, schema: &'a Schema, object: &'a mut Sequential) -> Lockstep<'a> {
        Lockstep { model: Typed::new(model, schema), object, disagreement: None }
    }
}

impl Behaviour for Lockstep<'_> {
    type State = (Value, State);

    fn initial(&mut self) -> (Value, State) {
        (self.model.initial(), self.object.initial())
    }

    fn apply(&mut self, (model, object): &(Value, State), invocation: usize) -> ((Value, State), Value) {
        let (next_model, should) = self.model.apply(model, invocation);
        let (next_object, does) = self.object.apply(object, invocation);
        if should != does && self.object.trouble().is_none() {
            let mut order = self.object.path(*object).to_vec();
            order.push(invocation);
            // The shortest one is reported.
            if self.disagreement.as_ref().is_none_or(|known| order.len() < known.order.len()) {
                self.disagreement = Some(Disagreement { order, object: does, model: should.clone() });
            }
        }
        ((next_model, next_object), should)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicI64, Ordering};
    use std::time::Duration;

    use interloper_linearize::types::type_named;
    use interloper_linearize::visibility::Level;
    use interloper_scheduler::Deadline;

    use super::*;
    use crate::judged;
    use crate::object::Object;

    const BOUND: usize = 10_000;
    const SHORT: Duration = Duration::from_millis(100);

    fn judge(object: &Object, schema: &str) -> Result<Judge, Refusal> {
        let program = object.program(&Schema::parse(schema).expect("a schema")).expect("a schema of the object");
        let judged = judged::within(&program, object.visibility(), BOUND, SHORT, Deadline::NEVER);
        judged.map(|(judge, _)| judge)
    }

    fn counter(level: Level) -> Object {
        Object::describe("counter", || AtomicI64::new(0))
            .core("add", |counter, (amount,): (i64,)| counter.fetch_add(amount, Ordering::Relaxed))
            .method("get", |counter, ()| counter.load(Ordering::Relaxed))
            .reads()
            .sees(level)
            .build()
    }

    fn texts(judge: &mut Judge) -> Vec<String> {
        let text = |outcome: &Vec<Value>| outcome.iter().map(Value::to_string).collect::<Vec<_>>().join(" ");
        judge.admitted(100).iter().map(text).collect()
    }

    #[test]
    fn outcomes_of_the_object_itself() {
        let mut complete = judge(&counter(Level::Complete), "{ add(1); get() } || { add(2) }").expect("outcomes");
        assert_eq!(texts(&mut complete), ["0 1 1", "0 3 1", "2 3 0"]);
        assert!(complete.admits(&[Value::Int(0), Value::Int(1), Value::Int(1)]));
        assert!(!complete.admits(&[Value::Int(0), Value::Int(2), Value::Int(1)]));
        assert!(!complete.admits(&[Value::Int(0), Value::Int(1)]));
        // A weak get may miss either of the two, or both.
        let mut weak = judge(&counter(Level::Weak), "{ add(1); get() } || { add(2) }").expect("outcomes");
        assert_eq!(texts(&mut weak), ["0 0 1", "0 1 1", "0 2 1", "0 3 1", "2 0 0", "2 1 0", "2 2 0", "2 3 0"]);
        let mut ordered = judge(&counter(Level::Complete), "[add(1); get()], [add(2)], {0<1}").expect("outcomes");
        assert_eq!(texts(&mut ordered), ["0 1 1"]);
    }

    #[test]
    fn a_model_is_compared_first() {
        let map = |answer: fn(Option<i64>) -> Option<i64>| {
            Object::describe("map", || Mutex::new(std::collections::BTreeMap::<i64, i64>::new()))
                .core("put", move |map, (key, value)| answer(map.lock().unwrap().insert(key, value)))
                .model(type_named("map").expect("a type"))
                .build()
        };
        let schema = "{ put(0,1); put(0,2) } || { put(1,1) }";
        assert!(judge(&map(|before| before), schema).is_ok());
        let refusal = judge(&map(|_| None), schema).expect_err("a difference");
        let expected = "the object differs from its model on one thread: the last call of put(0, 1); put(0, 2) gives none, \
                        and the model gives 1";
        assert_eq!(refusal.text(&Schema::parse(schema).expect("a schema")), expected);
    }

    #[test]
    fn what_cannot_be_judged_is_named() {
        let check = |object: Object, schema: &str, expected: &str| {
            let refusal = judge(&object, schema).expect_err("a refusal");
            assert_eq!(refusal.text(&Schema::parse(schema).expect("a schema")), expected);
        };
        let stuck = Object::describe("stuck", || ())
            .core("wait", |(), ()| -> () {
                loop {
                    std::thread::park();
                }
            })
            .build();
        check(stuck, "{ wait() } || { wait() }", "wait() does not return on one thread");
        #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
        {
            fn dive(depth: u64) -> u64 {
                let frame = std::hint::black_box([depth; 32]);
                if depth == 0 { 0 } else { 1 + dive(frame[5] - 1) }
            }
            struct Sour;
            impl Drop for Sour {
                fn drop(&mut self) {
                    panic!("sour");
                }
            }
            let deep = Object::describe("deep", || ())
                .core("shallow", |(), ()| dive(100) as i64)
                .core("dive", |(), ()| dive(u64::MAX) as i64)
                .core("doom", |(), ()| -> i64 {
                    let _sour = Sour;
                    panic!("sweet");
                })
                .core("abort", |(), ()| -> i64 { std::process::abort() })
                .build();
            let lost = |schema: &str, expected: &str| {
                let refusal =
                    judge(&deep, schema).expect_err("a refusal").text(&Schema::parse(schema).expect("a schema"));
                assert!(refusal.starts_with(expected), "{refusal}");
            };
            lost("{ shallow(); dive() }", "dive() does not return on one thread: stack overflow");
            lost("{ shallow(); doom() }", "doom() does not return on one thread: a panic that cannot unwind, at ");
            lost("{ shallow() } || { abort() }", "abort() does not return on one thread: abort of the process");
            assert_eq!(texts(&mut judge(&deep, "{ shallow() }").expect("an outcome")), ["100"]);
        }
        let unmade = Object::describe("unmade", || -> () { panic!("no") }).core("call", |(), ()| ()).build();
        check(unmade, "{ call() }", "the constructor panicked: no");
        let calls = AtomicI64::new(0);
        let lottery = Object::describe("lottery", || ())
            .core("draw", move |(), ()| calls.fetch_add(1, Ordering::Relaxed))
            .build();
        check(
            lottery,
            "{ draw() }",
            "the object is not deterministic on one thread: after draw(), the last call gave 0 the first time and 1 the \
             second time; perhaps a method described as reading changes something",
        );
    }
}
