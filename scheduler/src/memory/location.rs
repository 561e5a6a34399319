//! A location of memory: its stores in modification order, and who has read them.

use interloper_std::runtime::TaskId;

use super::order::Order;
use super::{Kind, Origin};
use crate::vector_clock::VectorClock;

/// The stores of a location that some task may still read, in modification order. At least one, once the location was met.
#[derive(Clone, Debug, Default)]
pub(super) struct Location {
    messages: Vec<Message>,
    /// What comes before whatever is coherence-ordered after the stores that were dropped.
    dropped: VectorClock,
    /// With so many stores, those that no task can read any more are looked for.
    crowded: usize,
    /// Whether anything was stored after what was there at first.
    stored: bool,
}

/// A store.
#[derive(Clone, Debug)]
pub(super) struct Message {
    pub(super) value: u64,
    /// What the caller knows it by; none for what was there at first.
    pub(super) origin: Option<Origin>,
    /// It is that of a read-modify-write which read the store before it.
    pub(super) updates: bool,
    /// What happens before whoever reads this and acquires: nothing, perhaps.
    pub(super) released: VectorClock,
    /// Who stored it, and how many of the events of that task there were then: with 0 the store happens before everything.
    pub(super) writer: (TaskId, u32),
    /// Who read it: the first event of each task that did. A task that knows the store anyway need not be here, unless
    /// something is sequentially consistent.
    readers: VectorClock,
    /// What the order of what is sequentially consistent has to do with it: nothing as long as the order is empty.
    ordered: Option<Box<Ordered>>,
}

/// What the order of what is sequentially consistent has to do with a store.
#[derive(Clone, Debug, Default)]
struct Ordered {
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
const FEW: usize = 64;

impl Message {
    /// The store of an event of a task.
    #[inline(always)]
    pub(super) fn new(
        (value, origin): (u64, Origin),
        (task, event): (TaskId, usize),
        released: VectorClock,
    ) -> Message {
        Message { origin: Some(origin), writer: (task, event as u32 + 1), released, ..Message::initial(value) }
    }

    /// What was there at first.
    #[inline(always)]
    fn initial(value: u64) -> Message {
        let (released, readers) = (VectorClock::EMPTY, VectorClock::EMPTY);
        Message { value, origin: None, updates: false, released, writer: (TaskId::MAIN, 0), readers, ordered: None }
    }

    /// Whether the store happens before what knows this.
    #[inline]
    fn is_stored(&self, knows: &VectorClock) -> bool {
        let (task, events) = self.writer;
        knows.count(task) >= events as usize
    }

    /// Whether an access that read it happens before what knows this.
    #[inline]
    fn is_read(&self, knows: &VectorClock) -> bool {
        self.readers.overlaps(knows)
    }

    /// Either of these.
    #[inline]
    pub(super) fn is_known(&self, knows: &VectorClock) -> bool {
        self.is_stored(knows) || self.is_read(knows)
    }

    /// A task, which knows this, has read it.
    #[inline(always)]
    pub(super) fn note_read(&mut self, reader: (TaskId, usize), knows: &VectorClock) {
        if !self.is_stored(knows) {
            self.note_reader(reader);
        }
    }

    /// A task has read it, with this in the order of what is sequentially consistent.
    pub(super) fn note_read_in_order(&mut self, reader: (TaskId, usize), Sources { before, own }: Sources) {
        self.note_reader(reader);
        let ordered = self.ordered.get_or_insert_default();
        ordered.in_order.extend(own);
        ordered.before_reads.join(&before);
    }

    #[inline]
    fn note_reader(&mut self, (task, event): (TaskId, usize)) {
        if self.readers.count(task) == 0 {
            self.readers.set(task, event);
        }
    }

    /// It was stored with this in the order of what is sequentially consistent.
    pub(super) fn note_stored_in_order(&mut self, Sources { before, own }: Sources) {
        let in_order = own.into_iter().collect();
        self.ordered = Some(Box::new(Ordered { in_order, before_store: before, ..Ordered::default() }));
    }
}

impl Ordered {
    /// Adds what comes before whatever is coherence-ordered after the store and those that have read it.
    fn joins(&self, before: &mut VectorClock) {
        before.join(&self.before_store);
        before.join(&self.before_reads);
    }
}

impl Location {
    /// This value is there, and everybody knows it. Memory stays.
    pub(super) fn begin(&mut self, value: u64) {
        self.forget();
        self.messages.push(Message::initial(value));
    }

