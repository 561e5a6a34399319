//! Several concurrent calls on the fiber engine, with or without the environment around them.
//!
//! A run is a *program*: tasks, each a sequence of calls of the object's methods. Its history is judged by the general
//! search (Wing–Gong–Lowe) against what each method does when it runs alone.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};

use interloper_collections::session::{Instrumented, with_session};
use interloper_linearize::general::{self, Budget, Verdict as General};
use interloper_linearize::history::History;
use interloper_report::{self as report, Column, Counterexample, Lane};
use interloper_scheduler::decisions::{Decisions, Question, ReplaySource, Source};
use interloper_scheduler::{Config, End, Engine, Pending, Strategy};
use interloper_std::runtime::{self, Count, NewTask, ObjectId, ObjectKind, Operation, TaskId};

use crate::adversary::{Adversary, Environment};
use crate::bench::Instance;
use crate::check::{count, rules};
use crate::explain;
use crate::explore::{self, Found};
use crate::method::Settings;
use crate::outcome::{Coverage, Misuse, Report, Verdict, Violation};
use crate::run::{Abort, Actor, Did, Rules, Run, Tasks};
use crate::runner::{Runner, returned_value};
use crate::world::{CallId, CallSet, ResultId, StateId};

/// Calls that one task of a closed program makes at most: two let another call see what lies between them.
const CALLS_IN_A_ROW: usize = 2;

/// One call of a program: which of the object's methods, with which of the arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Planned {
    method: usize,
    argument: usize,
}

/// The calls of a program by task.
type Program = Vec<Vec<Planned>>;

/// Several calls of the method under test at once, in an open or restricted environment.
pub(crate) fn open(
    runner: &mut Runner<'_>,
    settings: &Settings,
    initial: &[StateId],
    allowed: CallSet,
    environment: &str,
) -> Result<Found, Misuse> {
    let rules = rules(runner, settings, allowed);
    let coverage = Coverage {
        environment: environment.to_owned(),
        arguments: runner.arguments.len(),
        initial_states: initial.len(),
        alphabet: allowed.count_ones() as usize,
        bound: settings.bound,
        calls: runner.description.calls,
        executions: 0,
        random: false,
        violating: 0,
        complete: false,
    };
    let mut calls = SeveralCalls { runner, engine: engine(), rules, initial, draw: calls_at_once };
    explore::explore(&mut calls, settings, settings.bound, coverage)
}

/// Concurrent calls of the object's own methods: nobody else touches the collections. Where other methods are known, the
/// one under test runs beside a task that calls any of them; otherwise it runs beside itself.
pub(crate) fn closed(runner: &mut Runner<'_>, settings: &Settings, initial: &[StateId]) -> Result<Found, Misuse> {
    let rules = Rules { bound: 0, ..rules(runner, settings, 0) };
    let reachable = reachable(runner, initial)?;
    let (draw, calls) = closed_program(runner);
    let coverage = Coverage {
        environment: format!("closed environment of {}", method_names(runner)),
        arguments: runner.arguments.len(),
        initial_states: reachable.len(),
        alphabet: 0,
        bound: 0,
        calls,
        executions: 0,
        random: false,
        violating: 0,
        complete: false,
    };
    let mut calls = SeveralCalls { runner, engine: engine(), rules, initial: &reachable, draw };
    explore::explore(&mut calls, settings, 0, coverage)
}

/// How a closed program is drawn, and how many calls it has at most.
fn closed_program(runner: &Runner<'_>) -> (Draw, usize) {
    if runner.description.beside.is_empty() {
        (calls_at_once, at_once(runner))
    } else {
        (call_beside_others, 1 + CALLS_IN_A_ROW)
    }
}

/// How many tasks call the method at once: those asked for, and at least two.
fn at_once(runner: &Runner<'_>) -> usize {
    runner.description.calls.max(2)
}

