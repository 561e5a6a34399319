//! The judge against its slow twin: histories with explicit intervals, explicit permutations, and legality as
//! section 3.1 defines it.

use super::*;
use crate::testing::words;

/// A cell with one of `STATES` contents. The method under test is any function at all, given as a table.
struct Cell<'t> {
    method: &'t [(u8, u8)],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CellCall {
    Read,
    /// Writes and returns what was there.
    Swap(u8),
}

impl Reference for Cell<'_> {
    type State = u8;
    type Call = CellCall;
    type Result = u8;

    fn method(&mut self, state: u8) -> (u8, u8) {
        self.method[usize::from(state)]
    }

    fn environment(&mut self, state: u8, call: CellCall) -> (u8, u8) {
        match call {
            CellCall::Read => (state, state),
            CellCall::Swap(value) => (value, state),
        }
    }
}

/// The slow twin. Each operation is an interval on a line of events; the method's interval holds all others; the mode's
/// linearization points are places on the same line.
fn twin(
    cell: &mut Cell,
    observation: &Observation<'_, Cell>,
    (mode, points): (Mode, &Points),
    orders: &[Vec<usize>],
) -> Judgement {
    let k = observation.environment.len();
    // The line: the method's step s happens at 100 * (s + 1), environment operation i between two of these.
    let place = |i: usize| observation.environment[i].after * 100 + 1 + i;
    let interval = |op: usize| if op == k { (0, 100_000) } else { (place(op), place(op)) };
    let allowed: Option<Vec<usize>> = match mode {
        Mode::Linearizations => None,
        Mode::CandidatePoints if points.steps == 0 => None,
        Mode::CandidatePoints => Some((0..points.steps).collect()),
        Mode::GuessedPoint if points.steps == 0 => Some(vec![]),
        Mode::GuessedPoint => Some(vec![points.last_change.unwrap_or(points.steps - 1)]),
        Mode::GivenPoint => match points.marked {
            Some(step) => Some(vec![step]),
            None => return Judgement::NoPoint,
        },
    };
    let mut explained = Vec::new();
    for order in orders {
        let position = order.iter().position(|&op| op == k).expect("the method is in every order");
        let real_time = (0..=k).all(|a| (a + 1..=k).all(|b| interval(order[b]).1 >= interval(order[a]).0));
        let at_a_point = allowed.as_ref().is_none_or(|steps| {
            let by_point = |step: usize| (0..k).filter(|&i| place(i) < 100 * (step + 1)).count();
            if steps.is_empty() { position == 0 } else { steps.iter().any(|&step| by_point(step) == position) }
        });
        if real_time && at_a_point && legal(cell, observation, order) {
            explained.push(position);
        }
    }
    explained.into_iter().min().map_or(Judgement::Refuted, |position| Judgement::Explained { position })
}

fn legal(cell: &mut Cell, observation: &Observation<'_, Cell>, order: &[usize]) -> bool {
    let mut state = observation.initial;
    for &op in order {
        let (after, expected, observed) = match observation.environment.get(op) {
            Some(next) => {
                let (after, result) = cell.environment(state, next.call);
                (after, result, next.result)
            }
            None => {
                let (after, result) = cell.method(state);
                (after, result, observation.returned)
            }
        };
        if expected != observed {
            return false;
        }
        state = after;
    }
    state == observation.end
}

fn permutations(n: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for item in 0..n {
        all = all
            .iter()
            .flat_map(|shorter: &Vec<usize>| {
                (0..=shorter.len()).map(|at| {
                    let mut longer = shorter.clone();
                    longer.insert(at, item);
                    longer
                })
            })
            .collect();
    }
    all
}

const MODES: [Mode; 4] = [Mode::Linearizations, Mode::CandidatePoints, Mode::GuessedPoint, Mode::GivenPoint];

/// Compares judge, twin and explanation on every run with `k` operations over two states.
fn compare(k: usize, points: &[Points]) -> usize {
    let pairs: Vec<(u8, u8)> = words(&[0, 1], 2).iter().map(|word| (word[0], word[1])).collect();
    let calls = [CellCall::Read, CellCall::Swap(0), CellCall::Swap(1)];
    let orders = permutations(k + 1);
    let mut judged = 0;
    for method in words(&pairs, 2) {
        let mut cell = Cell { method: &method };
        for ((calls, results), rest) in words(&calls, k)
            .iter()
            .flat_map(|calls| words(&[0, 1], k).into_iter().map(move |results| (calls.clone(), results)))
            .flat_map(|pair| words(&[0u8, 1], 3).into_iter().map(move |rest| (pair.clone(), rest)))
        {
            for points in points {
                for after in words(&(0..=points.steps).collect::<Vec<_>>(), k) {
                    if !after.is_sorted() {
                        continue;
                    }
                    let environment: Vec<_> =
                        (0..k).map(|i| Observed { call: calls[i], result: results[i], after: after[i] }).collect();
                    let observation =
                        Observation { initial: rest[0], environment: &environment, returned: rest[1], end: rest[2] };
                    for mode in MODES {
                        let fast = judge(&mut cell, &observation, mode, points);
                        assert_eq!(fast, twin(&mut cell, &observation, (mode, points), &orders), "{mode:?} {points:?}");
                        judged += 1;
                    }
                    let explained = explain(&mut cell, &observation)
                        .iter()
                        .find(|order| order.disagreement.is_none())
                        .map_or(Judgement::Refuted, |order| Judgement::Explained { position: order.position });
                    assert_eq!(explained, judge(&mut cell, &observation, Mode::Linearizations, points));
                }
            }
        }
    }
    judged
}

