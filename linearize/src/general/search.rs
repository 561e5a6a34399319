//! The search itself.

use rustc_hash::{FxHashMap, FxHashSet};

use super::mask::Mask;
use super::plan::{Plan, Waiting};
use super::states::States;
use super::{Bound, Progress, Resumable, Spec, Verdict, Witness, table_bytes, vector_bytes};

/// A set of linearized calls and the state they lead to.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Node<M> {
    /// How many returns have all been linearized, counted from the first one.
    returns: u32,
    /// The number of the state.
    state: u32,
    /// The linearized calls that are open at the next return.
    open: M,
}

/// One search. `M` holds the bits of open calls.
pub(super) struct Search<S: Spec, M> {
    next: Next<S>,
    /// How many bytes it may take.
    memory: usize,
    /// The number of attempts after which the search next looks at how many bytes it takes.
    weigh_at: u64,
    /// The current node.
    node: Node<M>,
    /// Whether the choices of the first node were found.
    is_started: bool,
    path: Vec<Step>,
    seen: FxHashSet<Node<M>>,
    longest: Longest,
}

/// What can be linearized next. Nothing here needs the bits of open calls, so it is compiled once for each specification, and not
/// once more for each width of those bits.
struct Next<S: Spec> {
    spec: S,
    plan: Plan,
    attempts: u64,
    states: States<S::State>,
    /// What each operation does from each state, as far as it is known: the state it leads to, or [`IMPOSSIBLE`].
    steps_known: FxHashMap<(u32, u32), u32>,
    /// The operation of each call.
    operations: Vec<u32>,
    /// The part of each call.
    parts: Vec<Option<u32>>,
    /// Whether there are two calls of different parts.
    has_parts: bool,
    waiting: Waiting,
    /// What can be linearized next at the nodes on the path and has not been tried: the call and the number of the
    /// state that it leads to. The choices of the current node are at the end, the next one to try last.
    choices: Vec<(u32, u32)>,
    /// Where the choices of the current node begin.
    own: usize,
    closer: Option<Closer>,
}

/// A call on the path and what [`Search::retreat`] needs to go back.
struct Step {
    call: u32,
    /// From the node before the call: its returns, its state, and where its choices begin.
    returns: u32,
    state: u32,
    own: usize,
}

/// The history is known not to be linearizable, and the search looks for the longest linearizations.
struct Closer {
    /// After this many returns every call is tried next, of whatever part.
    frontier: u32,
    /// The number of attempts after which the search stops looking.
    enough: u64,
    /// The longest linearizations found before.
    known: Longest,
}

/// Why [`Search::explore`] has stopped.
enum Stopped {
    /// The path is a linearization.
    Found,
    /// Nothing is left to try.
    Exhausted,
    /// The attempts are used up.
    Paused,
    /// The memory is used up.
    Full,
}

/// How many attempts may be spent on the longest linearizations once the verdict is known, in addition to as many as
/// the verdict took.
const CLOSER: u64 = 20_000;

/// How many bytes of a state count as one attempt more when a call is run from it.
const BYTES_OF_AN_ATTEMPT: usize = 4096;

/// After this many attempts the search looks again at how much memory it takes.
const WEIGH_AFTER: u64 = 256;

/// Which part of the memory the states may take.
const STATES: usize = 4;

impl<S: Spec, M: Mask> Resumable for Search<S, M> {
    fn advance(&mut self, attempts: u64) -> Progress {
        let end = self.next.attempts.saturating_add(attempts);
        loop {
            let limit = self.next.closer.as_ref().map_or(end, |closer| end.min(closer.enough));
            match (self.explore(limit), &self.next.closer) {
                (Stopped::Found, _) => return Progress::Done(Verdict::Linearizable { order: calls(&self.path) }),
                (Stopped::Exhausted, None) if self.next.has_parts => self.look_closer(),
                (Stopped::Exhausted, None) => return Progress::Done(Verdict::NotLinearizable(self.witness())),
                (Stopped::Full, None) => return Progress::Done(Verdict::Unknown(Bound::Memory)),
                (Stopped::Paused, None) => return Progress::Going,
                (Stopped::Paused, Some(closer)) if self.next.attempts <= closer.enough => return Progress::Going,
                _ => return Progress::Done(self.conclude()),
            }
        }
    }