fn engine() -> Engine {
    // What happened is in the log of the run.
    Engine::new(Config { trace: false, decisions: false, ..Config::default() })
}

fn method_names(runner: &Runner<'_>) -> String {
    let names: Vec<&str> = (0..=runner.description.beside.len()).map(|method| runner.method_name(method)).collect();
    names.join(", ")
}

/// The states that the object's own methods reach from a fresh object: where nobody else touches the collections, the
/// others do not occur.
fn reachable(runner: &mut Runner<'_>, initial: &[StateId]) -> Result<Vec<StateId>, Misuse> {
    let mut states = vec![initial[0]];
    let mut from = 0;
    for _ in 0..2 {
        let to = states.len();
        for index in from..to {
            for method in 0..=runner.description.beside.len() {
                for argument in 0..runner.arguments.len() {
                    let next = runner.reference(method, argument, states[index])?.end;
                    if !states.contains(&next) {
                        states.push(next);
                    }
                }
            }
        }
        from = to;
    }
    Ok(states)
}

/// Draws a program of tasks that call the method under test once each.
fn calls_at_once(runner: &Runner<'_>, source: &mut dyn Source) -> Program {
    let arguments = count(runner.arguments.len());
    let mut call = || vec![Planned { method: 0, argument: source.decide(Question::Argument, arguments) as usize }];
    (0..at_once(runner)).map(|_| call()).collect()
}

/// Draws a program in which the method under test runs beside one to [`CALLS_IN_A_ROW`] calls of any methods.
fn call_beside_others(runner: &Runner<'_>, source: &mut dyn Source) -> Program {
    let arguments = runner.arguments.len();
    let choices = arguments * (1 + runner.description.beside.len());
    let planned = |choice: usize| Planned { method: choice / arguments, argument: choice % arguments };
    let argument = source.decide(Question::Argument, count(arguments)) as usize;
    let mut beside = vec![planned(source.decide(Question::Argument, count(choices)) as usize)];
    while beside.len() < CALLS_IN_A_ROW {
        match source.decide(Question::Argument, count(choices + 1)) as usize {
            0 => break,
            choice => beside.push(planned(choice - 1)),
        }
    }
    vec![vec![Planned { method: 0, argument }], beside]
}

