//! `Select`: one of several operations, whichever is ready first.

use std::fmt;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use interloper_std::runtime::{self, Action, Current, Operation, Place};
use interloper_std::time::Instant;

use crate::case::Case;
use crate::clock::Kind;
use crate::receiver::{Receiver, Source};
use crate::sender::{Sender, either};
use crate::wait::{Deadline, Token};
use crate::{ReadyTimeoutError, RecvError, SelectTimeoutError, SendError, TryReadyError, TrySelectError};

/// Mirrors [`crossbeam_channel::Select`].
pub struct Select<'a> {
    /// By the indices of the operations; used under control.
    cases: Vec<Option<&'a dyn Case>>,
    biased: bool,
    real: crossbeam_channel::Select<'a>,
}

// SAFETY: the original is `Send`. The rest is used only under control, where all tasks run on one thread.
unsafe impl Send for Select<'_> {}

// SAFETY: as above.
unsafe impl Sync for Select<'_> {}

/// How long a selection waits, and what for.
#[derive(Clone, Copy)]
struct Wish {
    /// `None`: it does not wait. Otherwise it waits this long, or for ever.
    wait: Option<Option<Duration>>,
    /// Whether the operation must be completed; otherwise it is enough that it could be.
    reserve: bool,
    location: Place,
}

