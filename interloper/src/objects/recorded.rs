//! Executions of schemas in replay files: what a file keeps of one, and the execution run again.

use interloper_harness::Object;
use interloper_harness::explain::{explain, history};
use interloper_harness::hunt::{self, Found, Runs};
use interloper_harness::systematic::{Limits, Unlock};
use interloper_linearize::schema::Schema;
use interloper_report::Counterexample;
use interloper_report::replay_file::{About, Moment, ReplayFile};
use interloper_scheduler::decisions::Decisions;

use super::findings::reason;

/// The replay file of what a search with this seed found of a method of the object. `None` for what only real threads have shown: they
/// leave no decisions.
pub fn file(object: &str, method: &str, seed: u64, found: &Found) -> Option<ReplayFile> {
    let Runs::Systematic(explored) = &found.runs else { return None };
    let trace = explored.stopped.as_ref()?;
    let about = About::Schema {
        object: object.to_owned(),
        method: method.to_owned(),
        schema: found.schema.to_string(),
        unlock_is_a_step: trace.limits.unlock == Unlock::Step,
        hasher_seed: trace.limits.seed,
    };
    let decisions = format!("{:#}", trace.decisions());
    Some(ReplayFile::new(about, seed, explored.executions, &finding(found), decisions, history(trace)))
}

/// What an execution shows, as one word.
pub fn finding(found: &Found) -> String {
    found.what.kind().replace(' ', "-")
}

/// What a replay says where the decisions no longer fit.
pub const MISFIT: &str = "the recorded decisions no longer fit the object";
/// What it says where nothing is wrong any more.
pub const RIGHT: &str = "a sequential order now gives the outcome";

/// What an execution showed when it was run again.
pub struct Replayed {
    /// The execution, as a finding.
    pub found: Found,
    /// Whether some sequential order gives its outcome: a later version of the object may be correct.
    pub right: bool,
    /// Its report.
    pub counterexample: Counterexample,
    /// Its steps.
    pub history: Vec<Moment>,
}

/// Runs the execution of a schema again, under `limits` but for what the file has recorded. `None` if the decisions no longer fit.
///
/// # Errors
/// Why the file cannot be followed.
pub fn again(
    object: &Object,
    about: &About,
    limits: Limits,
    decisions: &Decisions,
) -> Result<Option<Replayed>, String> {
    let About::Schema { method, schema, unlock_is_a_step, hasher_seed, .. } = about else {
        return Err(format!("the file is about {}, and not an object", about.what()));
    };
    let schema = Schema::parse(schema).map_err(|error| format!("its schema is damaged: {error}"))?;
    let unlock = if *unlock_is_a_step { Unlock::Step } else { Unlock::Part };
    let limits = Limits { unlock, seed: *hasher_seed, ..limits };
    let replayed = hunt::replay(object, &schema, limits, decisions).map_err(|refusal| reason(&refusal, &schema))?;
    Ok(replayed.map(|(found, right)| {
        let Runs::Systematic(runs) = &found.runs else { unreachable!("a replay runs under the scheduler") };
        let history = runs.stopped.as_ref().map(history).unwrap_or_default();
        let counterexample = explain(object, method, object.visibility(), &found);
        Replayed { found, right, counterexample, history }
    }))
}
