//! The attributes `#[interloper::atomic]`, `#[interloper::object]` and `#[interloper::test]`.
//!
//! Use them through the facade: their expansions name `::interloper`.

mod atomic;
mod object;
mod test;

use proc_macro::TokenStream;

/// Makes the body of a function a block that is meant to be atomic: see `interloper::atomic`.
///
/// The block has the name of the function, or a given name: `#[interloper::atomic(name = "withdraw")]`. The result of the
/// function is compared with its result in the serial orders when its type has a form as a value (`ToValue`);
/// `#[interloper::atomic(ignore_result)]` switches this off.
///
/// The attribute is for plain functions and methods. An `async` function is an error, since its block would end before its
/// body has run; a `const` function is an error too.
#[proc_macro_attribute]
pub fn atomic(options: TokenStream, item: TokenStream) -> TokenStream {
    atomic::expand(options.into(), item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Describes a type as a concurrent object: see `interloper::objects`.
///
/// On an `impl` block of the type, the attribute adds an associated function `object()`, as visible as the constructor, or public with
/// `new = …`. `object()` returns the `interloper::objects::Object` that `Object::describe` would return for the same functions;
/// `object_description()` returns the description before it is built, to which `Description::state` adds what
/// `MethodUnderTest::over` needs.
/// Functions of the block take part when they are marked:
///
/// | mark | the function |
/// |---|---|
/// | `#[constructor]` | makes a fresh object; takes no parameters |
/// | `#[core]` | is assumed to be atomic |
/// | `#[method]` | is under test |
/// | `#[postcondition]` | looks at what the calls have left: it is called once after all others, on one thread |
/// | `#[invariant]` | says whether what the calls have left is consistent: a postcondition that returns `bool` |
///
/// Without a marked constructor, `new` without parameters makes the objects. Without a marked constructor or method, each public function
/// with `&self` is under test.
///
/// The `impl` block and its methods may have parameters: `impl<K: Eq + Hash, V: Clone, const N: usize> Cache<K, V, N>`. The object is one
/// of the type where `u64` stands for each type, `std::hash::RandomState` for a `BuildHasher`, 2 for each integer constant, and
/// `'static` for each lifetime, unless `with` says otherwise. Only one block of a type may have this attribute then.
///
/// A method takes `&self` and at most four arguments. The type of an argument is an `Argument`, or a reference to a type
/// that an `Argument` lends (`&str`, `&[i64]`). The result has a form as a value (`ToValue`). Both marks of methods have
/// options:
///
/// | option | value |
/// |---|---|
/// | `name` | the name in harnesses, if it differs: `"addAll"` |
/// | `reads` | no value: the method never changes the object |
/// | `sees` | the visibility that the method is meant to have: `"weak"`, `"basic"`, `"monotonic"`, `"peer"`, `"causal"` or `"complete"` |
/// | `arguments` | the generators of its arguments: `[Generator::Atom(Atom::INTEGER)]` |
///
/// Options of the object, `#[interloper::object(name = "set", data_independent)]`:
///
/// | option | value |
/// |---|---|
/// | `name` | the name of the object; by default, the name of the type |
/// | `new` | an expression that makes a fresh object, in the place of a constructor: `Queue::bounded(2)` |
/// | `with` | in parentheses: what stands for parameters of the block and of its methods: `with(K = String, N = 4)` |
/// | `model` | the reference type that the object behaves like: `type_named("set").unwrap()` |
/// | `data_independent` | no value: renaming values renames outcomes and changes nothing else. No effect where an argument is one of a few values, such as an `Option<u64>` |
#[proc_macro_attribute]
pub fn object(options: TokenStream, item: TokenStream) -> TokenStream {
    object::expand(options.into(), item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Marks a function `fn(&self) -> bool` that says whether a value is consistent.
///
/// In a described object ([`macro@object`]), a hunt calls it after all calls of a program, and after those of each sequential
/// order. A violation is reported when it is false although no sequential order with these results leaves it false.
///
/// In any other `impl` block, `cargo interloper composed --run` calls it after two methods of the type have run at once, and after the
/// same calls one after the other.
#[proc_macro_attribute]
pub fn invariant(_: TokenStream, item: TokenStream) -> TokenStream {
    // The attribute of the object takes the mark away, so this is called elsewhere alone.
    let error = object::stray_invariant(item.clone().into()).err().map(|error| error.into_compile_error().into());
    error.into_iter().chain([item]).collect()
}

/// Turns a function into a test that checks it: see `interloper::check`.
///
/// ```text
/// #[interloper::test(seed = 7, executions = 1000, strategy = "atomfuzzer:0.9")]
/// fn transfers_keep_the_sum() -> i64 { … }
/// ```
///
/// Each option has the meaning of the field of the same name in `interloper::blocks::Settings`:
///
/// | option | value |
/// |---|---|
/// | `strategy` | a text that is a `Schedule`: `"portfolio"`, `"pct:3"` |
/// | `freedoms` | a text that names `Freedoms`: `"none"`, `"time:1+wakeups"` |
/// | `memory` | `"sc"` or `"weak"` |
/// | `preempt` | `"sync"` or `"memory"`: loads and stores of plain memory are steps, too, under `cargo interloper test` |
/// | `seed`, `executions`, `serial_executions`, `jobs` | a number |
/// | `time_ms` | a number of milliseconds |
/// | `steps` | a number: an execution with more steps fails |
/// | `critical_sections` | no value: critical sections are blocks too |
/// | `inferred_blocks` | no value: AtomFuzzer also pauses where something looks like a block that nobody marked; the report lists it |
/// | `threads_must_end` | no value: a thread that still runs when the test returns must end; by default it is abandoned |
/// | `check_determinism` | no value: each execution runs twice |
/// | `allow_trivial` | no value: the test may pass although nothing was explored |
/// | `every_test` | no value: what `cargo interloper test --every-test` asks of a plain test: 200 executions, 10 seconds, the freedoms `time`, `io` and `weak` are off, no failure at the step bound, `allow_trivial`, a clock that ticks |
/// | `fresh_statics` | no value: the statics of the test's crate start fresh in each execution, whatever they contain |
/// | `flavor` | of an async test: `"current_thread"`, the default, or `"multi_thread"` |
/// | `worker_threads` | a number, for `"multi_thread"`: the most spawned tasks that are polled at the same time; by default 2 |
/// | `cancel` | `true`: some executions drop a `cancellable` future, or a spawned one that has a handle, where it awaits something |
/// | `expect` | `"clean"`, `"warning"`, `"error"` or `"bug"`: the test passes only with this grade; by default it passes with any grade except `"bug"` |
///
/// What the test returns is part of the outcome, which must be that of a sequential run. A test that returns a `Result<(), E>`
/// fails when it returns an error, as with std's attribute; `E` is any type with `Debug`.
///
/// An async function runs on an executor of interloper, on which each ready task is a choice of the scheduler: see
/// `interloper::tasks`.
///
/// ```text
/// #[interloper::test(flavor = "multi_thread", worker_threads = 2)]
/// async fn each_message_arrives() { … }
/// ```
///
/// With `#[tokio::test]` below this attribute, or `#[tokio::main]` below or above, it runs on the runtime of tokio for which that
/// attribute asks. Under `cargo interloper test --instrument tokio` the choices of that runtime are decisions.
///
/// ```text
/// #[interloper::test(executions = 200)]
/// #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
/// async fn each_message_arrives() { … }
/// ```
///
/// These environment variables override the options: `INTERLOPER_SEED`, `INTERLOPER_EXECUTIONS`, `INTERLOPER_STRATEGY`,
/// `INTERLOPER_FREEDOMS`, `INTERLOPER_PREEMPT`, `INTERLOPER_JOBS`, `INTERLOPER_STEPS`, `INTERLOPER_TIME_MS` and `INTERLOPER_PATIENCE_MS`.
/// `INTERLOPER_REPLAY`, with the file or the decisions of a failure, reruns this failure. A failure is written to a file in
/// the folder `interloper-failures` beside the test, and is rerun first the next time; `INTERLOPER_FAILURES` names another
/// folder, or turns this off with `off`.
#[proc_macro_attribute]
pub fn test(options: TokenStream, item: TokenStream) -> TokenStream {
    test::expand(options.into(), item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}
