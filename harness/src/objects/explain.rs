//! A finding as a counterexample: one column for each sequence, and the sequential orders that do not explain it.

mod longest;

use interloper_commutativity::Value;
use interloper_linearize::outcomes::DEFAULT_BOUND;
use interloper_linearize::program::Behaviour;
use interloper_linearize::schema::Schema;
use interloper_linearize::visibility::{Level, Visibility};
use interloper_report::explorer::{Choices, Exploration};
use interloper_report::replay_file::Moment;
use interloper_report::{Column, Counterexample, Event as Shown, Lane, Order, Row};
use interloper_scheduler::links::Told;
use interloper_scheduler::runtime::{Action, Operation, TaskId};
use interloper_scheduler::words::is_silent;
use interloper_scheduler::{Deadline, End, Event, Fault};

use crate::explored::Followed;
use crate::faults::{Drawn, add_rows, is_like};
use crate::hunt::{Found, Runs, What};
use crate::judged;
use crate::mattered::{Known, choices};
use crate::object::sequential::late;
use crate::object::{Object, Program, Sequential};
use crate::stress::Blocked;
use crate::systematic::{self, Attempts, Trace, happens_before, is_of_object, sequence_name};

/// So many orders are shown.
const SHOWN_ORDERS: usize = 12;

/// Describes a finding of a method.
pub fn explain(object: &Object, method: &str, visibility: &Visibility, found: &Found) -> Counterexample {
    explain_until(object, method, visibility, found, Deadline::NEVER)
}

/// Describes a finding of a method. When the time is over, it shows one sequential order that does not explain the
/// outcome, and does not run the calls in other orders.
pub fn explain_until(
    object: &Object,
    method: &str,
    visibility: &Visibility,
    found: &Found,
    deadline: Deadline,
) -> Counterexample {
    let program = object.program(&found.schema).expect("a finding is of the object that it was found in");
    if !object.waits().is_under_control() {
        // The orders run here without a watch. If a call blocks in one of them, this finds out: the finding may come from another process.
        let _ = judged::within(&program, visibility, DEFAULT_BOUND, judged::PATIENCE, Deadline::NEVER);
    }
    let mut columns = columns(&found.schema);
    let (rows, orders) = match &found.what {
        What::Outcome { outcome, admitted } => {
            let rows = match traced(found) {
                Some(trace) => steps(&program, trace, Steps::OfCalls).into_iter().map(|(_, row)| row).collect(),
                None => results(&program, outcome),
            };
            (rows, orders(&program, visibility, outcome, admitted, deadline))
        }
        What::Blocked(places) => (blocked(&program, places), vec![]),
        What::Panicked(message) => {
            let in_a_call = traced(found).and_then(|trace| crashed(&program, trace));
            (in_a_call.unwrap_or_else(|| vec![Row::event(0, Shown::Panicked(message.clone()))]), vec![])
        }
        What::Memory(fault) => match traced(found) {
            Some(trace) => {
                (faulty(&program, trace, fault, &mut columns).into_iter().map(|(_, row)| row).collect(), vec![])
            }
            None => (vec![], vec![]),
        },
    };
    Counterexample {
        name: format!("{}.{method}", object.name()),
        verdict: found.what.kind().to_owned(),
        detail: match &found.runs {
            Runs::Systematic(explored) => format!("execution {} of {}", explored.executions, found.schema),
            Runs::Stress(_) => format!("on real threads, {}", found.schema),
        },
        start: "a new object".to_owned(),
        columns,
        rows,
        orders,
        deadlock: None,
        replay: None,
    }
    .with_source()
}

