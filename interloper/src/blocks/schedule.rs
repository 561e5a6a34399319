//! How the schedules of a check are chosen.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use interloper_scheduler::strategies::{
    AtomFuzzer, Cut, Exhaustive, MAX_DEPTH, Pattern, Pct, Portfolio, Pos, PreemptionBound, Profile, RandomWalk,
    Selection, Surw,
};
use interloper_scheduler::{Around, Freedoms, Pending, Strategy};
use interloper_std::runtime::{Action, Operation, TaskId};

use super::sections::{Blocks, Rule, Tracker};

/// How schedules are chosen: the strategies of [`interloper_scheduler::strategies`].
///
/// Text forms: `random`, `atomfuzzer`, `atomfuzzer:0.9`, `atomfuzzer-mutex`, `pct:3`, `pos`, `surw`, `urw`,
/// `preemptions:2`, `exhaustive`. A `+` joins several strategies that take turns; `portfolio` stands for
/// `atomfuzzer+pct:3+pos+surw+random`.
///
/// ```
/// use interloper::blocks::Schedule;
///
/// let schedule: Schedule = "atomfuzzer:0.9+pct:3".parse()?;
/// assert_eq!(schedule, Schedule::Portfolio(vec![Schedule::AtomFuzzer { q: 0.9 }, Schedule::Pct { depth: 3.try_into()? }]));
/// assert_eq!(schedule.to_string(), "atomfuzzer:0.9+pct:3");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Schedule {
    /// Any enabled task, all equally likely.
    Random,
    /// Algorithm 2 of AtomFuzzer, extended from locks to every kind of access.
    AtomFuzzer {
        /// The probability of a pause.
        q: f64,
    },
    /// Algorithm 2 as printed: a task pauses only before it takes a lock that it has taken before in its block.
    AtomFuzzerMutex {
        /// The probability of a pause.
        q: f64,
    },
    /// Probabilistic concurrency testing.
    Pct {
        /// The number of ordering constraints that a bug may need; a number above 1,000 counts as 1,000.
        depth: NonZeroU32,
    },
    /// Partial order sampling.
    Pos,
    /// Selectively uniform random walk.
    Surw,
    /// Uniform random walk.
    Urw,
    /// Every schedule with at most this many preemptions. One thread runs the executions, whatever
    /// [`Settings::jobs`](super::Settings::jobs) says.
    Preemptions(u32),
    /// One schedule of each Mazurkiewicz trace: everything that can happen, up to the order of steps that do not depend on
    /// each other. One thread runs the executions. For small programs; [`Coverage::complete`](super::Coverage) says whether
    /// the search ended within its limit on executions.
    Exhaustive,
    /// Several strategies that take turns: each of k strategies runs every k-th execution.
    Portfolio(Vec<Schedule>),
}

/// What the random strategies are told of the program beforehand, so that a schedule is a function of the seed and its
/// number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Measured {
    /// The length of an execution, as PCT measures it.
    pub(crate) steps: u64,
    pub(crate) profile: Profile,
    /// What its blocks are.
    pub(crate) rule: Rule,
}

const THREE: NonZeroU32 = NonZeroU32::new(3).unwrap();

impl Default for Schedule {
    /// The portfolio.
    fn default() -> Schedule {
        Schedule::Portfolio(vec![
            Schedule::AtomFuzzer { q: 0.5 },
            Schedule::Pct { depth: THREE },
            Schedule::Pos,
            Schedule::Surw,
            Schedule::Random,
        ])
    }
}

impl Schedule {
    /// Those that take turns.
    pub(crate) fn members(&self) -> Vec<&Schedule> {
        match self {
            Schedule::Portfolio(members) => members.iter().flat_map(Schedule::members).collect(),
            one => vec![one],
        }
    }

    /// Whether its executions are numbered, so that each can be made without those before.
    pub(crate) fn is_numbered(&self) -> bool {
        !self.members().iter().any(|member| matches!(member, Schedule::Preemptions(_) | Schedule::Exhaustive))
    }

    /// Whether its executions are drawn at random.
    pub(crate) fn is_random(&self) -> bool {
        self.is_numbered()
    }

    /// The strategy, with what can be said of its search at the end.
    pub(crate) fn search(&self, seed: u64, round: u64, measured: &Measured) -> Search {
        match self {
            Schedule::Exhaustive => Search::Exhaustive(Exhaustive::new()),
            Schedule::Preemptions(bound) => Search::Preemptions(PreemptionBound::new(*bound)),
            other => Search::Other(other.strategy(seed, round, measured)),
        }
    }

