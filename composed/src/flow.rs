//! Control flow as a tree of calls: which two calls can be on one path.

use std::collections::BTreeSet;

/// The calls of a piece of code, as numbers, in the order in which they can be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// A call.
    Call(usize),
    /// One after the other.
    Seq(Vec<Flow>),
    /// One of them.
    Either(Vec<Flow>),
    /// Any number of times.
    Loop(Box<Flow>),
    /// A closure: `return` leaves it and nothing else.
    Frame(Box<Flow>),
    /// A local function, which is an operation of its own: pairs of its calls are not pairs of its caller.
    Helper(Box<Flow>),
    /// A closure of the caller's, where a local function calls it.
    Given(Box<Flow>),
    /// A call of a closure that is a parameter, by its number in [`crate::summary::Summary::applied`].
    Apply(usize),
    /// `return`, `?`.
    Return,
    /// `break`.
    Break,
    /// `continue`.
    Continue,
}

impl Flow {
    /// Nothing at all.
    pub(crate) const NOTHING: Flow = Flow::Seq(Vec::new());

    /// The same paths in a smaller tree. Most functions make no call, and their branches would be copied to wherever they are
    /// called.
    pub(crate) fn simplified(self) -> Flow {
        let one = |body: Box<Flow>, wrap: fn(Box<Flow>) -> Flow| match body.simplified() {
            body if body.has_calls() => wrap(Box::new(body)),
            _ => Flow::NOTHING,
        };
        match self {
            Flow::Seq(steps) => {
                let mut simple = Vec::new();
                for step in steps {
                    match step.simplified() {
                        Flow::Seq(inner) => simple.extend(inner),
                        step => simple.push(step),
                    }
                }
                if simple.len() == 1 { simple.remove(0) } else { Flow::Seq(simple) }
            }
            Flow::Either(branches) => {
                let mut simple: Vec<Flow> = Vec::new();
                for branch in branches.into_iter().map(Flow::simplified) {
                    if !simple.contains(&branch) {
                        simple.push(branch);
                    }
                }
                if simple.len() == 1 { simple.remove(0) } else { Flow::Either(simple) }
            }
            Flow::Frame(body) => one(body, Flow::Frame),
            Flow::Helper(body) => one(body, Flow::Helper),
            Flow::Given(body) => one(body, Flow::Given),
            Flow::Loop(body) => match body.simplified() {
                Flow::Break | Flow::Continue => Flow::NOTHING,
                body if body == Flow::NOTHING => body,
                body => Flow::Loop(Box::new(body)),
            },
            Flow::Call(_) | Flow::Apply(_) | Flow::Return | Flow::Break | Flow::Continue => self,
        }
    }

    fn has_calls(&self) -> bool {
        match self {
            Flow::Call(_) | Flow::Apply(_) => true,
            Flow::Seq(all) | Flow::Either(all) => all.iter().any(Flow::has_calls),
            Flow::Loop(body) | Flow::Frame(body) | Flow::Helper(body) | Flow::Given(body) => body.has_calls(),
            Flow::Return | Flow::Break | Flow::Continue => false,
        }
    }

    /// Whether a call that passes the test is made in it.
    pub(crate) fn any(&self, is_wanted: &dyn Fn(usize) -> bool) -> bool {
        match self {
            Flow::Call(call) => is_wanted(*call),
            Flow::Seq(all) | Flow::Either(all) => all.iter().any(|one| one.any(is_wanted)),
            Flow::Loop(body) | Flow::Frame(body) | Flow::Helper(body) | Flow::Given(body) => body.any(is_wanted),
            Flow::Apply(_) | Flow::Return | Flow::Break | Flow::Continue => false,
        }
    }

    /// The calls in the closures of the caller's that it calls.
    fn given(&self, all: &mut BTreeSet<usize>) {
        match self {
            Flow::Given(body) => body.calls(all),
            Flow::Seq(inner) | Flow::Either(inner) => inner.iter().for_each(|one| one.given(all)),
            Flow::Loop(body) | Flow::Frame(body) | Flow::Helper(body) => body.given(all),
            Flow::Call(_) | Flow::Apply(_) | Flow::Return | Flow::Break | Flow::Continue => {}
        }
    }

