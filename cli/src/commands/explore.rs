//! `interloper explore`.

use std::fs;
use std::path::Path;

use interloper_report::explorer::{Exploration, page, trace};
use interloper_report::file;
use interloper_report::replay_file::{About, ReplayFile};
use serde_json::json;

use super::replay::rerun;
use crate::answer::{Answer, JSON_VERSION, json};
use crate::args::{Format, OutputArgs, SearchArgs};
use crate::counts::plural;
use crate::failure::{Failure, Finding};
use crate::files::{can_write, make_folder, write_page};

/// A page cannot show a larger trace.
const MAX_BYTES: u64 = 256 << 20;

/// Writes the page of a replay file or of a trace.
pub fn explore(path: &Path, html: Option<&Path>, search: &SearchArgs, output: &OutputArgs) -> Result<Answer, Failure> {
    search.only("explore", &[])?;
    if output.format == Format::Html {
        return Err(Failure::Request("'explore' writes its page with --html FILE".to_owned()));
    }
    output.only("explore", &[Format::Text, Format::Json])?;
    let target = html.map_or_else(|| path.with_extension("html"), Path::to_owned);
    if file::same(path, &target) {
        return Err(Failure::Request(format!("cannot write {}: it is the file to explore", target.display())));
    }
    let (exploration, divergence) = read(path)?;
    make_folder(&target)?;
    can_write(&target)?;
    write_page(&page::render(&exploration), &target)?;
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

/// What a file says, and how its execution differs when it is run again, if it does.
fn read(path: &Path) -> Result<(Exploration, Option<String>), Failure> {
    let refuse = |reason: String| Failure::Request(format!("cannot explore {}: {reason}", path.display()));
    let about = fs::metadata(path).map_err(|error| refuse(error.to_string()))?;
    if !about.is_file() {
        return Err(refuse("it is not a file".to_owned()));
    }
    if about.len() > MAX_BYTES {
        return Err(refuse(format!("it has {} bytes, and the limit is {MAX_BYTES}", about.len())));
    }
    let bytes = fs::read(path).map_err(|error| refuse(error.to_string()))?;
    if let Ok(text) = std::str::from_utf8(&bytes)
        && trace::is_trace(text)
    {
        let exploration = trace::parse(text).map_err(|error| refuse(error.to_string()))?;
        return Ok((exploration.with_sources(), None));
    }
    let file = ReplayFile::parse(&bytes).map_err(|unusable| refuse(unusable.to_string()))?;
    if let About::Test { .. } = file.about {
        // The command cannot run the tests of another program.
        return Ok((Exploration::recorded(&file).with_sources(), None));
    }
    let (_, again) = rerun(path, true)?;
    let divergence = again.divergence.clone();
    let page = again.page(format!("interloper replay {}", path.display()));
    Ok((page.unwrap_or_else(|| Exploration::recorded(&file).with_sources()), divergence))
}