    /// The strategy, about to make the execution of the number `round` · the number of members.
    ///
    /// # Panics
    /// If q lies outside 0 to 1.
    fn strategy(&self, seed: u64, round: u64, measured: &Measured) -> Box<dyn Strategy> {
        match self {
            Schedule::Random => sometimes_free(round, RandomWalk::starting_at(seed, round)),
            Schedule::AtomFuzzer { q } => atom_fuzzer(seed, (*q, Pattern::Accesses), round, measured),
            Schedule::AtomFuzzerMutex { q } => atom_fuzzer(seed, (*q, Pattern::Locks), round, measured),
            Schedule::Pct { depth } => {
                sometimes_free(round, Pct::starting_at(seed, depth.get(), round).with_length(measured.steps))
            }
            Schedule::Pos => sometimes_free(round, Pos::starting_at(seed, round)),
            Schedule::Surw => surw(seed, Selection::OneObject, round, measured),
            Schedule::Urw => surw(seed, Selection::All, round, measured),
            Schedule::Preemptions(bound) => Box::new(PreemptionBound::new(*bound)),
            Schedule::Exhaustive => Box::new(Exhaustive::new()),
            Schedule::Portfolio(_) => {
                let strategies = self.members().into_iter().map(|member| member.strategy(seed, round, measured));
                Box::new(strategies.fold(Portfolio::new(), |all, strategy| all.with("", strategy)))
            }
        }
    }
}

/// Why a search is not complete when the engine made some choices itself.
pub(crate) const STEERED: &str = "a thread polled the clock, or made so many steps in a row that it was held back";

/// A strategy at work.
pub(crate) enum Search {
    Exhaustive(Exhaustive),
    Preemptions(PreemptionBound),
    Other(Box<dyn Strategy>),
}

impl Search {
    pub(crate) fn strategy(&mut self) -> &mut dyn Strategy {
        match self {
            Search::Exhaustive(exhaustive) => exhaustive,
            Search::Preemptions(bounded) => bounded,
            Search::Other(strategy) => &mut **strategy,
        }
    }

    /// What kept the search from being complete, although it has no more executions.
    pub(crate) fn cut(&self) -> Option<&'static str> {
        let exhaustive = match self {
            Search::Exhaustive(exhaustive) => exhaustive,
            Search::Preemptions(bounded) if bounded.leaves_out() => {
                return Some("the search cannot store all places for a preemption; a smaller bound completes");
            }
            Search::Preemptions(_) | Search::Other(_) => return None,
        };
        exhaustive.exploration().cut.map(|cut| match cut {
            Cut::StepBound => "an execution reached the step bound",
            Cut::Livelock => "an execution ended in a livelock",
            Cut::Failed => "an execution ended early",
            Cut::Steered => STEERED,
            Cut::Hints => "a thread that spins or yields may go on more often than was tried although nothing changes",
            Cut::Infeasible => "a planned step was not enabled",
        })
    }
}

fn atom_fuzzer(seed: u64, (q, pattern): (f64, Pattern), round: u64, measured: &Measured) -> Box<dyn Strategy> {
    let fuzzer = AtomFuzzer::starting_at(seed, round).with_q(q).with_pattern(pattern);
    match measured.rule.blocks() {
        Blocks::Marked => sometimes_free(round, fuzzer),
        Blocks::CriticalSections => sometimes_free(round, Announcing::new(fuzzer, measured.rule.clone())),
    }
}

fn surw(seed: u64, selection: Selection, round: u64, measured: &Measured) -> Box<dyn Strategy> {
    sometimes_free(round, Surw::starting_at(seed, selection, round).with_profile(measured.profile.clone()))
}

/// Of this many executions of a random strategy in a row, the last one has freedoms.
const FREE: u64 = 4;

fn sometimes_free<S: Strategy + 'static>(next: u64, strategy: S) -> Box<dyn Strategy> {
    Box::new(SometimesFree { next, strategy })
}

/// Grants freedoms by the number of the execution, so that most executions are ordinary and what they show needs no more.
struct SometimesFree<S> {
    /// The number of the next execution.
    next: u64,
    strategy: S,
}

impl<S: Strategy> Around for SometimesFree<S> {
    type Inner = S;

    fn inner(&self) -> &S {
        &self.strategy
    }

