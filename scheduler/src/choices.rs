//! Which choice mattered: executions that follow a known one up to a choice and go on at random from there.
//!
//! An execution that fails is kept up to each of its choices in turn. How often a random continuation fails as well says how
//! much was decided by then: where the share jumps, the choice between the two points mattered. Two neighbouring steps of
//! different tasks can also be exchanged.

use std::time::{Duration, Instant};

use interloper_std::runtime::TaskId;

use crate::decisions::{Decisions, Question, RandomSource, ReplaySource, Source};
use crate::freedoms::{Freedom, Freedoms};
use crate::strategies::Guided;
use crate::strategy::{Pending, Strategy};

/// A choice of an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// How many steps came before, each an event that does not continue another one.
    pub steps: usize,
    /// How many decisions of the list came before.
    pub kept: usize,
    /// The task that was chosen, and the tasks that it was chosen from. `None` for a choice that is not about tasks.
    pub of: Option<(TaskId, Vec<TaskId>)>,
}

/// Follows a list of decisions up to some number of them, then the tasks that it is told, and then chance.
///
/// The freedoms of the execution are those of the list.
#[derive(Debug)]
pub struct Continued {
    guided: Guided<Switch>,
    freedoms: u32,
    forced: Vec<TaskId>,
    steps: usize,
    choices: Vec<Choice>,
}

impl Continued {
    /// The first `kept` decisions of a list, steps of the tasks in `forced` as far as they can make one, and then chance:
    /// the continuation of this number, from a seed.
    #[must_use]
    pub fn new(decisions: &Decisions, kept: usize, forced: &[TaskId], seed: u64, number: u64) -> Continued {
        let list = Decisions(decisions.0[..kept.min(decisions.0.len())].to_vec());
        let switch =
            Switch { left: list.0.len(), list: ReplaySource::new(list), chance: RandomSource::new(seed, number) };
        let forced = forced.iter().rev().copied().collect();
        Continued { guided: Guided::new(switch), freedoms: decisions.freedoms(), forced, steps: 0, choices: Vec::new() }
    }

    /// The choices of the execution, in order.
    #[must_use]
    pub fn into_choices(self) -> Vec<Choice> {
        self.choices
    }

    fn note(&mut self, of: Option<(TaskId, Vec<TaskId>)>) {
        let kept = self.guided.source_mut().kept();
        // A choice that is not about tasks belongs to the step that was chosen last.
        let steps = if of.is_some() { self.steps } else { self.steps.saturating_sub(1) };
        self.choices.push(Choice { steps, kept, of });
    }
}

impl Strategy for Continued {
    fn choose(&mut self, current: Option<TaskId>, pending: &[Pending]) -> usize {
        let place = self.choices.len();
        self.note(Some((TaskId::MAIN, pending.iter().map(|pending| pending.task).collect())));
        self.steps += 1;
        let is_over = self.guided.source_mut().is_over();
        let told = self.forced.pop_if(|_| is_over);
        let told = told.and_then(|task| pending.iter().position(|pending| pending.task == task));
        let chosen = told.unwrap_or_else(|| self.guided.choose(current, pending));
        if let Some((task, _)) = &mut self.choices[place].of {
            *task = pending[chosen].task;
        }
        chosen
    }

    fn decide(&mut self, question: Question, options: u32) -> u32 {
        self.note(None);
        self.guided.decide(question, options)
    }

    fn freedoms(&mut self, admitted: Freedoms) -> Freedoms {
        let source = self.guided.source_mut();
        if !source.is_over() {
            source.decide(Question::Freedom, Freedoms::ANSWERS);
        }
        admitted.of_answer(self.freedoms)
    }

    fn departs(&mut self, freedom: Freedom) -> bool {
        self.note(None);
        let departs = self.guided.departs(freedom);
        if !departs {
            self.choices.pop();
        }
        departs
    }
}

/// Answers from a list, and at random once the list is over.
#[derive(Debug)]
struct Switch {
    list: ReplaySource,
    /// How long the list is.
    left: usize,
    chance: RandomSource,
}

impl Switch {
    fn kept(&self) -> usize {
        self.list.answered()
    }

    fn is_over(&self) -> bool {
        self.list.answered() == self.left || self.list.divergence().is_some()
    }
}

impl Source for Switch {
    fn decide(&mut self, question: Question, options: u32) -> u32 {
        if self.is_over() { self.chance.decide(question, options) } else { self.list.decide(question, options) }
    }
}

