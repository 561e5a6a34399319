//! Each method is tried with schemas that grow, by the systematic engine and by a random one.

use std::collections::BTreeSet;
use std::ops::AddAssign;

use driver::objects::hunted::as_built;
use interloper_harness::hunt::{Engine, Found, Runs, What, minimise};
use interloper_harness::judged::{self, PATIENCE};
use interloper_harness::schemas::{Bounds, Enumeration, Pool, Sampler, ranks};
use interloper_harness::stress::Next;
use interloper_harness::systematic::{self, Explored, FREE_EVERY, Settings};
use interloper_harness::{MethodId, Object};
use interloper_linearize::outcomes::DEFAULT_BOUND;
use interloper_linearize::schema::Schema;
use interloper_scheduler::{Deadline, Executions};

/// The seed of everything that is random.
pub const SEED: u64 = 1;
/// So many schemas of two or three calls for each method, smallest first.
const SMALL: usize = 30;
/// A schema that fails is run so often by the engine that has not found it.
const AGAIN: u64 = 20_000;

/// How much is tried of each method.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// So many executions of each schema of two calls by the systematic engine: enough for most to come to their end.
    of_two: u64,
    /// So many of each larger one.
    larger: u64,
    /// After so many executions of schemas of two or three calls, and again of four, no other one is begun.
    enough: u64,
    /// So many of each schema by the random engine.
    random: u64,
    /// So many schemas of four calls about two values, at random.
    large: usize,
}

impl Effort {
    /// Where a call takes some ten steps.
    pub const FULL: Effort = Effort { of_two: 150_000, larger: 5_000, enough: 30_000, random: 60, large: 600 };
    /// Where it takes more.
    pub const LESS: Effort = Effort { of_two: 2_000, larger: 500, enough: 15_000, random: 40, large: 200 };
    /// Where it takes a hundred.
    pub const BRIEF: Effort = Effort { of_two: 1_000, larger: 300, enough: 3_000, random: 20, large: 100 };
    /// Where it takes a thousand.
    pub const BRIEFEST: Effort = Effort { of_two: 60, larger: 20, enough: 120, random: 6, large: 20 };

    /// Of a schema of so many calls.
    fn exhaustive(self, calls: usize) -> Settings {
        let executions = if calls == 2 { self.of_two } else { self.larger };
        systematically(executions)
    }

    /// A schema that fails is run so often by the engine that has not found it.
    fn again(self) -> u64 {
        AGAIN.min(4 * self.enough)
    }
}

/// What a method was tried with, by one engine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    /// How many schemas.
    pub schemas: u64,
    /// Of how many of them every interleaving was seen.
    pub complete: u64,
    /// How many executions.
    pub executions: u64,
    /// How many of them were cut short before they had an outcome.
    pub cut: u64,
}

impl AddAssign<&Explored> for Tally {
    fn add_assign(&mut self, explored: &Explored) {
        self.schemas += 1;
        self.complete += u64::from(explored.complete);
        self.executions += explored.executions;
        self.cut += explored.cut;
    }
}

/// What came of a method.
pub struct Searched {
    /// Its name.
    pub method: String,
    /// By the systematic engine, up to what it found: schemas of two or three calls, and of four.
    pub systematic: [Tally; 2],
    /// By the random one, unless the systematic one had found something in the small ones.
    pub random: Tally,
    /// Schemas of which there is no telling what is right, with the reason.
    pub refused: Vec<String>,
    /// What was found.
    pub violation: Option<Violation>,
}

/// A method is not atomic.
pub struct Violation {
    /// The smallest schema, with its trace.
    pub found: Found,
    /// Which execution of it by the systematic engine was the first to show what is wrong, if one was.
    pub systematic: Option<u64>,
    /// The same for the random one.
    pub random: Option<u64>,
}

/// Tries a method of an object: small schemas systematically, then these and larger ones at random, which takes less, then
/// the larger ones systematically as well.
pub fn search(object: &Object, method: MethodId, effort: Effort) -> Searched {
    let mut searched = Searched {
        method: object.label(method),
        systematic: [Tally::default(); 2],
        random: Tally::default(),
        refused: vec![],
        violation: None,
    };
    let (small, large) = (small(object, method), large(object, method, effort));
    let exhaustive = |calls| effort.exhaustive(calls);
    let [first, second] = &mut searched.systematic;
    let found = try_all(object, &small, exhaustive, effort.enough, first, &mut searched.refused);
    if let Some(found) = found {
        searched.violation =
            Some(seen_first_by(object, found, exhaustive(3), at_random(effort.again()), |systematic, random| {
                (Some(systematic), random)
            }));
        return searched;
    }
    let all: Vec<Schema> = small.into_iter().chain(large.iter().cloned()).collect();
    let random = |_| at_random(effort.random);
    if let Some(found) = try_all(object, &all, random, u64::MAX, &mut searched.random, &mut vec![]) {
        let again = systematically(effort.again());
        searched.violation =
            Some(seen_first_by(object, found, at_random(10 * effort.random), again, |random, systematic| {
                (systematic, Some(random))
            }));
        return searched;
    }
    if let Some(found) = try_all(object, &large, exhaustive, effort.enough, second, &mut searched.refused) {
        searched.violation =
            Some(seen_first_by(object, found, exhaustive(4), at_random(effort.again()), |systematic, random| {
                (Some(systematic), random)
            }));
    }
    searched
}

