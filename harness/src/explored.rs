//! What the page of an execution shows beyond its report, where the steps were followed one by one: objects, locks, and how
//! the steps depend on each other.

use std::collections::BTreeMap;

use interloper_report::explorer::{Exploration, Extent, Hold, Kind, Reads, Span, Step, Texts};
use interloper_scheduler::links::{Held, Link, Told, held, links};
use interloper_scheduler::runtime::{Action, Mode, ObjectKind, TaskId};
use interloper_scheduler::words::Names;
use interloper_scheduler::{Event, TaskReport};

/// An execution whose steps are known.
#[derive(Clone, Debug)]
pub struct Followed {
    trace: Vec<Event>,
    links: Vec<Link>,
    held: Vec<Held>,
    names: Names,
    blocks: Vec<Block>,
    /// Whether the links say what happens before what.
    knows_order: bool,
}

/// An atomic block of an execution, by its first and its last event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// What it is called.
    pub name: String,
    /// The event that begins it.
    pub from: usize,
    /// The event that ends it, if one does.
    pub until: Option<usize>,
    /// Whether it is the block that was interrupted.
    pub marked: bool,
}

impl Followed {
    /// Follows an execution.
    #[must_use]
    pub fn new(trace: &[Event], told: Told<'_>, names: Names) -> Followed {
        let links = links(trace, told, |object| names.kind(object) == Some(ObjectKind::Atomic));
        let knows_order = told.happens_before.is_some();
        Followed { links, held: held(trace), trace: trace.to_vec(), names, blocks: Vec::new(), knows_order }
    }

    /// The same execution with its blocks.
    #[must_use]
    pub fn with_blocks(self, blocks: Vec<Block>) -> Followed {
        Followed { blocks, ..self }
    }

    /// Adds what is known to an exploration. `rows` has the event that each of its steps is, and `None` for a step that is no
    /// event; `stuck` are the tasks that cannot go on, in the order of the last steps that say so.
    pub fn add_to(&self, exploration: &mut Exploration, rows: &[Option<usize>], stuck: &[TaskReport]) {
        let shown = Shown::new(self, exploration, rows);
        let mut objects = Texts::of(std::mem::take(&mut exploration.objects));
        self.add_objects(exploration, rows, &mut objects);
        self.add_links(exploration, rows, &shown);
        self.add_holds(exploration, &shown, &mut objects);
        exploration.objects = objects.into_all();
        self.add_blocks(exploration, &shown);
        self.add_stuck(exploration, &shown, stuck);
    }

    fn add_objects(&self, exploration: &mut Exploration, rows: &[Option<usize>], objects: &mut Texts) {
        for (step, event) in exploration.steps.iter_mut().zip(rows) {
            let Some(operation) = event.map(|event| self.trace[event].operation) else { continue };
            if !operation.action.is_private() {
                step.object = Some(objects.index(&self.names.object(operation.object)));
            }
        }
    }

    /// How the steps that are shown depend on each other, what happens before what, and which stores they read.
    fn add_links(&self, exploration: &mut Exploration, rows: &[Option<usize>], shown: &Shown) {
        // A task may access plain memory before its first event that is shown. That comes after its start, too.
        let before_events = |task: TaskId| {
            let lane = *shown.lanes.get(&task)?;
            let first = exploration.steps.iter().position(|step| step.task == lane)?;
            rows[first].is_none().then_some(first as u32)
        };
        let tasks: Vec<TaskId> = shown.lanes.keys().copied().collect();
        let early: BTreeMap<TaskId, u32> =
            tasks.into_iter().filter_map(|task| Some((task, before_events(task)?))).collect();
        self.order(
            (exploration, shown, &early),
            |link| &link.after,
            |step, after, let_on| {
                (step.after, step.woken_by) = (after, let_on);
            },
        );
        if self.knows_order {
            exploration.knows_happens_before = true;
            self.order(
                (exploration, shown, &early),
                |link| &link.happens_after,
                |step, after, _| {
                    step.happens_after = after;
                },
            );
        }
        for event in 0..self.trace.len() {
            self.add_reads(exploration, shown, event);
        }
    }

