//! Tokens and results: plain data.

/// The result of parking.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum ParkResult {
    /// Another thread unparked this one, with this token.
    Unparked(UnparkToken),
    /// The validation said no.
    Invalid,
    /// The time has passed.
    TimedOut,
}

impl ParkResult {
    /// Whether another thread unparked this one.
    #[inline]
    pub fn is_unparked(self) -> bool {
        matches!(self, ParkResult::Unparked(_))
    }
}

/// The result of unparking.
#[derive(Copy, Clone, Default, Eq, PartialEq, Debug)]
#[non_exhaustive]
pub struct UnparkResult {
    /// How many threads were unparked.
    pub unparked_threads: usize,
    /// How many threads were put into another queue.
    pub requeued_threads: usize,
    /// Whether threads are left in the queue, if one was removed from it.
    pub have_more_threads: bool,
    /// Whether this unlock should be fair. Always false here.
    pub be_fair: bool,
}

impl UnparkResult {
    pub(crate) fn new(unparked_threads: usize, requeued_threads: usize, have_more_threads: bool) -> UnparkResult {
        UnparkResult { unparked_threads, requeued_threads, have_more_threads, be_fair: false }
    }
}

/// What [`unpark_requeue`](crate::unpark_requeue) does.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum RequeueOp {
    /// Nothing.
    Abort,
    /// Unparks the first thread and puts the others into the other queue.
    UnparkOneRequeueRest,
    /// Puts all threads into the other queue.
    RequeueAll,
    /// Unparks the first thread and leaves the others.
    UnparkOne,
    /// Puts the first thread into the other queue and leaves the others.
    RequeueOne,
}

/// What [`unpark_filter`](crate::unpark_filter) does with a thread.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum FilterOp {
    /// Unparks the thread and goes on.
    Unpark,
    /// Leaves the thread and goes on.
    Skip,
    /// Leaves the thread and stops.
    Stop,
}

/// A value for a parked thread, from the thread that unparks it.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub struct UnparkToken(pub usize);

/// A value of a parked thread, for [`unpark_filter`](crate::unpark_filter).
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub struct ParkToken(pub usize);

/// A token for when it does not matter.
pub const DEFAULT_UNPARK_TOKEN: UnparkToken = UnparkToken(0);

/// A token for when it does not matter.
pub const DEFAULT_PARK_TOKEN: ParkToken = ParkToken(0);