/// Runs one schema after the other until one fails, or there were enough executions.
fn try_all(
    object: &Object,
    schemas: &[Schema],
    settings: impl Fn(usize) -> Settings,
    enough: u64,
    tally: &mut Tally,
    refused: &mut Vec<String>,
) -> Option<Found> {
    for schema in schemas {
        if tally.executions >= enough {
            break;
        }
        match attempt(object, schema, &settings(schema.len())) {
            Err(reason) => refused.push(format!("{schema}: {reason}")),
            Ok((explored, found)) => {
                *tally += &explored;
                if found.is_some() {
                    return found;
                }
            }
        }
    }
    None
}

/// What one engine has found, made small by it, and whether the other one finds it, too.
fn seen_first_by(
    object: &Object,
    found: Found,
    first: Settings,
    other: Settings,
    in_order: impl Fn(u64, Option<u64>) -> (Option<u64>, Option<u64>),
) -> Violation {
    let found = smallest(object, found, first);
    let (_, again) = attempt(object, &found.schema, &other).expect("a schema that was judged can be judged again");
    let (systematic, random) = in_order(executions(&found), again.map(|again| executions(&again)));
    Violation { found, systematic, random }
}

fn smallest(object: &Object, found: Found, settings: Settings) -> Found {
    let mut engine = Engine::Systematic(settings);
    minimise(object, object.visibility(), DEFAULT_BOUND, &mut engine, found, &mut |_, _| Next::Continue).found
}

/// Under weak memory where orderings allow it, after the executions without; faults of plain memory are violations.
fn systematically(executions: u64) -> Settings {
    as_built(Settings { executions: Executions::AtMost(executions), ..Settings::default() })
}

fn at_random(executions: u64) -> Settings {
    Settings { free_every: FREE_EVERY, ..systematically(executions) }.at_random(SEED)
}

fn executions(found: &Found) -> u64 {
    found.runs.executions()
}

/// Runs a schema, and judges what it gives. The reason, when there is no telling what is right.
pub fn attempt(object: &Object, schema: &Schema, settings: &Settings) -> Result<(Explored, Option<Found>), String> {
    let program = object.program(schema).map_err(|mistake| mistake.to_string())?;
    let (mut judge, _) = judged::within(&program, object.visibility(), DEFAULT_BOUND, PATIENCE, Deadline::NEVER)
        .map_err(|refusal| refusal.text(schema))?;
    let mut wrong = None;
    let explored = systematic::run(&program, settings, &mut |outcome| {
        if judge.admits(outcome) {
            return Next::Continue;
        }
        wrong = Some(outcome.to_vec());
        Next::Stop
    });
    let what = match (explored.failure(), wrong) {
        (Some(failure), _) => Some(What::of(failure)),
        (None, Some(outcome)) => Some(What::Outcome { outcome, admitted: judge.admitted(64) }),
        (None, None) => None,
    };
    let found = what.map(|what| Found {
        schema: schema.clone(),
        what,
        frequencies: vec![],
        runs: Runs::Systematic(Box::new(explored.clone())),
    });
    Ok((explored, found))
}

/// Schemas of two or three calls.
fn small(object: &Object, method: MethodId) -> Vec<Schema> {
    let bounds = Bounds { invocations: 2..=3, values: 1..=2, ..Bounds::default() };
    let of_rank = |rank| Enumeration::new(object, method, rank, false).shuffled(SEED);
    ranks(&bounds).into_iter().flat_map(of_rank).take(SMALL).collect()
}

/// Different schemas of four calls.
fn large(object: &Object, method: MethodId, effort: Effort) -> Vec<Schema> {
    let bounds = Bounds { invocations: 4..=4, ..Bounds::default() };
    let mut known = BTreeSet::new();
    let schemas = Sampler::new(object, Pool::One(method), bounds, SEED).take(4 * effort.large);
    schemas.filter(|schema| known.insert(schema.to_string())).take(effort.large).collect()
}