    /// Says of each step that is shown which ones it comes directly after, by the edges of the events, and which one let its task go
    /// on. Where a step is not shown, what comes before it comes before the next step of its task. `early` has the first row of
    /// each task whose first row is no event.
    fn order(
        &self,
        (exploration, shown, early): (&mut Exploration, &Shown, &BTreeMap<TaskId, u32>),
        edges: impl Fn(&Link) -> &[u32],
        note: impl Fn(&mut Step, Vec<u32>, Option<u32>),
    ) {
        let mut carried: BTreeMap<TaskId, (Vec<u32>, Option<u32>)> = BTreeMap::new();
        // By the first event of each step: the rows that stand for it.
        let mut stands: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        let mut last: BTreeMap<TaskId, u32> = BTreeMap::new();
        let mut start = 0;
        while start < self.trace.len() {
            let parts = self.trace[start + 1..].iter().take_while(|event| event.continues).count();
            let events = start..start + 1 + parts;
            let task = self.trace[start].task;
            let (mut after, mut let_on) = carried.remove(&task).unwrap_or_default();
            after.extend(edges(&self.links[start]).iter().filter_map(|step| stands.get(step)).flatten());
            let_on = events.clone().find_map(|event| self.let_on(event, &stands)).or(let_on);
            let rows: Vec<u32> = events.filter_map(|event| shown.row(event)).collect();
            match (rows.first(), rows.last()) {
                (Some(&first), Some(&end)) => {
                    let steps = &mut exploration.steps;
                    let own = steps[first as usize].task;
                    after.retain(|&before| before < first && steps[before as usize].task != own);
                    after.sort_unstable();
                    after.dedup();
                    note(&mut steps[first as usize], after, let_on);
                    stands.insert(start as u32, vec![end]);
                    last.insert(task, end);
                }
                _ if self.trace[start].operation.action == Action::Start && early.contains_key(&task) => {
                    let row = early[&task];
                    note(&mut exploration.steps[row as usize], after, let_on);
                    stands.insert(start as u32, vec![row]);
                    last.insert(task, row);
                }
                _ => {
                    stands.insert(start as u32, after.iter().chain(last.get(&task)).copied().collect());
                    carried.insert(task, (after, let_on));
                }
            }
            start += 1 + parts;
        }
    }

    /// The row of the event that let an event's task go on.
    fn let_on(&self, event: usize, stands: &BTreeMap<u32, Vec<u32>>) -> Option<u32> {
        let by = self.links[event].let_on_by?;
        // A step is known by its first event.
        stands.range(..=by).next_back().and_then(|(_, rows)| rows.last().copied())
    }

    fn add_reads(&self, exploration: &mut Exploration, shown: &Shown, event: usize) {
        let (Some(row), Some(read)) = (shown.row(event), &self.links[event].reads) else { return };
        let row_of = |event: &Option<u32>| event.and_then(|event| shown.row(event as usize));
        let others = read.others.iter().map(row_of).collect();
        exploration.steps[row as usize].reads = Some(Reads { from: row_of(&read.from), stale: read.stale, others });
    }

    /// The locks in the hands of tasks. A task that is polled holds its executor: that goes without saying.
    fn add_holds(&self, exploration: &mut Exploration, shown: &Shown, objects: &mut Texts) {
        for held in &self.held {
            let Some(&task) = shown.lanes.get(&held.hold.task) else { continue };
            if self.names.kind(held.hold.lock) == Some(ObjectKind::EXECUTOR) {
                continue;
            }
            let mode = match held.hold.mode {
                Mode::Exclusive => "",
                Mode::Shared => "shared",
                Mode::Upgradable => "upgradable",
            };
            let (Some(from), until) = (shown.from(held.from), held.until.map(|until| shown.until(until))) else {
                continue;
            };
            // Given back before the first step that is shown.
            let Some(until) = until.map_or(Some(None), |until| until.map(Some)) else { continue };
            let task = shown.row(held.from as usize).map_or(task, |row| exploration.steps[row as usize].task);
            let object = objects.index(&self.names.object(held.hold.lock));
            exploration.holds.push(Hold { task, object, mode: mode.to_owned(), from, until });
        }
    }

