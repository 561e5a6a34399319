//! Logs on standard error, off unless asked for.

use std::str::FromStr;

use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::failure::Failure;

/// The environment variable that stands in for `--log`.
const VARIABLE: &str = "INTERLOPER_LOG";

/// Starts logging what `--log`, or else the environment variable, asks for.
pub fn start(option: Option<&str>) -> Result<(), Failure> {
    let variable = std::env::var_os(VARIABLE).filter(|value| !value.is_empty());
    let (name, filter) = match (option, variable) {
        (Some(filter), _) => ("--log", filter.to_owned()),
        (None, Some(value)) => (VARIABLE, value.to_string_lossy().into_owned()),
        (None, None) => return Ok(()),
    };
    let targets = Targets::from_str(&filter)
        .map_err(|error| Failure::Request(format!("{name} is not a log filter: '{filter}': {error}")))?;
    let layer = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_ansi(false);
    tracing_subscriber::registry().with(targets).with(layer).init();
    Ok(())
}
