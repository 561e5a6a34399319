//! Calls of the methods of a collection as it was published.
//!
//! A wrapper announces its operations itself. A crate that `cargo interloper` puts under control does not know that it is
//! watched, so the command marks its methods: the first statement of each is [`enter`], and the value it gives lives to the
//! end of the call. Whoever drives the program hears where a call begins and ends. A marked method is not `#[track_caller]`:
//! then its steps would seem to be steps of its caller.
//!
//! The mirrors of std's locks and atomics mark their methods themselves: [`enter_object`] says which object is called, and
//! the place of the caller. A lock says when its guard is gone: [`Release`].
//!
//! Where nobody has ever listened, a mark is a look at one static; otherwise at one thread-local, too.

use std::cell::Cell;
use std::marker::PhantomData;
use std::panic::Location;
use std::sync::atomic::{AtomicBool, Ordering};

use super::Place;
use crate::plain;

/// What a mark says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// A call of the method `name`, whose mark is at `place`, begins. Calls nest: a method may call others of its crate.
    Begin {
        /// The name of the method.
        name: &'static str,
        /// The first statement of the method.
        place: Place,
    },
    /// A call of the method `name` of the object at this address begins. It is called at `place`.
    BeginAt {
        /// The name of the method.
        name: &'static str,
        /// The address of the object.
        object: usize,
        /// The place of the call.
        place: Place,
    },
    /// A destructor begins. It belongs to the call before it.
    BeginDrop,
    /// The guard of the lock at this address is gone, and the lock is free as far as this guard goes.
    Released {
        /// The address of the lock.
        object: usize,
    },
    /// The call, or the destructor, that began last has ended, perhaps by unwinding.
    End,
}

/// A thread of this process has had a listener. Where none has, this is all there is to ask.
static EVER: AtomicBool = AtomicBool::new(false);

thread_local! {
    static LISTENER: Cell<Option<fn(Moment)>> = const { Cell::new(None) };
}

/// A call of a marked method, until it is dropped.
#[must_use = "the call ends when this is dropped"]
#[derive(Debug)]
pub struct Call {
    /// Who heard the call begin. Nobody hears the end of a call without its beginning.
    listener: Option<fn(Moment)>,
    /// A call stays on its thread.
    _here: PhantomData<*const ()>,
}

/// Begins a call of the method `name`, in whose body this is called.
#[inline]
#[track_caller]
pub fn enter(name: &'static str) -> Call {
    let place = Location::caller();
    begin(|| Moment::Begin { name, place })
}

/// Begins a destructor.
#[inline]
pub fn enter_drop() -> Call {
    begin(|| Moment::BeginDrop)
}

/// Begins a call of the method `name` of `object`, for the caller of the method in whose body this is called.
#[inline]
#[track_caller]
pub fn enter_object<T: ?Sized>(name: &'static str, object: &T) -> Call {
    enter_at(name, address(object), Location::caller())
}

/// As [`enter_object`], for the caller at `place`.
#[inline]
pub(crate) fn enter_object_at<T: ?Sized>(name: &'static str, object: &T, place: Place) -> Call {
    begin(|| Moment::BeginAt { name, object: address(object), place })
}

// Not inlined into announced programs: see `sync/atomic/common.rs`.
#[cfg_attr(not(interloper_announced), inline)]
#[cfg_attr(interloper_announced, inline(never))]
fn enter_at(name: &'static str, object: usize, place: Place) -> Call {
    begin(|| Moment::BeginAt { name, object, place })
}

/// Says that the lock at this address is free again, when it is dropped.
///
/// A guard gives the lock back in the model, and then for real. Where loads and stores are steps, what is between belongs to the first
/// of these: another task that took the lock there would wait for the real lock, which nobody sees.
#[derive(Debug)]
pub struct Release(usize);

impl Release {
    /// For a guard of `lock`.
    #[inline]
    pub fn of<T: ?Sized>(lock: &T) -> Release {
        Release(address(lock))
    }
}