    fn add_blocks(&self, exploration: &mut Exploration, shown: &Shown) {
        let mut texts = Texts::of(std::mem::take(&mut exploration.texts));
        for Block { name, from, until, marked } in &self.blocks {
            let Some(&task) = shown.lanes.get(&self.trace[*from].task) else { continue };
            let (Some(from), until) = (shown.from(*from as u32), until.map(|until| shown.until(until as u32))) else {
                continue;
            };
            let Some(until) = until.map_or(Some(None), |until| until.map(Some)) else { continue };
            let (text, what) = (texts.index(name), Extent::Block);
            exploration.spans.push(Span { task, text, from, until, what, marked: *marked });
        }
        exploration.texts = texts.into_all();
        exploration.spans.sort_by_key(|span| (span.from, span.task));
    }

    /// Leads from each task that waits for a lock to the step that took the lock.
    fn add_stuck(&self, exploration: &mut Exploration, shown: &Shown, stuck: &[TaskReport]) {
        let is_end = |step: &&mut Step| step.kind == Kind::Blocked;
        for (step, report) in exploration.steps.iter_mut().filter(is_end).zip(stuck) {
            let in_the_way = |held: &&Held| {
                held.until.is_none()
                    && held.hold.lock == report.wants.object
                    && (report.waits_for.contains(&held.hold.task) || held.hold.task == report.task)
            };
            step.blocked_by = self.held.iter().find(in_the_way).and_then(|held| shown.row(held.from as usize));
        }
    }
}

/// Where the events of an execution are among the steps that are shown.
struct Shown {
    /// By event.
    rows: Vec<Option<u32>>,
    /// By event: the first step from it on, and the last one up to it. A few of the steps of a long execution are shown, and
    /// thousands of holds ask for them.
    next: Vec<Option<u32>>,
    last: Vec<Option<u32>>,
    lanes: BTreeMap<TaskId, u32>,
}

impl Shown {
    fn new(followed: &Followed, exploration: &Exploration, rows: &[Option<usize>]) -> Shown {
        let mut shown = Shown {
            rows: vec![None; followed.trace.len()],
            next: Vec::new(),
            last: Vec::new(),
            lanes: BTreeMap::new(),
        };
        for ((row, event), step) in (0..).zip(rows).zip(&exploration.steps) {
            let Some(event) = *event else { continue };
            shown.rows[event] = Some(row);
            shown.lanes.insert(followed.trace[event].task, step.task);
        }
        let nearest = |nearest: &mut Option<u32>, row: &Option<u32>| {
            *nearest = row.or(*nearest);
            Some(*nearest)
        };
        shown.last = shown.rows.iter().scan(None, nearest).collect();
        shown.next = shown.rows.iter().rev().scan(None, nearest).collect();
        shown.next.reverse();
        shown
    }

    fn row(&self, event: usize) -> Option<u32> {
        self.rows[event]
    }

    /// The first step from an event on.
    fn from(&self, event: u32) -> Option<u32> {
        self.next[event as usize]
    }

    /// The last step up to an event.
    fn until(&self, event: u32) -> Option<u32> {
        self.last[event as usize]
    }
}

#[cfg(test)]
mod tests {
    use std::panic::Location;

    use interloper_scheduler::Cause;
    use interloper_scheduler::runtime::{ObjectId, Operation};

    use super::*;

    fn event(task: u32, object: u32, action: Action) -> Event {
        let operation = Operation { object: ObjectId::from_index(object), action, location: Location::caller() };
        Event { task: TaskId(task), operation, continues: false, only_read: false, cause: Cause::Ready }
    }

    /// The steps with these rows; the lane of a row is the task of its event.
    fn explored(trace: &[Event], rows: &[Option<usize>]) -> Exploration {
        let step = |row: &Option<usize>| Step { task: row.map_or(0, |event| trace[event].task.0), ..Step::default() };
        let mut exploration = Exploration { steps: rows.iter().map(step).collect(), ..Exploration::default() };
        Followed::new(trace, Told::default(), Names::default()).add_to(&mut exploration, rows, &[]);
        exploration
    }

