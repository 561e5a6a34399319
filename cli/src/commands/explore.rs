//! `interloper explore`.

use std::path::Path;

use interloper_report::explorer::{Exploration, page, trace};
use interloper_report::file;
use interloper_report::replay_file::ReplayFile;
use serde::Deserialize;
use serde_json::json;

use super::replay::rerun;
use crate::answer::{Answer, JSON_VERSION, json};
use crate::args::{Format, OutputArgs, SearchArgs};
use crate::counts::plural;
use crate::entries::recorded::is_elsewhere;
use crate::failure::{Failure, Finding};
use crate::files::{can_write, make_folder, write_page, write_text};

/// A page cannot show a larger trace.
const MAX_BYTES: u64 = 256 << 20;

/// Writes the page of a replay file or of a trace, and its steps as a trace if a file for them is given.
pub fn explore(path: &Path, steps: Option<&Path>, search: &SearchArgs, output: &OutputArgs) -> Result<Answer, Failure> {
    search.only("explore", &[])?;
    output.no_html("explore")?;
    output.only("explore", &[Format::Text, Format::Json])?;
    let target = output.html.as_deref().map_or_else(|| path.with_extension("html"), Path::to_owned);
    let targets: Vec<&Path> = std::iter::once(&*target).chain(steps).collect();
    for (number, written) in targets.iter().enumerate() {
        let reason = match () {
            () if file::same(path, written) => "it is the file to explore",
            () if targets[..number].iter().any(|other| file::same(other, written)) => "the page is written there",
            () => continue,
        };
        return Err(Failure::Request(format!("cannot write {}: {reason}", written.display())));
    }
    let Explored { exploration, divergence, seed } = read(path)?;
    for written in &targets {
        make_folder(written)?;
        can_write(written)?;
    }
    write_page(&page::render(&exploration), &target)?;
    if let Some(steps) = steps {
        write_text(&trace::lines(&exploration, seed), steps)?;
    }
    let shown = target.display().to_string();
    let text = match output.format {
        Format::Json => json(&json!({
            "version": JSON_VERSION,
            "page": shown,
            "divergence": divergence,
            "exploration": exploration,
        })),
        _ => {
            let diverged = divergence.iter().map(|reason| format!("diverged from the recorded history: {reason}\n"));
            let steps = plural(exploration.steps.len() as u64, "step");
            let line = format!("{shown}: {}, {}, {steps}\n", exploration.name, exploration.verdict);
            std::iter::once(line).chain(diverged).collect()
        }
    };
    Ok(Answer::new(text, Finding::unexpected_if(divergence.is_some())))
}

/// What a file says.
struct Explored {
    exploration: Exploration,
    /// How its execution differs when it is run again, if it does.
    divergence: Option<String>,
    seed: u64,
}

/// Whether the first line is one of a history.
fn is_history(bytes: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Named {
        #[serde(rename = "process")]
        _process: i64,
        #[serde(rename = "type")]
        _kind: String,
    }
    let first = bytes.split(|&byte| byte == b'\n').find(|line| !line.trim_ascii().is_empty());
    first.is_some_and(|line| serde_json::from_slice::<Named>(line).is_ok())
}

fn read(path: &Path) -> Result<Explored, Failure> {
    let refuse = |reason: String| Failure::Request(format!("cannot explore {}: {reason}", path.display()));
    let bytes = file::read(path, MAX_BYTES).map_err(|error| refuse(error.to_string()))?;
    if let Ok(text) = std::str::from_utf8(&bytes)
        && trace::is_trace(text)
    {
        let (exploration, seed) = trace::parse(text).map_err(|error| refuse(error.to_string()))?;
        return Ok(Explored { exploration: exploration.with_sources(), divergence: None, seed });
    }
    if is_history(&bytes) {
        let reason = "it is a recorded history; 'check-history --type TYPE --html FILE' shows it".to_owned();
        return Err(refuse(reason));
    }
    let file = ReplayFile::parse(&bytes).map_err(|unusable| refuse(unusable.to_string()))?;
    if is_elsewhere(&file) {
        // The command cannot run another program.
        let exploration = Exploration::recorded(&file).with_sources();
        return Ok(Explored { exploration, divergence: None, seed: file.seed });
    }
    let (_, again) = rerun(path, true)?;
    let divergence = again.divergence.clone();
    let page = again.page(format!("interloper replay {}", path.display()));
    let exploration = page.unwrap_or_else(|| Exploration::recorded(&file).with_sources());
    Ok(Explored { exploration, divergence, seed: file.seed })
}