    fn conclude(&mut self) -> Verdict {
        let Some(Closer { known, .. }) = self.next.closer.take() else { return Verdict::Unknown(Bound::Attempts) };
        if self.longest.reached < known.reached {
            self.longest = known;
        }
        Verdict::NotLinearizable(self.witness())
    }

    fn attempts(&self) -> u64 {
        self.next.attempts
    }

    fn memory(&self) -> usize {
        let node = size_of::<Node<M>>() + self.node.open.heap_bytes();
        self.next.states.memory()
            + table_bytes::<((u32, u32), u32)>(self.next.steps_known.len(), self.next.steps_known.capacity())
            + table_bytes::<Node<M>>(self.seen.len(), self.seen.capacity())
            + self.seen.len() * (node - size_of::<Node<M>>())
            + vector_bytes(&self.next.choices)
            + vector_bytes(&self.path)
    }

    fn set_memory(&mut self, memory: usize) {
        self.memory = memory;
        self.next.states.set_bound(memory / STATES);
    }
}

impl<S: Spec, M: Mask> Search<S, M> {
    pub fn new(spec: S, plan: Plan, memory: usize) -> Self {
        Search {
            memory,
            weigh_at: 0,
            node: Node { returns: 0, state: States::<S::State>::INITIAL, open: M::empty(plan.slots) },
            is_started: false,
            path: Vec::with_capacity(plan.calls.len()),
            seen: FxHashSet::default(),
            longest: Longest::default(),
            next: Next::new(spec, plan, memory),
        }
    }

    /// Continues the search. It looks at the number of attempts between two nodes.
    fn explore(&mut self, limit: u64) -> Stopped {
        if !self.is_started {
            if self.is_done() {
                return Stopped::Found;
            }
            self.next.find_choices(self.node.returns, self.node.state);
            self.is_started = true;
        }
        loop {
            if self.next.attempts > limit {
                return Stopped::Paused;
            }
            if self.next.choices.len() > self.next.own {
                let (call, state) = self.next.choices.pop().expect("there are more than `own`");
                if self.advance_by(call, state) {
                    if self.is_done() {
                        return Stopped::Found;
                    }
                    if self.is_full() {
                        return Stopped::Full;
                    }
                    self.next.find_choices(self.node.returns, self.node.state);
                }
            } else {
                self.remember();
                let Some(step) = self.path.pop() else { return Stopped::Exhausted };
                self.retreat(&step);
                self.next.own = step.own;
            }
        }
    }

    fn is_done(&mut self) -> bool {
        self.node.returns as usize == self.next.plan.returns.len() && {
            let state = self.next.states.get(self.node.state, &mut self.next.spec);
            self.next.spec.accept(state)
        }
    }

    /// Whether the search exceeds its memory, or will exceed it when the table of nodes grows.
    fn is_full(&mut self) -> bool {
        if self.next.attempts < self.weigh_at && self.seen.len() < self.seen.capacity() {
            return false;
        }
        self.weigh_at = self.next.attempts + WEIGH_AFTER;
        self.memory() > self.memory
    }

    /// Linearizes `call` next, which leads to `state`, unless the search has already been there.
    fn advance_by(&mut self, call: u32, state: u32) -> bool {
        let step = Step { call, returns: self.node.returns, state: self.node.state, own: self.next.own };
        let node = &mut self.node;
        node.state = state;
        node.open.insert(self.next.plan.slot[call as usize] as usize);
        self.next.waiting.take(call);
        while let Some(&returned) = self.next.plan.returns.get(node.returns as usize) {
            if !self.next.waiting.has_taken(returned) {
                break;
            }
            node.open.remove(self.next.plan.slot[returned as usize] as usize);
            node.returns += 1;
        }
        let is_new = self.seen.insert(self.node.clone());
        if is_new {
            self.path.push(step);
        } else {
            self.retreat(&step);
        }
        is_new
    }

