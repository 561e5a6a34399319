//! The text form of a [`Schedule`]: how it is printed and parsed.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use super::{Schedule, THREE, TWO};
use crate::strategies::MAX_DEPTH;

impl fmt::Display for Schedule {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Schedule::Random => out.write_str("random"),
            Schedule::AtomFuzzer { q } => write!(out, "atomfuzzer:{q}"),
            Schedule::AtomFuzzerMutex { q } => write!(out, "atomfuzzer-mutex:{q}"),
            Schedule::Pct { depth } => write!(out, "pct:{depth}"),
            Schedule::Pctwm { depth, history } => write!(out, "pctwm:{depth}:{history}"),
            Schedule::Pos => out.write_str("pos"),
            Schedule::Surw => out.write_str("surw"),
            Schedule::Urw => out.write_str("urw"),
            Schedule::Rff => out.write_str("rff"),
            Schedule::Preemptions(bound) => write!(out, "preemptions:{bound}"),
            Schedule::Exhaustive => out.write_str("exhaustive"),
            Schedule::Portfolio(members) => {
                for (index, member) in members.iter().enumerate() {
                    let plus = if index == 0 { "" } else { "+" };
                    write!(out, "{plus}{member}")?;
                }
                Ok(())
            }
        }
    }
}

/// Why a text is not a [`Schedule`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduleError {
    /// The part that is wrong.
    pub text: String,
    /// What is wrong with it.
    pub reason: &'static str,
}

impl fmt::Display for ScheduleError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:?} is not a strategy: {}", self.text, self.reason)
    }
}

impl std::error::Error for ScheduleError {}

impl FromStr for Schedule {
    type Err = ScheduleError;

    fn from_str(text: &str) -> Result<Schedule, ScheduleError> {
        let parse = |part: &str| {
            let (name, parameter) = match part.split_once(':') {
                Some((name, parameter)) => (name, Some(parameter)),
                None => (part, None),
            };
            one(name, parameter).map_err(|reason| ScheduleError { text: part.to_owned(), reason })
        };
        let mut members = text.split('+').map(parse).collect::<Result<Vec<_>, _>>()?;
        match members.len() {
            1 => Ok(members.remove(0)),
            _ => Ok(Schedule::Portfolio(members)),
        }
    }
}

/// What is said of an unknown name. A test compares it, and the page of the book, with the parser.
const NAMES: &str = "the strategies are random, atomfuzzer, atomfuzzer-mutex, pct, pctwm, pos, surw, urw, rff, preemptions, exhaustive and \
     portfolio";

const PCTWM: &str =
    "the depth is a number from 1 to 1000, and the history, after another colon, one from 1 to 4294967295";

fn one(name: &str, parameter: Option<&str>) -> Result<Schedule, &'static str> {
    let plain = |schedule: Schedule| {
        if parameter.is_none() { Ok(schedule) } else { Err("this strategy takes no parameter") }
    };
    match name {
        "random" => plain(Schedule::Random),
        "pos" => plain(Schedule::Pos),
        "surw" => plain(Schedule::Surw),
        "urw" => plain(Schedule::Urw),
        "rff" => plain(Schedule::Rff),
        "exhaustive" => plain(Schedule::Exhaustive),
        "portfolio" => plain(Schedule::default()),
        "pct" => match parameter.map_or(Ok(THREE), str::parse::<NonZeroU32>) {
            Ok(depth) if depth.get() <= MAX_DEPTH => Ok(Schedule::Pct { depth }),
            _ => Err("the depth is a number from 1 to 1000"),
        },
        "pctwm" => {
            let (depth, history) =
                match parameter.map(|parameter| parameter.split_once(':').unwrap_or((parameter, "2"))) {
                    Some((depth, history)) => (depth.parse(), history.parse()),
                    None => (Ok(THREE), Ok(TWO)),
                };
            match (depth, history) {
                (Ok(depth), Ok(history)) if NonZeroU32::get(depth) <= MAX_DEPTH => {
                    Ok(Schedule::Pctwm { depth, history })
                }
                _ => Err(PCTWM),
            }
        }
        "preemptions" => match parameter.map_or(Ok(2), str::parse) {
            Ok(bound) => Ok(Schedule::Preemptions(bound)),
            Err(_) => Err("the bound is a number from 0 to 4294967295"),
        },
        "atomfuzzer" => probability(parameter).map(|q| Schedule::AtomFuzzer { q }),
        "atomfuzzer-mutex" => probability(parameter).map(|q| Schedule::AtomFuzzerMutex { q }),
        _ => Err(NAMES),
    }
}

