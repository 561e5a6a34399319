//! Methods that show a violation in the search of another one, which then goes on without them.

use std::collections::BTreeSet;

use interloper_harness::hunt::{Campaign, Ended, Faulty, Hunted, Searched};
use interloper_harness::{MethodId, Object, Role};

use super::{Findings, Of, Row, listed};

/// The rows, with a violation of other methods in rows of their own: the search of another method has found it.
pub(super) fn with_own_rows(campaign: &Campaign, mut rows: Vec<Row>) -> Vec<Row> {
    let all: Vec<Faulty> = rows.iter().flat_map(|row| row.searched.left_out.clone()).collect();
    for Faulty { methods, smallest, interrupted, reproduced } in all {
        let is_own = |row: &&mut Row| row.of == Of::Method && methods.contains(&row.searched.method);
        // What the search of such a method has found by itself is its own finding.
        let own: Vec<&mut Row> = rows.iter_mut().filter(is_own).collect();
        if own.iter().any(|row| row.found().is_some() && !row.searched.of_core) {
            continue;
        }
        let methods: Vec<MethodId> = methods.into_iter().collect();
        if let ([_], [row]) = (&methods[..], &mut own.into_iter().collect::<Vec<_>>()[..]) {
            let of_row = &mut row.searched;
            (of_row.smallest, of_row.reproduced) = (Some(smallest), reproduced);
            (of_row.of_core, of_row.blamed, of_row.interrupted) = (false, BTreeSet::new(), interrupted);
            continue;
        }
        let label = together(&campaign.object, &methods);
        if rows.iter().any(|row| row.label == label) {
            continue;
        }
        let hunted = Hunted { end: Ended::Enough, ..Hunted::of_all([]) };
        let method = methods[0];
        let (of, blamed) = match methods.len() {
            1 => (Of::Method, BTreeSet::new()),
            _ => (Of::Pair, methods.into_iter().collect()),
        };
        let smallest = Some(smallest);
        let left_out = Vec::new();
        let searched = Searched { method, hunted, smallest, of_core: false, blamed, interrupted, reproduced, left_out };
        rows.push(Row { label, of, searched, replay: None });
    }
    rows
}

impl Findings {
    /// Which methods were left out of the searches of which others, a line for each set of them.
    pub(super) fn says_left_out(&self) -> String {
        let mut sets: Vec<(BTreeSet<String>, Vec<String>)> = Vec::new();
        for row in &self.rows {
            let faulty = row.searched.left_out.iter();
            let out = faulty.map(|faulty| together(self.object(), &faulty.methods)).collect();
            match sets.iter_mut().find(|(known, _)| *known == out) {
                _ if out.is_empty() => {}
                Some((_, labels)) => labels.push(row.label.clone()),
                None => sets.push((out, vec![row.label.clone()])),
            }
        }
        let line = |(out, labels): &(BTreeSet<String>, Vec<String>)| {
            let out = listed(&Vec::from_iter(out.iter().cloned()));
            let them = if out.contains(' ') { "them" } else { "it" };
            match &labels[..] {
                [one] => format!("✗ not atomic: {out}. The search of {one} leaves {them} out, except at the start.\n"),
                labels => format!(
                    "✗ not atomic: {out}. The searches of {} leave {them} out, except at the start.\n",
                    listed(labels)
                ),
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

/// The name of a row of these methods: `len + clear`.
fn together<'m>(object: &Object, methods: impl IntoIterator<Item = &'m MethodId>) -> String {
    methods.into_iter().map(|&method| object.label(method)).collect::<Vec<_>>().join(" + ")
}

/// All methods that a search left out.
fn left_out(searched: &Searched) -> BTreeSet<MethodId> {
    searched.left_out.iter().flat_map(|faulty| &faulty.methods).copied().collect()
}
