//! How schedules are chosen, as a value: it has a text form and builds its strategy from a seed.

#[macro_use]
mod words;

mod memory;
mod preempt;
mod text;

use std::num::NonZeroU32;
use std::sync::Arc;

use interloper_std::runtime::{Action, TaskId};

use crate::Shard;
use crate::decisions::Decisions;
use crate::freedoms::{Freedom, Freedoms};
use crate::saved::{Times, whole, words};
use crate::shrink::FewerStale;
use crate::strategies::{
    AtomFuzzer, Cut, Exhaustive, Inferred, Pattern, Pct, Pctwm, Portfolio, Pos, PreemptionBound, Profile, RandomWalk,
    Rff, Selection, Surw,
};
use crate::strategy::{Around, Pending, Strategy};

pub use memory::{Memory, MemoryError};
pub use preempt::{Preempt, PreemptError};
pub use text::ScheduleError;

/// How schedules are chosen: the strategies of [`strategies`](crate::strategies).
///
/// Text forms: `random`, `atomfuzzer`, `atomfuzzer:0.9`, `atomfuzzer-mutex`, `pct:3`, `pctwm:3:2`, `pos`, `surw`, `urw`, `rff`,
/// `preemptions:2`, `exhaustive`. A `+` joins several strategies that take turns; `portfolio` stands for
/// `atomfuzzer+rff+pct:3+pos+surw+random`.
///
/// ```
/// use interloper_scheduler::schedule::Schedule;
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
    /// Probabilistic concurrency testing for weak memory.
    Pctwm {
        /// The number of reads that see stores of other tasks as a bug needs it; a number above 1,000 counts as 1,000.
        depth: NonZeroU32,
        /// Each of them sees one of so many newest stores.
        history: NonZeroU32,
    },
    /// Partial order sampling.
    Pos,
    /// Selectively uniform random walk.
    Surw,
    /// Uniform random walk.
    Urw,
    /// A search guided by reads-from pairs, which learns from each execution.
    Rff,
    /// Every schedule with at most this many preemptions. One thread runs the executions.
    Preemptions(u32),
    /// One schedule of each Mazurkiewicz trace: everything that can happen, up to the order of steps that do not depend on
    /// each other. One thread runs the executions. For small programs.
    Exhaustive,
    /// Several strategies that take turns, more often where that pays: see [`strategies::Portfolio`](Portfolio).
    Portfolio(Vec<Schedule>),
}

/// What a strategy is built from besides its [`Schedule`].
pub struct Plan<'a> {
    /// The seed of everything random.
    pub seed: u64,
    /// How many executions each member has run before.
    pub round: u64,
    /// The length of an execution, for PCT; `None` when PCT measures the length itself.
    pub length: Option<u64>,
    /// The profile of the program, for SURW, URW and `rff`; `None` when they measure it themselves.
    pub profile: Option<Profile>,
    /// Among this many consecutive executions of a random strategy, the last one has freedoms; 1 gives all executions
    /// freedoms.
    pub free_every: u64,
    /// What tells AtomFuzzer where atomic blocks begin and end; `None` when the program marks its blocks.
    pub announce: Option<&'a dyn Fn(AtomFuzzer) -> Box<dyn Strategy>>,
    /// Pairs of accesses that AtomFuzzer takes for blocks, too.
    pub inferred: Arc<Inferred>,
    /// The part of a search that tries everything: see [`Exhaustive::with_shard`] and [`PreemptionBound::part`]. Random strategies
    /// are split by `round`.
    pub shard: Shard,
}

impl Plan<'_> {
    /// The plan of these strategies from their first execution on. They measure what they need to know, and each
    /// execution has freedoms.
    pub fn new(seed: u64) -> Plan<'static> {
        Plan {
            seed,
            round: 0,
            length: None,
            profile: None,
            free_every: 1,
            announce: None,
            inferred: Arc::default(),
            shard: Shard::WHOLE,
        }
    }
}

/// Among this many consecutive executions of a random strategy, the last one has freedoms, unless a plan says
/// otherwise: most executions are ordinary, and what they show needs no freedom.
pub const FREE_EVERY: u64 = 4;

