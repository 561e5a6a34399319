//! Conflict serialisability: the precedence graph of an execution has no cycle.

use interloper_scheduler::{Cause, Event};
use interloper_std::runtime::Action;

use super::annotated::Annotated;
use super::sections::Passage;

/// A trace longer than this is not looked at: the graph is quadratic.
const LONGEST: usize = 4096;

/// Whether the execution is equivalent to an execution in which no block is interrupted: one with the same steps, and
/// with dependent steps in the same order. Then both have the same outcome.
///
/// The precedence graph has a node for each block and for each step outside blocks. It has an edge from a node to each
/// later node that belongs to the same task or has a step that depends on a step of the first. Without a cycle, every
/// topological order of the graph is such an execution. (P. A. Bernstein, V. Hadzilacos, N. Goodman, *Concurrency
/// Control and Recovery in Database Systems*, 1987, theorem 2.1.) False for a trace that is too long for the graph.
pub(crate) fn is_serialisable(annotated: &Annotated, trace: &[Event]) -> bool {
    trace.len() <= LONGEST && !has_cycle(&edges(&nodes(annotated, trace), trace))
}

/// The node of each step.
fn nodes(annotated: &Annotated, trace: &[Event]) -> Vec<usize> {
    let mut blocks: Vec<usize> = Vec::new();
    let mut last: Vec<Option<usize>> = Vec::new();
    let mut count = 0;
    let mut nodes = Vec::with_capacity(trace.len());
    for (event, &passage) in trace.iter().zip(annotated.passages()) {
        let task = event.task.index();
        if last.len() <= task {
            last.resize(task + 1, None);
        }
        let block = match passage {
            Passage::Outside => None,
            Passage::Enters(block) | Passage::Inside(block) | Passage::Leaves(block) | Passage::Cancels(block) => {
                Some(block as usize)
            }
        };
        let node = match (block, last[task]) {
            (Some(block), _) if block <= blocks.len() => blocks[block - 1],
            (None, Some(last)) if event.continues => last,
            _ => {
                count += 1;
                count - 1
            }
        };
        if let Passage::Enters(_) = passage {
            blocks.push(node);
        }
        last[task] = Some(node);
        nodes.push(node);
    }
    nodes
}

/// The successors of each node.
fn edges(nodes: &[usize], trace: &[Event]) -> Vec<Vec<usize>> {
    let mut edges = vec![Vec::new(); nodes.iter().max().map_or(0, |last| last + 1)];
    for later in 0..trace.len() {
        for earlier in 0..later {
            let (from, to) = (nodes[earlier], nodes[later]);
            if from != to && precedes(trace, earlier, later) && !edges[from].contains(&to) {
                edges[from].push(to);
            }
        }
    }
    edges
}

/// Whether the earlier of two steps must stay so.
fn precedes(trace: &[Event], earlier: usize, later: usize) -> bool {
    let (first, second) = (&trace[earlier], &trace[later]);
    let spawns = first.operation.action == Action::Spawn && second.operation.action == Action::Start;
    first.task == second.task
        || first.operation.depends(&second.operation)
        || second.cause == Cause::Event(earlier as u32)
        || (spawns && first.operation.object == second.operation.object)
}

fn has_cycle(edges: &[Vec<usize>]) -> bool {
    // Kahn's algorithm: nodes without predecessors are removed until no such node is left.
    let mut incoming = vec![0; edges.len()];
    edges.iter().flatten().for_each(|to| incoming[*to] += 1);
    let mut free: Vec<usize> = (0..edges.len()).filter(|node| incoming[*node] == 0).collect();
    let mut taken = 0;
    while let Some(node) = free.pop() {
        taken += 1;
        for to in &edges[node] {
            incoming[*to] -= 1;
            if incoming[*to] == 0 {
                free.push(*to);
            }
        }
    }
    taken < edges.len()
}

#[cfg(test)]
mod tests {
    use std::panic::Location;

    use interloper_std::runtime::{ObjectId, Operation, TaskId};

    use interloper_scheduler::{Access, unserialisable};

    use super::super::sections::Rule;
    use super::super::triples::{Scanner, Triple};
    use super::*;

    const ACTIONS: [Action; 3] = [Action::Read, Action::Write, Action::ReadWrite];

    /// A step of task 0 or 1.
    #[derive(Clone, Copy, Debug)]
    struct Step {
        task: u32,
        object: u32,
        action: Action,
    }

    /// Every sequence of steps of two tasks on this number of objects.
    fn all_traces(length: u32, objects: u32) -> impl Iterator<Item = Vec<Step>> {
        let letters = 2 * objects * 3;
        let step = move |letter: u32| Step {
            task: letter % 2,
            object: letter / 2 % objects,
            action: ACTIONS[(letter / 2 / objects) as usize],
        };
        (0..letters.pow(length))
            .map(move |number| (0..length).map(|position| step(number / letters.pow(position) % letters)).collect())
    }

