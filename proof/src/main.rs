//! Which methods of real crates are atomic, with their own sources under control. Prints the table of docs/PROOF.md:
//!
//! ```text
//! cargo interloper run --manifest-path proof/Cargo.toml [-- NAME…]
//! ```

#[cfg(interloper)]
#[macro_use]
extern crate interloper_std as std;

mod objects;

use interloper_harness::hunt::{Engine, Found, Hunt, Runs, Source, What};
use interloper_harness::schemas::{Bounds, Pool};
use interloper_harness::stress::Next;
use interloper_harness::systematic::{Search, Settings};
use interloper_harness::{MethodId, Object};
use interloper_scheduler::Executions;

/// So many executions of each schema.
const EXECUTIONS: u64 = 2_000;
/// So many schemas for each method, smallest first.
const SCHEMAS: u64 = 12;

fn main() {
    let names: Vec<String> = std::env::args().skip(1).collect();
    println!("| object | method | schemas | executions | systematic | random walk |\n|---|---|---|---|---|---|");
    for object in objects::all() {
        if names.is_empty() || names.iter().any(|name| object.name().contains(name.as_str())) {
            (0..object.methods().len()).for_each(|method| row(&object, MethodId(method)));
        }
    }
}

fn row(object: &Object, method: MethodId) {
    let hunted = hunt(object, method, Search::Exhaustive);
    let verdict = match hunted.found() {
        None if hunted.schemas == 0 => "nothing tried".to_owned(),
        None => "no violation".to_owned(),
        Some(found) => format!("**not atomic**: {}", describe(found)),
    };
    let random = match hunt(object, method, Search::RandomWalk(1)).found() {
        None => "no violation".to_owned(),
        Some(found) => format!("found, execution {} of its schema", executions(found)),
    };
    let label = object.label(method);
    println!("| {} | {label} | {} | {} | {verdict} | {random} |", object.name(), hunted.schemas, hunted.executions);
}

fn hunt(object: &Object, method: MethodId, search: Search) -> interloper_harness::hunt::Hunted {
    let bounds = Bounds { invocations: 2..=3, ..Bounds::default() };
    let settings = Settings { search, executions: Executions::AtMost(EXECUTIONS), ..Settings::default() };
    let hunt = Hunt {
        engine: Engine::Systematic(settings),
        source: Source::ByRank { bounds, seed: 1 },
        schemas: Some(SCHEMAS),
        ..Hunt::new(object, Pool::One(method), 1)
    };
    hunt.run(&mut |_| Next::Continue)
}

fn executions(found: &Found) -> u64 {
    match &found.runs {
        Runs::Systematic(explored) => explored.executions,
        Runs::Stress(observed) => observed.executions,
    }
}

/// The schema, what came, and where in the crate's own source the last steps before it were.
fn describe(found: &Found) -> String {
    let what = match &found.what {
        What::Outcome { outcome, .. } => {
            format!("gives {}", outcome.iter().map(|value| value.to_string()).collect::<Vec<_>>().join(", "))
        }
        What::Blocked(_) => "blocks".to_owned(),
        What::Panicked(message) => format!("panics: {message}"),
    };
    let steps = match &found.runs {
        Runs::Systematic(explored) => explored.stopped.as_ref().map(|trace| &trace.steps[..]).unwrap_or_default(),
        Runs::Stress(_) => &[],
    };
    let mut places: Vec<String> = Vec::new();
    for step in steps {
        let location = step.operation.location;
        let file = location.file();
        if let Some((_, inside)) = file.rsplit_once("/registry/src/") {
            let inside = inside.split_once('/').map_or(inside, |(_, inside)| inside);
            let place = format!("{inside}:{}", location.line());
            if places.last() != Some(&place) {
                places.push(place);
            }
        }
    }
    let steps = places.len();
    format!(
        "`{}` {what}, execution {}; {steps} places, the last {}",
        found.schema,
        executions(found),
        places.last().map_or("none", String::as_str)
    )
}