    #[test]
    fn what_is_not_shown_passes_its_order_on() {
        use Action::{Start, Write};
        let mut trace = [event(0, 1, Write), event(1, 9, Start), event(1, 2, Write), event(0, 2, Write)];
        trace[1].cause = Cause::Event(0);
        let after = |rows: &[Option<usize>]| -> Vec<(Vec<u32>, Option<u32>)> {
            explored(&trace, rows).steps.into_iter().map(|step| (step.after, step.woken_by)).collect()
        };
        let all = [(vec![], None), (vec![0], Some(0)), (vec![], None), (vec![2], None)];
        assert_eq!(after(&[Some(0), Some(1), Some(2), Some(3)]), all);
        // Without its first step, the task was spawned before its second.
        let fewer = [(vec![], None), (vec![0], Some(0)), (vec![1], None)];
        assert_eq!(after(&[Some(0), Some(2), Some(3)]), fewer);
        // A row that is no event has no order.
        let with_end = [(vec![], None), (vec![0], Some(0)), (vec![1], None), (vec![], None)];
        assert_eq!(after(&[Some(0), Some(2), Some(3), None]), with_end);
    }

    #[test]
    fn what_happens_before_is_passed_on_likewise() {
        use Action::{Read, Start, Write};
        let mut trace =
            [event(0, 1, Write), event(1, 9, Start), event(1, 2, Read), event(1, 1, Read), event(0, 2, Write)];
        trace[1].cause = Cause::Event(0);
        // The second load of the other task synchronises with nothing.
        let edges = [(1, 0), (4, 2)];
        let explored = |told: Told<'_>, rows: &[Option<usize>]| {
            let step =
                |row: &Option<usize>| Step { task: row.map_or(0, |event| trace[event].task.0), ..Step::default() };
            let mut exploration = Exploration { steps: rows.iter().map(step).collect(), ..Exploration::default() };
            Followed::new(&trace, told, Names::default()).add_to(&mut exploration, rows, &[]);
            let after = exploration.steps.into_iter().map(|step| step.happens_after).collect::<Vec<_>>();
            (exploration.knows_happens_before, after)
        };
        let told = Told { happens_before: Some(&edges), ..Told::default() };
        let all = vec![vec![], vec![0], vec![], vec![], vec![2]];
        assert_eq!(explored(told, &[Some(0), Some(1), Some(2), Some(3), Some(4)]), (true, all));
        // Without the load that synchronises, what comes before it comes before the store.
        assert_eq!(explored(told, &[Some(0), Some(3), Some(4)]), (true, vec![vec![], vec![0], vec![]]));
        assert_eq!(explored(Told::default(), &[Some(0), Some(4)]), (false, vec![vec![], vec![]]));
    }

    /// What a task does with plain memory is a row, and no event.
    #[test]
    fn what_comes_before_the_first_event_of_a_task_comes_after_its_start() {
        use Action::{Start, Write};
        let mut trace = [event(0, 1, Write), event(1, 9, Start), event(1, 2, Write)];
        trace[1].cause = Cause::Event(0);
        let rows = [Some(0), None, Some(2), None];
        let lane = |task| Step { task, ..Step::default() };
        let steps = vec![lane(0), lane(1), lane(1), lane(0)];
        let mut exploration = Exploration { steps, ..Exploration::default() };
        Followed::new(&trace, Told::default(), Names::default()).add_to(&mut exploration, &rows, &[]);
        let after: Vec<(Vec<u32>, Option<u32>)> =
            exploration.steps.into_iter().map(|step| (step.after, step.woken_by)).collect();
        assert_eq!(after, [(vec![], None), (vec![0], Some(0)), (vec![], None), (vec![], None)]);
    }

    #[test]
    fn a_lock_is_a_bar_over_the_steps_that_are_shown() {
        let (lock, unlock) = (Action::Lock(Mode::Shared), Action::Unlock(Mode::Shared));
        let trace = [event(0, 1, lock), event(0, 5, Action::Read), event(0, 1, unlock), event(0, 1, lock)];
        let holds = |rows: &[Option<usize>]| -> Vec<(u32, Option<u32>)> {
            let holds = explored(&trace, rows).holds;
            assert!(holds.iter().all(|hold| hold.mode == "shared"));
            holds.into_iter().map(|hold| (hold.from, hold.until)).collect()
        };
        assert_eq!(holds(&[Some(0), Some(1), Some(2), Some(3)]), [(0, Some(2)), (3, None)]);
        assert_eq!(holds(&[Some(1), Some(3)]), [(0, Some(0)), (1, None)]);
        assert_eq!(holds(&[Some(3)]), [(0, None)]);
    }
}