impl<'a> Select<'a> {
    /// As [`crossbeam_channel::Select::new`].
    pub fn new() -> Select<'a> {
        Select { cases: Vec::new(), biased: false, real: crossbeam_channel::Select::new() }
    }

    /// As [`crossbeam_channel::Select::new_biased`].
    pub fn new_biased() -> Select<'a> {
        Select { cases: Vec::new(), biased: true, real: crossbeam_channel::Select::new_biased() }
    }

    /// As [`crossbeam_channel::Select::send`].
    pub fn send<T>(&mut self, s: &'a Sender<T>) -> usize {
        self.cases.push(Some(s));
        self.real.send(&s.inner)
    }

    /// As [`crossbeam_channel::Select::recv`].
    pub fn recv<T>(&mut self, r: &'a Receiver<T>) -> usize {
        self.cases.push(Some(r));
        match &r.source {
            Source::Queue(queue) => self.real.recv(&queue.inner),
            Source::Never(inner) => self.real.recv(inner),
            Source::Clock(clock) => match &clock.kind {
                Kind::Real(inner) => self.real.recv(inner),
                Kind::Controlled(controlled) => self.real.recv(&controlled.never),
            },
        }
    }

    /// As [`crossbeam_channel::Select::remove`].
    ///
    /// # Panics
    /// When there is no operation with this index.
    pub fn remove(&mut self, index: usize) {
        self.real.remove(index);
        self.cases[index] = None;
    }

    /// As [`crossbeam_channel::Select::try_select`].
    ///
    /// # Errors
    /// When no operation is ready.
    #[track_caller]
    pub fn try_select(&mut self) -> Result<SelectedOperation<'a>, TrySelectError> {
        let wish = Wish { wait: None, reserve: true, location: Location::caller() };
        self.selected(wish, |real| real.try_select(), TrySelectError)
    }

    /// As [`crossbeam_channel::Select::select`].
    ///
    /// # Panics
    /// When there are no operations.
    #[track_caller]
    pub fn select(&mut self) -> SelectedOperation<'a> {
        self.expect_operations();
        let wish = Wish { wait: Some(None), reserve: true, location: Location::caller() };
        let selected = self.selected(wish, |real| Ok(real.select()), TrySelectError);
        selected.expect("a selection waits for ever")
    }

    /// As [`crossbeam_channel::Select::select_timeout`].
    ///
    /// # Errors
    /// When no operation is ready in time.
    #[track_caller]
    pub fn select_timeout(&mut self, timeout: Duration) -> Result<SelectedOperation<'a>, SelectTimeoutError> {
        let wish = Wish { wait: Some(Some(timeout)), reserve: true, location: Location::caller() };
        self.selected(wish, |real| real.select_timeout(timeout), SelectTimeoutError)
    }

    /// As [`crossbeam_channel::Select::select_deadline`].
    ///
    /// # Errors
    /// When no operation is ready in time.
    #[track_caller]
    pub fn select_deadline(&mut self, deadline: Instant) -> Result<SelectedOperation<'a>, SelectTimeoutError> {
        self.select_timeout(deadline.saturating_duration_since(Instant::now()))
    }

    /// As [`crossbeam_channel::Select::try_ready`].
    ///
    /// # Errors
    /// When no operation is ready.
    #[track_caller]
    pub fn try_ready(&mut self) -> Result<usize, TryReadyError> {
        let wish = Wish { wait: None, reserve: false, location: Location::caller() };
        self.ready_index(wish, |real| real.try_ready(), TryReadyError)
    }

    /// As [`crossbeam_channel::Select::ready`].
    ///
    /// # Panics
    /// When there are no operations.
    #[track_caller]
    pub fn ready(&mut self) -> usize {
        self.expect_operations();
        let wish = Wish { wait: Some(None), reserve: false, location: Location::caller() };
        let ready = self.ready_index(wish, |real| Ok(real.ready()), TryReadyError);
        ready.expect("a selection waits for ever")
    }

    /// As [`crossbeam_channel::Select::ready_timeout`].
    ///
    /// # Errors
    /// When no operation is ready in time.
    #[track_caller]
    pub fn ready_timeout(&mut self, timeout: Duration) -> Result<usize, ReadyTimeoutError> {
        let wish = Wish { wait: Some(Some(timeout)), reserve: false, location: Location::caller() };
        self.ready_index(wish, |real| real.ready_timeout(timeout), ReadyTimeoutError)
    }

    /// As [`crossbeam_channel::Select::ready_deadline`].
    ///
    /// # Errors
    /// When no operation is ready in time.
    #[track_caller]
    pub fn ready_deadline(&mut self, deadline: Instant) -> Result<usize, ReadyTimeoutError> {
        self.ready_timeout(deadline.saturating_duration_since(Instant::now()))
    }

    fn expect_operations(&self) {
        assert!(self.cases.iter().any(Option::is_some), "no operations have been added to `Select`");
    }

    fn selected<E>(
        &mut self,
        wish: Wish,
        really: impl FnOnce(&mut crossbeam_channel::Select<'a>) -> Result<crossbeam_channel::SelectedOperation<'a>, E>,
        error: E,
    ) -> Result<SelectedOperation<'a>, E> {
        if !runtime::is_controlled() {
            return really(&mut self.real).map(|operation| SelectedOperation(Selected::Really(operation)));
        }
        let (index, token) = runtime::with(|current| self.choose(&current, wish)).flatten().ok_or(error)?;
        let address = self.cases[index].expect("a removed operation is not selected").address();
        Ok(SelectedOperation(Selected::Promised(Promise { index, address, token, completed: false })))
    }

    fn ready_index<E>(
        &mut self,
        wish: Wish,
        really: impl FnOnce(&mut crossbeam_channel::Select<'a>) -> Result<usize, E>,
        error: E,
    ) -> Result<usize, E> {
        either(
            self,
            |current, select| select.choose(&current, wish).map(|(index, _)| index).ok_or(error),
            |select| really(&mut select.real),
        )
    }

    fn cases(&self) -> impl Iterator<Item = (usize, &'a dyn Case)> + '_ {
        self.cases.iter().enumerate().filter_map(|(index, case)| Some((index, (*case)?)))
    }

    fn choose(&self, current: &Current<'_>, wish: Wish) -> Option<(usize, Arc<Token>)> {
        /// In the lists of the channels until this value is dropped.
        struct Listed<'s, 'a>(&'s Select<'a>, Arc<Token>);
        impl Drop for Listed<'_, '_> {
            fn drop(&mut self) {
                self.0.cases().for_each(|(_, case)| case.delist(&self.1));
            }
        }
        let token = Token::new(current);
        let deadline = Deadline::after(current, wish.wait.flatten());
        let mut listed = None;
        loop {
            if let Some(index) = self.attempt(current, wish, &token) {
                return Some((index, token));
            }
            wish.wait?;
            if listed.is_none() {
                // From now on no change is missed.
                listed = Some(Listed(self, token.clone()));
                self.cases().for_each(|(index, case)| case.enlist(current, &token, wish.reserve.then_some(index)));
                continue;
            }
            if deadline.has_passed(current) {
                return None;
            }
            let clocks = self.cases().filter_map(|(_, case)| case.left(current));
            let left = clocks.chain(deadline.left(current)).min();
            let look = Operation { object: token.queue, action: Action::Read, location: wish.location };
            token.block(current, left, look);
        }
    }

    /// Looks at all operations, and takes one that is ready; or finds that a task has met this one.
    fn attempt(&self, current: &Current<'_>, wish: Wish, token: &Arc<Token>) -> Option<usize> {
        loop {
            let mut ready = Vec::new();
            for (index, case) in self.cases() {
                case.step(current, Action::Read, wish.location);
                if case.is_ready(current, token) {
                    ready.push((index, case));
                }
            }
            if token.met().is_some() || ready.is_empty() {
                return token.met();
            }
            let choice = if self.biased || ready.len() == 1 { 0 } else { current.runtime().choose(ready.len() as u32) };
            let (index, case) = ready[choice as usize];
            if !wish.reserve {
                return Some(index);
            }
            case.step(current, Action::ReadWrite, wish.location);
            if token.met().is_some() {
                return token.met();
            }
            if case.reserve(current, token) {
                token.meet(index);
                return Some(index);
            }
        }
    }
}

impl Clone for Select<'_> {
    fn clone(&self) -> Self {
        Select { cases: self.cases.clone(), biased: self.biased, real: self.real.clone() }
    }
}