type Draw = fn(&Runner<'_>, &mut dyn Source) -> Program;

/// Runs of several calls on the engine.
struct SeveralCalls<'a, 'm> {
    runner: &'a mut Runner<'m>,
    engine: Engine,
    rules: Rules,
    initial: &'a [StateId],
    draw: Draw,
}

impl explore::Program for SeveralCalls<'_, '_> {
    fn refuted(&mut self, source: &mut dyn Source) -> Result<bool, Misuse> {
        self.make(source)?.refuted(self.runner)
    }

    fn describe(&mut self, decisions: &Decisions, execution: u64) -> Result<Violation, Misuse> {
        self.rules.audit = true;
        let mut source = ReplaySource::new(decisions.clone());
        let made = self.make(&mut source)?;
        if let Some(divergence) = source.divergence() {
            return Err(Misuse::Diverged { reason: divergence.to_string() });
        }
        if !made.refuted(self.runner)? {
            return Err(Misuse::not_reproduced());
        }
        describe(self.runner, &made, decisions, execution)
    }
}

/// A run that was made: its program, and where it began and ended.
struct Made {
    program: Program,
    initial: StateId,
    end: StateId,
}

/// A call of a history: of a method, or of the environment.
#[derive(Clone, Copy)]
enum Call {
    /// The result is none until the call has ended.
    Method {
        planned: Planned,
        returned: Option<ResultId>,
    },
    Environment {
        call: CallId,
        result: ResultId,
    },
}

impl Made {
    fn refuted(&self, runner: &mut Runner<'_>) -> Result<bool, Misuse> {
        if runner.log.abort.is_some() {
            return Ok(true);
        }
        let (history, calls) = self.history(runner);
        let (initial, end) = (self.initial, self.end);
        let mut spec = Calls { runner, calls: &calls, initial, end, misuse: None };
        let verdict = general::check(&mut spec, &history, Budget::Unlimited);
        spec.misuse.map_or(Ok(matches!(verdict, General::NotLinearizable(_))), Err)
    }

    /// The run's history, and what each of its calls was.
    fn history(&self, runner: &mut Runner<'_>) -> (History, Vec<Call>) {
        let planned: Vec<Planned> = self.program.iter().flatten().copied().collect();
        let mut history = History::new();
        let mut calls = Vec::new();
        let mut numbers = vec![0; planned.len()];
        for index in 0..runner.log.events.len() {
            let event = runner.log.events[index];
            match (event.actor, event.did) {
                (Actor::Method(call), Did::Begin) => {
                    numbers[call] = history.invoke();
                    // The result is known when the call ends; a history of complete calls has all of them.
                    calls.push(Call::Method { planned: planned[call], returned: None });
                }
                (Actor::Method(call), Did::End(returned)) => {
                    history.complete(numbers[call]);
                    let returned = Some(runner.abstract_result(returned));
                    calls[numbers[call]] = Call::Method { planned: planned[call], returned };
                }
                (Actor::Environment, Did::Call(call, result)) => {
                    history.atomic();
                    let result = runner.observed_result(index, result);
                    calls.push(Call::Environment { call, result });
                }
                _ => {}
            }
        }
        (history, calls)
    }
}

/// The sequential specification of a history's calls: what each does alone.
struct Calls<'a, 'm> {
    runner: &'a mut Runner<'m>,
    calls: &'a [Call],
    initial: StateId,
    end: StateId,
    misuse: Option<Misuse>,
}

impl Calls<'_, '_> {
    /// What a call does alone from `state`.
    fn alone(&mut self, state: StateId, call: Call) -> (StateId, ResultId) {
        match call {
            Call::Environment { call, .. } => {
                let (state, result) = self.runner.world.step(state, call);
                (state, self.runner.abstract_result(result))
            }
            Call::Method { planned, .. } => match self.runner.reference(planned.method, planned.argument, state) {
                Ok(ended) => (ended.end, self.runner.abstract_result(ended.returned)),
                Err(misuse) => {
                    self.misuse.get_or_insert(misuse);
                    (state, self.runner.world.result(&interloper_commutativity::Value::None))
                }
            },
        }
    }
}

impl Call {
    fn observed(self) -> Option<ResultId> {
        match self {
            Call::Method { returned, .. } => returned,
            Call::Environment { result, .. } => Some(result),
        }
    }
}

impl general::Spec for Calls<'_, '_> {
    type State = StateId;

    fn initial(&self) -> StateId {
        self.initial
    }

    fn step(&mut self, state: &StateId, call: usize) -> Option<StateId> {
        let call = self.calls[call];
        let (next, result) = self.alone(*state, call);
        call.observed().is_none_or(|observed| observed == result).then_some(next)
    }

    fn accept(&self, state: &StateId) -> bool {
        self.runner.same_state(*state, self.end)
    }
}

impl SeveralCalls<'_, '_> {
    fn make(&mut self, source: &mut dyn Source) -> Result<Made, Misuse> {
        let Self { runner, engine, rules, initial, draw } = self;
        let program = draw(runner, source);
        let initial = initial[source.decide(Question::InitialState, count(initial.len())) as usize];
        let end = runner.with_subject(initial, rules, |runner, subject, parts| {
            execute(runner, subject, parts, engine, source, rules, initial, &program)
        })?;
        Ok(Made { program, initial, end })
    }
}

/// Runs the tasks of a program on the engine, under one session. Gives the state at the end.
#[allow(clippy::too_many_arguments)] // a run is all of these
fn execute(
    runner: &mut Runner<'_>,
    subject: &dyn Instance,
    parts: &[&dyn Instrumented],
    engine: &mut Engine,
    source: &mut dyn Source,
    rules: &Rules,
    initial: StateId,
    program: &Program,
) -> StateId {
    let arguments = &runner.arguments;
    let tasks = EngineTasks { queue: Cell::new(None), calls: RefCell::new(Vec::new()) };
    let run = Run::new(&mut runner.world, source, parts, rules, &mut runner.log, initial, Some(&tasks));
    let make_calls = |first: usize, calls: &[Planned]| {
        for (offset, planned) in calls.iter().enumerate() {
            tasks.begin(first + offset);
            let call = || subject.call(planned.method, arguments.get(planned.argument), &|| run.before_return());
            let outcome = catch_unwind(AssertUnwindSafe(call));
            match outcome {
                Err(payload) if runtime::is_abort(&*payload) => resume_unwind(payload),
                outcome => {
                    run.end_call(first + offset, &returned_value(outcome, None));
                }
            }
        }
    };
    // Tasks borrow this, and nothing of the main task's stack.
    let make_calls = &make_calls;
    let mut choice = Choice { run: &run };
    let execution = with_session(&run, || {
        engine.run(&mut choice, || {
            tasks.queue.set(runtime::with(|current| current.runtime().register(ObjectKind::Collection)));
            let mut first = 0;
            let mut spawned = Vec::new();
            for calls in program {
                spawned.push(spawn(move || make_calls(first, calls)));
                first += calls.len();
            }
            spawned.into_iter().for_each(join);
        })
    });
    match execution.end {
        End::Finished => {}
        End::Deadlock(_) => run.deadlocked(),
        End::StepBound(_) | End::Livelock(_) => run.out_of_steps(),
        other => run.failed(format!("the engine ended a run of concurrent calls with {other:?}")),
    }
    run.end()
}

/// Starts a task of the running execution that may borrow what outlives the execution.
fn spawn<'a>(body: impl FnOnce() + 'a) -> TaskId {
    let body: Box<dyn FnOnce() + 'a> = Box::new(body);
    // SAFETY: only the lifetime changes. The engine ends or drops every task before `Engine::run` returns, and all that
    // the body borrows outlives that call.
    let body = unsafe { std::mem::transmute::<Box<dyn FnOnce() + 'a>, Box<dyn FnOnce() + 'static>>(body) };
    let task = NewTask { name: None, location: Location::caller() };
    runtime::with(|current| current.runtime().spawn(task, body)).expect("inside of an execution")
}

