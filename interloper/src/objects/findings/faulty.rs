//! Methods that show a violation in the search of another one, which then goes on without them.

use std::collections::BTreeSet;

use interloper_harness::hunt::{Campaign, Ended, Faulty, Hunted, Searched};
use interloper_harness::{MethodId, Role};
use interloper_scheduler::Deadline;

use super::{Findings, Of, Row, listed};

/// The rows, with a violation of other methods in rows of their own: the search of another method has found it.
pub(super) fn with_own_rows(campaign: &Campaign, mut rows: Vec<Row>) -> Vec<Row> {
    let all: Vec<Faulty> = rows.iter().flat_map(|row| row.searched.left_out.clone()).collect();
    for Faulty { methods, smallest } in all {
        let is_own = |row: &&mut Row| row.of == Of::Method && methods.contains(&row.searched.method);
        // What the search of such a method has found by itself is its own finding.
        let own: Vec<&mut Row> = rows.iter_mut().filter(is_own).collect();
        if own.iter().any(|row| row.found().is_some() && !row.searched.of_core) {
            continue;
        }
        let methods: Vec<MethodId> = methods.into_iter().collect();
        if let ([_], [row]) = (&methods[..], &mut own.into_iter().collect::<Vec<_>>()[..]) {
            (row.searched.smallest, row.searched.of_core) = (Some(smallest), false);
            continue;
        }
        let label = methods.iter().map(|&method| campaign.object.label(method)).collect::<Vec<_>>().join(" + ");
        if rows.iter().any(|row| row.label == label) {
            continue;
        }
        let hunted = Hunted { end: Ended::Enough, ..Hunted::of_all([]) };
        let (method, blamed) = (methods[0], methods.iter().copied().collect());
        let of = if methods.len() == 1 { Of::Method } else { Of::Pair };
        let smallest = Some(smallest);
        let searched =
            Searched { method, hunted, smallest, of_core: false, blamed, reproduced: None, left_out: Vec::new() };
        rows.push(Row { label, of, searched, replay: None, deadline: Deadline::of(campaign.time) });
    }
    rows
}

impl Findings {
    /// Which methods were left out of the searches of which others, a line for each set of them.
    pub(super) fn says_left_out(&self) -> String {
        let mut sets: Vec<(BTreeSet<MethodId>, Vec<String>)> = Vec::new();
        for row in &self.rows {
            let out = left_out(&row.searched);
            match sets.iter_mut().find(|(methods, _)| *methods == out) {
                _ if out.is_empty() => {}
                Some((_, labels)) => labels.push(row.label.clone()),
                None => sets.push((out, vec![row.label.clone()])),
            }
        }
        let line = |(methods, labels): &(BTreeSet<MethodId>, Vec<String>)| {
            let out: Vec<String> = methods.iter().map(|&method| self.object().label(method)).collect();
            let (out, them) = (listed(&out), if methods.len() == 1 { "it" } else { "them" });
            match &labels[..] {
                [one] => format!("✗ not atomic: {out}. The search of {one} leaves {them} out.\n"),
                labels => format!("✗ not atomic: {out}. The searches of {} leave {them} out.\n", listed(labels)),
            }
        };
        let lines: String = sets.iter().map(line).collect();
        if lines.is_empty() { lines } else { lines + "\n" }
    }

    /// That core methods are not atomic, which the searches of other methods trust.
    pub(super) fn misplaced_trust(&self) -> String {
        let core = self.labels(Role::Core);
        let is_wrong = |row: &&Row| row.found().is_some() && core.contains(&row.label);
        let line = |row: &Row| {
            let trust: Vec<String> = self
                .rows
                .iter()
                .filter(|other| other.of == Of::Method && other.label != row.label)
                .filter(|other| !left_out(&other.searched).contains(&row.searched.method))
                .map(|other| other.label.clone())
                .collect();
            let without = self.rows.iter().any(|other| left_out(&other.searched).contains(&row.searched.method));
            match &trust[..] {
                _ if !without => Some((row.label.clone(), "the searches of all other methods trust".to_owned())),
                [] => None,
                [one] => Some((row.label.clone(), format!("the search of {one} trusts"))),
                trust => Some((row.label.clone(), format!("the searches of {} trust", listed(trust)))),
            }
        };
        let mut said: Vec<(Vec<String>, String)> = Vec::new();
        for (label, trust) in self.rows.iter().filter(is_wrong).filter_map(line) {
            match said.iter_mut().find(|(_, said)| *said == trust) {
                Some((labels, _)) => labels.push(label),
                None => said.push((vec![label], trust)),
            }
        }
        let lines = said.iter().map(|(labels, trust)| format!("✗ not atomic: {}, which {trust}\n", labels.join(", ")));
        let lines: String = lines.collect();
        if lines.is_empty() { lines } else { lines + "\n" }
    }
}

/// All methods that a search left out.
fn left_out(searched: &Searched) -> BTreeSet<MethodId> {
    searched.left_out.iter().flat_map(|faulty| &faulty.methods).copied().collect()
}
