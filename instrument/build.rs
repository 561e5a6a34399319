//! Whether freed memory is kept: see `src/plain/allocator.rs`. `cargo interloper` says so for this crate alone. As a flag for all
//! crates it would have all of them compiled again in the next project that has an allocator of its own.

use std::env;

fn main() {
    const VARIABLE: &str = "INTERLOPER_QUARANTINE";
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed={VARIABLE}");
    println!("cargo::rustc-check-cfg=cfg(interloper_quarantine)");
    if env::var_os(VARIABLE).is_some_and(|value| value == "on") {
        println!("cargo::rustc-cfg=interloper_quarantine");
    }
}
