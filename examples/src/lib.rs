//! Runnable examples, each with its output in its header: `examples/memoize.rs` and those beside it.
//!
//! Run one with `cargo run -p interloper-examples --example memoize`. The tests run them all and compare.
