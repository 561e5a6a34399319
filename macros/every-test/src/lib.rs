//! The attribute that stands in the place of std's `#[test]` under `cargo interloper test --every-test`.
//!
//! The command writes `#[cfg(test)] #[macro_use] extern crate interloper_every_test;` into its copy of the first file of each crate. A macro
//! that is imported in this way comes before one of std's prelude, so `#[test]` means this attribute in the whole crate, also where another
//! macro has written it. The crate has no dependencies: no test waits for them to be compiled.

use proc_macro::TokenStream;

/// Makes a plain test one that `#[interloper::test]` checks.
///
/// The other attributes of the function are part of `item`, whether they stand before this one or after it.
#[proc_macro_attribute]
pub fn test(_: TokenStream, item: TokenStream) -> TokenStream {
    let attribute: TokenStream = "#[::interloper::test(every_test)]".parse().expect("it is an attribute");
    attribute.into_iter().chain(item).collect()
}
