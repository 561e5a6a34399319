//! The attributes `#[interloper::atomic]`, `#[interloper::object]` and `#[interloper::test]`.
//!
//! Use them through the facade: what they expand to names `::interloper`.

mod atomic;
mod object;
mod test;

use proc_macro::TokenStream;

/// Makes the body of a function a block that is meant to be atomic: see `interloper::atomic`.
///
/// The block has the name of the function, or the one that is given: `#[interloper::atomic(name = "withdraw")]`. What the
/// function returns is compared with what it returns in the serial orders, if its type has a form as a value (`ToValue`);
/// with `#[interloper::atomic(ignore_result)]` it is not.
///
/// It is for plain functions and methods. For an `async` function the block would end before its body has run, so that is
/// an error, as it is for a `const` one.
#[proc_macro_attribute]
pub fn atomic(options: TokenStream, item: TokenStream) -> TokenStream {
    atomic::expand(options.into(), item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Describes a type as a concurrent object: see `interloper::objects`.
///
/// On an `impl` block of the type, it adds an associated function `object()`, as visible as the constructor, which gives
/// the `interloper::objects::Object` that `Object::describe` would give with the same functions. Functions of the block
/// take part when they are marked:
///
/// | mark | the function |
/// |---|---|
/// | `#[constructor]` | makes a fresh object; it has no parameters |
/// | `#[core]` | is taken to be atomic |
/// | `#[method]` | is under test |
///
/// A method takes `&self` and at most four arguments, whose types are `Argument`s or references to what such a type
/// lends (`&str`, `&[i64]`); its result has a form as a value (`ToValue`). Both marks of methods have options:
///
/// | option | value |
/// |---|---|
/// | `name` | the name in harnesses, if it is another one: `"addAll"` |
/// | `reads` | none: it never changes the object |
/// | `sees` | what it sees on purpose: `"weak"`, `"basic"`, `"monotonic"`, `"peer"`, `"causal"` or `"complete"` |
/// | `arguments` | the generators of its arguments: `[Generator::Atom(Atom::INTEGER)]` |
///
/// Options of the object, `#[interloper::object(name = "set", data_independent)]`:
///
/// | option | value |
/// |---|---|
/// | `name` | its name; without it, that of the type |
/// | `model` | the reference type that it behaves like: `type_named("set").unwrap()` |
/// | `data_independent` | none: renaming values renames outcomes and does nothing else |
#[proc_macro_attribute]
pub fn object(options: TokenStream, item: TokenStream) -> TokenStream {
    object::expand(options.into(), item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Makes a function a test that checks it: see `interloper::check`.
///
/// ```text
/// #[interloper::test(seed = 7, executions = 1000, strategy = "atomfuzzer:0.9")]
/// fn transfers_keep_the_sum() -> i64 { … }
/// ```
///
/// Options, each of which has the meaning of the field of `interloper::blocks::Settings`:
///
/// | option | value |
/// |---|---|
/// | `strategy` | a text that is a `Schedule`: `"portfolio"`, `"pct:3"` |
/// | `freedoms` | a text that names `Freedoms`: `"none"`, `"time:1+wakeups"` |
/// | `seed`, `executions`, `serial_executions`, `jobs` | a number |
/// | `time_ms` | a number of milliseconds |
/// | `steps` | a number: an execution that has more fails |
/// | `critical_sections` | none: critical sections are blocks, too |
/// | `threads_must_end` | none: a thread that is left when the test returns must come to its end; without it, it is given up |
/// | `check_determinism` | none: each execution is made twice |
/// | `allow_trivial` | none: the test may pass although nothing was explored |
/// | `fresh_statics` | none: the statics of the crate of the test start fresh in each execution, whatever is in them |
/// | `expect` | `"clean"`, `"warning"`, `"error"` or `"bug"`: the test passes with this grade only; without it, with any but `"bug"` |
///
/// The environment goes before the options: `INTERLOPER_SEED`, `INTERLOPER_EXECUTIONS`, `INTERLOPER_STRATEGY`,
/// `INTERLOPER_FREEDOMS`, `INTERLOPER_JOBS`, `INTERLOPER_STEPS`, `INTERLOPER_TIME_MS`, `INTERLOPER_PATIENCE_MS`, and `INTERLOPER_REPLAY` with the file or the decisions of
/// a failure. A failure is written to a file in the folder `interloper-failures` beside the test, and is made first the
/// next time; `INTERLOPER_FAILURES` names another folder, or says `off`.
#[proc_macro_attribute]
pub fn test(options: TokenStream, item: TokenStream) -> TokenStream {
    test::expand(options.into(), item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}