fn join(task: TaskId) {
    let ended = runtime::with(|current| current.runtime().join(task, Location::caller()));
    if let Some(Err(payload)) = ended {
        resume_unwind(payload);
    }
}

/// Which task goes on, drawn from the run's source. Starting and joining tasks is no choice.
struct Choice<'a, 'r> {
    run: &'a Run<'r>,
}

impl Strategy for Choice<'_, '_> {
    fn choose(&mut self, current: Option<TaskId>, pending: &[Pending]) -> usize {
        let bookkeeping = |pending: &Pending| pending.task == TaskId::MAIN || pending.operation.action.is_private();
        if let Some(index) = pending.iter().position(bookkeeping) {
            return index;
        }
        // The running task comes first: going on is the ordinary answer.
        let going_on = pending.iter().position(|pending| Some(pending.task) == current).unwrap_or(0);
        match self.run.decide(Question::Task, count(pending.len())) as usize {
            0 => going_on,
            answer if answer <= going_on => answer - 1,
            answer => answer,
        }
    }
}

/// The tasks of a run, as its session sees them.
struct EngineTasks {
    /// Where tasks wait for a lock of a collection.
    queue: Cell<Option<ObjectId>>,
    /// By task: which call of the program it is making.
    calls: RefCell<Vec<usize>>,
}

impl EngineTasks {
    fn begin(&self, call: usize) {
        let task = running();
        let mut calls = self.calls.borrow_mut();
        if calls.len() <= task.index() {
            calls.resize(task.index() + 1, 0);
        }
        calls[task.index()] = call;
    }