/// The finding as the page shows it: with all steps of the execution, and how they depend on each other, where the scheduler
/// ran it, and which of its choices mattered. `counterexample` is what [`explain`] says about it under the same `visibility`, `seed`
/// the seed of the continuations of the execution.
///
/// # Panics
/// When the finding is not one of the object.
pub fn explored(
    object: &Object,
    visibility: &Visibility,
    found: &Found,
    counterexample: &Counterexample,
    seed: u64,
) -> Exploration {
    let program = object.program(&found.schema).expect("a finding is of the object that it was found in");
    let mut exploration = Exploration::of(counterexample);
    let Some(trace) = traced(found) else { return exploration };
    let rows = match &found.what {
        What::Outcome { .. } => steps(&program, trace, Steps::OfCalls),
        What::Memory(fault) => faulty(&program, trace, fault, &mut columns(&found.schema)),
        What::Blocked(_) | What::Panicked(_) => return exploration,
    };
    let rows: Vec<Option<usize>> = rows.into_iter().map(|(event, _)| event).collect();
    let happens_before = happens_before(&program, trace);
    let told = Told { accesses: &trace.accesses, older: &trace.older, happens_before: happens_before.as_deref() };
    Followed::new(&trace.steps, told, trace.names.clone()).add_to(&mut exploration, &rows, &[]);
    if matches!(found.what, What::Outcome { .. }) {
        exploration.linearization = longest::linearization(&program, trace, &exploration);
    }
    exploration.choices = mattered((&program, visibility), trace, &rows, seed);
    exploration
}

/// A column for each sequence.
fn columns(schema: &Schema) -> Vec<Column> {
    (0..schema.sequences().len()).map(|index| Column { title: sequence_name(index), lane: Lane::Thread }).collect()
}

/// Which choices of an execution led to its outcome: from which of them on random continuations are incorrect, too. `None` if
/// the correct outcomes cannot be computed.
fn mattered(
    (program, visibility): (&Program, &Visibility),
    trace: &Trace,
    rows: &[Option<usize>],
    seed: u64,
) -> Option<Choices> {
    let judged = judged::within(program, visibility, DEFAULT_BOUND, judged::PATIENCE, Deadline::NEVER);
    let (judge, _) = judged.ok()?;
    let mut fails = |end: &End, outcome: Option<&[Value]>| match (&trace.end, end) {
        (End::Memory(fault), End::Memory(other)) => is_like(fault, other),
        (End::Memory(_), _) => false,
        _ => outcome.is_some_and(|outcome| !judge.admits(outcome)),
    };
    if !fails(&trace.end, Some(&trace.outcome)) {
        return None;
    }
    let mut attempts = Attempts::new(program, trace.limits);
    let known = Known { trace: &trace.steps, rows, decisions: trace.decisions() };
    Some(choices(known, seed, &mut |continued| attempts.run(continued, &mut fails)))
}

/// Describes an execution of a schema that was ended before it had an outcome: see
/// [`Coverage::first_cut`](crate::hunt::Coverage::first_cut).
///
/// # Panics
/// When the schema is not one of the object.
pub fn explain_cut(object: &Object, method: &str, schema: &Schema, trace: &Trace) -> Counterexample {
    let program = object.program(schema).expect("an execution is of the object that it was seen on");
    let mut decisions = trace.decisions().to_string();
    if decisions.len() > LONGEST_DECISIONS {
        decisions = format!("too many to show: {}", trace.decisions().0.len());
    }
    let mut rows: Vec<Row> = steps(&program, trace, Steps::All).into_iter().map(|(_, row)| row).collect();
    let left_out = rows.len().saturating_sub(SHOWN_STEPS);
    if left_out > 0 {
        rows.drain(..left_out);
        rows[0].notes.push(format!("{left_out} earlier steps are not shown"));
    }
    Counterexample {
        name: format!("{}.{method}", object.name()),
        verdict: match &trace.end {
            End::Livelock(_) => "livelock".to_owned(),
            End::Failed { reason, .. } => format!("ended: {reason}"),
            _ => "no end within the bound on steps".to_owned(),
        },
        detail: format!("an execution of {schema} that has no outcome, decisions {decisions}"),
        start: "a new object".to_owned(),
        columns: columns(schema),
        rows,
        orders: vec![],
        deadlock: None,
        replay: None,
    }
    .with_source()
}

/// An execution by its structure: its steps, and the result of each call in text order.
pub fn history(trace: &Trace) -> Vec<Moment> {
    let step = |(index, event): (usize, &Event)| {
        let says = format!("{}: {}", trace.names.task(event.task), trace.names.event(index, event.operation));
        let moment = Moment::new(Some(event.task.0), event.operation.action.code(), &says);
        let moment = Moment { object: u32::try_from(event.operation.object.index()).ok(), ..moment };
        if event.only_read { moment.with("only reads") } else { moment }
    };
    let steps = trace.steps.iter().enumerate();
    let steps = steps.filter(|(_, event)| !is_silent(event.operation.action)).map(step);
    let result = |(call, result): (usize, &Value)| {
        let says = format!("call {} returned {result}", call + 1);
        Moment::new(u32::try_from(call).ok(), "returned", &says).with(result)
    };
    steps.chain(trace.outcome.iter().enumerate().map(result)).collect()
}

