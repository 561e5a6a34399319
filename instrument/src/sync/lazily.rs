//! Values that are initialised once: in a static, once in each execution.

use std::any::Any;
use std::ptr::NonNull;
use std::rc::Rc;
use std::sync::atomic::{AtomicU8, Ordering};

use crate::plain::{self, Handed};
use crate::runtime::{Action, Count, Current, Handle, Mode, ObjectId, ObjectKind, Operation, Place, Runtime, Slot};
use crate::statics;

/// The state `R` of something that is initialised once.
///
/// Under control, the state of a static belongs to the execution: it starts afresh and is dropped at the end. Outside a
/// run, and outside statics, the state is here.
pub(super) struct Lazily<R> {
    home: Home,
    slot: Slot,
    handle: Handle,
    state: R,
}

/// The state in the running execution.
pub(super) struct Here<'a, R> {
    pub(super) object: ObjectId,
    pub(super) state: &'a R,
}

impl<R> Lazily<R> {
    pub(super) const fn new(state: R) -> Lazily<R> {
        Lazily { home: Home::new(), slot: Slot::new(), handle: Handle::new(), state }
    }

    /// The state outside a controlled execution.
    #[inline]
    pub(super) fn state(&self) -> &R {
        &self.state
    }

    /// The state of a value outside statics.
    pub(super) fn state_mut(&mut self) -> &mut R {
        &mut self.state
    }

    pub(super) fn into_state(self) -> R {
        self.state
    }

    /// Whether this is in a static.
    pub(super) fn is_static(&self) -> bool {
        self.home.is_static()
    }

    /// The state in the running execution. For a static, `fresh` makes it.
    pub(super) fn here<'a>(&'a self, current: &Current<'_>, fresh: fn() -> R) -> Here<'a, R> {
        if !self.is_static() {
            return Here { object: self.handle.object(current, ObjectKind::Once), state: &self.state };
        }
        let instance = self.instance(current).unwrap_or_else(|| {
            statics::outlive(current);
            let instance = Rc::new(Instance::new(current.runtime().register(ObjectKind::Once), fresh()));
            current.runtime().set_shared(self.slot.index(), instance.clone());
            instance
        });
        // SAFETY: the slot belongs to this static, so the instance is an `R`. The runtime keeps it where it is until
        // the end of the execution. A borrow from a static of an execution must not be used after it: see the limits of
        // the crate.
        let state = unsafe { instance.state.cast::<R>().as_ref() };
        Here { object: instance.object, state }
    }

    /// The state of a static was initialised: it is dropped before the states that it may have used.
    fn initialised(&self, current: &Current<'_>) {
        if self.is_static()
            && let Some(instance) = self.instance(current)
        {
            current.runtime().set_shared(self.slot.index(), instance);
        }
    }

    fn instance(&self, current: &Current<'_>) -> Option<Rc<Instance>> {
        let instance: Rc<dyn Any> = current.runtime().shared(self.slot.index())?;
        Some(instance.downcast().expect("a slot belongs to one static"))
    }

    /// Says whether the state is `done`: a step that reads.
    pub(super) fn look(
        &self,
        current: &Current<'_>,
        here: &Here<'_, R>,
        location: Place,
        done: fn(&R) -> bool,
    ) -> bool {
        current.runtime().step(Operation { object: here.object, action: Action::Read, location });
        done(here.state)
    }

    /// Waits until the state is `done`.
    pub(super) fn wait(&self, current: &Current<'_>, here: &Here<'_, R>, location: Place, done: impl Fn(&R) -> bool) {
        let read = Operation { object: here.object, action: Action::Read, location };
        current.runtime().step(read);
        while !done(here.state) {
            current.runtime().block(here.object, None, read);
        }
    }

    /// Runs `init` unless the state is `done`, with all other tasks locked out. `init` receives a function that it
    /// calls right before the state changes.
    pub(super) fn initialise(
        &self,
        current: &Current<'_>,
        here: &Here<'_, R>,
        location: Place,
        done: fn(&R) -> bool,
        init: impl FnOnce(&dyn Fn()),
    ) {
        if self.look(current, here, location, done) {
            return;
        }
        let (runtime, object) = (current.runtime(), here.object);
        let locked = Locked::lock(runtime, object, location);
        if !done(here.state) {
            init(&|| runtime.step(Operation { object, action: Action::Write, location }));
            runtime.wake(object, Count::All);
            self.initialised(current);
        }
        locked.let_go();
    }

    /// Changes the state with `change` unless it is `done`, all in one step; waits while another task initialises it.
    pub(super) fn set(
        &self,
        current: &Current<'_>,
        here: &Here<'_, R>,
        location: Place,
        done: fn(&R) -> bool,
        change: impl FnOnce(),
    ) {
        let (runtime, object) = (current.runtime(), here.object);
        let locked = Locked::lock(runtime, object, location);
        if !done(here.state) {
            change();
            runtime.wake(object, Count::All);
            self.initialised(current);
        }
        locked.let_go();
    }
}

/// The right to initialise. When it is dropped because the task unwinds, it is given back in a step of its own.
struct Locked<'a> {
    runtime: &'a dyn Runtime,
    object: ObjectId,
    location: Place,
}

impl<'a> Locked<'a> {
    fn lock(runtime: &'a dyn Runtime, object: ObjectId, location: Place) -> Locked<'a> {
        runtime.acquire(object, Mode::Exclusive, location);
        Locked { runtime, object, location }
    }

    /// Gives the right back as part of the step that the task is in.
    fn let_go(self) {
        self.runtime.let_go(self.object, Mode::Exclusive);
        std::mem::forget(self);
    }
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        self.runtime.wake(self.object, Count::All);
        self.runtime.release(self.object, Mode::Exclusive, self.location);
    }
}

/// The state of a static in one execution.
struct Instance {
    object: ObjectId,
    /// A box whose type has no name here, since the compiler does not know that it is `'static`.
    state: NonNull<()>,
    /// Drops the box.
    drop: unsafe fn(NonNull<()>),
}

impl Instance {
    fn new<R>(object: ObjectId, state: R) -> Instance {
        unsafe fn drop_box<R>(state: NonNull<()>) {
            // SAFETY: the caller gives the box that `new` has made, and gives it once.
            drop(unsafe { Box::from_raw(state.cast::<R>().as_ptr()) });
        }
        let state = NonNull::from(Box::leak(Box::new(state))).cast::<()>();
        plain::hand_over(state.addr().get(), Handed::Static);
        Instance { object, state, drop: drop_box::<R> }
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // SAFETY: `new` has made the box, and this is its only drop.
        unsafe { (self.drop)(self.state) };
    }
}

/// Whether the value that contains this is in a static.
struct Home(AtomicU8);

impl Home {
    const UNKNOWN: u8 = 0;
    const STATIC: u8 = 1;
    const ELSEWHERE: u8 = 2;

    const fn new() -> Home {
        Home(AtomicU8::new(Home::UNKNOWN))
    }

    #[inline]
    fn is_static(&self) -> bool {
        match self.0.load(Ordering::Relaxed) {
            Home::UNKNOWN => self.find(),
            home => home == Home::STATIC,
        }
    }

    #[cold]
    fn find(&self) -> bool {
        let address = std::ptr::from_ref(self).addr();
        let is_static = statics::image::contains(address);
        if is_static {
            statics::whole::keep(address, size_of::<Home>());
        }
        self.0.store(if is_static { Home::STATIC } else { Home::ELSEWHERE }, Ordering::Relaxed);
        is_static
    }
}
