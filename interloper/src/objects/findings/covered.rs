//! How much of an object a search has explored, and what it has not.

use interloper_harness::hunt::Coverage;
use interloper_harness::{MethodId, Role};
use interloper_report::shorten::{grouped, plural};
use interloper_scheduler::Unseen;

use super::{Findings, Of, Row};
use crate::built::ran_as_seq_cst;

impl Findings {
    /// What the executions have covered, all together, where the scheduler ran them.
    pub(super) fn covered(&self) -> String {
        let all = || self.rows.iter().map(|row| &row.searched.hunted.coverage);
        let of = |count: fn(&Coverage) -> u64| all().map(count).sum::<u64>();
        let (traces, steps) = (of(|coverage| coverage.traces), of(|coverage| coverage.steps));
        if steps == 0 {
            return String::new();
        }
        let more = if all().any(|coverage| coverage.more_traces) { "more than " } else { "" };
        let unseen = all().filter_map(|coverage| coverage.unseen).reduce(Unseen::and);
        let unseen = unseen.map_or_else(String::new, |unseen| format!("; {}", unseen.text("trace")));
        let schemas = self.rows.iter().map(|row| row.searched.hunted.schemas).sum::<u64>();
        let complete = match of(|coverage| coverage.complete) {
            complete if complete == schemas => "every interleaving of each schema ran".to_owned(),
            complete => format!("every interleaving of {} of {} ran", grouped(complete), plural(schemas, "schema")),
        };
        let as_seq_cst = all().map(|coverage| coverage.as_seq_cst).max().unwrap_or(0);
        let strong = ran_as_seq_cst(as_seq_cst).map_or_else(String::new, |ran| format!("\n{ran}"));
        let hashed = match self.hasher_seeds() {
            _ if !all().any(|coverage| coverage.hashed) => String::new(),
            1 => "; one seed of hashers".to_owned(),
            seeds => {
                let chosen = match of(|coverage| coverage.compared) {
                    // The first seed has shown a violation.
                    0 => String::new(),
                    compared => format!(", chosen by {}", plural(compared, "more execution")),
                };
                format!("; up to {seeds} seeds of hashers for each schema{chosen}")
            }
        };
        let unseen_pairs = self.rows.iter().filter_map(|row| self.never_overlapped(row)).collect::<String>();
        let unseen_pairs = unseen_pairs + &self.pairs().or_else(|| self.never_beside()).unwrap_or_default();
        let (traces, steps) = (plural(traces, "trace"), plural(steps, "step"));
        let plain = match &self.memory {
            Some(_) => {
                let plain = of(|coverage| coverage.plain);
                let accesses = if plain == 1 { "access" } else { "accesses" };
                let steps = match of(|coverage| coverage.plain_steps) {
                    0 => String::new(),
                    steps => format!(", {} of them steps", grouped(steps)),
                };
                format!(", {} {accesses} to plain memory{steps}", grouped(plain))
            }
            None => String::new(),
        };
        format!("\n{more}{traces} of the schemas, {steps}{plain}; {complete}{hashed}{unseen}{strong}\n{unseen_pairs}")
    }

    /// The methods beside it that change the object and of which no call overlapped one of this method in any schema, where nothing was
    /// found: then nothing is known of the two together.
    fn never_overlapped(&self, row: &Row) -> Option<String> {
        let method = row.searched.method;
        if row.of != Of::Method || row.found().is_some() || row.searched.hunted.coverage.steps == 0 {
            return None;
        }
        let pair = |other: MethodId| (method.min(other), method.max(other));
        let seen =
            |other: MethodId| self.rows.iter().any(|row| row.searched.hunted.coverage.pairs.contains(&pair(other)));
        let changes = |other: &MethodId| !self.object().method(*other).reads;
        let is_out = |other: &MethodId| row.searched.left_out.iter().any(|faulty| faulty.methods.contains(other));
        let beside = self.object().beside().into_iter();
        let apart = beside.filter(changes).filter(|other| !seen(*other) && !is_out(other));
        let (own, others): (Vec<MethodId>, Vec<MethodId>) = apart.partition(|other| *other == method);
        let own = own.iter().map(|_| format!("no two calls of {} overlapped", row.label));
        let labels: Vec<String> = others.iter().map(|&other| self.object().label(other)).collect();
        let others = format!("no call of {} overlapped a call of {}", row.label, labels.join(", "));
        let said: Vec<String> = own.chain((!labels.is_empty()).then_some(others)).collect();
        (!said.is_empty()).then(|| said.join("; ") + "\n")
    }

    /// The methods that change the object and are no core methods: no schema of a method calls another one of them.
    fn never_beside(&self) -> Option<String> {
        let object = self.object();
        let of_methods = self.rows.iter().any(|row| row.of == Of::Method);
        let under_test: Vec<MethodId> = object.with_role(Role::UnderTest).collect();
        if !of_methods || under_test.len() < 2 || object.beside() == under_test {
            return None;
        }
        let changing = under_test.into_iter().filter(|method| !object.method(*method).reads);
        let labels: Vec<String> = changing.map(|method| object.label(method)).collect();
        let them = if labels.len() == 1 { "it" } else { "them" };
        let text =
            || format!("{} ran beside core methods alone; --schema runs {them} beside others\n", labels.join(", "));
        (!labels.is_empty()).then(text)
    }
}