/// Of so many executions with freedoms, each sleep ends early in one, if more than one sleep may.
const HURRY_EVERY: u64 = 2;

/// Of so many executions in a row, the first one is sequentially consistent where memory is weak: what needs no weak memory
/// is found without.
const STRONG_EVERY: u64 = 8;

/// Of so many executions in a row, the one of this number is weak with loads wherever the strategy puts them.
const EARLY_LOADS_EVERY: u64 = 8;
const EARLY_LOADS: u64 = 1;

const TWO: NonZeroU32 = NonZeroU32::new(2).unwrap();
const THREE: NonZeroU32 = NonZeroU32::new(3).unwrap();

impl Default for Schedule {
    /// The portfolio.
    fn default() -> Schedule {
        Schedule::Portfolio(vec![
            Schedule::AtomFuzzer { q: 0.5 },
            Schedule::Rff,
            Schedule::Pct { depth: THREE },
            Schedule::Pos,
            Schedule::Surw,
            Schedule::Random,
        ])
    }
}

impl Schedule {
    /// The strategies that take turns.
    pub fn members(&self) -> Vec<&Schedule> {
        match self {
            Schedule::Portfolio(members) => members.iter().flat_map(Schedule::members).collect(),
            one => vec![one],
        }
    }

    fn members_mut(&mut self) -> Vec<&mut Schedule> {
        match self {
            Schedule::Portfolio(members) => members.iter_mut().flat_map(Schedule::members_mut).collect(),
            one => vec![one],
        }
    }

    /// Sets the probability of a pause of each AtomFuzzer among the members. Returns false when there is no AtomFuzzer.
    pub fn set_q(&mut self, wanted: f64) -> bool {
        let mut set = false;
        for member in self.members_mut() {
            if let Schedule::AtomFuzzer { q } | Schedule::AtomFuzzerMutex { q } = member {
                (*q, set) = (wanted, true);
            }
        }
        set
    }

    /// Sets the depth of each PCT among the members. Returns false when there is no PCT.
    pub fn set_depth(&mut self, wanted: NonZeroU32) -> bool {
        let mut set = false;
        for member in self.members_mut() {
            if let Schedule::Pct { depth } = member {
                (*depth, set) = (wanted, true);
            }
        }
        set
    }

    /// Whether which execution comes next depends on what the ones before have shown.
    pub fn learns(&self) -> bool {
        self.members().len() > 1 || self.members().contains(&&Schedule::Rff)
    }

    /// Whether its executions are drawn at random.
    pub fn is_random(&self) -> bool {
        !self.members().iter().any(|member| matches!(member, Schedule::Preemptions(_) | Schedule::Exhaustive))
    }

    /// Whether shards can share a search. Schedules without preemptions are few, and every part would run all of them.
    pub fn can_split(&self) -> bool {
        self.is_random() || matches!(self, Schedule::Exhaustive | Schedule::Preemptions(1..))
    }

    /// Whether its executions are a sample of all that it can draw: see [`Strategy::is_sample`].
    pub fn is_sample(&self) -> bool {
        self.is_random() && !self.members().contains(&&Schedule::Rff)
    }

    /// Whether some member draws on a [`Profile`] of the program.
    pub fn wants_profile(&self) -> bool {
        self.members().iter().any(|member| matches!(member, Schedule::Surw | Schedule::Urw | Schedule::Rff))
    }

    /// The freedoms of its executions unless the user names others: random strategies have all freedoms, and strategies
    /// that try everything have the two cheap ones.
    pub fn freedoms(&self) -> Freedoms {
        match self.is_random() {
            true => Freedoms::ALL,
            false => Freedoms::NONE.with(Freedom::Hints, 2).with(Freedom::Writers, 1),
        }
    }

    /// The strategy. At the end, the result also tells what the search covered.
    ///
    /// # Panics
    /// If q lies outside 0 to 1.
    pub fn search(&self, plan: &Plan<'_>) -> Search {
        match self {
            Schedule::Exhaustive => Search::Exhaustive(Box::new(Exhaustive::new().with_shard(plan.shard))),
            Schedule::Preemptions(bound) => Search::Preemptions(Box::new(PreemptionBound::part(*bound, plan.shard))),
            other => Search::Other(other.strategy(plan, 0)),
        }
    }

