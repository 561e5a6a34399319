//! A lost update of a filter: two threads read it, and each sets it with a target of its own.
//!
//! ```toml
//! tracing-core = "0.1"
//! tracing-subscriber = "0.3"
//! [package.metadata.interloper]
//! instrument = ["tracing-subscriber", "tracing-core"]
//! ```

use std::thread;

use tracing_core::LevelFilter;
use tracing_subscriber::Registry;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::reload::{Handle, Layer};

type Filter = Handle<Targets, Registry>;

fn two(add: fn(&Filter, &'static str)) {
    let (_layer, filter) = Layer::new(Targets::new());
    thread::scope(|scope| {
        scope.spawn(|| add(&filter, "theirs"));
        add(&filter, "ours");
    });
    assert_eq!(filter.with_current(|targets| targets.iter().count()).unwrap(), 2);
}

pub fn planted() {
    two(|filter, target| {
        let targets = filter.clone_current().unwrap();
        filter.reload(targets.with_target(target, LevelFilter::INFO)).unwrap();
    });
}

pub fn correct() {
    two(|filter, target| {
        let add = |targets: &mut Targets| *targets = targets.clone().with_target(target, LevelFilter::INFO);
        filter.modify(add).unwrap();
    });
}
