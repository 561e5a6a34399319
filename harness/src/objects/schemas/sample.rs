//! Schemas at random (Violat, section 3).

use interloper_linearize::schema::{Invocation, Schema};
use interloper_random::{Purpose, Stream};
use rand::RngExt;

use super::alphabet::Call;
use super::order::Order;
use super::{Bounds, Harness, Pool, sequence_of, started};
use crate::object::{MethodId, Object, Role};

/// An endless supply of schemas, drawn independently of each other.
///
/// The numbers of sequences, of invocations and of values are chosen within the bounds, then methods, each for a random
/// sequence: a core method that changes the object is three times as likely as one that only reads or is under test.
/// With [`Pool::One`], one invocation, at a random place, is of the method under test, and the others are of core methods. With
/// [`Pool::Repeated`], two invocations at random places are of the method under test, and the others of any method. With
/// [`Pool::Pair`], an invocation at a random place is of one of the two methods, one at a random place of another sequence is of the
/// other, and the rest are of any method.
///
/// Half of the starts call one core method only, which fills the object or empties it.
///
/// Sampling ends when many draws in a row give no schema in which something can go wrong: the pool has no such schema,
/// or hardly any.
#[derive(Clone, Debug)]
pub struct Sampler {
    object: Object,
    pool: Pool,
    bounds: Bounds,
    random: Stream,
    /// Methods that may be called any number of times, each as often as its weight.
    weighted: Vec<MethodId>,
}

/// After this many useless schemas in a row, a useful one is unlikely to follow.
const ATTEMPTS: usize = 10_000;

impl Sampler {
    /// The schemas that a seed stands for.
    ///
    /// # Panics
    /// When a bound is empty, or 0 is in it.
    pub fn new(object: &Object, pool: Pool, bounds: Bounds, seed: u64) -> Sampler {
        assert!(!bounds.sequences.is_empty() && *bounds.sequences.start() > 0, "a schema has a sequence");
        assert!(!bounds.invocations.is_empty() && *bounds.invocations.start() > 0, "a schema has an invocation");
        assert!(!bounds.values.is_empty() && *bounds.values.start() > 0, "a schema is about a value");
        let weight = |&method: &MethodId| {
            let trusted = object.method(method).role == Role::Core;
            if trusted && !object.method(method).reads { 3 } else { 1 }
        };
        let weighted =
            pool.beside(object).into_iter().flat_map(|method| std::iter::repeat_n(method, weight(&method))).collect();
        Sampler { object: object.clone(), pool, bounds, random: Stream::new(seed, Purpose::Schemas, 0), weighted }
    }

    fn attempt(&mut self) -> Option<Schema> {
        if self.weighted.is_empty() {
            return None;
        }
        let random = &mut self.random;
        let invocations = random.random_range(self.bounds.invocations.clone());
        let sequences = random.random_range(self.bounds.sequences.clone()).min(invocations);
        let values = random.random_range(self.bounds.values.clone());
        let tested: Vec<(usize, MethodId)> = match self.pool {
            Pool::One(method) => vec![(random.random_range(0..invocations), method)],
            // With one invocation there is no second place.
            Pool::Repeated(_) | Pool::Pair(_) if invocations < 2 => return None,
            Pool::Repeated(_) | Pool::Pair(_) => {
                let first = random.random_range(0..invocations);
                let second = (first + random.random_range(1..invocations)) % invocations;
                let methods = self.pool.under_test();
                vec![(first, methods[0]), (second, methods[methods.len() - 1])]
            }
            Pool::Together(_) | Pool::Only(_) => vec![],
        };
        let mut lengths = vec![1; sequences];
        for _ in sequences..invocations {
            lengths[random.random_range(0..sequences)] += 1;
        }
        if let (Pool::Pair(_), [(one, _), (other, _)]) = (&self.pool, &tested[..])
            && sequence_of(*one, &lengths) == sequence_of(*other, &lengths)
        {
            return None;
        }
        let mut method = |number: usize| match tested.iter().find(|(place, _)| *place == number) {
            Some((_, method)) => *method,
            None => self.weighted[random.random_range(0..self.weighted.len())],
        };
        let methods: Vec<MethodId> = (0..invocations).map(&mut method).collect();
        let mut methods = methods.into_iter();
        let mut calls: Vec<Vec<Call>> = Vec::with_capacity(sequences);
        for length in lengths {
            let sequence = methods.by_ref().take(length);
            calls.push(sequence.map(|method| Call::random(&self.object, method, values, random)).collect());
        }
        let order = if self.bounds.constraints { Order::random(sequences, random) } else { Order::none(sequences) };
        let sequences = calls.iter().map(|calls| calls.iter().collect()).collect();
        let harness = Harness { object: &self.object, tested: self.pool.under_test(), sequences, order };
        let schema = harness.can_fail().then(|| harness.schema())?;
        Some(started(&schema, self.start(values)?))
    }

    /// The calls before all others: of core methods that change the object. `None` if there have to be some and cannot be.
    fn start(&mut self, values: u8) -> Option<Vec<Invocation>> {
        let most = *self.bounds.start.end();
        if most == 0 {
            return Some(Vec::new());
        }
        let changes = |method: &MethodId| !self.object.method(*method).reads;
        let core: Vec<MethodId> = self.object.before().into_iter().filter(changes).collect();
        if core.is_empty() {
            return (*self.bounds.start.start() == 0).then(Vec::new);
        }
        let random = &mut self.random;
        let calls = random.random_range(self.bounds.start.clone());
        // Much goes wrong only where an object is full, and calls of different methods seldom fill it.
        let only = random.random::<bool>().then(|| core[random.random_range(0..core.len())]);
        let call = |_| {
            let method = only.unwrap_or_else(|| core[random.random_range(0..core.len())]);
            Call::random(&self.object, method, values, random)
        };
        Some((0..calls).map(call).map(|call| call.invocation(&self.object)).collect())
    }
}

impl Iterator for Sampler {
    type Item = Schema;

    fn next(&mut self) -> Option<Schema> {
        (0..ATTEMPTS).find_map(|_| self.attempt())
    }
}
