//! The slow, obvious twin of the enumeration: every schema, and the smallest of each class.

use std::collections::BTreeSet;

use interloper_linearize::schema::Schema;

use super::alphabet::Call;
use super::enumerate::{Rank, permutations};
use super::order::Order;
use super::{Harness, Pool};
use crate::object::{MethodId, Object};

/// A schema up to symmetry: the least of its images.
pub(super) type Class = (Vec<Vec<Call>>, Order);

/// The classes of a rank.
pub(super) fn classes(object: &Object, pool: &Pool, rank: Rank, constraints: bool) -> BTreeSet<Class> {
    let orders = if constraints { Order::all(rank.sequences) } else { vec![Order::none(rank.sequences)] };
    let methods: BTreeSet<MethodId> =
        pool.beside(object).into_iter().chain(pool.under_test().iter().copied()).collect();
    let calls: Vec<Call> = methods.into_iter().flat_map(|method| Call::all(object, method, rank.values)).collect();
    let mut words: Vec<Vec<Call>> = vec![vec![]];
    for _ in 0..rank.invocations {
        let longer = |word: &Vec<Call>| {
            let word = word.clone();
            calls.iter().map(move |call| [&word[..], std::slice::from_ref(call)].concat()).collect::<Vec<_>>()
        };
        words = words.iter().flat_map(longer).collect();
    }
    let mut classes = BTreeSet::new();
    for word in words {
        let number = |method: MethodId| word.iter().filter(|call| call.method == method).count();
        let fits = match *pool {
            Pool::One(method) => number(method) == 1,
            Pool::Repeated(method) => number(method) >= 2,
            Pool::Pair([one, other]) => number(one) == 1 && number(other) == 1,
            Pool::Together(_) | Pool::Only(_) => false,
        };
        let atoms = word.iter().fold(0, |set, call| set | call.atoms());
        if !fits || atoms != (1 << rank.values) - 1 {
            continue;
        }
        let calls_both = |sequence: &Vec<Call>| {
            pool.under_test().iter().all(|&method| sequence.iter().any(|call| call.method == method))
        };
        for sequences in divisions(&word, rank.sequences) {
            if matches!(pool, Pool::Pair(_)) && sequences.iter().any(calls_both) {
                continue;
            }
            for order in &orders {
                let borrowed = sequences.iter().map(|sequence| sequence.iter().collect()).collect();
                let harness = Harness { object, tested: pool.under_test(), sequences: borrowed, order: order.clone() };
                if harness.can_fail() {
                    classes.insert(least(object, &sequences, order, rank.values));
                }
            }
        }
    }
    classes
}

/// The class of a schema, of which every argument is an integer.
pub(super) fn class_of(object: &Object, schema: &Schema, values: u8) -> Class {
    let calls = object.program(schema).expect("a schema of the object").calls().to_vec();
    let mut calls = calls.into_iter().map(|(method, arguments)| {
        let all = Call::all(object, method, values);
        let generators = &object.method(method).parameters;
        let written = |call: &Call| {
            call.arguments
                .iter()
                .zip(generators)
                .map(|(literal, generator)| literal.value(generator))
                .collect::<Vec<_>>()
        };
        all.into_iter().find(|call| written(call) == arguments).expect("a call of the alphabet")
    });
    let sequences: Vec<Vec<Call>> =
        schema.sequences().iter().map(|sequence| calls.by_ref().take(sequence.len()).collect()).collect();
    let predecessors = |order: &Order| {
        let all = 0..sequences.len();
        all.clone().all(|first| {
            all.clone().all(|second| order.is_before(first, second) == happens_before(schema, first, second))
        })
    };
    let order = Order::all(sequences.len()).into_iter().find(predecessors).expect("an order");
    least(object, &sequences, &order, values)
}

fn happens_before(schema: &Schema, first: usize, second: usize) -> bool {
    let start = |sequence: usize| schema.sequences()[..sequence].iter().map(Vec::len).sum::<usize>();
    first != second && schema.predecessors()[start(second)].contains(&start(first))
}

/// The ways to divide a word into this many sequences that are not empty.
fn divisions(word: &[Call], sequences: usize) -> Vec<Vec<Vec<Call>>> {
    if sequences == 1 {
        return if word.is_empty() { vec![] } else { vec![vec![word.to_vec()]] };
    }
    let first = |length: usize| {
        let rest = divisions(&word[length..], sequences - 1);
        rest.into_iter().map(move |rest| [&[word[..length].to_vec()][..], &rest].concat())
    };
    (1..word.len()).flat_map(first).collect()
}

fn least(object: &Object, sequences: &[Vec<Call>], order: &Order, values: u8) -> Class {
    let renamings = if object.data_independent() {
        permutations(usize::from(values))
    } else {
        vec![(0..usize::from(values)).collect()]
    };
    let images = permutations(sequences.len()).into_iter().flat_map(|places| {
        let order = order.permuted(&places);
        renamings.iter().map(move |renaming| {
            let renaming: Vec<u8> = renaming.iter().map(|&atom| atom as u8).collect();
            let mut image = vec![vec![]; sequences.len()];
            for (sequence, &place) in sequences.iter().zip(&places) {
                image[place] = sequence.iter().map(|call| call.renamed(&renaming)).collect();
            }
            (image, order.clone())
        })
    });
    images.min().expect("there is the identity")
}
