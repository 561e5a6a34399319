//! The ways a command ends.

use std::fmt;
use std::process::ExitCode;

use interloper_linearize::schema::Mistake;
use interloper_report::plain;
use interloper_report::shorten::middle;

/// A message of more characters than this is shortened in its middle.
const LONGEST_MESSAGE: usize = 1_000;

/// What a command found, apart from what it printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finding {
    /// Everything is as expected.
    Expected,
    /// A violation, an unexpected verdict, or a replay that went another way.
    Unexpected,
    /// No verdict: the time was used up.
    Unknown,
    /// No verdict: nothing was explored.
    Unexplored,
}

/// Why a command could not do what it was asked.
#[derive(Debug, PartialEq, Eq)]
pub enum Failure {
    /// The request was wrong, or cannot be met on this machine: one line for the user.
    Request(String),
    /// A text is not a schema, or not a schema of its type: what is wrong, with a caret below the place.
    Schema(Mistake),
    /// The tool is broken: what the panic said.
    Internal(String),
}

impl Finding {
    /// [`Finding::Unexpected`] when `unexpected`.
    pub fn unexpected_if(unexpected: bool) -> Self {
        if unexpected { Self::Unexpected } else { Self::Expected }
    }
}

/// The exit code of each ending, as DESIGN.md lists them.
pub fn exit_code(ending: &Result<Finding, Failure>) -> ExitCode {
    ExitCode::from(match ending {
        Ok(Finding::Expected) => 0,
        Ok(Finding::Unexpected) => 1,
        Ok(Finding::Unknown) => 4,
        Ok(Finding::Unexplored) | Err(Failure::Request(_) | Failure::Schema(_)) => 2,
        Err(Failure::Internal(_)) => 3,
    })
}

impl fmt::Display for Failure {
    /// One line, whatever the message holds; three for a schema, with the place.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (before, message) = match self {
            Self::Request(message) => ("error", message),
            Self::Schema(mistake) => return write!(f, "error: {}", plain::text(&mistake.to_string())),
            Self::Internal(message) => ("internal error, please report", message),
        };
        // What was typed or read is echoed, and may be as long as it likes.
        write!(f, "{before}: {}", middle(&plain::line(message), LONGEST_MESSAGE))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_ending_has_its_exit_code() {
        let endings = [
            (Ok(Finding::Expected), 0),
            (Ok(Finding::Unexpected), 1),
            (Ok(Finding::Unknown), 4),
            (Ok(Finding::Unexplored), 2),
            (Err(Failure::Request(String::new())), 2),
            (Err(Failure::Internal(String::new())), 3),
        ];
        for (ending, code) in endings {
            assert_eq!(exit_code(&ending), ExitCode::from(code), "{ending:?}");
        }
    }

    /// What the page of the book says of an ending.
    fn meaning(ending: &Result<Finding, Failure>) -> &'static str {
        match ending {
            Ok(Finding::Expected) => "nothing unexpected",
            Ok(Finding::Unexpected) => {
                "something unexpected: `run`, `show` or the suite reached a verdict other than the expected one; `hunt` found a \
                 violation; `visibility` found that core methods are not atomic, that the object differs from its model, or that \
                 all methods together show more than their levels explain; a history is not linearizable; a replay diverged"
            }
            Ok(Finding::Unexplored) | Err(Failure::Request(_) | Failure::Schema(_)) => {
                "the request was wrong, or nothing was explored; one line says why"
            }
            Err(Failure::Internal(_)) => "Interloper is broken: please report",
            Ok(Finding::Unknown) => "no verdict: the search used up its time or its memory (`check-history` only)",
        }
    }

    /// The exit codes of all endings, and the one of the watchdog, which ends the process without an ending.
    #[test]
    fn the_page_of_exit_codes_is_current() {
        let endings = [
            Ok(Finding::Expected),
            Ok(Finding::Unexpected),
            Ok(Finding::Unexplored),
            Ok(Finding::Unknown),
            Err(Failure::Request(String::new())),
            Err(Failure::Internal(String::new())),
        ];
        let number = |ending| (0..=u8::MAX).find(|code| exit_code(ending) == ExitCode::from(*code)).expect("a code");
        let mut codes: Vec<(u8, &str)> = endings.iter().map(|ending| (number(ending), meaning(ending))).collect();
        let watchdog = "a step did not end and cannot be interrupted, which happens outside Linux on x86-64 only; the message \
                        names the step";
        codes.push((101, watchdog));
        codes.sort_unstable();
        codes.dedup();
        let rows: Vec<Vec<String>> =
            codes.iter().map(|(code, meaning)| vec![code.to_string(), (*meaning).to_owned()]).collect();
        assert_eq!(rows.len(), 6, "each code has one meaning: {rows:?}");
        crate::reference::assert_table("exit-codes.md", "## `interloper`", &rows);
    }

    #[test]
    fn a_message_is_one_line() {
        assert_eq!(Failure::Request("no case 'a\nb'".into()).to_string(), "error: no case 'a\\nb'");
        let long = Failure::Request(format!("no case '{}'", "x".repeat(130_000))).to_string();
        let hidden = Failure::Request("\u{1b}".repeat(1_000)).to_string();
        assert!(hidden.len() < 1_100, "{hidden}");
        assert!(long.len() < 1_100 && long.contains("(129,010 characters left out)"), "{long}");
        assert_eq!(
            Failure::Internal("left\u{1b}[0m".into()).to_string(),
            "internal error, please report: left\\u{1b}[0m"
        );
    }
}