    /// It was not met yet. Memory stays.
    pub(super) fn forget(&mut self) {
        self.messages.clear();
        self.dropped.clear();
        (self.crowded, self.stored) = (FEW, false);
    }

    #[inline]
    pub(super) fn messages(&self) -> &[Message] {
        &self.messages
    }

    #[inline]
    pub(super) fn message(&mut self, spot: usize) -> &mut Message {
        &mut self.messages[spot]
    }

    /// The newest store that is known: whoever knows it reads no older one.
    pub(super) fn oldest(&self, knows: &VectorClock) -> usize {
        self.messages.iter().rposition(|message| message.is_known(knows)).unwrap_or(0)
    }

    /// The same for who does not know the newest store.
    #[inline(always)]
    pub(super) fn oldest_but_newest(&self, knows: &VectorClock) -> usize {
        let mut spot = self.messages.len() - 1;
        while spot > 0 {
            spot -= 1;
            if self.messages[spot].is_known(knows) {
                break;
            }
        }
        spot
    }

    /// Puts a store at a place.
    pub(super) fn insert(&mut self, spot: usize, message: Message) {
        self.messages.insert(spot, message);
        self.stored = true;
    }

    /// Puts a store after all others.
    #[inline(always)]
    pub(super) fn push(&mut self, message: Message) {
        self.messages.push(message);
        self.stored = true;
    }

    /// Whether it is time to look for stores that no task can read any more.
    #[inline]
    pub(super) fn is_crowded(&self) -> bool {
        self.messages.len() > self.crowded
    }

    /// Drops the stores that none of these tasks can read any more. `tasks` know this.
    pub(super) fn thin<'a>(&mut self, tasks: impl Iterator<Item = &'a VectorClock>) {
        let oldest = tasks.map(|knows| self.oldest(knows)).min().unwrap_or(0);
        let ordered = self.messages[..oldest].iter().filter_map(|message| message.ordered.as_ref());
        ordered.for_each(|ordered| ordered.joins(&mut self.dropped));
        if oldest > 0 {
            self.messages.drain(..oldest);
        }
        self.crowded = FEW.max(2 * self.messages.len());
    }
}

/// What is sequentially consistent.
impl Location {
    /// Adds what comes before an access at a place.
    pub(super) fn ordered_before(&self, spot: usize, kind: Kind, before: &mut VectorClock) {
        before.join(&self.dropped);
        for (at, message) in self.messages[..=spot].iter().enumerate() {
            match &message.ordered {
                Some(ordered) if at == spot && kind == Kind::Load => before.join(&ordered.before_store),
                Some(ordered) => ordered.joins(before),
                None => {}
            }
        }
    }

    /// Adds what comes before a fence which knows this, because of the accesses to this location: nothing as long as all read
    /// what was there at first.
    #[inline]
    pub(super) fn seen_by(&self, knows: &VectorClock, before: &mut VectorClock) {
        if self.stored {
            self.stores_seen_by(knows, before);
        }
    }

    fn stores_seen_by(&self, knows: &VectorClock, before: &mut VectorClock) {
        let oldest = self.oldest(knows);
        before.join(&self.dropped);
        self.messages[..oldest].iter().filter_map(|message| message.ordered.as_ref()).for_each(|it| it.joins(before));
        if let Some(ordered) = self.messages[oldest].ordered.as_ref().filter(|_| self.messages[oldest].is_read(knows)) {
            before.join(&ordered.before_store);
        }
    }

    /// What comes after an access at a place: of each task perhaps several, of which the first one counts.
    pub(super) fn ordered_after(&self, spot: usize, order: &Order) -> Vec<(TaskId, usize)> {
        let mut after = Vec::new();
        for message in &self.messages[spot + 1..] {
            after.extend(message.ordered.iter().flat_map(|ordered| &ordered.in_order));
            order.fences_after(|knows| message.writer.1 > 0 && message.is_known(knows), &mut after);
        }
        after
    }
}
