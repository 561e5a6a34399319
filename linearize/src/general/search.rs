//! The search itself.

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use super::mask::Mask;
use super::{Budget, Spec, Verdict, Witness};
use crate::history::{History, Interval};

/// What the search knows of a history before it starts.
pub(super) struct Plan<'h> {
    calls: &'h [Interval],
    /// The complete calls in the order of their returns.
    returns: Vec<u32>,
    /// The bit of each call. Calls that are open at the same time have different bits.
    slot: Vec<u32>,
    /// How many bits there are.
    pub slots: usize,
    /// The complete calls by invocation, then the pending ones by invocation.
    trial: Vec<u32>,
}

impl<'h> Plan<'h> {
    pub fn new(history: &'h History) -> Plan<'h> {
        let calls = history.calls();
        let number = |call: usize| u32::try_from(call).expect("a history has less than 2^32 calls");
        let mut trial: Vec<u32> = (0..calls.len()).map(number).collect();
        trial.sort_unstable_by_key(|&call| calls[call as usize].invoked);
        let mut returns: Vec<u32> =
            trial.iter().copied().filter(|&call| calls[call as usize].returned.is_some()).collect();
        returns.sort_unstable_by_key(|&call| calls[call as usize].returned);
        let (slot, slots) = slots(calls, &trial, &returns);
        trial.sort_by_key(|&call| calls[call as usize].returned.is_none());
        Plan { calls, returns, slot, slots, trial }
    }
}

/// Gives each call the smallest bit that no call has which is open when it is invoked.
fn slots(calls: &[Interval], invocations: &[u32], returns: &[u32]) -> (Vec<u32>, usize) {
    let mut slot = vec![0; calls.len()];
    let mut free = std::collections::BTreeSet::new();
    let mut slots = 0;
    let mut returned = returns.iter().map(|&call| call as usize).peekable();
    for &call in invocations {
        let call = call as usize;
        while let Some(closed) = returned.next_if(|&closed| calls[closed].returned < Some(calls[call].invoked)) {
            free.insert(slot[closed]);
        }
        slot[call] = free.pop_first().unwrap_or_else(|| {
            slots += 1;
            slots - 1
        });
    }
    (slot, slots as usize)
}

/// A set of linearized calls and the state they lead to.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Node<M> {
    /// How many returns have all been linearized, counted from the first one.
    returns: u32,
    /// The number of the state.
    state: u32,
    /// Those linearized calls that are open at the next return.
    open: M,
}

/// One search. `M` holds the bits of open calls.
pub(super) struct Search<'s, S: Spec, M> {
    spec: &'s mut S,
    plan: &'s Plan<'s>,
    budget: Budget<'s>,
    attempts: u64,
    states: States<S::State>,
    /// What each operation does from each state, as far as it was asked: the state it leads to, or [`IMPOSSIBLE`].
    steps_known: FxHashMap<(u32, u32), u32>,
    /// The operation of each call.
    operations: Vec<u32>,
    /// The part of each call.
    parts: Vec<Option<u32>>,
    /// Whether there are two calls of different parts.
    has_parts: bool,
    /// After so many returns every call is tried next, of whatever part.
    frontier: Option<u32>,
    /// The attempts after which [`Search::look_closer`] gives up.
    enough: u64,
    waiting: Waiting,
    /// The node where the search is.
    node: Node<M>,
    /// What can be linearized next at the nodes on the path and has not been tried: the call and the number of the
    /// state that it leads to. Those of the current node are at the end, the next one to try last.
    choices: Vec<(u32, u32)>,
    /// Where the choices of the current node begin.
    own: usize,
    /// The calls linearized so far, each with the node before it and where the choices of that node begin.
    path: Vec<(u32, Node<M>, usize)>,
    seen: FxHashSet<Node<M>>,
    longest: Longest,
}

/// The budget is used up.
struct OverBudget;

/// How many attempts may be spent on the longest linearizations when the verdict is known, besides as many as that took.
const CLOSER: u64 = 20_000;

