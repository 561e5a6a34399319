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
    /// A step may be in a block.
    begins_block: bool,
}

impl Annotated {
    pub(crate) fn new(rule: Rule) -> Annotated {
        Annotated { tracker: Tracker::new(rule), passages: Vec::new(), cancelled: Vec::new(), begins_block: false }
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
        // Most programs have no blocks.
        self.begins_block = self.tracker.takes_sections() || trace.iter().any(is_beginning);
        if !self.begins_block {
            self.passages.resize(trace.len(), Passage::Outside);
            return;
        }
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

    /// Whether a step may be in a block.
    pub(crate) fn has_blocks(&self) -> bool {
        self.begins_block
    }

    /// Whether the block of this number turned out not to be one.
    #[inline]
    pub(crate) fn is_cancelled(&self, block: u32) -> bool {
        self.cancelled.contains(&block)
    }
}

fn is_beginning(event: &Event) -> bool {
    matches!(event.operation.action, Action::BlockBegin(_))
}

/// What the block that begins with this step is called.
pub(crate) fn block_name(event: &Event, names: &Names) -> String {
    match event.operation.action {
        Action::BlockBegin(number) => names.block(number).to_owned(),
        _ => format!("the section at {}", event.operation.location),
    }
}