#[test]
fn all_small_runs_agree_with_the_twin() {
    let none = Points::default();
    let two = |last_change, marked| Points { steps: 2, last_change, marked };
    let shapes = [none, two(None, None), two(Some(0), Some(1)), two(Some(1), Some(0))];
    // 16 methods × 6^k (call, result) pairs × 8 (initial, returned, end) × 4 modes × placements; the placements of k
    // operations around two steps are C(k + 2, 2), around no step 1.
    assert_eq!(compare(0, &shapes), 16 * 8 * 4 * (1 + 3));
    assert_eq!(compare(1, &shapes), 16 * 6 * 8 * 4 * (1 + 3 * 3));
    assert_eq!(compare(2, &shapes), 16 * 36 * 8 * 4 * (1 + 3 * 6));
    assert_eq!(compare(3, &[two(Some(1), Some(0))]), 16 * 216 * 8 * 4 * 10);
}

/// DESIGN.md's example: memoize(7) = get; insert_if_absent(7, 14); get over a map with the one key 7.
struct Memoize;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MapCall {
    Insert(u32),
    Remove,
}

impl Reference for Memoize {
    type State = Option<u32>;
    type Call = MapCall;
    type Result = Option<u32>;

    fn method(&mut self, state: Option<u32>) -> (Option<u32>, Option<u32>) {
        let stored = state.or(Some(14));
        (stored, stored)
    }

    fn environment(&mut self, state: Option<u32>, call: MapCall) -> (Option<u32>, Option<u32>) {
        match call {
            MapCall::Insert(value) => (Some(value), state),
            MapCall::Remove => (None, state),
        }
    }
}

fn memoize_run(returned: Option<u32>) -> (Vec<Observed<MapCall, Option<u32>>>, Option<u32>) {
    let insert = Observed { call: MapCall::Insert(12), result: None, after: 1 };
    let remove = Observed { call: MapCall::Remove, result: Some(12), after: 2 };
    (vec![insert, remove], returned)
}

#[test]
fn no_order_explains_the_memoize_of_the_design() {
    let (environment, returned) = memoize_run(None);
    let run = Observation { initial: None, environment: &environment, returned, end: None };
    assert_eq!(judge(&mut Memoize, &run, Mode::Linearizations, &Points::default()), Judgement::Refuted);

    let method =
        |expected| Some(Disagreement::Result { actor: Actor::Method, expected: Some(expected), observed: None });
    let order = |position, returned, environment: [Option<u32>; 2], end, disagreement| Order {
        position,
        returned: Some(returned),
        environment: environment.to_vec(),
        end,
        disagreement,
    };
    assert_eq!(
        explain(&mut Memoize, &run),
        [
            order(0, 14, [Some(14), Some(12)], None, method(14)),
            order(1, 12, [None, Some(12)], None, method(12)),
            order(2, 14, [None, Some(12)], Some(14), method(14)),
        ]
    );
    let sequences: Vec<Vec<Actor>> =
        explain(&mut Memoize, &run).iter().map(|order| order.sequence().collect()).collect();
    let (m, insert, remove) = (Actor::Method, Actor::Environment(0), Actor::Environment(1));
    assert_eq!(sequences, [[m, insert, remove], [insert, m, remove], [insert, remove, m]]);
}

#[test]
fn an_order_explains_the_memoize_that_returns_what_is_stored() {
    let (environment, returned) = memoize_run(Some(12));
    let run = Observation { initial: None, environment: &environment, returned, end: None };
    let points = Points { steps: 3, last_change: None, marked: Some(1) };
    let check = |mode, expected| assert_eq!(judge(&mut Memoize, &run, mode, &points), expected);
    check(Mode::Linearizations, Judgement::Explained { position: 1 });
    check(Mode::CandidatePoints, Judgement::Explained { position: 1 });
    check(Mode::GivenPoint, Judgement::Explained { position: 1 });
    // The guess, the last step, comes after the removal: this mode refutes what is linearizable.
    check(Mode::GuessedPoint, Judgement::Refuted);
}

#[test]
fn a_program_without_a_marked_point_is_told_so() {
    let run = Observation::<Memoize> { initial: None, environment: &[], returned: Some(14), end: Some(14) };
    let points = Points { steps: 1, last_change: Some(0), marked: None };
    assert_eq!(judge(&mut Memoize, &run, Mode::GivenPoint, &points), Judgement::NoPoint);
}

/// A reference that forgets the state: only results count.
struct Forgetful;

impl Reference for Forgetful {
    type State = u8;
    type Call = ();
    type Result = ();

    fn method(&mut self, state: u8) -> (u8, ()) {
        (state + 1, ())
    }

    fn environment(&mut self, state: u8, (): ()) -> (u8, ()) {
        (state, ())
    }

    fn same_state(&self, expected: u8, observed: u8) -> bool {
        expected.is_multiple_of(2) == observed.is_multiple_of(2)
    }
}

#[test]
fn final_states_are_compared_by_the_reference() {
    let check = |end, expected| {
        let run = Observation { initial: 0, environment: &[], returned: (), end };
        assert_eq!(judge(&mut Forgetful, &run, Mode::Linearizations, &Points::default()), expected);
        let disagreement = explain(&mut Forgetful, &run)[0].disagreement;
        let end_differs = Some(Disagreement::End { expected: 1, observed: end });
        assert_eq!(disagreement, if expected == Judgement::Refuted { end_differs } else { None });
    };
    check(3, Judgement::Explained { position: 0 });
    check(2, Judgement::Refuted);
}
