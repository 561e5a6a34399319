//! Which thread runs which sequence.

use std::ops::Range;

use interloper_linearize::schema::Schema;

/// A harness laid out for threads. Each *lane* is one thread. Two sequences may share a lane if one happens before the
/// other, so three sequences with `{0<2, 1<2}` need only two threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// What each lane runs, in order.
    pub(super) lanes: Vec<Vec<Segment>>,
    /// The pairs of sequences that are not ordered.
    pub(super) concurrent: Vec<(usize, usize)>,
    /// How many sequences there are.
    pub(super) sequences: usize,
}

/// A sequence in a lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    pub(super) sequence: usize,
    /// Its invocations, as indices in text order.
    pub(super) calls: Range<usize>,
    /// The segments of other lanes that happen before it, as (lane, place in the lane).
    pub(super) waits: Vec<(usize, usize)>,
}

impl Layout {
    pub(super) fn new(schema: &Schema) -> Layout {
        let sequences = schema.sequences().len();
        let before = closure(sequences, schema.happens_before());
        let mut by_rank: Vec<usize> = (0..sequences).collect();
        // A sequence has more predecessors than any of its predecessors.
        by_rank.sort_by_key(|&sequence| before[sequence].iter().filter(|&&is| is).count());

        let mut chains: Vec<Vec<usize>> = Vec::new();
        for sequence in by_rank {
            let last_is_before = |chain: &&mut Vec<usize>| chain.last().is_some_and(|&last| before[sequence][last]);
            match chains.iter_mut().find(last_is_before) {
                Some(chain) => chain.push(sequence),
                None => chains.push(vec![sequence]),
            }
        }

        let mut starts = vec![0];
        for sequence in schema.sequences() {
            starts.push(starts[starts.len() - 1] + sequence.len());
        }
        let place_of = |sequence: usize| {
            let in_lane = |chain: &Vec<usize>| chain.iter().position(|&other| other == sequence);
            chains.iter().enumerate().find_map(|(lane, chain)| in_lane(chain).map(|place| (lane, place)))
        };
        let segment = |lane: usize, sequence: usize| Segment {
            sequence,
            calls: starts[sequence]..starts[sequence + 1],
            waits: (0..sequences)
                .filter(|&other| before[sequence][other])
                .filter_map(place_of)
                .filter(|&(other, _)| other != lane)
                .collect(),
        };
        let lane =
            |(lane, chain): (usize, &Vec<usize>)| chain.iter().map(|&sequence| segment(lane, sequence)).collect();
        let lanes = chains.iter().enumerate().map(lane).collect();
        let pairs = (0..sequences).flat_map(|one| (one + 1..sequences).map(move |other| (one, other)));
        let concurrent = pairs.filter(|&(one, other)| !before[one][other] && !before[other][one]).collect();
        Layout { lanes, concurrent, sequences }
    }
}

/// For each sequence, which sequences happen before it.
fn closure(sequences: usize, constraints: &[(usize, usize)]) -> Vec<Vec<bool>> {
    let mut before = vec![vec![false; sequences]; sequences];
    for &(first, second) in constraints {
        before[second][first] = true;
    }
    for middle in 0..sequences {
        let earlier = before[middle].clone();
        for later in before.iter_mut().filter(|later| later[middle]) {
            later.iter_mut().zip(&earlier).for_each(|(is_before, &earlier)| *is_before |= earlier);
        }
    }
    before
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lanes as `sequence(lane.place, …)`, where the pairs are what it waits for; then the concurrent pairs.
    fn check(schema: &str, expected: &str) {
        let layout = Layout::new(&Schema::parse(schema).expect("a schema"));
        let waits = |segment: &Segment| {
            let waits: Vec<String> = segment.waits.iter().map(|(lane, place)| format!("{lane}.{place}")).collect();
            if waits.is_empty() { String::new() } else { format!("({})", waits.join(", ")) }
        };
        let segment = |segment: &Segment| format!("{}{}", segment.sequence, waits(segment));
        let lane = |lane: &Vec<Segment>| lane.iter().map(segment).collect::<Vec<_>>().join(" ");
        let lanes: Vec<String> = layout.lanes.iter().map(lane).collect();
        let concurrent: Vec<String> = layout.concurrent.iter().map(|(one, other)| format!("{one}{other}")).collect();
        assert_eq!(format!("{}; {}", lanes.join(" | "), concurrent.join(" ")), expected);
    }

    #[test]
    fn sequences_without_constraints_have_a_lane_each() {
        check("{ f() } || { g(); h() }", "0 | 1; 01");
        check("{ f() } || { g(); h() } || { f() }", "0 | 1 | 2; 01 02 12");
    }

    #[test]
    fn ordered_sequences_share_a_lane() {
        check("[f()], [g()], [h()], {0<2, 1<2}", "0 2(1.0) | 1; 01");
        check("[f()], [g()], [h()], {2<0, 2<1}", "2 0 | 1(0.0); 01");
        check("[f()], [g()], [h()], {0<1, 1<2}", "0 1 2; ");
        check("[f()], [g()], [h()], {0<1}", "0 1 | 2; 02 12");
        // Two sequences, a point where they meet, two sequences.
        check("[f()], [g()], [h()], [f()], {0<2, 0<3, 1<2, 1<3}", "0 2(1.0) | 1 3(0.0); 01 23");
    }

    #[test]
    fn calls_are_counted_in_text_order() {
        let layout = Layout::new(&Schema::parse("[f(); g()], [h()], [f(); f()], {1<0}").expect("a schema"));
        let calls: Vec<Range<usize>> = layout.lanes.iter().flatten().map(|segment| segment.calls.clone()).collect();
        assert_eq!(calls, [2..3, 0..2, 3..5]);
    }
}
