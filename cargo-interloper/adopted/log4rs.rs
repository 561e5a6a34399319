//! A record that comes late: after a new configuration is set, nothing is expected in the old one.
//!
//! ```toml
//! anyhow = "1"
//! log = "0.4"
//! log4rs = { version = "1", default-features = false }
//! [package.metadata.interloper]
//! instrument = ["log4rs", "log"]
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;

use log::{Level, LevelFilter, Record};
use log4rs::append::Append;
use log4rs::config::{Appender, Config, Root};

#[derive(Clone, Debug, Default)]
struct Counts(Arc<AtomicU32>);

impl Append for Counts {
    fn append(&self, _: &Record<'_>) -> anyhow::Result<()> {
        self.0.fetch_add(1, SeqCst);
        Ok(())
    }
    fn flush(&self) {}
}

fn to(counts: &Counts) -> Config {
    let appender = Appender::builder().build("counts", Box::new(counts.clone()));
    Config::builder().appender(appender).build(Root::builder().appender("counts").build(LevelFilter::Info)).unwrap()
}

fn replaced(joins_first: bool) {
    let (old, new) = (Counts::default(), Counts::default());
    let handle = log4rs::init_config(to(&old)).unwrap();
    let say = || log::logger().log(&Record::builder().level(Level::Info).args(format_args!("here")).build());
    let mut other = Some(thread::spawn(say));
    handle.set_config(to(&new));
    if joins_first {
        other.take().unwrap().join().unwrap();
    }
    let before = old.0.load(SeqCst);
    other.map(|other| other.join().unwrap());
    say();
    assert_eq!(old.0.load(SeqCst), before, "the old configuration is in use no more");
}

pub fn planted() {
    replaced(false);
}

pub fn correct() {
    replaced(true);
}
