//! The oracle that an adversary asks.

use std::fmt;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::{Invocation, Model, Value, commute};

/// How many answers are kept; when there are more, it starts afresh.
const KEPT: usize = 1 << 20;

/// Decides whether two calls conflict, that is, do not commute in a state: by the model's table where there is one,
/// else by running both orders, once for each state and pair.
#[derive(Clone)]
pub struct Conflicts {
    model: Arc<dyn Model>,
    known: FxHashMap<Value, Pairs>,
    answers: usize,
}

/// The answers for one state, by the two calls, the smaller one first: the relation is symmetric.
type Pairs = FxHashMap<Invocation, FxHashMap<Invocation, bool>>;

impl Conflicts {
    /// The oracle for `model`.
    pub fn new(model: Arc<dyn Model>) -> Conflicts {
        Conflicts { model, known: FxHashMap::default(), answers: 0 }
    }

    /// The model.
    pub fn model(&self) -> &Arc<dyn Model> {
        &self.model
    }

    /// Whether `a` and `b` do not commute in `state`.
    pub fn conflicts(&mut self, state: &Value, a: &Invocation, b: &Invocation) -> bool {
        if let Some(table) = self.model.specification() {
            return table.conflicts(state, a, b);
        }
        let (a, b) = if a <= b { (a, b) } else { (b, a) };
        if let Some(&answer) = self.known.get(state).and_then(|pairs| pairs.get(a)?.get(b)) {
            return answer;
        }
        let answer = !commute(&*self.model, state, a, b);
        self.keep(state, a, b, answer);
        answer
    }

    fn keep(&mut self, state: &Value, a: &Invocation, b: &Invocation, answer: bool) {
        if self.answers == KEPT {
            self.known.clear();
            self.answers = 0;
        }
        self.answers += 1;
        let pairs = self.known.entry(state.clone()).or_default();
        pairs.entry(a.clone()).or_default().insert(b.clone(), answer);
    }
}

impl fmt::Debug for Conflicts {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Conflicts").field("model", &self.model.name()).field("answers", &self.answers).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Domain, Method, MethodId, Parameter, invocations, states};

    /// A type of a user's own, without a table: an account that refuses to be overdrawn.
    struct Account;

    const DEPOSIT: MethodId = MethodId(0);
    const WITHDRAW: MethodId = MethodId(1);
    const BALANCE: MethodId = MethodId(2);

    impl Model for Account {
        fn name(&self) -> &str {
            "account"
        }
        fn methods(&self) -> &[Method] {
            const {
                &[
                    Method { name: "deposit", parameters: &[Parameter::Amount], environment: true },
                    Method { name: "withdraw", parameters: &[Parameter::Amount], environment: true },
                    Method { name: "balance", parameters: &[], environment: true },
                ]
            }
        }
        fn initial(&self) -> Value {
            Value::Int(0)
        }
        fn apply(&self, state: &mut Value, call: &Invocation) -> Value {
            let (Value::Int(balance), amount) = (&mut *state, call.arguments.first()) else { return Value::None };
            match (call.method, amount) {
                (DEPOSIT, Some(Value::Int(amount))) => {
                    *balance += amount;
                    Value::Unit
                }
                (WITHDRAW, Some(Value::Int(amount))) => {
                    let enough = *balance >= *amount;
                    *balance -= if enough { *amount } else { 0 };
                    Value::Bool(enough)
                }
                _ => state.clone(),
            }
        }
    }

    fn money() -> Domain {
        Domain { amounts: vec![Value::Int(1), Value::Int(2)], ..Domain::default() }
    }

    #[test]
    fn an_account() {
        let mut oracle = Conflicts::new(Arc::new(Account));
        let call = |method, amount: &[i64]| Invocation::new(method, amount.iter().copied().map(Value::Int));
        let mut check = |state: i64, a: &Invocation, b: &Invocation, expected: bool| {
            assert_eq!(oracle.conflicts(&Value::Int(state), a, b), expected, "{a:?} {b:?} from {state}");
        };
        let (deposit, withdraw, balance) = (call(DEPOSIT, &[1]), call(WITHDRAW, &[1]), call(BALANCE, &[]));
        check(0, &deposit, &deposit, false);
        check(0, &deposit, &withdraw, true);
        check(1, &deposit, &withdraw, false);
        check(1, &withdraw, &withdraw, true);
        check(2, &withdraw, &withdraw, false);
        check(0, &balance, &withdraw, false);
        check(1, &balance, &withdraw, true);
        check(0, &balance, &balance, false);
    }

    /// First asked or remembered, in either order, the answer is that of running both orders.
    #[test]
    fn answers_are_remembered_as_they_were() {
        let mut oracle = Conflicts::new(Arc::new(Account));
        let calls = invocations(&Account, |_| true, &money());
        for _ in 0..2 {
            for state in states(&Account, &money(), 3) {
                for (a, b) in calls.iter().flat_map(|a| calls.iter().map(move |b| (a, b))) {
                    assert_eq!(oracle.conflicts(&state, a, b), !commute(&Account, &state, a, b), "{a:?} {b:?}");
                }
            }
        }
        // 0 to 6 by at most 3 deposits of 1 or 2; 15 pairs of 5 calls, each call with itself included.
        assert_eq!(oracle.answers, 7 * 15);
    }
}
