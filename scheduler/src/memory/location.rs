//! A location of memory: its stores in modification order, and who has read them.

use interloper_std::runtime::TaskId;

use super::Kind;
use super::order::Order;
use crate::vector_clock::VectorClock;

/// The stores of a location that some task may still read, in modification order: at least one.
#[derive(Clone, Debug)]
pub(super) struct Location {
    messages: Vec<Message>,
    /// What comes before whatever is coherence-ordered after the stores that were dropped.
    dropped: VectorClock,
    /// With so many stores, those that no task can read any more are looked for.
    crowded: usize,
}

/// A store.
#[derive(Clone, Debug)]
pub(super) struct Message {
    pub(super) value: u64,
    /// What the caller knows it by; none for what was there at first.
    pub(super) origin: Option<u32>,
    /// It is that of a read-modify-write which read the store before it.
    pub(super) updates: bool,
    /// What happens before whoever reads this and acquires, if anything does.
    pub(super) released: Option<VectorClock>,
    /// Who stored it, by which of its events. None: it happens before everything.
    writer: Option<(TaskId, usize)>,
    /// Who read it: the first event of each task that did. A task that knows the store anyway need not be here, unless
    /// something is sequentially consistent.
    readers: Vec<(TaskId, usize)>,
    /// The sequentially consistent accesses that stored or read it.
    in_order: Vec<(TaskId, usize)>,
    /// What comes before whatever is coherence-ordered after the store.
    before_store: VectorClock,
    /// What comes before whatever is coherence-ordered after those that have read it.
    before_reads: VectorClock,
}

/// What an access leaves to those that are coherence-ordered after it.
pub(super) struct Sources {
    /// In the order of what is sequentially consistent, this comes before those that are in the order.
    pub(super) before: VectorClock,
    /// The number of the access in the order, if it is sequentially consistent.
    pub(super) own: Option<(TaskId, usize)>,
}

/// So many stores are kept without looking.
const FEW: usize = 8;

impl Message {
    pub(super) fn new(value: u64, writer: (TaskId, usize), origin: Option<u32>, sources: Option<Sources>) -> Message {
        let mut message = Message { writer: Some(writer), origin, ..Message::initial(value) };
        if let Some(Sources { before, own }) = sources {
            message.in_order.extend(own);
            message.before_store = before;
        }
        message
    }

    fn initial(value: u64) -> Message {
        Message {
            value,
            origin: None,
            updates: false,
            released: None,
            writer: None,
            readers: Vec::new(),
            in_order: Vec::new(),
            before_store: VectorClock::default(),
            before_reads: VectorClock::default(),
        }
    }

    /// Whether the store happens before what knows this.
    #[inline]
    fn is_stored(&self, knows: &VectorClock) -> bool {
        self.writer.is_none_or(|(task, event)| knows.covers(task, event))
    }

    /// Whether an access that read it happens before what knows this.
    fn is_read(&self, knows: &VectorClock) -> bool {
        self.readers.iter().any(|&(task, event)| knows.covers(task, event))
    }

    #[inline]
    fn is_known(&self, knows: &VectorClock) -> bool {
        self.is_stored(knows) || self.is_read(knows)
    }
}

impl Location {
    pub(super) fn new(value: u64) -> Location {
        Location { messages: vec![Message::initial(value)], dropped: VectorClock::default(), crowded: FEW }
    }

    pub(super) fn overwrite(&mut self, value: u64) {
        *self = Location::new(value);
    }

    pub(super) fn messages(&self) -> &[Message] {
        &self.messages
    }

    pub(super) fn newest(&self) -> &Message {
        &self.messages[self.messages.len() - 1]
    }

    /// Whether the newest store is known.
    #[inline]
    pub(super) fn is_settled(&self, knows: &VectorClock) -> bool {
        self.messages.len() == 1 || self.newest().is_known(knows)
    }

    /// The newest store that is known: nobody who knows it goes back behind it.
    pub(super) fn oldest(&self, knows: &VectorClock) -> usize {
        self.messages.iter().rposition(|message| message.is_known(knows)).unwrap_or(0)
    }

    /// A task, which knows this, has read the store at a place.
    pub(super) fn note_read(
        &mut self,
        spot: usize,
        (task, event): (TaskId, usize),
        knows: &VectorClock,
        sources: Option<&Sources>,
    ) {
        let message = &mut self.messages[spot];
        if sources.is_none() && message.is_stored(knows) {
            return;
        }
        if !message.readers.iter().any(|(reader, _)| *reader == task) {
            message.readers.push((task, event));
        }
        if let Some(Sources { before, own }) = sources {
            message.in_order.extend(own);
            message.before_reads.join(before);
        }
    }

    /// Puts a store at a place. `tasks` know this; what none of them can read any more is dropped now and then.
    pub(super) fn insert<'a>(
        &mut self,
        spot: usize,
        message: Message,
        tasks: impl Iterator<Item = &'a VectorClock> + Clone,
    ) {
        self.messages.insert(spot, message);
        if self.messages.len() > self.crowded {
            let oldest = tasks.map(|knows| self.oldest(knows)).min().unwrap_or(0);
            for message in self.messages.drain(..oldest) {
                self.dropped.join(&message.before_store);
                self.dropped.join(&message.before_reads);
            }
            self.crowded = FEW.max(2 * self.messages.len());
        }
    }
}

/// What is sequentially consistent.
impl Location {
    /// Adds what comes before an access at a place.
    pub(super) fn ordered_before(&self, spot: usize, kind: Kind, before: &mut VectorClock) {
        before.join(&self.dropped);
        for (at, message) in self.messages[..=spot].iter().enumerate() {
            before.join(&message.before_store);
            if at < spot || kind != Kind::Load {
                before.join(&message.before_reads);
            }
        }
    }

    /// Adds what comes before a fence which knows this, because of the accesses to this location.
    pub(super) fn seen_by(&self, knows: &VectorClock, before: &mut VectorClock) {
        let oldest = self.oldest(knows);
        before.join(&self.dropped);
        for message in &self.messages[..oldest] {
            before.join(&message.before_store);
            before.join(&message.before_reads);
        }
        if self.messages[oldest].is_read(knows) {
            before.join(&self.messages[oldest].before_store);
        }
    }

    /// What comes after an access at a place: of each task perhaps several, of which the first one counts.
    pub(super) fn ordered_after(&self, spot: usize, order: &Order) -> Vec<(TaskId, usize)> {
        let mut after = Vec::new();
        for message in &self.messages[spot + 1..] {
            after.extend(&message.in_order);
            order.fences_after(|knows| message.writer.is_some() && message.is_known(knows), &mut after);
        }
        after
    }
}
