//! Sets of outcomes as decision diagrams.
//!
//! An outcome gives each invocation a result. A set of outcomes over the same invocations is a graph: a node asks for
//! the result of one invocation, an edge for each result leads on, and each path to the end is an outcome. Invocations
//! are asked in a fixed order, and equal nodes are the same node, so equal sets are the same node. There are sets with
//! billions of outcomes and a few hundred nodes.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

/// A set of outcomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Node(u32);

/// The number of a result.
pub(super) type ResultId = u32;

impl Node {
    /// No outcome.
    pub const NOTHING: Node = Node(0);
    /// The only outcome over no invocations.
    pub const END: Node = Node(1);
}

/// A place in the order in which invocations are asked.
type Place = u8;

/// The edges of a node.
type Edges = Box<[(ResultId, Node)]>;

/// All nodes.
pub(super) struct Diagrams {
    /// For each invocation its place.
    places: Vec<Place>,
    /// For each place its invocation.
    invocations: Vec<usize>,
    /// For each node its place and where its edges end in `edges`; they begin where the edges of the node before end.
    nodes: Vec<(Place, usize)>,
    /// Results ascending within a node.
    edges: Vec<(ResultId, Node)>,
    known: FxHashMap<(Place, Edges), Node>,
    unions: FxHashMap<(Node, Node), Node>,
    givens: FxHashMap<(Place, ResultId, Node), Node>,
    cases: FxHashMap<(Place, Node), Vec<(ResultId, Node)>>,
}

impl Diagrams {
    /// Invocations are asked in this order.
    pub fn new(order: Vec<usize>) -> Diagrams {
        let mut places = vec![0; order.len()];
        for (place, &invocation) in order.iter().enumerate() {
            places[invocation] = place as Place;
        }
        Diagrams {
            places,
            invocations: order,
            // The two sets without an invocation to ask for, after all places.
            nodes: vec![(Place::MAX, 0); 2],
            edges: Vec::new(),
            known: FxHashMap::default(),
            unions: FxHashMap::default(),
            givens: FxHashMap::default(),
            cases: FxHashMap::default(),
        }
    }

    fn edges(&self, node: Node) -> &[(ResultId, Node)] {
        let node = node.0 as usize;
        let start = node.checked_sub(1).map_or(0, |before| self.nodes[before].1);
        &self.edges[start..self.nodes[node].1]
    }