/// How many of the last steps of a cut execution are shown.
const SHOWN_STEPS: usize = 60;
/// Decisions of more letters than this are not shown.
const LONGEST_DECISIONS: usize = 500;

fn traced(found: &Found) -> Option<&Trace> {
    match &found.runs {
        Runs::Systematic(explored) => explored.stopped.as_ref(),
        Runs::Stress(_) => None,
    }
}

/// The calls as text, in text order, and the sequence of each.
fn calls(program: &Program) -> Vec<(usize, String)> {
    let sequences = program.schema().sequences().iter().enumerate();
    sequences.flat_map(|(number, calls)| calls.iter().map(move |call| (number, call.to_string()))).collect()
}

/// Which steps of a sequence are shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Steps {
    /// Those of its calls: results come from nothing else.
    OfCalls,
    /// Those of its thread-locals, too, which are dropped after the last call.
    All,
}

/// The calls of a trace with these steps, in the order in which they happened. Each step comes with its index in the trace.
fn steps(program: &Program, trace: &Trace, shown: Steps) -> Vec<(Option<usize>, Row)> {
    let calls = calls(program);
    let begins = |step: usize, sequence: usize, call: usize| {
        calls[call].0 == sequence && trace.calls[call].is_some_and(|span| span.begin == step)
    };
    let between = |sequence: usize, event: Shown| (None, Row::event(sequence, event));
    let returned = |call: usize| between(calls[call].0, Shown::Returned(trace.outcome[call].to_string()));
    let mut rows = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    let mut made = vec![false; calls.len()];
    for step in 0..=trace.steps.len() {
        let event = trace.steps.get(step);
        // A call ends before the next call of its sequence begins. A call begins just before the next step of its
        // sequence; a call without a step ends where it began.
        let ended = |call: &usize| trace.calls[*call].and_then(|span| span.end).is_some_and(|end| end <= step);
        rows.extend(open.iter().filter(|call| ended(call)).map(|&call| returned(call)));
        open.retain(|call| !ended(call));
        for call in 0..calls.len() {
            let (sequence, text) = &calls[call];
            if made[call] || !begins(step, *sequence, call) {
                continue;
            }
            made[call] = true;
            rows.push(between(*sequence, Shown::Called(text.clone())));
            match ended(&call) {
                true => rows.push(returned(call)),
                false => open.push(call),
            }
        }
        let Some(event) = event else { break };
        let column = trace.tasks.iter().position(|task| *task == Some(event.task));
        let text = column.and_then(|_| says(trace, step, event.operation));
        if let (Some(column), Some(text)) = (column, text)
            && (shown == Steps::All && is_of_object(event, &trace.tasks)
                || open.iter().any(|&call| calls[call].0 == column))
        {
            let location = Some(event.operation.location.to_string());
            rows.push((Some(step), Row { location, ..Row::event(column, Shown::Operation(text)) }));
        }
    }
    for &call in &open {
        rows.push(between(calls[call].0, Shown::Blocked(format!("{} never returns", calls[call].1))));
    }
    rows
}

