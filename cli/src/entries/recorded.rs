//! What a replay file recorded, and what its execution shows when it is run again.

use interloper::Decisions;
use interloper::objects::explored;
use interloper::objects::recorded::{self as of_schemas, Replayed};
use interloper::objects::systematic::Limits;
use interloper_report::Counterexample;
use interloper_report::explorer::Exploration;
use interloper_report::replay_file::{About, Moment, ReplayFile, difference};
use interloper_suite::objects::Studied;

use crate::catalogue::{self, Entry};
use crate::failure::Failure;
use crate::subject;

/// Something whose recorded executions can be run again.
pub trait Recorded {
    /// Runs the execution of `file`, which `decisions` determine. `explore` asks for all that a page shows.
    fn replay(&self, file: &ReplayFile, decisions: &Decisions, explore: bool) -> Result<Again, Failure>;
}

/// What a recorded execution showed when it was run again.
pub struct Again {
    /// How it differs from the recording, if it does.
    pub divergence: Option<String>,
    pub counterexample: Option<Counterexample>,
    /// What the page shows beyond the counterexample, if it was asked for and is known.
    pub exploration: Option<Exploration>,
}

impl Again {
    /// The execution went another way, and has no counterexample.
    pub fn diverged(divergence: String) -> Again {
        Again { divergence: Some(divergence), counterexample: None, exploration: None }
    }

    /// The execution showed a violation, which may differ from the recorded one.
    pub fn showed(file: &ReplayFile, finding: &str, history: &[Moment], counterexample: Counterexample) -> Again {
        let divergence = match finding == file.finding {
            true => difference(&file.history, history),
            false => Some(format!("the recording shows {}, and the replay shows {finding}", file.finding)),
        };
        Again { divergence, counterexample: Some(counterexample), exploration: None }
    }

    /// The page, with this command that replays it. None where nothing is to be shown.
    pub fn page(self, replay: String) -> Option<Exploration> {
        let Counterexample { name, detail, .. } = self.counterexample.clone()?;
        let told = || self.counterexample.as_ref().map(|told| Exploration::of(told).with_sources());
        let page = self.exploration.or_else(told)?;
        Some(Exploration { name, detail, replay: Some(replay), ..page })
    }
}

/// Runs the execution of `file` again. `explore` asks for all that a page shows.
pub fn again(file: &ReplayFile, path: &str, explore: bool) -> Result<Again, Failure> {
    let decisions: Decisions =
        file.decisions.parse().map_err(|error| Failure::Request(format!("damaged: its decisions: {error}")))?;
    find(file, path)?.replay(file, &decisions, explore)
}

/// Whether the program of a file is not in the command: it is a test, or what `cargo interloper` builds.
pub fn is_elsewhere(file: &ReplayFile) -> bool {
    file.origin.is_some() || matches!(file.about, About::Test { .. } | About::Pair { .. })
}

/// What a file is about. The command has neither tests nor what `cargo interloper` builds.
fn find(file: &ReplayFile, path: &str) -> Result<Box<dyn Recorded>, Failure> {
    let about = &file.about;
    Ok(match (about, about.name()) {
        (about, name) if !matches!(about, About::Test { .. }) && is_elsewhere(file) => {
            let what = if matches!(about, About::Case { .. }) { "the operation" } else { about.what() };
            let whose = file.origin.as_ref().map_or_else(String::new, |of| format!(" of the package {}", of.package));
            let command = format!("cargo interloper replay {path}");
            return refused(format!("it belongs to {what} '{name}'{whose}; replay it with {command}"));
        }
        (About::Case { .. } | About::Program { .. }, name) => match catalogue::find(name)? {
            Entry::Case(case) => Box::new(case),
            Entry::Program(program) => Box::new(program),
        },
        (About::Schema { .. }, name) => Box::new(subject::studied(name)?),
        (About::Test { .. }, name) => {
            let test = name.split_once("::").map_or(name, |(_, test)| test);
            let command = format!("INTERLOPER_REPLAY={path} cargo test {test}");
            return refused(format!("it belongs to the test '{name}'; replay it with {command}"));
        }
        (About::Pair { .. }, _) => unreachable!("it is elsewhere"),
    })
}

/// The refusal to replay, with the reason.
pub fn refused<T>(reason: String) -> Result<T, Failure> {
    Err(Failure::Request(reason))
}

impl Recorded for Studied {
    fn replay(&self, file: &ReplayFile, decisions: &Decisions, explore: bool) -> Result<Again, Failure> {
        let object = self.object();
        let replayed = of_schemas::again(&object, &file.about, Limits::default(), decisions).or_else(refused)?;
        let Some(Replayed { found, right, counterexample, history }) = replayed else {
            return Ok(Again::diverged(of_schemas::MISFIT.to_owned()));
        };
        let counterexample = Counterexample { detail: format!("{}, replayed", found.schema), ..counterexample };
        let exploration =
            explore.then(|| explored(&object, object.visibility(), &found, &counterexample, file.seed).with_sources());
        let again = match right {
            true => Again { counterexample: Some(counterexample), ..Again::diverged(of_schemas::RIGHT.to_owned()) },
            false => Again::showed(file, &of_schemas::finding(&found), &history, counterexample),
        };
        Ok(Again { exploration, ..again })
    }
}
