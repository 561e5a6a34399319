//! Every linearization of a program with every visibility: the algorithm of Figure 7 of *Weak-consistency specification
//! via visibility relaxation*, as printed.
//!
//! A table like the paper's Table 1 shows this, and [`crate::outcomes`] is tested against it. The cost is the number of
//! linearizations times, for each relaxed invocation, two to the number of invocations before it.

use interloper_commutativity::Value;

use crate::program::{Behaviour, Program, Set, TooLarge};
use crate::visibility::{Kind, Level, Predicate};

/// A linearization with the visibility of each invocation and the results that follow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The invocations in the order of the linearization.
    pub linearization: Vec<usize>,
    /// For each invocation, in text order, the invocations that it sees, itself included.
    pub visible: Vec<Set>,
    /// For each invocation, in text order, its result.
    pub outcome: Vec<Value>,
}

impl Row {
    /// What an invocation sees, in the order of the linearization, itself included at the end.
    pub fn seen_by(&self, invocation: usize) -> impl Iterator<Item = usize> {
        self.linearization.iter().copied().filter(move |&other| self.visible[invocation] & 1 << other != 0)
    }
}

/// Calls `each` with every row, the linearizations in lexicographic order of the invocations, until it says no.
///
/// # Errors
/// When there are more linearizations with a choice of what each invocation sees than the bound, whether they satisfy
/// the predicates or not. `each` has received the rows before that.
pub fn rows<B: Behaviour>(
    behaviour: &mut B,
    program: &Program,
    bound: usize,
    each: &mut dyn FnMut(Row) -> bool,
) -> Result<(), TooLarge> {
    let mut tried = 0;
    let mut is_too_large = false;
    linearizations(program, &mut Vec::new(), &mut |linearization| {
        let mut visible = vec![0; program.len()];
        visibilities(program, linearization, 0, &mut visible, &mut |visible| {
            is_too_large = tried == bound;
            if is_too_large {
                return false;
            }
            tried += 1;
            if !(0..program.len()).all(|index| is_satisfied(program, linearization, visible, index)) {
                return true;
            }
            let linearization = linearization.to_vec();
            let mut row = Row { linearization, visible: visible.to_vec(), outcome: Vec::new() };
            row.outcome = (0..program.len()).map(|index| last_result(behaviour, row.seen_by(index))).collect();
            each(row)
        })
    });
    if is_too_large { Err(TooLarge::Choices(bound)) } else { Ok(()) }
}

/// Calls `each` with every order that includes happens-before, until it says no.
fn linearizations(program: &Program, order: &mut Vec<usize>, each: &mut dyn FnMut(&[usize]) -> bool) -> bool {
    if order.len() == program.len() {
        return each(order);
    }
    let done = order.iter().fold(0, |set, &index| set | 1 << index);
    program.enabled(done).all(|next| {
        order.push(next);
        let go_on = linearizations(program, order, each);
        order.pop();
        go_on
    })
}

/// Calls `each` with every choice of what the invocations from `place` on see. Complete invocations see everything.
fn visibilities(
    program: &Program,
    linearization: &[usize],
    place: usize,
    visible: &mut Vec<Set>,
    each: &mut dyn FnMut(&[Set]) -> bool,
) -> bool {
    let Some(&invocation) = linearization.get(place) else { return each(visible) };
    let earlier = &linearization[..place];
    let choices = if program.is_complete(invocation) { (1 << place) - 1..1 << place } else { 0..1u64 << place };
    choices.into_iter().all(|choice| {
        let seen = (0..place).filter(|&bit| choice & 1 << bit != 0).fold(0, |set, bit| set | 1 << earlier[bit]);
        visible[invocation] = seen | 1 << invocation;
        visibilities(program, linearization, place + 1, visible, each)
    })
}

fn last_result<B: Behaviour>(behaviour: &mut B, sequence: impl Iterator<Item = usize>) -> Value {
    let mut state = behaviour.initial();
    let mut last = Value::Unit;
    for invocation in sequence {
        (state, last) = behaviour.apply(&state, invocation);
    }
    last
}

/// Whether an invocation satisfies its predicates, by the definitions of Figure 6 and sections 6.2 and 6.3. `lin` is the
/// linearization, `vis` what each invocation sees.
fn is_satisfied(program: &Program, lin: &[usize], vis: &[Set], i: usize) -> bool {
    program.predicates[i].iter().all(|predicate| holds(program, predicate, lin, vis, i))
}

fn holds(program: &Program, predicate: &Predicate, lin: &[usize], vis: &[Set], i: usize) -> bool {
    let about = program.about(predicate);
    let lin = |j: usize| -> Set {
        let place = lin.iter().position(|&other| other == j).expect("every invocation is linearized");
        lin[..=place].iter().fold(0, |set, &other| set | 1 << other)
    };
    let hb = |j: usize| program.before[j] | 1 << j;
    // A suborder for all of `about`.
    let within = |small: Set, large: Set| small & about & !large == 0;
    let all = |set: Set, test: &dyn Fn(usize) -> bool| (0..program.len()).all(|j| set & 1 << j == 0 || test(j));
    let basic = || within(hb(i), vis[i]);
    let monotonic = || all(hb(i), &|j| within(vis[j], vis[i]));
    match predicate.kind {
        Kind::Level(Level::Weak) => true,
        Kind::Level(Level::Basic) => basic(),
        Kind::Level(Level::Monotonic) => monotonic(),
        Kind::Level(Level::Peer) => all(vis[i], &|j| within(hb(j), vis[i])) && monotonic(),
        Kind::Level(Level::Causal) => all(vis[i], &|j| within(vis[j], vis[i])) && basic(),
        Kind::Level(Level::Complete) => within(lin(i), vis[i]),
        Kind::LinPrefix => all(vis[i] & !(1 << i), &|j| within(lin(j), vis[i])),
        Kind::LinMonotonic => all(lin(i), &|j| within(vis[j] & !(1 << j), vis[i])),
    }
}