    fn place(&self, node: Node) -> Place {
        self.nodes[node.0 as usize].0
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    fn node(&mut self, place: Place, edges: Vec<(ResultId, Node)>) -> Node {
        if edges.is_empty() {
            return Node::NOTHING;
        }
        let key = (place, edges.into_boxed_slice());
        if let Some(&known) = self.known.get(&key) {
            return known;
        }
        let node = Node(u32::try_from(self.nodes.len()).expect("less than 2^32 nodes"));
        self.edges.extend_from_slice(&key.1);
        self.nodes.push((place, self.edges.len()));
        self.known.insert(key, node);
        node
    }

    /// The outcomes of a set over other invocations, each extended by this result of `invocation`.
    pub fn given(&mut self, invocation: usize, result: ResultId, rest: Node) -> Node {
        if rest == Node::NOTHING {
            return rest;
        }
        let place = self.places[invocation];
        if place < self.place(rest) {
            return self.node(place, vec![(result, rest)]);
        }
        if let Some(&known) = self.givens.get(&(place, result, rest)) {
            return known;
        }
        let mut edges = self.edges(rest).to_vec();
        for (_, node) in &mut edges {
            *node = self.given(invocation, result, *node);
        }
        let node = self.node(self.place(rest), edges);
        self.givens.insert((place, result, rest), node);
        node
    }

    /// The outcomes of two sets over the same invocations.
    pub fn union(&mut self, one: Node, other: Node) -> Node {
        let (one, other) = (one.min(other), one.max(other));
        if one == other || one == Node::NOTHING {
            return other;
        }
        if let Some(&known) = self.unions.get(&(one, other)) {
            return known;
        }
        let (left, right) = (self.edges(one).to_vec(), self.edges(other).to_vec());
        let (mut left, mut right) = (left.into_iter().peekable(), right.into_iter().peekable());
        let mut edges = Vec::with_capacity(left.len() + right.len());
        loop {
            match (left.peek().copied(), right.peek().copied()) {
                (Some(edge), Some((result, _))) if edge.0 < result => edges.extend(left.next()),
                (Some((result, _)), Some(edge)) if edge.0 < result => edges.extend(right.next()),
                (Some((result, one)), Some((_, other))) => {
                    left.next();
                    right.next();
                    edges.push((result, self.union(one, other)));
                }
                (Some(_), None) => edges.extend(left.by_ref()),
                (None, Some(_)) => edges.extend(right.by_ref()),
                (None, None) => break,
            }
        }
        let node = self.node(self.place(one), edges);
        self.unions.insert((one, other), node);
        node
    }

    /// The number of outcomes, if it is below 2^128.
    pub fn count(&self, set: Node) -> Option<u128> {
        // A node has a higher number than the nodes that it leads to.
        let mut counts: Vec<Option<u128>> = vec![Some(0), Some(1)];
        for number in 2..=set.0 {
            let add = |sum: Option<u128>, &(_, node): &(ResultId, Node)| sum?.checked_add(counts[node.0 as usize]?);
            counts.push(self.edges(Node(number)).iter().fold(Some(0), add));
        }
        counts[set.0 as usize]
    }

    /// Whether a set has the outcome in which each invocation has this result.
    pub fn contains(&self, set: Node, result: impl Fn(usize) -> Option<ResultId>) -> bool {
        let mut node = set;
        while node > Node::END {
            let invocation = self.invocations[self.place(node) as usize];
            let edges = self.edges(node);
            let found = result(invocation).and_then(|result| edges.binary_search_by_key(&result, |edge| edge.0).ok());
            let Some(index) = found else { return false };
            node = edges[index].1;
        }
        node == Node::END
    }

    /// Calls `each` with every outcome, as the results of the invocations in text order, until it says no. Outcomes come
    /// in lexicographic order, where results are ordered by their ranks.
    pub fn each(&mut self, set: Node, ranks: &[u32], each: &mut dyn FnMut(&[ResultId]) -> bool) {
        self.walk(set, ranks, &mut Vec::with_capacity(self.places.len()), each);
    }

    fn walk(
        &mut self,
        set: Node,
        ranks: &[u32],
        results: &mut Vec<ResultId>,
        each: &mut dyn FnMut(&[ResultId]) -> bool,
    ) -> bool {
        if set <= Node::END {
            return set == Node::NOTHING || each(results);
        }
        let mut cases = self.cases(results.len(), set);
        cases.sort_unstable_by_key(|&(result, _)| ranks[result as usize]);
        cases.into_iter().all(|(result, rest)| {
            results.push(result);
            let go_on = self.walk(rest, ranks, results, each);
            results.pop();
            go_on
        })
    }

    /// For each result of `invocation` in a set of outcomes the outcomes of the others; ascending by result.
    fn cases(&mut self, invocation: usize, set: Node) -> Vec<(ResultId, Node)> {
        let place = self.places[invocation];
        if self.place(set) == place {
            return self.edges(set).to_vec();
        }
        if let Some(known) = self.cases.get(&(place, set)) {
            return known.clone();
        }
        let mut by_result: BTreeMap<ResultId, Vec<(ResultId, Node)>> = BTreeMap::new();
        for (first, next) in self.edges(set).to_vec() {
            for (result, rest) in self.cases(invocation, next) {
                by_result.entry(result).or_default().push((first, rest));
            }
        }
        let above = self.place(set);
        let found: Vec<_> = by_result.into_iter().map(|(result, edges)| (result, self.node(above, edges))).collect();
        self.cases.insert((place, set), found.clone());
        found
    }
}