/// How many continuations run, and from where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The choices from which continuations run, as indices. Of many, some at even distances.
    pub points: Vec<usize>,
    /// The choices at which the step that follows is exchanged with the one after.
    pub swaps: Vec<usize>,
    /// How many continuations run from each.
    pub continuations: u64,
}

/// How long all continuations may go on: by their steps, so that the result depends on the seed alone, and by the clock where
/// steps take long, since somebody waits for the page.
#[derive(Debug)]
pub struct Budget {
    steps: u64,
    until: Instant,
}

impl Budget {
    /// The budget of a page.
    #[must_use]
    pub fn new() -> Budget {
        Budget { steps: 2 * STEPS, until: Instant::now() + LONGEST }
    }

    /// Takes note of a continuation.
    pub fn spend(&mut self, steps: u64) {
        self.steps = self.steps.saturating_sub(steps);
    }

    /// Whether no other continuation may begin.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.steps == 0 || Instant::now() >= self.until
    }
}

impl Default for Budget {
    fn default() -> Budget {
        Budget::new()
    }
}

/// The most points and exchanges, and the most continuations of each.
const MOST: usize = 60;
const MOST_CONTINUATIONS: u64 = 200;
/// The steps that all continuations together are planned to make, and what an execution costs besides its steps.
const STEPS: u64 = 1_000_000;
const BESIDES: u64 = 50;
/// The longest time that they take together.
const LONGEST: Duration = Duration::from_millis(1500);

impl Plan {
    /// A plan for an execution with these choices. `depend` says whether the steps of two choices that follow each other
    /// depend on each other: the order of others does not matter. `took` is how long the execution takes: each point has fewer
    /// continuations if they would take too long.
    #[must_use]
    pub fn new(choices: &[Choice], depend: impl Fn(usize, usize) -> bool, took: Duration) -> Plan {
        let is_open = |choice: &Choice| choice.of.as_ref().is_none_or(|(_, tasks)| tasks.len() > 1);
        let points: Vec<usize> = (0..choices.len()).filter(|&at| is_open(&choices[at])).collect();
        let swapped = |&at: &usize| {
            let Some((one, tasks)) = &choices[at].of else { return false };
            let next = choices[at + 1..].iter().find_map(|choice| Some((choice.steps, choice.of.as_ref()?.0)));
            next.is_some_and(|(step, other)| other != *one && tasks.contains(&other) && depend(choices[at].steps, step))
        };
        let swaps: Vec<usize> = (0..choices.len()).filter(swapped).collect();
        let (points, swaps) = (spread(points), spread(swaps));
        let shares = (points.len() + swaps.len()).max(1) as u64;
        let cost = (choices.len() as u64 + BESIDES) * shares;
        let in_time = LONGEST.as_nanos() as u64 / (took.as_nanos() as u64).max(1) / shares;
        Plan { points, swaps, continuations: (STEPS / cost).min(in_time).clamp(1, MOST_CONTINUATIONS) }
    }
}

/// At most [`MOST`] of a list, at even distances, with the first and the last.
fn spread(all: Vec<usize>) -> Vec<usize> {
    if all.len() <= MOST {
        return all;
    }
    (0..MOST).map(|at| all[at * (all.len() - 1) / (MOST - 1)]).collect()
}

#[cfg(test)]
mod tests {
    use std::panic::Location;

    use interloper_std::runtime::{Action, ObjectId, Operation};

    use super::*;

    fn pending(tasks: &[u32]) -> Vec<Pending> {
        let operation =
            Operation { object: ObjectId::from_index(0), action: Action::Read, location: Location::caller() };
        tasks.iter().map(|&task| Pending { task: TaskId(task), operation }).collect()
    }

    /// Three choices between the tasks 0 and 1: which tasks were chosen.
    fn chosen(list: &str, kept: usize, forced: &[u32], number: u64) -> Vec<u32> {
        let forced: Vec<TaskId> = forced.iter().map(|&task| TaskId(task)).collect();
        let mut continued = Continued::new(&list.parse().unwrap(), kept, &forced, 7, number);
        let mut current = None;
        let mut choose = || {
            let pending = pending(&[0, 1]);
            let task = pending[continued.choose(current, &pending)].task;
            current = Some(task);
            task.0
        };
        let chosen = vec![choose(), choose(), choose()];
        assert_eq!(continued.into_choices().len(), 3);
        chosen
    }

