//! A text that is replaced, appended to and read.
//!
//! The pieces that are put and appended are a prefix code: all of them are different, and no piece is the beginning of
//! another. So a text that is read consists of pieces in only one way, and says which call has put the first piece and
//! in which order the others were appended. (For a key-value store with lists, *Elle: inferring isolation anomalies
//! from experimental observations*, 2020, calls this a traceable workload.)
//!
//! Take a piece that is put and read, all reads of texts that begin with this piece, and the pieces appended in these
//! texts. These calls follow each other in any linearization: another put would end the text, and the reads after any
//! other append would see its piece. Their order is fixed, too, except among reads of the same text: each text that is
//! read must be a beginning of the longest one. The calls that come before the first put are such a *cluster* too,
//! which comes first. Each other call is a cluster of its own: a put that no call reads, and an append that no call
//! reads, which may come between any two clusters, since a cluster after it begins with a put.
//!
//! So there is a linearization when the order within each cluster respects the real-time order, and the clusters can be
//! ordered, see [`super::register`].

use rustc_hash::FxHashMap;

use super::calls::{NotApplicable, TextCall};
use super::events::{Cut, Events};
use super::register::{Span, arrange};

/// A node of [`Plan::nodes`].
type NodeId = u32;

/// A piece: the index of the call that puts or appends it.
type Piece = usize;

/// The empty text, which exists first.
const INITIAL: NodeId = 0;

/// All texts that were read, as a forest: a node is a text, its parent the same text without the last piece.
pub(super) struct Plan {
    nodes: Vec<Node>,
    /// For each call that reads: the text, or `None` when the text does not consist of the pieces.
    texts: Vec<Option<NodeId>>,
}

struct Node {
    /// The text before the last piece was appended. `None`: the text was put, or it is [`INITIAL`].
    parent: Option<NodeId>,
    /// `None`: the text is [`INITIAL`].
    piece: Option<Piece>,
    /// The text as it began.
    root: NodeId,
    /// How many pieces were appended to the root.
    depth: u32,
}

