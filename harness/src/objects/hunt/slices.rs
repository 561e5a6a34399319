//! A run on real threads in slices: it can be kept between two of them, so that another process goes on after the last one.

use std::time::Duration;

use interloper_commutativity::Value;
use interloper_random::{Purpose, Stream};

use crate::object::Program;
use crate::stress::{self, Budget, End, Next, Observed, Settings};
use crate::systematic::{Partial, Resume};

/// How long a slice takes. Less than a second is lost with the process.
const SLICE: Duration = Duration::from_millis(400);

/// The executions of the first slice, before it is known how many fit.
const FIRST: u64 = 10_000;

/// Runs a program as [`stress::run`] does. The results are those of one run: what an execution shows is up to the machine.
pub(super) fn run(
    program: &Program,
    settings: &Settings,
    look: &mut dyn FnMut(&[Value]) -> Next,
    keep: &mut dyn Resume,
) -> Observed {
    let is_short = matches!(settings.budget, Budget::Time(time) if time <= SLICE);
    if is_short || !keep.keeps() {
        return stress::run(program, settings, look);
    }
    let earlier = keep.earlier().and_then(|partial| partial.observed(program, look));
    let (outcomes, took, overlap) = earlier.unwrap_or_default();
    let executions = outcomes.values().sum();
    let mut all: Option<Observed> = None;
    let mut before = Before { executions, took };
    loop {
        let slice = Settings {
            seed: before.seed(settings.seed),
            budget: before.next(settings.budget),
            pace: settings.pace.or(all.as_ref().map(|all| all.pace)),
            ..settings.clone()
        };
        let mut now = stress::run(program, &slice, look);
        let earlier = match all.take() {
            Some(all) => (all.outcomes, all.overlap),
            None => (outcomes.clone(), overlap),
        };
        for (outcome, count) in earlier.0 {
            *now.outcomes.entry(outcome).or_default() += count;
        }
        now.overlap.stamped += earlier.1.stamped;
        now.overlap.overlapping += earlier.1.overlapping;
        now.executions += before.executions;
        now.took += before.took;
        before = Before { executions: now.executions, took: now.took };
        let is_over = now.end != End::Enough || before.is_enough(settings.budget) || settings.deadline.is_over();
        let all = all.insert(now);
        if is_over {
            return all.clone();
        }
        if keep.is_due() {
            keep.keep(Some(Partial::on_threads(all)));
        }
    }
}

/// What the slices before have come to.
struct Before {
    executions: u64,
    took: Duration,
}

impl Before {
    fn is_enough(&self, budget: Budget) -> bool {
        match budget {
            Budget::Time(time) => self.took >= time,
            Budget::Executions(executions) => self.executions >= executions,
        }
    }

    /// What the next slice runs.
    fn next(&self, budget: Budget) -> Budget {
        match budget {
            Budget::Time(time) => Budget::Time(time.saturating_sub(self.took).min(SLICE)),
            Budget::Executions(executions) => {
                let share = SLICE.as_secs_f64() / self.took.as_secs_f64().max(1e-9);
                let fit = if self.executions == 0 { FIRST } else { (self.executions as f64 * share) as u64 };
                Budget::Executions(executions.saturating_sub(self.executions).min(fit.max(1)))
            }
        }
    }

    /// Delays of its own for each slice. The first one has those of a whole run.
    fn seed(&self, seed: u64) -> u64 {
        if self.executions == 0 { seed } else { Stream::new(seed, Purpose::Delays, self.executions).word() }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::SeqCst};

    use interloper_linearize::schema::Schema;

    use super::*;
    use crate::object::Object;
    use crate::systematic::Anew;
    use crate::testing::Always;

    /// How many objects the programs that count have made.
    static MADE: AtomicU64 = AtomicU64::new(0);

    fn program(counts: bool) -> Program {
        let new = move || {
            MADE.fetch_add(u64::from(counts), SeqCst);
            AtomicI64::new(0)
        };
        let object = Object::describe("counter", new).core("add", |counter, ()| counter.fetch_add(1, SeqCst)).build();
        let schema = Schema::parse("{ add() } || { add() }").unwrap();
        object.program(&schema).unwrap()
    }

    const ALL: u64 = 60_000;

    fn settings(budget: Budget) -> Settings {
        Settings { budget, seed: 1, ..Settings::default() }
    }

    /// One object is made for each execution, so their number says what ran.
    #[test]
    fn a_run_goes_on_after_a_slice() {
        let (program, settings) = (program(true), settings(Budget::Executions(ALL)));
        let made = |act: &mut dyn FnMut() -> Observed| {
            let before = MADE.load(SeqCst);
            let observed = act();
            (observed, MADE.load(SeqCst) - before)
        };
        let go_on = &mut |_: &[Value]| Next::Continue;
        let mut always = Always::default();
        let (whole, all) = made(&mut || run(&program, &settings, go_on, &mut always));
        assert_eq!((whole.executions, whole.outcomes.values().sum::<u64>(), whole.end), (ALL, ALL, End::Enough));
        assert!(all >= ALL && !always.kept.is_empty(), "{all}");
        let first: Partial = serde_json::from_str(&always.kept[0]).unwrap();
        assert_eq!(first.executions(), FIRST);
        // Another process runs what is left, and has the outcomes of both.
        let mut seen = 0;
        let look = &mut |_: &[Value]| {
            seen += 1;
            Next::Continue
        };
        let mut later = Always { earlier: Some(first.clone()), ..Always::default() };
        let (rest, made_then) = made(&mut || run(&program, &settings, look, &mut later));
        assert_eq!((rest.executions, rest.outcomes.values().sum::<u64>()), (ALL, ALL));
        assert!(made_then < all && seen > 0, "{made_then} of {all}");
        // What is damaged begins anew: the counts are not those of the executions.
        let other = always.kept[0].replacen("\"executions\":10000", "\"executions\":10001", 1);
        let mut damaged = Always { earlier: Some(serde_json::from_str(&other).unwrap()), ..Always::default() };
        let (anew, made_anew) = made(&mut || run(&program, &settings, go_on, &mut damaged));
        assert_eq!(anew.executions, ALL);
        assert!(made_anew >= ALL, "{made_anew}");
        // An outcome that ends the run would have ended it then.
        let stop = &mut |_: &[Value]| Next::Stop;
        let mut later = Always { earlier: Some(first), ..Always::default() };
        assert_eq!(run(&program, &settings, stop, &mut later).end, End::Stopped);
    }

    #[test]
    fn time_is_the_sum_of_the_slices() {
        let long = settings(Budget::Time(SLICE + SLICE / 4));
        let mut always = Always::default();
        let observed = run(&program(false), &long, &mut |_| Next::Continue, &mut always);
        assert!(observed.took >= SLICE + SLICE / 4 && observed.end == End::Enough, "{observed:?}");
        assert_eq!(always.kept.len(), 1);
        // Where nothing is kept, there are no slices.
        let short = run(&program(false), &settings(Budget::Executions(100)), &mut |_| Next::Continue, &mut Anew);
        assert_eq!(short.executions, 100);
    }
}