impl Default for Select<'_> {
    fn default() -> Self {
        Select::new()
    }
}

impl fmt::Debug for Select<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("Select { .. }")
    }
}

/// Mirrors [`crossbeam_channel::SelectedOperation`].
#[must_use]
pub struct SelectedOperation<'a>(Selected<'a>);

enum Selected<'a> {
    Really(crossbeam_channel::SelectedOperation<'a>),
    Promised(Promise),
}

/// A promise to a selection under control.
struct Promise {
    index: usize,
    /// Where the end of the channel is.
    address: usize,
    token: Arc<Token>,
    completed: bool,
}

impl SelectedOperation<'_> {
    /// As [`crossbeam_channel::SelectedOperation::index`].
    pub fn index(&self) -> usize {
        match &self.0 {
            Selected::Really(operation) => operation.index(),
            Selected::Promised(promise) => promise.index,
        }
    }

    /// As [`crossbeam_channel::SelectedOperation::send`].
    ///
    /// # Errors
    /// The message, when every receiver is gone.
    ///
    /// # Panics
    /// When another operation was selected.
    #[track_caller]
    pub fn send<T>(self, s: &Sender<T>, msg: T) -> Result<(), SendError<T>> {
        let location = Location::caller();
        match self.0 {
            Selected::Really(operation) => operation.send(&s.inner, msg),
            Selected::Promised(promise) => {
                assert!(s.address() == promise.address, "passed a sender that wasn't selected");
                let token = promise.complete();
                let send = |current: Current<'_>| s.send_selected(&current, &token, msg, location);
                runtime::with(send).expect("an operation is completed where it was selected")
            }
        }
    }

    /// As [`crossbeam_channel::SelectedOperation::recv`].
    ///
    /// # Errors
    /// When there will never be a message.
    ///
    /// # Panics
    /// When another operation was selected.
    #[track_caller]
    pub fn recv<T>(self, r: &Receiver<T>) -> Result<T, RecvError> {
        let location = Location::caller();
        match self.0 {
            Selected::Really(operation) => r.recv_really_selected(operation),
            Selected::Promised(promise) => {
                assert!(r.address() == promise.address, "passed a receiver that wasn't selected");
                let token = promise.complete();
                let recv = |current: Current<'_>| r.recv_selected(&current, &token, location);
                runtime::with(recv).expect("an operation is completed where it was selected")
            }
        }
    }
}

impl Promise {
    fn complete(mut self) -> Arc<Token> {
        self.completed = true;
        self.token.clone()
    }
}

impl Drop for Promise {
    fn drop(&mut self) {
        // A task that is unwound cannot complete the operation.
        if !self.completed && !std::thread::panicking() {
            panic!("dropped `SelectedOperation` without completing the operation");
        }
    }
}

impl fmt::Debug for SelectedOperation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("SelectedOperation { .. }")
    }
}
