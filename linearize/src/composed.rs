//! One call of a method among the atomic operations of an environment.
//!
//! The method under test runs; between its steps the environment runs k operations. These are atomic and totally
//! ordered, and all of them overlap the method, so an equivalent sequential history (COLT, section 3.1) puts the
//! method at one of k + 1 positions: before all of them, after the first, …, after all of them. An order *explains*
//! the run when, run alone from the initial state, it gives the method and every environment operation the result
//! that was observed, and ends in the state that was observed.

#[cfg(test)]
mod tests;

/// The sequential behaviour that a run is compared with.
///
/// Methods take `&mut self` so that an implementation can remember what it has computed: the judge asks the same
/// questions over and over. An answer must depend on the arguments alone.
pub trait Reference {
    /// An abstract state, or a number that stands for one.
    type State: Copy + Eq;
    /// An environment operation with its arguments.
    type Call: Copy;
    /// A result. What the method threw or how it panicked is a result too.
    type Result: Copy + Eq;

    /// Runs the method under test alone, from `state`: the state it leaves and what it returns.
    fn method(&mut self, state: Self::State) -> (Self::State, Self::Result);

    /// Runs one environment operation alone, from `state`: the state it leaves and what it returns.
    fn environment(&mut self, state: Self::State, call: Self::Call) -> (Self::State, Self::Result);

    /// Whether the final state of an order agrees with the observed one. An abstraction that forgets a part of the
    /// state (values that do not exist yet) belongs here, unless states are abstract already.
    fn same_state(&self, expected: Self::State, observed: Self::State) -> bool {
        expected == observed
    }
}

/// An environment operation of a run and what it returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Observed<C, R> {
    /// The operation.
    pub call: C,
    /// What it returned in the run.
    pub result: R,
    /// How many of the method's own steps had happened before it.
    pub after: usize,
}

/// The observation of a run.
pub struct Observation<'a, R: Reference> {
    /// The state in which the method was called.
    pub initial: R::State,
    /// The environment operations in the order in which they happened, so that `after` never decreases.
    pub environment: &'a [Observed<R::Call, R::Result>],
    /// What the method returned.
    pub returned: R::Result,
    /// The state that the run ended in.
    pub end: R::State,
}

/// Which orders are tried: the three modes of COLT, section 5.1.1, and linearization points that the program gives.
///
/// Only [`Mode::Linearizations`] is exact: no sequential order explains what it refutes. The other modes try some of
/// the orders, so they may refute a run that is linearizable; what they explain is explained.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mode {
    /// All k + 1 orders.
    #[default]
    Linearizations,
    /// The method takes effect at one of its own steps: an order that puts the method between two environment
    /// operations is tried when one of the method's steps happened between them. A call without any step may take
    /// effect anywhere.
    CandidatePoints,
    /// The method takes effect at its last step that changed the state, or at its last step when no step did. A call
    /// without any step takes effect where it starts.
    GuessedPoint,
    /// The method takes effect at the step that the program marked.
    GivenPoint,
}

/// What the modes that use linearization points have to know about the method's own steps, which count from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Points {
    /// How many steps the method took.
    pub steps: usize,
    /// The last step that changed the state.
    pub last_change: Option<usize>,
    /// The step that the program marked as the linearization point of this call. When a loop marks several, the last
    /// one counts.
    pub marked: Option<usize>,
}

/// The verdict on a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// A sequential order explains the run: the method after the first `position` environment operations. It is the
    /// smallest such position.
    Explained {
        /// How many environment operations come before the method.
        position: usize,
    },
    /// No order that the mode tries explains the run.
    Refuted,
    /// The mode is [`Mode::GivenPoint`] and the program marked no step on this path.
    NoPoint,
}

/// Judges a run. The cost is at most one run of the method and k environment operations for each order, without an
/// allocation.
pub fn judge<R: Reference>(
    reference: &mut R,
    observation: &Observation<'_, R>,
    mode: Mode,
    points: &Points,
) -> Judgement {
    let Some(tried) = Tried::new(observation, mode, points) else { return Judgement::NoPoint };
    let environment = observation.environment;
    let mut state = observation.initial;
    for position in 0..=environment.len() {
        if tried.includes(observation, position, points.steps) && explains(reference, observation, position, state) {
            return Judgement::Explained { position };
        }
        // Every later order starts with these same operations, so once one of them disagrees, all later orders fail.
        let Some(next) = environment.get(position) else { break };
        let (after, result) = reference.environment(state, next.call);
        if result != next.result {
            break;
        }
        state = after;
    }
    Judgement::Refuted
}

