//! Concurrent objects: which of their methods are not atomic, and how weak are they?
//!
//! You describe an object once, by its constructor and its methods, as [`Object::describe`] shows. Interloper generates
//! small programs for the object, runs them on real threads or under the scheduler, and compares their outcomes with those
//! of every sequential order (M. Emmi and C. Enea, *Exposing non-atomic methods of concurrent objects* and *Violat*).
//! [`hunt::Hunt`] searches for a program with an outcome that no order explains. [`mod@derive`] finds out how many of the
//! calls before it a weaker method still sees (*Weak-consistency specification via visibility relaxation*).
//!
//! ```
//! use interloper::objects::hunt::{Engine, Hunt, Source};
//! use interloper::objects::{Bounds, Next, Object, Pool};
//! use interloper::sync::atomic::{AtomicI64, Ordering::SeqCst};
//!
//! // Over the mirror of std, so that the scheduler can run every interleaving.
//! let counter = Object::describe("counter", || AtomicI64::new(0))
//!     .core("add", |counter, (amount,): (i64,)| counter.fetch_add(amount, SeqCst))
//!     .method("double", |counter, ()| {
//!         let now = counter.load(SeqCst);
//!         counter.store(2 * now, SeqCst);
//!     })
//!     .build();
//! let double = counter.named("double").next().expect("a method");
//! let bounds = Bounds { invocations: 2..=4, ..Bounds::default() };
//! let hunt = Hunt {
//!     engine: Engine::exhaustive(),
//!     source: Source::ByRank { bounds, seed: 1 },
//!     ..Hunt::new(&counter, Pool::One(double), 1)
//! };
//! let hunted = hunt.run(&mut |_| Next::Continue);
//! assert_eq!(hunted.found().expect("a violation").schema.len(), 3);
//! ```
//!
//! The attribute [`object`](macro@crate::object) on an `impl` block says the same in place:
//!
//! ```
//! use interloper::sync::atomic::{AtomicI64, Ordering::SeqCst};
//!
//! struct Counter(AtomicI64);
//!
//! #[interloper::object(name = "counter")]
//! impl Counter {
//!     #[constructor]
//!     fn new() -> Counter {
//!         Counter(AtomicI64::new(0))
//!     }
//!     #[core]
//!     fn add(&self, amount: i64) -> i64 {
//!         self.0.fetch_add(amount, SeqCst)
//!     }
//!     #[method]
//!     fn double(&self) {
//!         let now = self.0.load(SeqCst);
//!         self.0.store(2 * now, SeqCst);
//!     }
//! }
//!
//! assert_eq!(Counter::object().methods().len(), 2);
//! ```

pub mod findings;
#[doc(hidden)]
pub mod hunted;
#[doc(hidden)]
pub mod journal;
#[doc(hidden)]
pub mod recorded;
#[doc(hidden)]
pub mod running;
#[doc(hidden)]
pub mod search;

pub use interloper_harness::explain::{explain, explain_cut, explain_until, explored, history};
pub use interloper_harness::object::{Argument, Arguments, Atom, Generator, Stateful};
pub use interloper_harness::schemas::{Bounds, Pool};
pub use interloper_harness::stress::Next;
pub use interloper_harness::{Description, Method, MethodId, Object, Program, Role};
pub use interloper_harness::{derive, generated, hunt, judge, judged, schemas, stress, systematic};
pub use interloper_linearize::schema::{Mistake, Schema};
pub use interloper_linearize::types::{error, type_named, types};
pub use interloper_linearize::visibility::{Level, Visibility};
/// What `#[interloper::object]` puts into the methods that it describes.
#[doc(hidden)]
pub use interloper_std::runtime::calls::enter as call;