impl<'s, S: Spec, M: Mask> Search<'s, S, M> {
    pub fn new(spec: &'s mut S, plan: &'s Plan<'s>, budget: Budget<'s>) -> Self {
        let mut states = States::default();
        let state = states.number(spec.initial());
        let operation = |call| u32::try_from(spec.operation(call)).expect("an operation is a number below 2^32");
        let operations = (0..plan.calls.len()).map(operation).collect();
        let parts: Vec<Option<u32>> = (0..plan.calls.len()).map(|call| spec.part(call)).collect();
        let mut named = parts.iter().flatten();
        let has_parts = named.next().is_some_and(|first| named.any(|other| other != first));
        Search {
            spec,
            plan,
            budget,
            attempts: 0,
            states,
            steps_known: FxHashMap::default(),
            operations,
            parts,
            has_parts,
            frontier: None,
            enough: u64::MAX,
            waiting: Waiting::new(plan),
            node: Node { returns: 0, state, open: M::empty(plan.slots) },
            choices: Vec::new(),
            own: 0,
            path: Vec::with_capacity(plan.calls.len()),
            seen: FxHashSet::default(),
            longest: Longest::default(),
        }
    }

    pub fn run(mut self) -> Verdict {
        match self.explore() {
            Ok(true) => Verdict::Linearizable { order: self.order() },
            Ok(false) => {
                if self.has_parts {
                    self.look_closer();
                }
                Verdict::NotLinearizable(self.witness())
            }
            Err(OverBudget) => Verdict::Unknown,
        }
    }

    /// Whether there is a linearization; the path is it, then.
    fn explore(&mut self) -> Result<bool, OverBudget> {
        if self.is_done() {
            return Ok(true);
        }
        self.find_choices()?;
        loop {
            if self.choices.len() > self.own {
                let (call, state) = self.choices.pop().expect("there are more than `own`");
                if self.advance(call, state) {
                    if self.is_done() {
                        return Ok(true);
                    }
                    self.find_choices()?;
                }
            } else {
                self.remember();
                let Some((call, before, own)) = self.path.pop() else { return Ok(false) };
                self.waiting.restore(call);
                self.node = before;
                self.own = own;
            }
        }
    }

    fn is_done(&self) -> bool {
        self.node.returns as usize == self.plan.returns.len() && self.spec.accept(self.states.get(self.node.state))
    }

    /// Finds what can be linearized next at a node that the search comes to for the first time.
    fn find_choices(&mut self) -> Result<(), OverBudget> {
        self.own = self.choices.len();
        let scope = self.scope();
        let mut at = self.waiting.first();
        while let Some(call) = self.waiting.candidate(self.plan, at, self.node.returns) {
            at = self.waiting.after(call);
            if scope.is_some() && self.parts[call as usize] != scope {
                continue;
            }
            self.pay()?;
            let Some(state) = self.step(call) else { continue };
            let is_complete = self.plan.calls[call as usize].returned.is_some();
            if is_complete && self.spec.is_read_only(call as usize) {
                // It may come first of all that wait. In a linearization of these, move it to the front: the states
                // of the others stay as they were. So there is no need to try anything else.
                self.choices.truncate(self.own);
                self.choices.push((call, state));
                return Ok(());
            }
            // A pending call that changes nothing here may as well come later or not at all.
            if state != self.node.state || is_complete {
                self.choices.push((call, state));
            }
        }
        // The call that has to return first is tried first, pending calls are tried last.
        let plan = self.plan;
        let deadline = |&(call, _): &(u32, u32)| plan.calls[call as usize].returned.unwrap_or(usize::MAX);
        self.choices[self.own..].sort_unstable_by_key(|choice| std::cmp::Reverse((deadline(choice), choice.0)));
        Ok(())
    }