/// Whether the method, called in `state`, and then the environment operations from `position` on, do as observed.
fn explains<R: Reference>(
    reference: &mut R,
    observation: &Observation<'_, R>,
    position: usize,
    state: R::State,
) -> bool {
    let (mut state, returned) = reference.method(state);
    if returned != observation.returned {
        return false;
    }
    for next in &observation.environment[position..] {
        let (after, result) = reference.environment(state, next.call);
        if result != next.result {
            return false;
        }
        state = after;
    }
    reference.same_state(state, observation.end)
}

/// The positions that a mode tries.
enum Tried {
    All,
    /// The positions with a step of the method.
    WithStep,
    Only(usize),
}

impl Tried {
    fn new<R: Reference>(observation: &Observation<'_, R>, mode: Mode, points: &Points) -> Option<Tried> {
        let at = |step: usize| Tried::Only(observation.environment.partition_point(|next| next.after <= step));
        Some(match mode {
            Mode::Linearizations => Tried::All,
            Mode::CandidatePoints if points.steps == 0 => Tried::All,
            Mode::CandidatePoints => Tried::WithStep,
            Mode::GuessedPoint => match points.last_change.or(points.steps.checked_sub(1)) {
                Some(step) => at(step),
                None => Tried::Only(0),
            },
            Mode::GivenPoint => at(points.marked?),
        })
    }

    fn includes<R: Reference>(&self, observation: &Observation<'_, R>, position: usize, steps: usize) -> bool {
        match self {
            Tried::All => true,
            Tried::Only(only) => position == *only,
            Tried::WithStep => {
                let before = position.checked_sub(1).map_or(0, |last| observation.environment[last].after);
                let until = observation.environment.get(position).map_or(steps, |next| next.after);
                before < until
            }
        }
    }
}

/// One sequential order, run alone from the initial state, beside the observed run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order<S, R> {
    /// How many environment operations come before the method.
    pub position: usize,
    /// What the method returns in this order.
    pub returned: R,
    /// What each environment operation returns in this order.
    pub environment: Vec<R>,
    /// The state at the end of this order.
    pub end: S,
    /// Where this order first disagrees with the run, in the sequence of the order; `None` when it explains the run.
    pub disagreement: Option<Disagreement<S, R>>,
}

/// Who acts in a sequential order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Actor {
    /// The method under test.
    Method,
    /// The environment operation with this index.
    Environment(usize),
}

/// How an order differs from the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disagreement<S, R> {
    /// In the result of the method or of an environment operation.
    Result {
        /// Whose result it is.
        actor: Actor,
        /// The result in this order.
        expected: R,
        /// The result in the run.
        observed: R,
    },
    /// In the final state, although every result is the same.
    End {
        /// The final state of this order.
        expected: S,
        /// The final state of the run.
        observed: S,
    },
}

impl<S, R> Order<S, R> {
    /// The order's operations, first to last.
    pub fn sequence(&self) -> impl Iterator<Item = Actor> {
        let position = self.position;
        (0..=self.environment.len()).map(move |index| match index.cmp(&position) {
            std::cmp::Ordering::Less => Actor::Environment(index),
            std::cmp::Ordering::Equal => Actor::Method,
            std::cmp::Ordering::Greater => Actor::Environment(index - 1),
        })
    }
}

/// Every sequential order of a run with its results, by position, and where it first disagrees: the argument for a
/// [`Judgement::Refuted`] of [`Mode::Linearizations`].
pub fn explain<R: Reference>(reference: &mut R, observation: &Observation<'_, R>) -> Vec<Order<R::State, R::Result>> {
    (0..=observation.environment.len()).map(|position| order(reference, observation, position)).collect()
}

fn order<R: Reference>(
    reference: &mut R,
    observation: &Observation<'_, R>,
    position: usize,
) -> Order<R::State, R::Result> {
    let (before, rest) = observation.environment.split_at(position);
    let mut environment = Vec::with_capacity(observation.environment.len());
    let mut state = observation.initial;
    run(reference, before, &mut state, &mut environment);
    let (after, returned) = reference.method(state);
    state = after;
    run(reference, rest, &mut state, &mut environment);

    let mut order = Order { position, returned, environment, end: state, disagreement: None };
    let in_result = order.sequence().find_map(|actor| {
        let (expected, observed) = match actor {
            Actor::Method => (order.returned, observation.returned),
            Actor::Environment(index) => (order.environment[index], observation.environment[index].result),
        };
        (expected != observed).then_some(Disagreement::Result { actor, expected, observed })
    });
    let at_end = || {
        let same = reference.same_state(order.end, observation.end);
        (!same).then_some(Disagreement::End { expected: order.end, observed: observation.end })
    };
    order.disagreement = in_result.or_else(at_end);
    order
}

fn run<R: Reference>(
    reference: &mut R,
    operations: &[Observed<R::Call, R::Result>],
    state: &mut R::State,
    results: &mut Vec<R::Result>,
) {
    for next in operations {
        let (after, result) = reference.environment(*state, next.call);
        results.push(result);
        *state = after;
    }
}