    fn inner_mut(&mut self) -> &mut S {
        &mut self.strategy
    }

    fn around_begin(&mut self) -> bool {
        self.next += 1;
        self.strategy.begin()
    }

    fn around_freedoms(&mut self, admitted: Freedoms) -> Freedoms {
        if self.next.is_multiple_of(FREE) { self.strategy.freedoms(admitted) } else { Freedoms::NONE }
    }
}

/// Tells a strategy that critical sections begin and end as if they were marked.
struct Announcing<S> {
    strategy: S,
    tracker: Tracker,
}

impl<S> Announcing<S> {
    fn new(strategy: S, rule: Rule) -> Announcing<S> {
        Announcing { strategy, tracker: Tracker::new(rule) }
    }
}

impl<S: Strategy> Around for Announcing<S> {
    type Inner = S;

    fn inner(&self) -> &S {
        &self.strategy
    }

    fn inner_mut(&mut self) -> &mut S {
        &mut self.strategy
    }

    fn around_begin(&mut self) -> bool {
        self.tracker.reset();
        self.strategy.begin()
    }

    fn around_choose(&mut self, current: Option<TaskId>, pending: &[Pending]) -> usize {
        let index = self.strategy.choose(current, pending);
        let Pending { task, operation } = pending[index];
        let before = self.tracker.in_section(task);
        self.tracker.note(task, operation);
        let action = match (before, self.tracker.in_section(task)) {
            (false, true) => Action::BlockBegin(0),
            (true, false) => Action::BlockEnd,
            _ => return index,
        };
        // There is nothing to choose from; the strategy sees a step of the task.
        self.strategy.choose(current, &[Pending { task, operation: Operation { action, ..operation } }]);
        index
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Schedule::Random => out.write_str("random"),
            Schedule::AtomFuzzer { q } => write!(out, "atomfuzzer:{q}"),
            Schedule::AtomFuzzerMutex { q } => write!(out, "atomfuzzer-mutex:{q}"),
            Schedule::Pct { depth } => write!(out, "pct:{depth}"),
            Schedule::Pos => out.write_str("pos"),
            Schedule::Surw => out.write_str("surw"),
            Schedule::Urw => out.write_str("urw"),
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

const NAMES: &str = "the strategies are random, atomfuzzer, atomfuzzer-mutex, pct, pos, surw, urw, preemptions, exhaustive and \
     portfolio";

fn one(name: &str, parameter: Option<&str>) -> Result<Schedule, &'static str> {
    let plain = |schedule: Schedule| {
        if parameter.is_none() { Ok(schedule) } else { Err("this strategy takes no parameter") }
    };
    match name {
        "random" => plain(Schedule::Random),
        "pos" => plain(Schedule::Pos),
        "surw" => plain(Schedule::Surw),
        "urw" => plain(Schedule::Urw),
        "exhaustive" => plain(Schedule::Exhaustive),
        "portfolio" => plain(Schedule::default()),
        "pct" => match parameter.map_or(Ok(THREE), str::parse::<NonZeroU32>) {
            Ok(depth) if depth.get() <= MAX_DEPTH => Ok(Schedule::Pct { depth }),
            _ => Err("the depth is a number from 1 to 1000"),
        },
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

    #[test]
    fn text_forms_round_trip() {
        for text in [
            "random",
            "atomfuzzer:0.5",
            "atomfuzzer-mutex:0.25",
            "pct:3",
            "pos",
            "surw",
            "urw",
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
        assert_eq!(MAX_DEPTH, 1000, "the message says so");
        assert_eq!("pct:1000".parse(), Ok(Schedule::Pct { depth: 1000.try_into().unwrap() }));
        assert_eq!("preemptions:4294967295".parse(), Ok(Schedule::Preemptions(u32::MAX)));
        check("atomfuzzer:1.5", "atomfuzzer:1.5", "q is a probability: a number from 0 to 1");
        check("atomfuzzer:NaN", "atomfuzzer:NaN", "q is a probability: a number from 0 to 1");
        check("preemptions:x", "preemptions:x", "the bound is a number from 0 to 4294967295");
    }

    #[test]
    fn only_random_schedules_are_numbered() {
        assert!(Schedule::default().is_numbered());
        assert!(!"random+preemptions".parse::<Schedule>().unwrap().is_numbered());
        assert!(!Schedule::Exhaustive.is_numbered());
    }
}