    fn operation(&self, location: &'static Location<'static>) -> Operation {
        let object = self.queue.get().expect("the main task made the queue first");
        Operation { object, action: runtime::Action::Invoke(0), location }
    }
}

fn running() -> TaskId {
    runtime::with(|current| current.runtime().task()).expect("inside of an execution")
}

impl Tasks for EngineTasks {
    fn current(&self) -> usize {
        self.calls.borrow()[running().index()]
    }

    fn step(&self, location: &'static Location<'static>) {
        runtime::with(|current| current.runtime().step(self.operation(location)));
    }

    fn wait(&self, location: &'static Location<'static>) {
        let operation = self.operation(location);
        runtime::with(|current| current.runtime().block(operation.object, None, operation));
    }

    fn released(&self) {
        if let Some(queue) = self.queue.get() {
            runtime::with(|current| current.runtime().wake(queue, Count::All));
        }
    }
}

fn describe(runner: &mut Runner<'_>, made: &Made, decisions: &Decisions, execution: u64) -> Result<Violation, Misuse> {
    let abort = runner.log.abort;
    let planned: Vec<Planned> = made.program.iter().flatten().copied().collect();
    let texts: Vec<String> = planned.iter().map(|call| runner.call_text(call.method, call.argument)).collect();
    let column_of: Vec<usize> =
        made.program.iter().enumerate().flat_map(|(task, calls)| calls.iter().map(move |_| task)).collect();
    let mut columns: Vec<Column> = Vec::new();
    let mut first = 0;
    for (task, calls) in made.program.iter().enumerate() {
        let calls = texts[first..first + calls.len()].join("; ");
        columns.push(Column { title: format!("task {}: {calls}", task + 1), lane: Lane::Method });
        first += made.program[task].len();
    }
    let environment_operations = runner.log.events.iter().filter(|event| event.actor == Actor::Environment).count();
    if environment_operations > 0 {
        columns.push(Column { title: "environment".to_owned(), lane: Lane::Environment });
    }
    let environment = made.program.len();
    let mut rows = Vec::new();
    for event in &runner.log.events {
        rows.push(match (event.actor, event.did) {
            (Actor::Method(call), Did::Begin) => {
                report::Row::event(column_of[call], report::Event::Called(texts[call].clone()))
            }
            (Actor::Method(call), Did::End(returned)) => {
                explain::last_row(&runner.world, column_of[call], returned, None)
            }
            (Actor::Method(call), _) => explain::event_row(&runner.world, event, column_of[call], environment),
            (Actor::Environment, _) => explain::event_row(&runner.world, event, 0, environment),
        });
    }
    let history_hash = explain::hash(&runner.world.state_text(made.initial), &texts.join(" | "), &rows);
    let orders = if abort.is_some() { Vec::new() } else { orders(runner, made)? };
    let counterexample = Counterexample {
        name: runner.description.name.clone(),
        verdict: if matches!(abort, Some(Abort::Deadlock(_))) {
            "deadlock".to_owned()
        } else {
            Verdict::NotLinearizable.to_string()
        },
        detail: format!(
            "{} concurrent calls, {}",
            planned.len(),
            explain::detail(count(environment_operations), execution)
        ),
        start: runner.world.state_text(made.initial),
        columns,
        rows,
        orders,
        deadlock: match abort {
            Some(Abort::Deadlock(deadlock)) => Some(explain::deadlock_places(&runner.world, deadlock)),
            _ => None,
        },
        replay: Some(format!(".replay(\"{decisions}\")")),
    };
    Ok(Violation {
        counterexample,
        environment_operations: count(environment_operations),
        execution,
        decisions: decisions.clone(),
        history_hash,
    })
}

/// Sequential orders that a report lists at most; there are more only with many calls.
const MAX_ORDERS: usize = 120;

