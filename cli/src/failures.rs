//! Replay files of what a check found.

use interloper::{Adversary, Environment, Violation};
use interloper_report::Counterexample;

use crate::args::SearchArgs;
use crate::checking::Checked;
use crate::failure::Failure;
use crate::replay_file::{Moment, Options, ReplayFile, VERSION, fingerprint, kept};

/// Writes the replay file of a violation, and gives the counterexample with the command that replays it.
///
/// Runs of the naive adversary are reproduced by their seed: their counterexample names that command instead.
pub fn record(checked: &Checked, violation: &Violation, search: &SearchArgs) -> Result<Counterexample, Failure> {
    let settings = &checked.settings;
    let name = checked.case.name;
    let mut counterexample = Counterexample { name: name.to_owned(), ..violation.counterexample.clone() };
    if settings.adversary == Adversary::Naive {
        counterexample.replay = Some(format!("interloper run {name} {}", search.typed()));
        return Ok(counterexample);
    }
    let path = ReplayFile::path(name, settings.seed);
    let history = history(&violation.counterexample);
    let file = ReplayFile {
        version: VERSION,
        case: name.to_owned(),
        seed: settings.seed,
        options: Options {
            adversary: adversary_word(settings.adversary).to_owned(),
            environment: environment_word(settings.environment).to_owned(),
            bound: settings.bound,
        },
        decisions: format!("{:#}", violation.decisions),
        history_hash: fingerprint(&history),
        history,
    };
    file.write(&path)?;
    counterexample.replay = Some(format!("interloper replay {}", path.display()));
    Ok(counterexample)
}

/// The events of a run as a replay file keeps them, after the state that the run starts from where it has one.
pub fn history(counterexample: &Counterexample) -> Vec<Moment> {
    let mut step = 0;
    let moment = |row: &interloper_report::Row| {
        step += usize::from(row.event.is_step());
        let who = counterexample.columns.get(row.column).map_or("", |column| column.title.as_str());
        Moment { step, event: kept(&format!("{who}: {}", row.event)), state: row.state.as_deref().map(kept) }
    };
    let start = Some(counterexample.start.clone()).filter(|start| !start.is_empty());
    let start = start.map(|start| Moment { step: 0, event: "start".to_owned(), state: Some(kept(&start)) });
    start.into_iter().chain(counterexample.rows.iter().map(moment)).collect()
}

const ADVERSARIES: [(Adversary, &str); 4] = [
    (Adversary::Nearest, "nearest"),
    (Adversary::Preceding, "preceding"),
    (Adversary::Naive, "naive"),
    (Adversary::Unfiltered, "unfiltered"),
];

const ENVIRONMENTS: [(Environment, &str); 3] =
    [(Environment::Open, "open"), (Environment::Restricted, "restricted"), (Environment::Closed, "closed")];

fn adversary_word(adversary: Adversary) -> &'static str {
    word(&ADVERSARIES, adversary)
}

fn environment_word(environment: Environment) -> &'static str {
    word(&ENVIRONMENTS, environment)
}

fn word<T: Copy + PartialEq>(words: &[(T, &'static str)], wanted: T) -> &'static str {
    words.iter().find(|(value, _)| *value == wanted).expect("every variant has a word").1
}

/// The adversary with this name.
pub fn adversary(word: &str) -> Option<Adversary> {
    ADVERSARIES.iter().find(|(_, known)| *known == word).map(|(value, _)| *value)
}

/// The environment with this name.
pub fn environment(word: &str) -> Option<Environment> {
    ENVIRONMENTS.iter().find(|(_, known)| *known == word).map(|(value, _)| *value)
}