/// The same with what a fault of plain memory is about. Tasks that run no sequence get a column of their own.
fn faulty(program: &Program, trace: &Trace, fault: &Fault, columns: &mut Vec<Column>) -> Vec<(Option<usize>, Row)> {
    let mut others: Vec<TaskId> = fault.tasks().filter(|task| !trace.tasks.contains(&Some(*task))).collect();
    others.sort_unstable();
    others.dedup();
    columns.extend(others.iter().map(|task| Column { title: trace.names.task(*task), lane: Lane::Thread }));
    let column = |task: TaskId| {
        let sequence = trace.tasks.iter().position(|one| *one == Some(task));
        let other = || trace.tasks.len() + others.iter().position(|one| *one == task).unwrap_or(0);
        sequence.unwrap_or_else(other)
    };
    let mut drawn: Vec<Drawn> = Vec::new();
    let mut next = trace.steps.len();
    // The fault has ended the execution: no call waits for anything.
    let rows = steps(program, trace, Steps::All).into_iter().filter(|(_, row)| !matches!(row.event, Shown::Blocked(_)));
    for (event, row) in rows.rev() {
        next = event.unwrap_or(next);
        drawn.push(Drawn { index: next, is_event: event.is_some(), is_marked: false, row });
    }
    drawn.reverse();
    add_rows(&mut drawn, fault, &trace.names, &column);
    drawn.into_iter().map(|drawn| (drawn.is_event.then_some(drawn.index), drawn.row)).collect()
}

/// The same of an execution that a sequence ended by what the system kills a process for, with that at its end.
fn crashed(program: &Program, trace: &Trace) -> Option<Vec<Row>> {
    let (task, what, last) = match &trace.end {
        End::Crashed { task, crash, last, .. } => (task, format!("crashes: {crash}"), last),
        End::StackOverflow { task, last } => (task, "its stack is used up".to_owned(), last),
        _ => return None,
    };
    let column = trace.tasks.iter().position(|one| *one == Some(*task))?;
    let rows = steps(program, trace, Steps::All).into_iter().map(|(_, row)| row);
    let notes = vec!["the place is that of its last step".to_owned()];
    let end = Row { location: Some(last.location.to_string()), notes, ..Row::event(column, Shown::Blocked(what)) };
    Some(rows.filter(|row| !matches!(row.event, Shown::Blocked(_))).chain([end]).collect())
}

/// A step in words. None for a step that belongs to the task and not to the object.
fn says(trace: &Trace, index: usize, operation: Operation) -> Option<String> {
    let of_the_task = matches!(
        operation.action,
        Action::Start | Action::Exit | Action::End | Action::BlockBegin(_) | Action::BlockEnd
    );
    (!of_the_task && !is_silent(operation.action)).then(|| trace.names.event(index, operation))
}

/// The calls with their results, one sequence after the other: real threads leave no trace.
fn results(program: &Program, outcome: &[Value]) -> Vec<Row> {
    let row = |((sequence, text), result): ((usize, String), &Value)| {
        Row::event(sequence, Shown::Operation(format!("{text} → {result}")))
    };
    calls(program).into_iter().zip(outcome).map(row).collect()
}

fn blocked(program: &Program, places: &[Blocked]) -> Vec<Row> {
    let calls = calls(program);
    let mut places: Vec<Blocked> = places.to_vec();
    places.dedup();
    let row = |place: Blocked| match place {
        Blocked::Call(call) => Row::event(calls[call].0, Shown::Blocked(format!("{} never returns", calls[call].1))),
        Blocked::Constructor => Row::event(0, Shown::Blocked("the constructor never returns".to_owned())),
        Blocked::Drop => Row::event(0, Shown::Blocked("dropping the object never ends".to_owned())),
    };
    places.into_iter().map(row).collect()
}

/// Each sequential order with its first result that differs. If methods may miss earlier calls, there are more
/// explanations than orders: then the report says how many outcomes are correct.
fn orders(
    program: &Program,
    visibility: &Visibility,
    outcome: &[Value],
    admitted: &[Vec<Value>],
    deadline: Deadline,
) -> Vec<Order> {
    let complete = |(_, predicates): (&str, &[_])| predicates == [Level::Complete.into()];
    if !visibility.entries().all(complete) {
        let sequence = format!("any order, with {visibility}");
        let first = admitted.first().map(|first| crate::generated::text(first)).unwrap_or_default();
        return vec![Order { sequence, disagreement: format!("other outcomes, such as {first}") }];
    }
    let mut search = Orders { program, outcome, deadline, taken: vec![], all: vec![], more: 0, out_of_time: false };
    search.extend(&mut program.sequential());
    let mut orders = search.all;
    if search.more > 0 {
        let disagreement = "no order gives the outcome".to_owned();
        orders.push(Order { sequence: format!("{} more", search.more), disagreement });
    }
    if search.out_of_time {
        let disagreement = "none gives the outcome (the time ran out before each was listed)".to_owned();
        orders.push(Order { sequence: "other orders".to_owned(), disagreement });
    }
    orders
}