    fn strategy(&self, plan: &Plan<'_>, turn: Turn) -> Box<dyn Strategy> {
        let Plan { seed, round, .. } = *plan;
        match self {
            Schedule::Random => sometimes_free(plan, turn, RandomWalk::starting_at(seed, round)),
            Schedule::AtomFuzzer { q } => atom_fuzzer(plan, turn, *q, Pattern::Accesses),
            Schedule::AtomFuzzerMutex { q } => atom_fuzzer(plan, turn, *q, Pattern::Locks),
            Schedule::Pct { depth } => {
                let pct = Pct::starting_at(seed, depth.get(), round);
                match plan.length {
                    Some(length) => sometimes_free(plan, turn, pct.with_length(length)),
                    None => sometimes_free(plan, turn, pct),
                }
            }
            Schedule::Pctwm { depth, history } => {
                let pctwm = Pctwm::starting_at(seed, depth.get(), history.get(), round);
                match plan.length {
                    Some(length) => sometimes_free(plan, turn, pctwm.with_length(length)),
                    None => sometimes_free(plan, turn, pctwm),
                }
            }
            Schedule::Pos => sometimes_free(plan, turn, Pos::starting_at(seed, round)),
            Schedule::Surw => surw(plan, turn, Selection::OneObject),
            Schedule::Urw => surw(plan, turn, Selection::All),
            Schedule::Rff => {
                let rff = Rff::starting_at(seed, round);
                match plan.profile.clone() {
                    Some(profile) => sometimes_free(plan, turn, rff.with_profile(profile)),
                    None => sometimes_free(plan, turn, rff),
                }
            }
            Schedule::Preemptions(bound) => Box::new(PreemptionBound::new(*bound)),
            Schedule::Exhaustive => Box::new(Exhaustive::new()),
            Schedule::Portfolio(_) => {
                let members = self.members();
                let strategies = (0..).zip(&members).map(|(turn, member)| member.strategy(plan, turn));
                Box::new(strategies.fold(Portfolio::new(), |all, strategy| all.with("", strategy)))
            }
        }
    }
}

fn atom_fuzzer(plan: &Plan<'_>, turn: Turn, q: f64, pattern: Pattern) -> Box<dyn Strategy> {
    let fuzzer = AtomFuzzer::starting_at(plan.seed, plan.round).with_q(q).with_pattern(pattern);
    let fuzzer = fuzzer.with_inferred(plan.inferred.clone());
    match plan.announce {
        Some(announce) => sometimes_free(plan, turn, announce(fuzzer)),
        None => sometimes_free(plan, turn, fuzzer),
    }
}

fn surw(plan: &Plan<'_>, turn: Turn, selection: Selection) -> Box<dyn Strategy> {
    let surw = Surw::starting_at(plan.seed, selection, plan.round);
    match plan.profile.clone() {
        Some(profile) => sometimes_free(plan, turn, surw.with_profile(profile)),
        None => sometimes_free(plan, turn, surw),
    }
}

/// Why a search is incomplete when the engine made some choices itself.
pub const STEERED: &str = "a thread polled the clock, or made so many steps in a row that it was held back";

/// A strategy at work.
pub enum Search {
    /// [`Schedule::Exhaustive`].
    Exhaustive(Box<Exhaustive>),
    /// [`Schedule::Preemptions`].
    Preemptions(Box<PreemptionBound>),
    /// Every other schedule.
    Other(Box<dyn Strategy>),
}

impl Search {
    /// The strategy, which chooses each step.
    pub fn strategy(&mut self) -> &mut dyn Strategy {
        match self {
            Search::Exhaustive(exhaustive) => &mut **exhaustive,
            Search::Preemptions(bounded) => &mut **bounded,
            Search::Other(strategy) => &mut **strategy,
        }
    }

    /// Whether the search has shown every trace, as far as it can tell: only an exhaustive search can.
    pub fn is_complete(&self) -> bool {
        matches!(self, Search::Exhaustive(exhaustive) if exhaustive.exploration().complete)
    }

    /// Whether every part of the search runs the last execution.
    pub fn is_shared(&self) -> bool {
        matches!(self, Search::Preemptions(bounded) if bounded.is_shared())
    }