    fn calls(&self, all: &mut BTreeSet<usize>) {
        match self {
            Flow::Call(call) => {
                all.insert(*call);
            }
            Flow::Seq(inner) | Flow::Either(inner) => inner.iter().for_each(|one| one.calls(all)),
            Flow::Loop(body) | Flow::Frame(body) | Flow::Helper(body) | Flow::Given(body) => body.calls(all),
            Flow::Apply(_) | Flow::Return | Flow::Break | Flow::Continue => {}
        }
    }
}

/// Two calls on one path, in the order in which they are made. A pair of equal calls is one call that a loop repeats.
pub(crate) type Pair = (usize, usize);

/// Two calls on one path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pairs {
    /// Without going round a loop between them.
    pub(crate) straight: BTreeSet<Pair>,
    /// In different rounds of a loop.
    pub(crate) around: BTreeSet<Pair>,
}

/// All pairs of calls that can be on one path.
pub(crate) fn pairs(flow: &Flow) -> Pairs {
    let mut pairs = Pairs::default();
    walk(flow, &mut pairs);
    pairs
}

/// What a walk through a piece of code has met.
#[derive(Default)]
struct Walked {
    /// All calls.
    all: BTreeSet<usize>,
    /// The calls on paths to the end; `None` if no path leads there.
    through: Option<BTreeSet<usize>>,
    /// The calls on paths to a `break`, if there are any.
    broken: Option<BTreeSet<usize>>,
    /// The calls on paths to a `continue`, if there are any.
    continued: Option<BTreeSet<usize>>,
    /// The calls on paths to a `return`, if there are any.
    returned: Option<BTreeSet<usize>>,
}

fn walk(flow: &Flow, pairs: &mut Pairs) -> Walked {
    match flow {
        Flow::Call(call) => {
            let one = BTreeSet::from([*call]);
            Walked { all: one.clone(), through: Some(one), ..Walked::default() }
        }
        Flow::Return => Walked { returned: Some(BTreeSet::new()), ..Walked::default() },
        Flow::Break => Walked { broken: Some(BTreeSet::new()), ..Walked::default() },
        Flow::Continue => Walked { continued: Some(BTreeSet::new()), ..Walked::default() },
        Flow::Seq(steps) => sequence(steps, pairs),
        Flow::Either(branches) => {
            let mut met = Walked::default();
            for branch in branches {
                let branch = walk(branch, pairs);
                met.all.extend(branch.all);
                join(&mut met.through, branch.through);
                join(&mut met.broken, branch.broken);
                join(&mut met.continued, branch.continued);
                join(&mut met.returned, branch.returned);
            }
            met
        }
        Flow::Loop(body) => round(walk(body, pairs), pairs),
        Flow::Frame(body) | Flow::Given(body) => framed(walk(body, pairs)),
        Flow::Helper(body) => {
            let mut inside = Pairs::default();
            let met = framed(walk(body, &mut inside));
            // What a closure of the caller's does is done by the caller, wherever it is called.
            let mut given = BTreeSet::new();
            body.given(&mut given);
            let is_own = |pair: &Pair| given.contains(&pair.0) || given.contains(&pair.1);
            pairs.straight.extend(inside.straight.into_iter().filter(is_own));
            pairs.around.extend(inside.around.into_iter().filter(is_own));
            met
        }
        Flow::Apply(_) => Walked { through: Some(BTreeSet::new()), ..Walked::default() },
    }
}

fn framed(mut met: Walked) -> Walked {
    let returned = met.returned.take();
    join(&mut met.through, returned);
    met
}

fn sequence(steps: &[Flow], pairs: &mut Pairs) -> Walked {
    let mut met = Walked { through: Some(BTreeSet::new()), ..Walked::default() };
    for step in steps {
        // What nothing leads to is not on a path.
        let Some(before) = met.through.take() else { return met };
        let step = walk(step, pairs);
        for &first in &before {
            pairs.straight.extend(step.all.iter().map(|&second| (first, second)));
        }
        met.all.extend(&step.all);
        let after = |set: Option<BTreeSet<usize>>| set.map(|set| set.union(&before).copied().collect());
        join(&mut met.broken, after(step.broken));
        join(&mut met.continued, after(step.continued));
        join(&mut met.returned, after(step.returned));
        met.through = after(step.through);
    }
    met
}