    /// The part of the calls that are to be tried next; none: all calls are.
    ///
    /// It is the part of the call that has to return first. All that may come before that call waits now, since what is
    /// invoked later comes later. So take a linearization of what waits, and in it the first call of this part: what
    /// stands before it is of other parts, so the call may as well stand at the front.
    fn scope(&self) -> Option<u32> {
        if !self.has_parts || self.frontier == Some(self.node.returns) {
            return None;
        }
        let scope = self.parts[*self.plan.returns.get(self.node.returns as usize)? as usize];
        let mut at = self.waiting.first();
        while let Some(call) = self.waiting.candidate(self.plan, at, self.node.returns) {
            self.parts[call as usize]?;
            at = self.waiting.after(call);
        }
        scope
    }

    /// The number of the state that `call` leads to from the state of the current node.
    fn step(&mut self, call: u32) -> Option<u32> {
        let from = self.node.state;
        let question = (from, self.operations[call as usize]);
        let is_complete = self.plan.calls[call as usize].returned.is_some();
        let known = self.steps_known.get(&question).copied().unwrap_or_else(|| {
            let before = self.states.get(from);
            let after = match self.spec.step(before, call as usize) {
                None => IMPOSSIBLE,
                // It need not be hashed to be found.
                Some(_) if is_complete && self.spec.is_read_only(call as usize) => from,
                Some(state) => self.states.number(state),
            };
            self.steps_known.insert(question, after);
            after
        });
        (known != IMPOSSIBLE).then_some(known)
    }

    fn pay(&mut self) -> Result<(), OverBudget> {
        self.attempts += 1;
        let go_on = match self.budget {
            Budget::Unlimited => true,
            Budget::StopAfter(attempts) => self.attempts <= attempts,
            Budget::While(go_on) => !self.attempts.is_multiple_of(1024) || go_on(),
        };
        if go_on && self.attempts <= self.enough { Ok(()) } else { Err(OverBudget) }
    }

    /// Linearizes `call` next, which leads to `state`, unless the search has been there.
    fn advance(&mut self, call: u32, state: u32) -> bool {
        let mut next = self.node.clone();
        next.state = state;
        next.open.insert(self.plan.slot[call as usize] as usize);
        self.waiting.take(call);
        while let Some(&returned) = self.plan.returns.get(next.returns as usize) {
            if !self.waiting.has_taken(returned) {
                break;
            }
            next.open.remove(self.plan.slot[returned as usize] as usize);
            next.returns += 1;
        }
        if !self.seen.insert(next.clone()) {
            self.waiting.restore(call);
            return false;
        }
        self.path.push((call, std::mem::replace(&mut self.node, next), self.own));
        true
    }

    /// Goes through it again when it is known how far one gets. Calls of other parts than the one that has to return next
    /// were tried no earlier than they had to be, so those that could come before the call that is stuck come now.
    fn look_closer(&mut self) {
        let known = std::mem::take(&mut self.longest);
        self.frontier = Some(known.reached.0);
        self.seen.clear();
        self.enough = 2 * self.attempts + CLOSER;
        let _nothing_new = self.explore();
        if self.longest.reached < known.reached {
            self.longest = known;
        }
    }

    fn witness(self) -> Witness {
        let calls = |order: Vec<u32>| order.into_iter().map(|call| call as usize).collect();
        Witness {
            stuck: self.plan.returns.get(self.longest.reached.0 as usize).map(|&call| call as usize),
            longest: self.longest.orders.into_iter().take(self.longest.kept).map(calls).collect(),
        }
    }

    /// Keeps the linearization that ends here when there is no longer one.
    fn remember(&mut self) {
        self.longest.offer(self.node.returns, self.path.iter().map(|&(call, ..)| call));
    }

    fn order(&self) -> Vec<usize> {
        self.path.iter().map(|&(call, ..)| call as usize).collect()
    }
}

/// The longest linearizations found so far.
#[derive(Default)]
struct Longest {
    /// How far they go: returns, then calls.
    reached: (u32, usize),
    /// They are the first `kept` of these; the others are room.
    orders: [Vec<u32>; Witness::LONGEST],
    kept: usize,
}