    /// Whether an exhaustive search has executions with weak memory.
    pub fn is_weak(&self) -> bool {
        matches!(self, Search::Exhaustive(exhaustive) if exhaustive.is_weak())
    }

    /// Whether an exhaustive search has run an execution that does not count in the whole search: see [`Exhaustive::repeats`].
    pub fn repeats(&self) -> bool {
        matches!(self, Search::Exhaustive(exhaustive) if exhaustive.repeats())
    }

    /// After this search has found an execution with stale accesses: a search of the executions with fewer, the fewest first. `None`
    /// if the execution has no stale access, or if it has one and this search has already run every execution without any.
    pub fn with_fewer_stale(&self, found: &Decisions, shard: Shard) -> Option<Search> {
        match self {
            Search::Exhaustive(_) => (found.stale() > 1).then(|| {
                Search::Exhaustive(Box::new(Exhaustive::new().with_stale(1..found.stale()).with_shard(shard)))
            }),
            Search::Preemptions(_) | Search::Other(_) => Some(Search::Other(Box::new(FewerStale::new(found)?))),
        }
    }

    /// How weak memory was, as far as the search has come: all executions ran in which at most so many accesses do not see
    /// the newest store. `None` before the search has come so far, and where memory is sequentially consistent;
    /// `u32::MAX` where more makes no difference.
    pub fn stale(&self) -> Option<u32> {
        match self {
            Search::Exhaustive(exhaustive) => exhaustive.exploration().older,
            Search::Preemptions(_) | Search::Other(_) => None,
        }
    }

    /// Why the search is incomplete although it has no more executions.
    pub fn cut(&self) -> Option<&'static str> {
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

/// The place of a strategy among those that take turns: where they differ in their first executions, what each of them
/// does in every fourth one comes sooner.
type Turn = u64;

fn sometimes_free<S: Strategy + 'static>(plan: &Plan<'_>, turn: Turn, strategy: S) -> Box<dyn Strategy> {
    match plan.free_every {
        1 => Box::new(strategy),
        every => Box::new(SometimesFree {
            next: plan.round,
            every,
            turn,
            late_loads: false,
            hurries: false,
            others: Default::default(),
            strategy,
        }),
    }
}

/// Grants freedoms by the number of the execution: most executions are ordinary, and what they show needs no freedom.
struct SometimesFree<S> {
    /// The number of the next execution.
    next: u64,
    every: u64,
    turn: Turn,
    /// In the present execution, loads come after everything else that is enabled. Where memory is weak, a load that comes
    /// late still chooses among all stores, so this shows what it can see.
    late_loads: bool,
    /// In the present execution, each sleep ends early, as long as the execution has the freedom.
    hurries: bool,
    /// What is left to choose from then, with the indices among all.
    others: (Vec<Pending>, Vec<usize>),
    strategy: S,
}

impl<S: Strategy> Around for SometimesFree<S> {
    crate::inner_strategy!(strategy: S);

    fn around_begin(&mut self) -> bool {
        self.next += 1;
        self.strategy.begin()
    }

    #[inline]
    fn around_choose(&mut self, current: Option<TaskId>, pending: &[Pending]) -> usize {
        if !self.late_loads || pending.len() == 1 {
            return self.strategy.choose(current, pending);
        }
        let (others, indices) = &mut self.others;
        others.clear();
        indices.clear();
        let is_load = |pending: &Pending| pending.operation.action == Action::Read;
        for (index, pending) in pending.iter().enumerate().filter(|(_, pending)| !is_load(pending)) {
            others.push(*pending);
            indices.push(index);
        }
        if others.is_empty() {
            return self.strategy.choose(current, pending);
        }
        let current = current.filter(|current| others.iter().any(|pending| pending.task == *current));
        indices[self.strategy.choose(current, others)]
    }