/// A loop around a body.
fn round(body: Walked, pairs: &mut Pairs) -> Walked {
    let mut again = body.through;
    join(&mut again, body.continued);
    for &first in again.iter().flatten() {
        pairs.around.extend(body.all.iter().map(|&second| (first, second)));
    }
    // No round at all is a path too. A `break` may come after any rounds.
    let again = again.unwrap_or_default();
    let after = |set: Option<BTreeSet<usize>>| set.map(|set| set.union(&again).copied().collect());
    let mut through = Some(again.clone());
    join(&mut through, after(body.broken));
    Walked { all: body.all, through, returned: after(body.returned), ..Walked::default() }
}

fn join(set: &mut Option<BTreeSet<usize>>, more: Option<BTreeSet<usize>>) {
    if let Some(more) = more {
        set.get_or_insert_default().extend(more);
    }
}

#[cfg(test)]
mod tests {
    use super::Flow::{Apply, Break, Call, Continue, Either, Frame, Given, Helper, Loop, Return, Seq};
    use super::*;

    #[track_caller]
    fn check(flow: Flow, straight: &[Pair], around: &[Pair]) {
        let found = pairs(&flow);
        assert_eq!(found.straight.into_iter().collect::<Vec<_>>(), straight);
        assert_eq!(found.around.into_iter().collect::<Vec<_>>(), around);
        check_against_paths(&flow);
    }

    /// The slow twin: all paths, with at most two rounds of each loop.
    fn paths(flow: &Flow) -> Vec<(Vec<usize>, End)> {
        match flow {
            Call(call) => vec![(vec![*call], End::Through)],
            Return => vec![(vec![], End::Return)],
            Break => vec![(vec![], End::Break)],
            Continue => vec![(vec![], End::Continue)],
            Either(branches) => branches.iter().flat_map(paths).collect(),
            Seq(steps) => steps.iter().fold(vec![(vec![], End::Through)], |before, step| then(before, &paths(step))),
            Loop(body) => {
                let mut all = vec![(vec![], End::Through)];
                let mut open = all.clone();
                for _ in 0..2 {
                    let rounds = then(open, &paths(body));
                    let (on, off): (Vec<_>, Vec<_>) =
                        rounds.into_iter().partition(|(_, end)| matches!(end, End::Through | End::Continue));
                    open = on.into_iter().map(|(path, _)| (path, End::Through)).collect();
                    all.extend(open.iter().cloned());
                    let off = off.into_iter();
                    all.extend(off.map(|(path, end)| (path, if end == End::Break { End::Through } else { end })));
                }
                all
            }
            Apply(_) => vec![(vec![], End::Through)],
            Frame(body) | Helper(body) | Given(body) => paths(body)
                .into_iter()
                .map(|(path, end)| (path, if end == End::Return { End::Through } else { end }))
                .collect(),
        }
    }

    #[derive(Clone, Copy, PartialEq, Eq)]
    enum End {
        Through,
        Return,
        Break,
        Continue,
    }

    fn then(before: Vec<(Vec<usize>, End)>, step: &[(Vec<usize>, End)]) -> Vec<(Vec<usize>, End)> {
        let (open, mut all): (Vec<_>, Vec<_>) = before.into_iter().partition(|(_, end)| *end == End::Through);
        for (path, _) in open {
            all.extend(step.iter().map(|(more, end)| ([&path[..], more].concat(), *end)));
        }
        all
    }

    /// Each pair is on a path, and each path has no other pairs.
    fn check_against_paths(flow: &Flow) {
        let found = pairs(flow);
        let found: BTreeSet<Pair> = found.straight.union(&found.around).copied().collect();
        let mut slow = BTreeSet::new();
        for (path, _) in paths(flow) {
            for (at, &first) in path.iter().enumerate() {
                slow.extend(path[at + 1..].iter().map(|&second| (first, second)));
            }
        }
        assert_eq!(found, slow, "{flow:?}");
    }

    #[test]
    fn calls_in_a_row_are_on_one_path() {
        check(Seq(vec![Call(1), Call(2), Call(3)]), &[(1, 2), (1, 3), (2, 3)], &[]);
    }

    #[test]
    fn branches_are_not_on_one_path() {
        check(Either(vec![Call(1), Call(2)]), &[], &[]);
        let after = Seq(vec![Either(vec![Call(1), Call(2)]), Call(3)]);
        check(after, &[(1, 3), (2, 3)], &[]);
    }