impl Longest {
    fn offer(&mut self, returns: u32, order: impl ExactSizeIterator<Item = u32>) {
        let reached = (returns, order.len());
        if reached > self.reached {
            self.reached = reached;
            self.kept = 0;
        }
        if reached == self.reached && self.kept < Witness::LONGEST {
            let room = &mut self.orders[self.kept];
            room.clear();
            room.extend(order);
            self.kept += 1;
        }
    }
}

/// In place of the number of a state: the call cannot have returned there what it returned.
const IMPOSSIBLE: u32 = u32::MAX;

/// The states met so far, numbered. Each is hashed once, also when the table grows.
struct States<T>(IndexSet<T, FxBuildHasher>);

impl<T> Default for States<T> {
    fn default() -> Self {
        States(IndexSet::default())
    }
}

impl<T: Eq + std::hash::Hash> States<T> {
    fn number(&mut self, state: T) -> u32 {
        let (number, _) = self.0.insert_full(state);
        let number = u32::try_from(number).ok().filter(|&number| number != IMPOSSIBLE);
        number.expect("a search meets less than 2^32 - 1 states")
    }

    fn get(&self, number: u32) -> &T {
        &self.0[number as usize]
    }
}

/// The calls that are not linearized yet, in the order of [`Plan::trial`]: a list in two parts, complete and pending,
/// from which a call can be taken and put back where it was.
struct Waiting {
    next: Vec<u32>,
    previous: Vec<u32>,
    taken: Vec<bool>,
    /// The entry in front of the complete calls; the one after it is in front of the pending ones.
    front: u32,
}

impl Waiting {
    fn new(plan: &Plan<'_>) -> Waiting {
        let front = plan.calls.len() as u32;
        let mut list = Waiting {
            next: vec![front; plan.calls.len() + 2],
            previous: vec![front; plan.calls.len() + 2],
            taken: vec![false; plan.calls.len()],
            front,
        };
        let (complete, pending) = plan.trial.split_at(plan.returns.len());
        let mut last = front;
        for &entry in complete.iter().chain([&(front + 1)]).chain(pending).chain([&front]) {
            list.next[last as usize] = entry;
            list.previous[entry as usize] = last;
            last = entry;
        }
        list
    }

    fn first(&self) -> u32 {
        self.next[self.front as usize]
    }

    fn after(&self, call: u32) -> u32 {
        self.next[call as usize]
    }

    fn take(&mut self, call: u32) {
        let (previous, next) = (self.previous[call as usize], self.next[call as usize]);
        self.next[previous as usize] = next;
        self.previous[next as usize] = previous;
        self.taken[call as usize] = true;
    }

    /// Puts back the call that was taken last.
    fn restore(&mut self, call: u32) {
        let (previous, next) = (self.previous[call as usize], self.next[call as usize]);
        self.next[previous as usize] = call;
        self.previous[next as usize] = call;
        self.taken[call as usize] = false;
    }

    fn has_taken(&self, call: u32) -> bool {
        self.taken[call as usize]
    }

    /// The first entry from `at` on that may be linearized now, which is a call that was invoked before the first
    /// return among the calls that wait.
    fn candidate(&self, plan: &Plan<'_>, mut at: u32, returns: u32) -> Option<u32> {
        let limit = match plan.returns.get(returns as usize) {
            Some(&call) => plan.calls[call as usize].returned.unwrap_or(usize::MAX),
            None => usize::MAX,
        };
        let is_call = |entry: u32| entry < self.front;
        let is_open = |call: u32| plan.calls[call as usize].invoked < limit;
        // Both parts are ordered by invocation, so the first call of a part that is too late ends the part.
        if is_call(at) && plan.calls[at as usize].returned.is_some() && !is_open(at) {
            at = self.front + 1;
        }
        if at == self.front + 1 {
            at = self.after(at);
        }
        (is_call(at) && is_open(at)).then_some(at)
    }
}
