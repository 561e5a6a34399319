//! Whether the mirror is parking_lot itself, because that is under control or replaced: see `src/lib.rs`. `cargo interloper` says
//! so for this crate alone. As a flag for all crates it would have all of them compiled again.

use std::env;

fn main() {
    const VARIABLE: &str = "INTERLOPER_REAL_PARKING_LOT";
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed={VARIABLE}");
    println!("cargo::rustc-check-cfg=cfg(interloper_real_parking_lot)");
    if env::var_os(VARIABLE).is_some_and(|value| value == "on") {
        println!("cargo::rustc-cfg=interloper_real_parking_lot");
    }
}