    fn around_freedoms(&mut self, admitted: Freedoms) -> Freedoms {
        // Memory is not scarce: most executions have it, whichever strategy makes them.
        let number = self.next - 1 + self.turn;
        let is_weak = admitted.count(Freedom::Memory) > 0 && !number.is_multiple_of(STRONG_EVERY);
        self.late_loads = is_weak && number % EARLY_LOADS_EVERY != EARLY_LOADS;
        let memory = if is_weak { admitted.count(Freedom::Memory) } else { 0 };
        // Neither is cancellation: every second execution has it.
        let cancellation = if self.next.is_multiple_of(2) { 0 } else { admitted.count(Freedom::Cancellation) };
        let is_free = self.next.is_multiple_of(self.every);
        let freedoms = if is_free { self.strategy.freedoms(admitted) } else { Freedoms::NONE };
        // Many early sleeps in a row are hardly ever drawn one by one.
        self.hurries = freedoms.count(Freedom::Time) > 1 && (self.next / self.every).is_multiple_of(HURRY_EVERY);
        freedoms.with(Freedom::Memory, memory).with(Freedom::Cancellation, cancellation)
    }

    fn around_departs(&mut self, freedom: Freedom) -> bool {
        (self.hurries && freedom == Freedom::Time) || self.strategy.departs(freedom)
    }

    fn around_saved(&self) -> Option<Vec<u64>> {
        words(&(Times(self.next), self.strategy.saved()?))
    }

    fn around_restore(&mut self, saved: &[u64]) -> bool {
        let Some((Times(next), strategy)) = whole::<(Times, Vec<u64>)>(saved) else { return false };
        self.next = next;
        self.strategy.restore(&strategy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_schedules_learn_and_some_are_samples() {
        let check = |text: &str, learns: bool, sample: bool| {
            let schedule: Schedule = text.parse().unwrap();
            assert_eq!((schedule.learns(), schedule.is_sample()), (learns, sample));
        };
        check("pos", false, true);
        check("rff", true, false);
        check("random+pos", true, true);
        check("portfolio", true, false);
        check("random+preemptions", true, false);
        check("exhaustive", false, false);
    }

    #[test]
    fn parameters_change_where_a_member_has_them() {
        let mut schedule = Schedule::default();
        assert!(schedule.set_q(1.0) && schedule.set_depth(NonZeroU32::new(5).unwrap()));
        assert_eq!(schedule.to_string(), "atomfuzzer:1+rff+pct:5+pos+surw+random");
        let mut schedule = Schedule::Random;
        assert!(!schedule.set_q(1.0) && !schedule.set_depth(THREE));
        assert_eq!(schedule, Schedule::Random);
    }

    /// Executions are counted from 1: with 4, the fourth, the eighth and so on have freedoms.
    #[test]
    fn a_plan_says_which_executions_have_freedoms() {
        let free = |free_every: u64, round: u64| -> Vec<bool> {
            let mut search = Schedule::Random.search(&Plan { free_every, round, ..Plan::new(1) });
            let strategy = search.strategy();
            let mut one = || strategy.begin() && !strategy.freedoms(Freedoms::ALL).is_none();
            (0..4).map(|_| one()).collect()
        };
        assert_eq!(free(1, 0), [true; 4]);
        assert_eq!(free(FREE_EVERY, 0), [false, false, false, true]);
        assert_eq!(free(FREE_EVERY, 2), [false, true, false, false]);
    }

    /// Of each eight executions of a strategy one is sequentially consistent: for the first strategy the first one, for the
    /// second the last one. The numbers are those of these executions among sixteen.
    #[test]
    fn most_executions_are_weak_where_memory_is() {
        let strong = |schedule: &str, round: u64, admitted: Freedoms| -> Vec<u64> {
            let schedule: Schedule = schedule.parse().unwrap();
            let mut search = schedule.search(&Plan { free_every: FREE_EVERY, round, ..Plan::new(1) });
            let strategy = search.strategy();
            let mut is_strong = |_: &u64| strategy.begin() && strategy.freedoms(admitted).count(Freedom::Memory) == 0;
            (0..16).filter(|number| is_strong(number)).collect()
        };
        let admitted = Freedoms::ALL.with(Freedom::Memory, 7);
        assert_eq!(strong("random", 0, Freedoms::ALL), (0..16).collect::<Vec<u64>>());
        assert_eq!(strong("random", 0, admitted), [0, 8]);
        assert_eq!(strong("random+pos", 0, admitted), [0, 15]);
        assert_eq!(strong("random+pos", 1, admitted), [13, 14]);
    }
}