    #[test]
    fn the_beginning_is_kept_and_the_rest_is_chance() {
        // 1, then another than the last, then the same.
        assert_eq!(chosen("T1.T1.T0", 3, &[], 0), [1, 0, 0]);
        let with =
            |kept, forced: &[u32]| (0..64).map(|number| chosen("T1.T1.T0", kept, forced, number)).collect::<Vec<_>>();
        assert!(with(1, &[]).iter().all(|chosen| chosen[0] == 1));
        // Each of the four continuations comes; one is missing with probability below 4 · (3/4)^64 < 2^-24.
        for rest in [[0, 0], [0, 1], [1, 0], [1, 1]] {
            assert!(with(1, &[]).iter().any(|chosen| chosen[1..] == rest), "{rest:?}");
        }
        assert!(with(1, &[1, 0]).iter().all(|chosen| *chosen == [1, 1, 0]));
        // A task that cannot make a step is passed over.
        assert!(
            with(1, &[5, 0]).iter().any(|chosen| chosen[1] == 0)
                && with(1, &[5, 0]).iter().all(|chosen| chosen[2] == 0)
        );
    }

    #[test]
    fn choices_know_what_came_before() {
        let mut continued = Continued::new(&"T1.O1.T1".parse().unwrap(), 3, &[], 0, 0);
        continued.choose(None, &pending(&[0, 1]));
        assert_eq!(continued.pick(2), 1);
        continued.choose(Some(TaskId(1)), &pending(&[1]));
        continued.choose(Some(TaskId(1)), &pending(&[0, 1]));
        let tasks = |chosen, tasks: &[u32]| Some((TaskId(chosen), tasks.iter().map(|&task| TaskId(task)).collect()));
        let choice = |steps, kept, of| Choice { steps, kept, of };
        let expected = [
            choice(0, 0, tasks(1, &[0, 1])),
            choice(0, 1, None),
            choice(1, 2, tasks(1, &[1])),
            choice(2, 2, tasks(0, &[0, 1])),
        ];
        assert_eq!(continued.into_choices(), expected);
    }

    #[test]
    fn a_plan_takes_open_choices_and_dependent_neighbours() {
        let choice = |steps, chosen, tasks: &[u32]| {
            let of = Some((TaskId(chosen), tasks.iter().map(|&task| TaskId(task)).collect()));
            Choice { steps, kept: steps, of }
        };
        let choices = [choice(0, 0, &[0]), choice(1, 0, &[0, 1]), choice(2, 1, &[0, 1]), choice(3, 0, &[0, 1])];
        let plan = Plan::new(&choices, |one, other| (one, other) == (1, 2), Duration::ZERO);
        assert_eq!((plan.points, plan.swaps), (vec![1, 2, 3], vec![1]));
        assert_eq!(plan.continuations, 200);
        assert_eq!(Plan::new(&choices, |_, _| true, Duration::ZERO).swaps, [1, 2]);
        // Where the second task could not go first, there is nothing to exchange.
        let blocked = [choice(0, 0, &[0]), choice(1, 1, &[0, 1])];
        assert_eq!(Plan::new(&blocked, |_, _| true, Duration::ZERO).swaps, []);
    }

    #[test]
    fn a_long_execution_has_fewer_continuations_from_fewer_points() {
        let choice = |steps| Choice { steps, kept: steps, of: None };
        let choices: Vec<Choice> = (0..10_000).map(choice).collect();
        let plan = Plan::new(&choices, |_, _| true, Duration::ZERO);
        assert_eq!((plan.points.len(), plan.points[0], plan.points[59]), (60, 0, 9_999));
        // 1,000,000 steps over 60 points of 10,050.
        assert_eq!(plan.continuations, 1);
    }

    #[test]
    fn a_slow_execution_has_fewer_continuations() {
        let choices: Vec<Choice> = (0..30).map(|steps| Choice { steps, kept: steps, of: None }).collect();
        let continuations = |millis| Plan::new(&choices, |_, _| true, Duration::from_millis(millis)).continuations;
        // 1.5 s for 30 points of so many executions.
        assert_eq!([0, 5, 10, 50, 700].map(continuations), [200, 10, 5, 1, 1]);
    }

    #[test]
    fn a_budget_is_over_by_its_steps_or_its_time() {
        let mut budget = Budget::new();
        budget.spend(2 * STEPS - 1);
        assert!(!budget.is_over());
        budget.spend(7);
        assert!(budget.is_over());
        assert!(Budget { until: Instant::now(), ..Budget::new() }.is_over());
    }
}