    /// The steps, with each of `in_block` in a block from its beginning to its end.
    fn events(steps: &[Step], in_block: &[u32]) -> Vec<Event> {
        let event = |task: u32, object: u32, action: Action| Event {
            task: TaskId(task),
            operation: Operation { object: ObjectId::from_index(object), action, location: Location::caller() },
            continues: false,
            only_read: false,
            cause: Cause::Ready,
        };
        // The objects of the tasks are 8 and 9.
        let begins = in_block.iter().map(|task| event(*task, 8 + task, Action::BlockBegin(0)));
        let own = steps.iter().map(|step| event(step.task, step.object, step.action));
        let ends = in_block.iter().map(|task| event(*task, 8 + task, Action::BlockEnd));
        begins.chain(own).chain(ends).collect()
    }

    /// Whether there are three steps with `wanted` accesses: two of a task in a block, and between them one of the
    /// other task, all on one object.
    fn has(steps: &[Step], in_block: &[u32], wanted: impl Fn(Access, Access, Access) -> bool) -> bool {
        let access = |step: &Step| Access::of(step.action).unwrap();
        let triples = (0..steps.len()).flat_map(|p| (p + 1..steps.len()).map(move |q| (p, q)));
        triples.flat_map(|(p, q)| (q + 1..steps.len()).map(move |r| [p, q, r])).any(|indices| {
            let [p, q, r] = indices.map(|index| &steps[index]);
            p.task == r.task
                && p.task != q.task
                && in_block.contains(&p.task)
                && p.object == q.object
                && q.object == r.object
                && wanted(access(p), access(q), access(r))
        })
    }

    /// Whether some order of the nodes keeps every edge: by trying them all.
    fn has_order(edges: &[Vec<usize>]) -> bool {
        fn place(edges: &[Vec<usize>], placed: &mut Vec<usize>) -> bool {
            let ready = |node: &usize, placed: &[usize]| {
                let kept = |from: usize| !edges[from].contains(node) || placed.contains(&from);
                !placed.contains(node) && (0..edges.len()).all(kept)
            };
            placed.len() == edges.len()
                || (0..edges.len()).any(|node| {
                    ready(&node, placed) && {
                        placed.push(node);
                        let found = place(edges, placed);
                        placed.pop();
                        found
                    }
                })
        }
        place(edges, &mut Vec::new())
    }

    /// The trace with its marked blocks.
    fn marked(trace: &[Event]) -> Annotated {
        Annotated::of(&Rule::default(), trace)
    }

    #[test]
    fn triples_are_found_exactly_and_are_cycles() {
        let mut scanner = Scanner::default();
        let mut found = 0;
        for in_block in [&[0][..], &[0, 1]] {
            for steps in (3..=4).flat_map(|length| all_traces(length, 2)) {
                let trace = events(&steps, in_block);
                let marked = marked(&trace);
                let triple = scanner.scan(&marked, &trace);
                assert_eq!(triple.is_some(), has(&steps, in_block, unserialisable), "{steps:?}");
                if let Some(Triple { first, between, last }) = triple {
                    found += 1;
                    let operations = [first, between, last].map(|index| trace[index]);
                    let [p, q, r] = operations.map(|event| Access::of(event.operation.action).unwrap());
                    assert!(unserialisable(p, q, r), "{steps:?}");
                    assert!(operations.iter().all(|event| event.operation.object == operations[0].operation.object));
                    assert!(operations[0].task == operations[2].task && operations[0].task != operations[1].task);
                    assert!(!is_serialisable(&marked, &trace), "{steps:?}");
                }
            }
        }
        assert!(found > 1000, "{found}");
    }

    /// On one object, every other sequence is serialisable, apart from writes that no task reads.
    #[test]
    fn on_one_object_a_cycle_is_a_triple_or_three_blind_writes() {
        let blind = |p: Access, q: Access, r: Access| p.writes && q.writes && r.writes;
        let mut counts = [0; 3];
        for in_block in [&[0][..], &[0, 1]] {
            for steps in (1..=5).flat_map(|length| all_traces(length, 1)) {
                let trace = events(&steps, in_block);
                let (triple, blind) = (has(&steps, in_block, unserialisable), has(&steps, in_block, blind));
                let marked = marked(&trace);
                let serialisable = is_serialisable(&marked, &trace);
                assert_eq!(serialisable, !triple && !blind, "{in_block:?} {steps:?}");
                assert_eq!(serialisable, has_order(&edges(&nodes(&marked, &trace), &trace)), "{in_block:?} {steps:?}");
                counts[if serialisable { 0 } else { 1 + usize::from(triple) }] += 1;
            }
        }
        // All sequences of 1 to 5 of 6 steps, twice; each of the three kinds occurs.
        assert_eq!(counts.iter().sum::<u32>(), 2 * (6 + 36 + 216 + 1296 + 7776));
        assert!(counts.iter().all(|count| *count > 50), "{counts:?}");
    }

    /// Two objects, and no triple on either: the block sees one object before and the other after the steps of the
    /// other task.
    #[test]
    fn a_cycle_over_two_objects() {
        let step = |task, object, action| Step { task, object, action };
        let steps =
            [step(0, 0, Action::Read), step(1, 0, Action::Write), step(1, 1, Action::Write), step(0, 1, Action::Read)];
        let trace = events(&steps, &[0]);
        assert_eq!(Scanner::default().scan(&marked(&trace), &trace), None);
        assert!(!is_serialisable(&marked(&trace), &trace));
        // The twin: both before.
        let trace = events(&[steps[0], steps[3], steps[1], steps[2]], &[0]);
        assert!(is_serialisable(&marked(&trace), &trace));
    }
}
