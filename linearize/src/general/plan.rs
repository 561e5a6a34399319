//! What is known about a history before the search, and the calls that are not linearized yet.

use crate::history::{History, Interval};

/// What the search knows about a history before it starts.
pub(super) struct Plan {
    pub calls: Vec<Interval>,
    /// The complete calls in the order of their returns.
    pub returns: Vec<u32>,
    /// The bit of each call. Calls that are open at the same time have different bits.
    pub slot: Vec<u32>,
    /// How many bits there are.
    pub slots: usize,
    /// The complete calls by invocation, then the pending ones by invocation.
    pub trial: Vec<u32>,
    /// Whether neither a call nor the call after it overlaps another call. Around such a call there is no choice: where
    /// the search comes to it, only one call comes next, and only one after that.
    pub forced: Vec<bool>,
}

impl Plan {
    pub fn new(history: &History) -> Plan {
        let calls = history.calls();
        let number = |call: usize| u32::try_from(call).expect("a history has less than 2^32 calls");
        let mut trial: Vec<u32> = (0..calls.len()).map(number).collect();
        trial.sort_unstable_by_key(|&call| calls[call as usize].invoked);
        let mut returns: Vec<u32> =
            trial.iter().copied().filter(|&call| calls[call as usize].returned.is_some()).collect();
        returns.sort_unstable_by_key(|&call| calls[call as usize].returned);
        let (slot, slots) = slots(calls, &trial, &returns);
        let forced = forced(calls, &trial);
        trial.sort_by_key(|&call| calls[call as usize].returned.is_none());
        Plan { calls: calls.to_vec(), returns, slot, slots, trial, forced }
    }
}

/// For each call, whether neither it nor the call after it overlaps another call.
fn forced(calls: &[Interval], invocations: &[u32]) -> Vec<bool> {
    let end = |call: u32| calls[call as usize].returned.unwrap_or(usize::MAX);
    let mut alone = vec![false; calls.len()];
    let mut latest = None;
    for (position, &call) in invocations.iter().enumerate() {
        let next = invocations.get(position + 1).map_or(usize::MAX, |&next| calls[next as usize].invoked);
        alone[call as usize] = latest < Some(calls[call as usize].invoked) && end(call) < next;
        latest = latest.max(Some(end(call)));
    }
    let mut forced = vec![false; calls.len()];
    for pair in invocations.windows(2) {
        forced[pair[0] as usize] = alone[pair[0] as usize] && alone[pair[1] as usize];
    }
    forced
}

/// Gives each call the smallest bit that is free among the calls that are open when it is invoked.
fn slots(calls: &[Interval], invocations: &[u32], returns: &[u32]) -> (Vec<u32>, usize) {
    let mut slot = vec![0; calls.len()];
    let mut free = std::collections::BTreeSet::new();
    let mut slots = 0;
    let mut returned = returns.iter().map(|&call| call as usize).peekable();
    for &call in invocations {
        let call = call as usize;
        while let Some(closed) = returned.next_if(|&closed| calls[closed].returned < Some(calls[call].invoked)) {
            free.insert(slot[closed]);
        }
        slot[call] = free.pop_first().unwrap_or_else(|| {
            slots += 1;
            slots - 1
        });
    }
    (slot, slots as usize)
}

/// The calls that are not linearized yet, in the order of [`Plan::trial`]: a list in two parts, complete and pending. A
/// call can be removed from it and put back into its place.
pub(super) struct Waiting {
    next: Vec<u32>,
    previous: Vec<u32>,
    taken: Vec<bool>,
    /// The entry before the complete calls; the entry after it comes before the pending ones.
    front: u32,
}

impl Waiting {
    pub fn new(plan: &Plan) -> Waiting {
        let front = plan.calls.len() as u32;
        let mut list = Waiting {
            next: vec![front; plan.calls.len() + 2],
            previous: vec![front; plan.calls.len() + 2],
            taken: vec![false; plan.calls.len()],
            front,
        };
        let (complete, pending) = plan.trial.split_at(plan.returns.len());
        let mut last = front;
        for &entry in complete.iter().chain([&(front + 1)]).chain(pending).chain([&front]) {
            list.next[last as usize] = entry;
            list.previous[entry as usize] = last;
            last = entry;
        }
        list
    }

    pub fn first(&self) -> u32 {
        self.next[self.front as usize]
    }

    pub fn after(&self, call: u32) -> u32 {
        self.next[call as usize]
    }

    pub fn take(&mut self, call: u32) {
        let (previous, next) = (self.previous[call as usize], self.next[call as usize]);
        self.next[previous as usize] = next;
        self.previous[next as usize] = previous;
        self.taken[call as usize] = true;
    }

    /// Puts the last removed call back.
    pub fn restore(&mut self, call: u32) {
        let (previous, next) = (self.previous[call as usize], self.next[call as usize]);
        self.next[previous as usize] = call;
        self.previous[next as usize] = call;
        self.taken[call as usize] = false;
    }

    pub fn has_taken(&self, call: u32) -> bool {
        self.taken[call as usize]
    }

    /// The first entry from `at` on that may be linearized now: a call that was invoked before the first return among
    /// the waiting calls.
    pub fn candidate(&self, plan: &Plan, mut at: u32, returns: u32) -> Option<u32> {
        let limit = match plan.returns.get(returns as usize) {
            Some(&call) => plan.calls[call as usize].returned.unwrap_or(usize::MAX),
            None => usize::MAX,
        };
        let is_call = |entry: u32| entry < self.front;
        let is_open = |call: u32| plan.calls[call as usize].invoked < limit;
        // Both parts are ordered by invocation, so the first call of a part that is too late ends the part.
        if is_call(at) && plan.calls[at as usize].returned.is_some() && !is_open(at) {
            at = self.front + 1;
        }
        if at == self.front + 1 {
            at = self.after(at);
        }
        (is_call(at) && is_open(at)).then_some(at)
    }
}