    #[test]
    fn nothing_follows_a_return() {
        let early = Seq(vec![Either(vec![Seq(vec![Call(1), Return]), Seq(vec![])]), Call(2)]);
        check(early, &[], &[]);
        let frame = Seq(vec![Frame(Box::new(Seq(vec![Call(1), Return, Call(2)]))), Call(3)]);
        check(frame, &[(1, 3)], &[]);
    }

    #[test]
    fn a_loop_makes_its_calls_again() {
        check(Loop(Box::new(Call(1))), &[], &[(1, 1)]);
        let body = Seq(vec![Either(vec![Seq(vec![Call(1), Break]), Seq(vec![])]), Call(2)]);
        check(Loop(Box::new(body)), &[], &[(2, 1), (2, 2)]);
        let body = Seq(vec![Either(vec![Seq(vec![Call(1), Continue]), Seq(vec![])]), Call(2)]);
        check(Loop(Box::new(body)), &[], &[(1, 1), (1, 2), (2, 1), (2, 2)]);
        // A body that always returns runs once.
        check(Loop(Box::new(Seq(vec![Call(1), Call(2), Return]))), &[(1, 2)], &[]);
    }

    #[test]
    fn pairs_of_a_helper_are_its_own() {
        let helper = || Helper(Box::new(Loop(Box::new(Seq(vec![Call(1), Call(2)])))));
        let found = |flow: Flow| pairs(&flow);
        assert_eq!(found(helper()), Pairs::default());
        assert_eq!(found(Seq(vec![helper(), Call(3)])).straight, [(1, 3), (2, 3)].into());
        assert_eq!(found(Loop(Box::new(helper()))).around, [(1, 1), (1, 2), (2, 1), (2, 2)].into());
    }

    #[test]
    fn all_small_trees_agree_with_their_paths() {
        fn trees(depth: usize) -> Vec<Flow> {
            let mut all = vec![Call(1), Call(2), Return, Break, Continue];
            if depth == 0 {
                return all;
            }
            let inner = trees(depth - 1);
            all.extend(inner.iter().map(|flow| Loop(Box::new(flow.clone()))));
            all.extend(inner.iter().map(|flow| Frame(Box::new(flow.clone()))));
            for first in &inner {
                for second in &inner {
                    all.push(Seq(vec![first.clone(), second.clone()]));
                    all.push(Either(vec![first.clone(), second.clone()]));
                }
            }
            all
        }
        for flow in trees(2) {
            // Outside of a loop there is neither `break` nor `continue`.
            let flow = Loop(Box::new(flow));
            check_against_paths(&flow);
            if is_rust(&flow, false) {
                assert_eq!(pairs(&flow.clone().simplified()), pairs(&flow), "{flow:?}");
            }
        }
    }

    /// Whether each `break` and `continue` is in a loop, and in no closure within the loop.
    fn is_rust(flow: &Flow, in_loop: bool) -> bool {
        match flow {
            Break | Continue => in_loop,
            Call(_) | Return => true,
            Seq(all) | Either(all) => all.iter().all(|flow| is_rust(flow, in_loop)),
            Loop(body) => is_rust(body, true),
            Frame(body) | Helper(body) | Given(body) => is_rust(body, false),
            Apply(_) => true,
        }
    }

    #[test]
    fn what_makes_no_call_is_nothing() {
        let check = |flow: Flow, expected: Flow| assert_eq!(flow.simplified(), expected);
        let branches = || Either(vec![Seq(vec![]), Seq(vec![Seq(vec![]), Return])]);
        check(Helper(Box::new(Seq(vec![branches(), Loop(Box::new(Continue))]))), Flow::NOTHING);
        check(Frame(Box::new(branches())), Flow::NOTHING);
        check(Seq(vec![Seq(vec![Call(1), Seq(vec![])]), Loop(Box::new(Seq(vec![])))]), Call(1));
        check(Either(vec![Seq(vec![]), Seq(vec![Seq(vec![])])]), Flow::NOTHING);
        // A `return` of the function itself matters.
        check(Seq(vec![branches(), Call(1)]), Seq(vec![Either(vec![Seq(vec![]), Return]), Call(1)]));
    }
}