/// Goes through the orders of the calls that keep their sequences and happens-before.
struct Orders<'a> {
    program: &'a Program,
    outcome: &'a [Value],
    deadline: Deadline,
    taken: Vec<usize>,
    all: Vec<Order>,
    more: usize,
    out_of_time: bool,
}

/// More orders than this are not counted.
const COUNTED: usize = 10_000;

impl Orders<'_> {
    fn extend(&mut self, sequential: &mut Sequential) {
        let predecessors = self.program.schema().predecessors();
        if self.more >= COUNTED || self.out_of_time {
            return;
        }
        if !self.all.is_empty() && self.deadline.is_over() {
            self.out_of_time = true;
            return;
        }
        if self.taken.len() == predecessors.len() {
            if self.all.len() == SHOWN_ORDERS {
                self.more += 1;
            } else if let Some(order) = self.order(sequential) {
                self.all.push(order);
            }
            return;
        }
        for (call, before) in predecessors.iter().enumerate() {
            let ready = before.iter().all(|before| self.taken.contains(before));
            if ready && !self.taken.contains(&call) {
                self.taken.push(call);
                self.extend(sequential);
                self.taken.pop();
            }
        }
    }

    /// The order that was taken, with the first result that differs.
    fn order(&self, sequential: &mut Sequential) -> Option<Order> {
        let calls = told_apart(self.program.schema());
        let mut state = sequential.initial();
        let mut disagreement = None;
        for &call in &self.taken {
            let (next, result) = sequential.apply(&state, call);
            state = next;
            if disagreement.is_none() && result != self.outcome[call] {
                disagreement = Some(match &result {
                    result if *result == late() => format!("{} does not block", calls[call]),
                    result if *result == systematic::blocked() => format!("{} blocks", calls[call]),
                    result => format!("{} returns {result}", calls[call]),
                });
            }
        }
        let sequence = self.taken.iter().map(|&call| calls[call].clone()).collect::<Vec<_>>().join(", ");
        Some(Order { sequence, disagreement: disagreement? })
    }
}

/// The calls of a schema in text order. Calls with the same text have the number of their sequence, and those of one sequence a number of
/// their own.
fn told_apart(schema: &Schema) -> Vec<String> {
    let sequences = schema.sequences().iter().enumerate();
    let calls: Vec<(usize, String)> =
        sequences.flat_map(|(number, calls)| calls.iter().map(move |call| (number + 1, call.to_string()))).collect();
    let named = |(at, (sequence, text)): (usize, &(usize, String))| {
        let same = |upto: usize| calls[..upto].iter().filter(|(_, other)| other == text).count();
        let here = |upto: usize| calls[..upto].iter().filter(|call| *call == &(*sequence, text.clone())).count();
        match (same(calls.len()), here(calls.len())) {
            (1, _) => text.clone(),
            (all, own) if all == own => format!("{text} #{}", here(at) + 1),
            (_, 1) => format!("{text} of sequence {sequence}"),
            _ => format!("{text} #{} of sequence {sequence}", here(at) + 1),
        }
    };
    calls.iter().enumerate().map(named).collect()
}

#[cfg(test)]
mod tests {
    use interloper_std::sync::atomic::{AtomicI64, Ordering::SeqCst};

    use super::*;
    use crate::hunt::{Engine, Hunt, Source};
    use crate::next::Next;
    use crate::schemas::Pool;
    use crate::testing::method;

    /// Writes when the thread ends.
    struct Leaves(AtomicI64);

    impl Drop for Leaves {
        fn drop(&mut self) {
            self.0.store(1, SeqCst);
        }
    }

    interloper_std::thread_local! {
        static LEAVES: Leaves = const { Leaves(AtomicI64::new(0)) };
    }