fn probability(parameter: Option<&str>) -> Result<f64, &'static str> {
    match parameter.map_or(Ok(0.5), str::parse) {
        Ok(q) if (0.0..=1.0).contains(&q) => Ok(q),
        _ => Err("q is a probability: a number from 0 to 1"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Freedom, Freedoms};

    #[test]
    fn text_forms_round_trip() {
        for text in [
            "random",
            "atomfuzzer:0.5",
            "atomfuzzer-mutex:0.25",
            "pct:3",
            "pctwm:3:1",
            "pos",
            "surw",
            "urw",
            "rff",
            "preemptions:2",
            "exhaustive",
            "random+pct:1+pos",
        ] {
            assert_eq!(text.parse::<Schedule>().map(|schedule| schedule.to_string()), Ok(text.to_owned()));
        }
        assert_eq!("portfolio".parse(), Ok(Schedule::default()));
        assert_eq!(Schedule::default().to_string().parse(), Ok(Schedule::default()));
        assert_eq!(
            "atomfuzzer+pct+preemptions".parse::<Schedule>().unwrap().to_string(),
            "atomfuzzer:0.5+pct:3+preemptions:2"
        );
    }

    /// The names that the parser knows, in its order: its own source says which.
    fn names() -> Vec<&'static str> {
        let source = include_str!("text.rs");
        let parser = source.split_once("\nfn one(").expect("the parser").1;
        let parser = parser.split_once("_ => Err(NAMES)").expect("its end").0;
        parser
            .lines()
            .filter_map(|line| line.trim().strip_prefix('"')?.split_once("\" =>"))
            .map(|(name, _)| name)
            .collect()
    }

    /// The rows of the table of a page with this head, without spaces and backticks.
    fn rows(page: &'static str, head: &str) -> Vec<Vec<&'static str>> {
        let lines = page.lines().skip_while(|line| !line.starts_with(head)).skip(2);
        let cells =
            |line: &'static str| line.trim_matches('|').split('|').map(|cell| cell.trim().trim_matches('`')).collect();
        lines.take_while(|line| line.starts_with('|')).map(cells).collect()
    }

    const PAGE: &str = include_str!("../../../docs/reference/strategies.md");

    #[test]
    fn the_page_of_strategies_is_that_of_the_parser() {
        let (names, rows) = (names(), rows(PAGE, "| name | without parameters |"));
        assert_eq!(names.len(), 12, "{names:?}");
        let mut listed: Vec<&str> = rows.iter().map(|row| row[0]).collect();
        listed.sort_unstable();
        let mut sorted = names.clone();
        sorted.sort_unstable();
        assert_eq!(listed, sorted);
        for row in rows {
            assert_eq!(row[0].parse::<Schedule>().map(|schedule| schedule.to_string()), Ok(row[1].to_owned()));
        }
        let mut told: Vec<&str> = NAMES.trim_start_matches("the strategies are ").split([',', ' ']).collect();
        told.retain(|word| !word.is_empty() && *word != "and");
        told.sort_unstable();
        assert_eq!(told, sorted);
        assert!(PAGE.contains(&format!("at most {MAX_DEPTH} |")), "the largest depth");
    }

    #[test]
    fn the_page_of_freedoms_is_that_of_the_parser() {
        let rows = rows(PAGE, "| name | how often, ");
        let listed: Vec<&str> = rows.iter().map(|row| row[0]).collect();
        assert_eq!(listed, Freedom::ALL.map(Freedom::name));
        for (row, freedom) in rows.iter().zip(Freedom::ALL) {
            let alone: Freedoms = row[0].parse().expect("a freedom");
            let often = match alone.count(freedom) {
                u32::MAX => "always".to_owned(),
                count => count.to_string(),
            };
            assert_eq!(row[1], often, "{}", row[0]);
        }
        let left_out = Freedom::ALL.into_iter().filter(|freedom| Freedoms::ALL.count(*freedom) == 0);
        let left_out: Vec<&str> = left_out.map(Freedom::name).collect();
        assert_eq!(left_out, ["memory", "cancellation", "delays", "resets"], "the page says so");
        assert!(PAGE.contains(&format!("use `{}`.", Schedule::Exhaustive.freedoms())), "the freedoms by default");
        assert_eq!(
            (Schedule::default().freedoms(), crate::schedule::FREE_EVERY),
            (Freedoms::ALL, 4),
            "the page says so"
        );
    }

    #[test]
    fn what_is_wrong_is_named() {
        let check = |text: &str, wrong: &str, reason: &str| {
            let error = text.parse::<Schedule>().unwrap_err();
            assert_eq!((error.text.as_str(), error.reason), (wrong, reason));
        };
        check("", "", NAMES);
        check("random+best", "best", NAMES);
        check("random:1", "random:1", "this strategy takes no parameter");
        for wrong in ["pct:0", "pct:-1", "pct:1001", "pct:4294967295", "pct:4294967296"] {
            check(wrong, wrong, "the depth is a number from 1 to 1000");
        }
        for wrong in ["pctwm:0", "pctwm:1001", "pctwm:2:0", "pctwm:2:x", "pctwm:"] {
            check(wrong, wrong, PCTWM);
        }
        assert_eq!("pctwm".parse(), Ok(Schedule::Pctwm { depth: THREE, history: TWO }));
        assert_eq!("pctwm:5".parse(), Ok(Schedule::Pctwm { depth: 5.try_into().unwrap(), history: TWO }));
        assert_eq!(MAX_DEPTH, 1000, "the message says so");
        assert_eq!("pct:1000".parse(), Ok(Schedule::Pct { depth: 1000.try_into().unwrap() }));
        assert_eq!("preemptions:4294967295".parse(), Ok(Schedule::Preemptions(u32::MAX)));
        check("atomfuzzer:1.5", "atomfuzzer:1.5", "q is a probability: a number from 0 to 1");
        check("atomfuzzer:NaN", "atomfuzzer:NaN", "q is a probability: a number from 0 to 1");
        check("preemptions:x", "preemptions:x", "the bound is a number from 0 to 4294967295");
    }
}