impl Drop for Release {
    #[cfg_attr(not(interloper_announced), inline)]
    #[cfg_attr(interloper_announced, inline(never))]
    fn drop(&mut self) {
        plain::call_ends();
        if let Some(listener) = listener() {
            listener(Moment::Released { object: self.0 });
        }
    }
}

/// The address by which a mark names an object.
#[inline]
pub fn address<T: ?Sized>(object: &T) -> usize {
    std::ptr::from_ref(object).cast::<()>().addr()
}

/// Who listens to this thread.
#[inline]
fn listener() -> Option<fn(Moment)> {
    if EVER.load(Ordering::Relaxed) { LISTENER.try_with(Cell::get).ok().flatten() } else { None }
}

#[inline]
fn begin(moment: impl FnOnce() -> Moment) -> Call {
    let listener = listener();
    if let Some(listener) = listener {
        listener(moment());
    }
    Call { listener, _here: PhantomData }
}

impl Drop for Call {
    #[inline]
    fn drop(&mut self) {
        if let Some(listener) = self.listener {
            listener(Moment::End);
        }
    }
}

/// Runs `body` while `listener` hears the marks of this thread. The listener before is put back at the end, also when
/// `body` unwinds.
pub fn listen<R>(listener: fn(Moment), body: impl FnOnce() -> R) -> R {
    struct Restore(Option<fn(Moment)>);
    impl Drop for Restore {
        fn drop(&mut self) {
            LISTENER.set(self.0);
        }
    }
    super::no_longer_idle();
    // The thread says so itself, so it does not matter when the others hear of it.
    EVER.store(true, Ordering::Relaxed);
    let _restore = Restore(LISTENER.replace(Some(listener)));
    body()
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    thread_local! {
        static HEARD: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    }

    fn hear(moment: Moment) {
        let text = match moment {
            Moment::Begin { name, place } => format!("{name} at line {}", place.line()),
            Moment::BeginAt { name, object, place } => format!("{name} of {object} at line {}", place.line()),
            Moment::BeginDrop => "drop".to_owned(),
            Moment::Released { object } => format!("{object} is free"),
            Moment::End => "end".to_owned(),
        };
        HEARD.with_borrow_mut(|heard| heard.push(text));
    }

    /// Those of the marks.
    const LINES: (u32, u32) = (line!() + 3, line!() + 8);

    fn outer() {
        let _call = enter("outer");
        inner();
    }

    fn inner() {
        let _call = enter("inner");
    }

    #[test]
    fn a_listener_hears_calls_and_their_marks() {
        outer();
        listen(hear, outer);
        outer();
        let (first, second) = LINES;
        let expected = [&*format!("outer at line {first}"), &format!("inner at line {second}"), "end", "end"];
        assert_eq!(HEARD.take(), expected);
        listen(hear, || drop(enter_drop()));
        assert_eq!(HEARD.take(), ["drop", "end"]);
    }

    #[test]
    fn a_listener_hears_which_object_is_called_where() {
        let object = 7_u64;
        let before = line!();
        listen(hear, || drop((enter_object("load", &object), Release::of(&object))));
        let at = address(&object);
        assert_eq!(
            HEARD.take(),
            [format!("load of {at} at line {}", before + 1), "end".into(), format!("{at} is free")]
        );
    }

    #[test]
    fn a_call_that_unwinds_ends() {
        let unwinds = || {
            let _call = enter("f");
            panic!("on purpose");
        };
        assert!(listen(hear, || std::panic::catch_unwind(unwinds)).is_err());
        assert_eq!(HEARD.take().last().map(String::as_str), Some("end"));
    }

    #[test]
    fn nobody_hears_the_end_of_a_call_that_began_before() {
        let call = enter("f");
        listen(hear, move || drop(call));
        assert_eq!(HEARD.take(), [""; 0]);
    }
}