    /// Undoes what [`Search::advance_by`] did to the node. The calls whose returns it passed were open together, so
    /// their bits differ.
    fn retreat(&mut self, step: &Step) {
        let node = &mut self.node;
        for &returned in &self.next.plan.returns[step.returns as usize..node.returns as usize] {
            node.open.insert(self.next.plan.slot[returned as usize] as usize);
        }
        node.open.remove(self.next.plan.slot[step.call as usize] as usize);
        (node.returns, node.state) = (step.returns, step.state);
        self.next.waiting.restore(step.call);
    }

    /// Searches again once it is known how far a linearization gets. Calls of other parts than the one that has to
    /// return next were tried no earlier than necessary, so those that could come before the stuck call come now.
    fn look_closer(&mut self) {
        let known = std::mem::take(&mut self.longest);
        let enough = self.next.attempts.saturating_mul(2).saturating_add(CLOSER);
        self.next.closer = Some(Closer { frontier: known.reached.0, enough, known });
        self.seen.clear();
        self.is_started = false;
    }

    fn witness(&mut self) -> Witness {
        std::mem::take(&mut self.longest).witness(&self.next.plan)
    }

    /// Keeps the linearization that ends here if no longer one is known.
    fn remember(&mut self) {
        self.longest.offer(self.node.returns, &self.path);
    }
}

impl<S: Spec> Next<S> {
    fn new(spec: S, plan: Plan, memory: usize) -> Self {
        let states = States::new(&spec, memory / STATES);
        let operation = |call| u32::try_from(spec.operation(call)).expect("an operation is a number below 2^32");
        let operations = (0..plan.calls.len()).map(operation).collect();
        let parts: Vec<Option<u32>> = (0..plan.calls.len()).map(|call| spec.part(call)).collect();
        Next {
            spec,
            attempts: 0,
            states,
            steps_known: FxHashMap::default(),
            operations,
            has_parts: differ(&parts),
            parts,
            waiting: Waiting::new(&plan),
            choices: Vec::new(),
            own: 0,
            closer: None,
            plan,
        }
    }

    /// Finds what can be linearized next at a node that the search comes to for the first time.
    fn find_choices(&mut self, returns: u32, state: u32) {
        self.own = self.choices.len();
        let scope = self.scope(returns);
        let mut at = self.waiting.first();
        while let Some(call) = self.waiting.candidate(&self.plan, at, returns) {
            at = self.waiting.after(call);
            if scope.is_some() && self.parts[call as usize] != scope {
                continue;
            }
            self.attempts += 1;
            let Some(after) = self.step(call, state) else { continue };
            let is_complete = self.plan.calls[call as usize].returned.is_some();
            if is_complete && self.spec.is_read_only(call as usize) {
                // The call may come first among all waiting calls. In a linearization of these, move it to the front:
                // the states of the others stay as they were. So nothing else need be tried.
                self.choices.truncate(self.own);
                self.choices.push((call, after));
                return;
            }
            // A pending call that changes nothing here may as well come later or not at all.
            if after != state || is_complete {
                self.choices.push((call, after));
            }
        }
        sort(&mut self.choices[self.own..], &self.plan);
    }

    /// The part of the calls to try next; `None`: all calls.
    ///
    /// It is the part of the call that has to return first. Every call that may come before that call waits now, since
    /// calls that are invoked later come later. So take a linearization of the waiting calls, and in it the first call
    /// of this part: all calls before it belong to other parts, so the call may as well be at the front.
    fn scope(&self, returns: u32) -> Option<u32> {
        if !self.has_parts || self.closer.as_ref().is_some_and(|closer| closer.frontier == returns) {
            return None;
        }
        let scope = self.parts[*self.plan.returns.get(returns as usize)? as usize];
        let mut at = self.waiting.first();
        while let Some(call) = self.waiting.candidate(&self.plan, at, returns) {
            self.parts[call as usize]?;
            at = self.waiting.after(call);
        }
        scope
    }