/// Every sequential order of the history's calls that keeps the order of those that do not overlap, with the first
/// thing in it that differs from the run.
fn orders(runner: &mut Runner<'_>, made: &Made) -> Result<Vec<report::Order>, Misuse> {
    let (history, calls) = made.history(runner);
    let mut sequences = Vec::new();
    extend(&history, &mut Vec::new(), &mut sequences);
    let names = calls.iter().map(|call| match call {
        Call::Method { planned, .. } => runner.method_name(planned.method).to_owned(),
        Call::Environment { call, .. } => runner.world.call_name(*call),
    });
    let names = explain::numbered(names.collect());
    let mut rows = Vec::new();
    for sequence in sequences {
        let mut spec = Calls { runner, calls: &calls, initial: made.initial, end: made.end, misuse: None };
        let mut state = made.initial;
        let mut disagreement = None;
        for &index in &sequence {
            let (next, result) = spec.alone(state, calls[index]);
            if disagreement.is_none() && calls[index].observed().is_some_and(|observed| observed != result) {
                disagreement = Some(explain::ends_with(&names[index], spec.runner.world.value(result)));
            }
            state = next;
        }
        if let Some(misuse) = spec.misuse {
            return Err(misuse);
        }
        let remains = || {
            let state = runner.abstract_state(state);
            format!("{} remains", runner.world.values_text(&state))
        };
        let sequence: Vec<&str> = sequence.iter().map(|&index| names[index].as_str()).collect();
        rows.push(report::Order { sequence: sequence.join(", "), disagreement: disagreement.unwrap_or_else(remains) });
    }
    Ok(rows)
}

fn extend(history: &History, sequence: &mut Vec<usize>, sequences: &mut Vec<Vec<usize>>) {
    let calls = history.calls().len();
    if sequence.len() == calls && sequences.len() < MAX_ORDERS {
        sequences.push(sequence.clone());
        return;
    }
    for call in 0..calls {
        let blocked = (0..calls).any(|other| !sequence.contains(&other) && history.precedes(other, call));
        if !sequence.contains(&call) && !blocked && sequences.len() < MAX_ORDERS {
            sequence.push(call);
            extend(history, sequence, sequences);
            sequence.pop();
        }
    }
}

/// The one run that `decisions` determine.
pub(crate) fn replay(
    runner: &mut Runner<'_>,
    settings: &Settings,
    initial: &[StateId],
    allowed: CallSet,
    decisions: &Decisions,
    mut coverage: Coverage,
) -> Result<Report, Misuse> {
    let closed = settings.environment == Environment::Closed;
    if settings.adversary == Adversary::Naive {
        return Err(Misuse::Diverged { reason: "runs of the naive adversary are not recorded".to_owned() });
    }
    let rules = match closed {
        true => Rules { bound: 0, audit: true, ..rules(runner, settings, 0) },
        false => Rules { audit: true, ..rules(runner, settings, allowed) },
    };
    let (initial, draw): (Vec<StateId>, Draw) = match closed {
        true => (reachable(runner, initial)?, closed_program(runner).0),
        false => (initial.to_vec(), calls_at_once),
    };
    let mut source = ReplaySource::new(decisions.clone());
    let mut calls = SeveralCalls { runner, engine: engine(), rules, initial: &initial, draw };
    let made = calls.make(&mut source)?;
    if let Some(divergence) = source.divergence() {
        return Err(Misuse::Diverged { reason: divergence.to_string() });
    }
    let refuted = made.refuted(runner)?;
    coverage.complete = !refuted;
    coverage.calls = made.program.iter().map(Vec::len).sum();
    let violation = if refuted { Some(describe(runner, &made, decisions, 1)?) } else { None };
    let verdict = if refuted { Verdict::NotLinearizable } else { Verdict::Linearizable };
    Ok(Report { name: runner.description.name.clone(), verdict, violation, coverage: vec![coverage] })
}