impl Plan {
    pub fn new(calls: &[TextCall<'_>]) -> Result<Plan, NotApplicable> {
        let pieces = Pieces::new(calls)?;
        let initial = Node { parent: None, piece: None, root: INITIAL, depth: 0 };
        let mut forest = Forest { nodes: vec![initial], children: FxHashMap::default() };
        let texts = calls.iter().map(|call| match call {
            TextCall::Read(text) => forest.find(text, &pieces, calls),
            TextCall::Put(_) | TextCall::Append(_) => None,
        });
        let texts = texts.collect();
        Ok(Plan { nodes: forest.nodes, texts })
    }

    /// A linearization of the part before `cut`, when there is one.
    pub fn order(&self, events: &Events, calls: &[TextCall<'_>], cut: Cut) -> Option<Vec<usize>> {
        let clusters = self.clusters(events, calls, cut)?;
        let spans: Option<Vec<Span>> = clusters.iter().map(|cluster| span(events, cut, cluster)).collect();
        let mut spans = spans?;
        // The first text exists before all events.
        spans[0].first_return = 0;
        let order = arrange(events.end(), &spans)?;
        Some(order.into_iter().flat_map(|number| clusters[number].iter().copied()).collect())
    }

    /// The calls of each cluster in their only order; first the calls before any put. Pending calls without a
    /// consequence are left out. `None` when the texts that were read contradict each other.
    fn clusters(&self, events: &Events, calls: &[TextCall<'_>], cut: Cut) -> Option<Vec<Vec<usize>>> {
        let mut readers: Vec<Vec<usize>> = vec![Vec::new(); self.nodes.len()];
        // For each root, the longest text that begins with it.
        let mut longest = std::collections::BTreeMap::from([(INITIAL, INITIAL)]);
        for (call, action) in calls.iter().enumerate() {
            let is_complete = |(_, returned)| returned < events.never();
            if !matches!(action, TextCall::Read(_)) || !events.within(call, cut).is_some_and(is_complete) {
                continue;
            }
            let text = self.texts[call]?;
            readers[text as usize].push(call);
            let longest = longest.entry(self.nodes[text as usize].root).or_insert(text);
            if self.nodes[text as usize].depth > self.nodes[*longest as usize].depth {
                *longest = text;
            }
        }
        let mut is_placed = vec![false; calls.len()];
        let mut clusters = Vec::with_capacity(longest.len());
        for &text in longest.values() {
            let mut chain: Vec<NodeId> = Vec::new();
            let mut next = Some(text);
            while let Some(node) = next {
                chain.push(node);
                next = self.nodes[node as usize].parent;
            }
            let mut cluster = Vec::new();
            for &node in chain.iter().rev() {
                if let Some(piece) = self.nodes[node as usize].piece {
                    events.within(piece, cut)?;
                    if std::mem::replace(&mut is_placed[piece], true) {
                        return None;
                    }
                    cluster.push(piece);
                }
                let mut readers = std::mem::take(&mut readers[node as usize]);
                readers.sort_unstable_by_key(|&read| events.calls[read].0);
                cluster.extend(readers);
            }
            clusters.push(cluster);
        }
        if readers.iter().any(|readers| !readers.is_empty()) {
            // The text is not the beginning of the longest text of its root.
            return None;
        }
        let unread = |&call: &usize| {
            let returns = events.within(call, cut).is_some_and(|(_, returned)| returned < events.never());
            returns && !is_placed[call] && !matches!(calls[call], TextCall::Read(_))
        };
        clusters.extend((0..calls.len()).filter(unread).map(|call| vec![call]));
        Some(clusters)
    }
}

/// The span of calls that follow each other in this order; `None` when the real-time order differs.
fn span(events: &Events, cut: Cut, cluster: &[usize]) -> Option<Span> {
    let mut span = Span { first_return: events.never(), last_invoked: 0 };
    for &call in cluster {
        let (invoked, returned) = events.within(call, cut).expect("it is in the part");
        if returned < span.last_invoked {
            return None;
        }
        span.first_return = span.first_return.min(returned);
        span.last_invoked = span.last_invoked.max(invoked);
    }
    Some(span)
}

/// All pieces in the order of their texts.
struct Pieces<'t>(Vec<(&'t str, Piece)>);

impl<'t> Pieces<'t> {
    fn new(calls: &[TextCall<'t>]) -> Result<Pieces<'t>, NotApplicable> {
        let piece = |(call, action): (usize, &TextCall<'t>)| match *action {
            TextCall::Put(text) | TextCall::Append(text) => Some((text, call)),
            TextCall::Read(_) => None,
        };
        let mut pieces: Vec<(&str, Piece)> = calls.iter().enumerate().filter_map(piece).collect();
        pieces.sort_unstable();
        // A text that begins with a piece comes right after the piece.
        let is_code = pieces.windows(2).all(|pair| !pair[1].0.starts_with(pair[0].0));
        let is_code = is_code && pieces.first().is_none_or(|(text, _)| !text.is_empty());
        if is_code { Ok(Pieces(pieces)) } else { Err(NotApplicable) }
    }

    /// The piece that a text begins with: the last piece that does not come after the text, since any piece between the
    /// two would begin with that piece.
    fn first_of(&self, text: &str) -> Option<(&'t str, Piece)> {
        let before = self.0.partition_point(|&(piece, _)| piece <= text);
        let found = self.0[..before].last().copied();
        found.filter(|(piece, _)| text.starts_with(piece))
    }
}

struct Forest {
    nodes: Vec<Node>,
    /// The node after a node and a piece; the node is `None` for a piece that is put.
    children: FxHashMap<(Option<NodeId>, Piece), NodeId>,
}

impl Forest {
    fn find(&mut self, text: &str, pieces: &Pieces<'_>, calls: &[TextCall<'_>]) -> Option<NodeId> {
        let (mut node, mut at) = (INITIAL, 0);
        while at < text.len() {
            let (piece, call) = pieces.first_of(&text[at..])?;
            let is_put = matches!(calls[call], TextCall::Put(_));
            if is_put && at > 0 {
                return None;
            }
            let parent = (!is_put).then_some(node);
            let new = u32::try_from(self.nodes.len()).expect("less than 2^32 texts");
            node = *self.children.entry((parent, call)).or_insert(new);
            if node == new {
                let (root, depth) = match parent {
                    None => (new, 0),
                    Some(parent) => (self.nodes[parent as usize].root, self.nodes[parent as usize].depth + 1),
                };
                self.nodes.push(Node { parent, piece: Some(call), root, depth });
            }
            at += piece.len();
        }
        Some(node)
    }
}