    /// The number of the state that `call` leads to from a state.
    fn step(&mut self, call: u32, from: u32) -> Option<u32> {
        let question = (from, self.operations[call as usize]);
        let is_complete = self.plan.calls[call as usize].returned.is_some();
        if self.plan.forced[call as usize] {
            return self.step_on(call, from);
        }
        let known = match self.steps_known.get(&question) {
            Some(&known) => known,
            None => {
                let before = self.states.get(from, &mut self.spec);
                self.attempts += (self.spec.bytes(before) / BYTES_OF_AN_ATTEMPT) as u64;
                let after = match self.spec.step(before, call as usize) {
                    None => IMPOSSIBLE,
                    // The first state needs no hash to be found.
                    Some(_)
                        if is_complete && self.spec.is_read_only(call as usize) && self.states.is_findable(from) =>
                    {
                        from
                    }
                    Some(state) => self.states.number(state, from, call, &mut self.spec),
                };
                self.steps_known.insert(question, after);
                after
            }
        };
        (known != IMPOSSIBLE).then_some(known)
    }

    /// The number of the state that `call`, which is forced, leads to. The search comes to it at most once from each
    /// state before the forced calls, so it need not be looked up among the known states.
    fn step_on(&mut self, call: u32, from: u32) -> Option<u32> {
        let before = self.states.get(from, &mut self.spec);
        self.attempts += (self.spec.bytes(before) / BYTES_OF_AN_ATTEMPT) as u64;
        let after = self.spec.step(before, call as usize)?;
        match self.spec.is_read_only(call as usize) {
            true => Some(from),
            false => Some(self.states.add(after, from, call, &self.spec)),
        }
    }
}

/// Orders choices for the search, which tries the last one first: the call that has to return first is tried first, pending calls
/// are tried last.
fn sort(choices: &mut [(u32, u32)], plan: &Plan) {
    let deadline = |&(call, _): &(u32, u32)| plan.calls[call as usize].returned.unwrap_or(usize::MAX);
    choices.sort_unstable_by_key(|choice| std::cmp::Reverse((deadline(choice), choice.0)));
}

/// Whether two of the calls with these parts are of different parts.
fn differ(parts: &[Option<u32>]) -> bool {
    let mut named = parts.iter().flatten();
    named.next().is_some_and(|first| named.any(|other| other != first))
}

fn calls(path: &[Step]) -> Vec<usize> {
    path.iter().map(|step| step.call as usize).collect()
}

/// The longest linearizations found so far.
#[derive(Default)]
struct Longest {
    /// How far they go: returns, then calls.
    reached: (u32, usize),
    /// The first `kept` of these are linearizations; the others are room.
    orders: [Vec<u32>; Witness::LONGEST],
    kept: usize,
}

impl Longest {
    fn offer(&mut self, returns: u32, path: &[Step]) {
        let reached = (returns, path.len());
        if reached > self.reached {
            self.reached = reached;
            self.kept = 0;
        }
        if reached == self.reached && self.kept < Witness::LONGEST {
            let room = &mut self.orders[self.kept];
            room.clear();
            room.extend(path.iter().map(|step| step.call));
            self.kept += 1;
        }
    }

    fn witness(self, plan: &Plan) -> Witness {
        let calls = |order: Vec<u32>| order.into_iter().map(|call| call as usize).collect();
        Witness {
            stuck: plan.returns.get(self.reached.0 as usize).map(|&call| call as usize),
            longest: self.orders.into_iter().take(self.kept).map(calls).collect(),
        }
    }
}

/// In place of the number of a state: the call cannot have returned its result there.
const IMPOSSIBLE: u32 = u32::MAX;
