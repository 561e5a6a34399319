//! Pairs of methods: each of the two showed no violation beside core methods alone.

use std::collections::BTreeSet;

use interloper_harness::hunt::{Campaign, Hunted, Pair, Progress, Rest, Searched, Together, Visits};
use interloper_harness::stress::Next;
use interloper_harness::{MethodId, Role};
use interloper_report::shorten::plural;
use serde_json::{Value as Json, json};

use super::{CLEAN, Findings, Of, Row, listed};

/// The row of all pairs without a finding.
const TOGETHER: &str = "together";

impl Findings {
    /// Searches pairs of the methods without a violation, and adds the rows of what comes of them. An object without core methods has no
    /// pairs: its methods were searched beside each other. Nor has a search without passes.
    pub fn search_together(&mut self, visits: &mut Visits, watch: &mut dyn FnMut(&Progress<'_>) -> Next) {
        let Findings { campaign, rows, .. } = self;
        let object = &campaign.object;
        let core: Vec<MethodId> = object.with_role(Role::Core).collect();
        if campaign.passes.is_empty() || core.is_empty() || object.with_role(Role::UnderTest).count() < 2 {
            return;
        }
        // Core methods that are not atomic are in no schema of a pair.
        let is_core = |row: &&Row| core.contains(&row.searched.method) && row.found().is_some();
        let of_row = |row: &Row| -> BTreeSet<MethodId> {
            let Searched { method, of_core, blamed, left_out, .. } = &row.searched;
            let own = [*method].into_iter().filter(|_| is_core(&row) && !of_core);
            let others = blamed.iter().filter(|_| *of_core).chain(left_out.iter().flat_map(|faulty| &faulty.methods));
            own.chain(others.copied()).collect()
        };
        let object = object.without(&rows.iter().flat_map(of_row).collect());
        let is_clean = |row: &&Row| row.verdict() == CLEAN && !core.contains(&row.searched.method);
        let methods: Vec<MethodId> = rows.iter().filter(is_clean).map(|row| row.searched.method).collect();
        let together = match object.beside().iter().any(|method| core.contains(method)) {
            true => Campaign { object: object.clone(), ..campaign.clone() }.together(&methods, visits, watch),
            false => Together::none(&object, &methods, Rest::OfCore),
        };
        let without = || together.ran.iter().filter(|pair| pair.searched.found().is_none());
        let label = |&method: &MethodId| object.label(method);
        let row = |label: String, of: Of, searched: Searched| Row { label, of, searched, replay: None };
        let mut added = Vec::new();
        for pair in together.ran.iter().filter(|pair| pair.searched.found().is_some()) {
            match Vec::from_iter(&pair.searched.blamed)[..] {
                // The method is not atomic by itself, which its own search has missed.
                [alone] if !pair.searched.of_core => {
                    let own = rows.iter_mut().find(|row| row.of == Of::Method && row.searched.method == *alone);
                    let own = &mut own.expect("it was searched").searched;
                    let hunted = Hunted::of_all([&own.hunted, &pair.searched.hunted]);
                    let (method, blamed) = (own.method, BTreeSet::new());
                    *own = Searched { method, hunted, blamed, ..pair.searched.clone() };
                }
                _ => added.push(row(
                    pair.methods.iter().map(label).collect::<Vec<_>>().join(" + "),
                    Of::Pair,
                    pair.searched.clone(),
                )),
            }
        }
        if let Some(first) = without().next() {
            let hunted = Hunted::of_all(without().map(|pair| &pair.searched.hunted));
            added.push(row(TOGETHER.to_owned(), Of::Pairs, Searched { hunted, ..first.searched.clone() }));
        }
        rows.extend(added);
        self.together = Some(together);
    }

    /// Which methods are not atomic together.
    pub(super) fn not_atomic_together(&self) -> String {
        let to_blame = |pair: &&Pair| pair.is_to_blame();
        let pairs = self.together.iter().flat_map(|together| &together.ran).filter(to_blame);
        let pairs: Vec<String> = pairs.map(|pair| self.named(pair)).collect();
        match &pairs[..] {
            [] => String::new(),
            pairs => format!(
                "✗ not atomic together: {}. Beside core methods alone, no violation of these methods was found.\n\n",
                pairs.join("; ")
            ),
        }
    }

    /// The methods of a pair, and which of them has to be interrupted, if it is one.
    fn named(&self, pair: &Pair) -> String {
        let both = listed(&self.names(pair.methods));
        match &pair.searched.interrupted[..] {
            [set] => {
                let alone: Vec<String> = set.iter().map(|&method| self.object().label(method)).collect();
                format!("{both} (interrupted: {})", listed(&alone))
            }
            _ => both,
        }
    }

    /// How much of the pairs the hunt explored, in lines. `None` where no pairs were searched.
    pub(super) fn pairs(&self) -> Option<String> {
        let together = self.together.as_ref()?;
        let joined = |pairs: Vec<[MethodId; 2]>| -> String {
            pairs.iter().map(|pair| self.names(*pair).join(" + ")).collect::<Vec<_>>().join(", ")
        };
        let Together { ran, left, rest, without } = together;
        let (schemas, executions) = together.counts();
        let mut text = match ran.len() + left.len() {
            0 => "pairs of methods without a violation of their own: none".to_owned(),
            all => format!("pairs of methods without a violation of their own: {} of {all} ran", ran.len()),
        };
        if !ran.is_empty() {
            let (schemas, executions) = (plural(schemas, "schema"), plural(executions, "execution"));
            text += &format!(", {schemas}, {executions}");
            if !without.is_empty() {
                let out: Vec<String> = without.iter().map(|&method| self.object().label(method)).collect();
                text += &format!("; none calls {} beside others", listed(&out));
            }
        }
        text.push('\n');
        if let (Some(rest), false) = (rest, left.is_empty()) {
            text += &format!("pairs that did not run ({}): {}\n", why(*rest), joined(left.clone()));
        }
        let apart: Vec<[MethodId; 2]> = together.never_overlapped().collect();
        if !apart.is_empty() {
            text += &format!("pairs whose calls never overlapped: {}\n", joined(apart));
        }
        Some(text)
    }

    /// The same as data.
    pub fn pairs_as_data(&self) -> Option<Json> {
        let together = self.together.as_ref()?;
        let Together { ran, left, rest, without } = together;
        let (schemas, executions) = together.counts();
        let names =
            |pairs: &mut dyn Iterator<Item = [MethodId; 2]>| pairs.map(|pair| self.names(pair)).collect::<Vec<_>>();
        Some(json!({
            "pairs": ran.len() + left.len(),
            "ran": ran.len(),
            "schemas": schemas,
            "executions": executions,
            "not_atomic": names(&mut ran.iter().filter(|pair| pair.is_to_blame()).map(|pair| pair.methods)),
            "never_overlapped": names(&mut together.never_overlapped()),
            "not_run": names(&mut left.iter().copied()),
            "left_out": without.iter().map(|&method| self.object().label(method)).collect::<Vec<_>>(),
            "why_not_run": rest.filter(|_| !left.is_empty()).map(why),
        }))
    }

    fn names(&self, methods: [MethodId; 2]) -> [String; 2] {
        methods.map(|method| self.object().label(method))
    }
}

/// Why pairs did not run.
fn why(rest: Rest) -> &'static str {
    match rest {
        Rest::OutOfTime => "out of time",
        Rest::OfCore => "core methods are not atomic",
    }
}