    #[test]
    fn calls_with_the_same_text_are_told_apart() {
        let check = |schema: &str, expected: &[&str]| {
            assert_eq!(told_apart(&Schema::parse(schema).expect("a schema")), expected, "{schema}");
        };
        check("{ push(0); pop() } || { push(1) }", &["push(0)", "pop()", "push(1)"]);
        check("{ push(0); pop() } || { push(0) }", &["push(0) of sequence 1", "pop()", "push(0) of sequence 2"]);
        check("{ pop(); pop() } || { len() }", &["pop() #1", "pop() #2", "len()"]);
        let both = ["pop() #1 of sequence 1", "pop() #2 of sequence 1", "pop() of sequence 2"];
        check("{ pop(); pop() } || { pop() }", &both);
    }

    /// What ends an execution inside of a call has its steps before it, in the column of its sequence.
    #[test]
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    fn a_crash_in_a_call_is_shown_where_it_happens() {
        use interloper_std::sync::atomic::AtomicUsize;
        let object = Object::describe("slot", || (AtomicI64::new(0), AtomicUsize::new(1 << 20)))
            .core("put", |(is_there, place), ()| {
                is_there.store(1, SeqCst);
                place.store(Box::into_raw(Box::new(7_i64)).expose_provenance(), SeqCst);
            })
            .core("get", |(is_there, place), ()| match is_there.load(SeqCst) {
                0 => 0,
                // SAFETY: none where `put` is between its stores; this is what is tested.
                _ => unsafe { std::ptr::with_exposed_provenance::<i64>(place.load(SeqCst)).read_volatile() },
            })
            .build();
        let source = Source::Given(vec![Schema::parse("{ put() } || { get() }").expect("a schema")]);
        let pool = Pool::One(method(&object, "get"));
        let hunted =
            Hunt { source, engine: Engine::exhaustive(), ..Hunt::new(&object, pool, 1) }.run(&mut |_| Next::Continue);
        let shown = explain(&object, "get", object.visibility(), hunted.found().expect("a crash"));
        assert_eq!(shown.verdict, "crashes");
        let says = |row: &Row| (row.column, row.event.to_string());
        let rows: Vec<(usize, String)> = shown.rows.iter().map(says).collect();
        let last = (1, "crashes: access to memory that the process does not have (SIGSEGV)".to_owned());
        assert_eq!(rows.last(), Some(&last), "{rows:?}");
        assert!(
            rows.contains(&(0, "called put()".to_owned())) && rows.contains(&(1, "called get()".to_owned())),
            "{rows:?}"
        );
    }

    /// What thread-locals do when their thread ends comes after the last call, and a fault may lie there. What the harness itself does
    /// there, to start the sequence that waits for this one, is nobody's fault.
    #[test]
    fn the_steps_of_thread_locals_are_shown_for_faults() {
        let object = Object::describe("counter", || AtomicI64::new(0))
            .core("bump", |counter, ()| {
                LEAVES.with(|_| ());
                counter.store(counter.load(SeqCst) + 1, SeqCst);
            })
            .core("get", |counter, ()| counter.load(SeqCst))
            .build();
        let schema = Schema::parse("[bump()], [bump()], [get()], {0<2, 1<2}").expect("a schema");
        let source = Source::Given(vec![schema]);
        let pool = Pool::One(method(&object, "bump"));
        let hunted =
            Hunt { source, engine: Engine::exhaustive(), ..Hunt::new(&object, pool, 1) }.run(&mut |_| Next::Continue);
        let found = hunted.found().expect("a bump is lost");
        let (program, trace) = (object.program(&found.schema).expect("of the object"), traced(found).expect("a trace"));
        let of_column = |shown, column: usize| {
            let rows = steps(&program, trace, shown).into_iter().map(|(_, row)| row);
            rows.filter(|row| row.column == column).collect::<Vec<Row>>()
        };
        for column in [0, 1] {
            let (calls, all) = (of_column(Steps::OfCalls, column), of_column(Steps::All, column));
            assert_eq!(calls.last().map(|row| &row.event), Some(&Shown::Returned("()".to_owned())));
            let (same, rest) = all.split_at(calls.len());
            assert_eq!(same, calls);
            let [Row { event: Shown::Operation(text), location: Some(place), .. }] = rest else { panic!("{rest:?}") };
            assert!(text.starts_with("writes ") && place.contains("explain.rs"), "{text} at {place}");
        }
        assert_eq!(of_column(Steps::All, 2), of_column(Steps::OfCalls, 2));
    }
}
