//! A finished execution, each step with what it means for blocks.

use interloper_scheduler::Event;
use interloper_scheduler::words::Names;
use interloper_std::runtime::Action;

use super::sections::{Passage, Rule, Tracker};

/// What each step of a trace means for blocks. Keeps its memory from one trace to the next.
#[derive(Clone, Debug)]
pub(crate) struct Annotated {
    tracker: Tracker,
    passages: Vec<Passage>,
    /// Blocks that turned out not to be blocks.
    cancelled: Vec<u32>,
}

impl Annotated {
    pub(crate) fn new(rule: Rule) -> Annotated {
        Annotated { tracker: Tracker::new(rule), passages: Vec::new(), cancelled: Vec::new() }
    }

    /// The annotations of one trace.
    pub(crate) fn of(rule: &Rule, trace: &[Event]) -> Annotated {
        let mut annotated = Annotated::new(rule.clone());
        annotated.annotate(trace);
        annotated
    }

    /// Looks at another trace.
    pub(crate) fn annotate(&mut self, trace: &[Event]) {
        self.tracker.reset();
        self.passages.clear();
        self.cancelled.clear();
        for event in trace {
            let passage = self.tracker.note(event.task, event.operation);
            if let Passage::Cancels(block) = passage {
                self.cancelled.push(block);
            }
            self.passages.push(passage);
        }
    }

    /// What each step means for blocks, in the order of the steps.
    pub(crate) fn passages(&self) -> &[Passage] {
        &self.passages
    }

    /// Whether the block of this number turned out not to be one.
    #[inline]
    pub(crate) fn is_cancelled(&self, block: u32) -> bool {
        self.cancelled.contains(&block)
    }
}

/// What the block that begins with this step is called.
pub(crate) fn block_name(event: &Event, names: &Names) -> String {
    match event.operation.action {
        Action::BlockBegin(number) => names.block(number).to_owned(),
        _ => format!("the section at {}", event.operation.location),
    }
}
