//! A message in two records: another thread logs between them.
//!
//! ```toml
//! env_logger = { version = "0.11", default-features = false }
//! log = "0.4"
//! [package.metadata.interloper]
//! instrument = ["env_logger", "log"]
//! ```

use std::io::{self, Write};
use std::sync::{Arc, Mutex};
use std::thread;

use env_logger::{Builder, Logger, Target};
use log::{Level, LevelFilter, Log, Record};

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn say(logger: &Logger, text: &str) {
    logger.log(&Record::builder().level(Level::Info).args(format_args!("{text}")).build());
}

fn two(at_once: bool) {
    let lines = Lines::default();
    let logger = Builder::new()
        .filter_level(LevelFilter::Info)
        .format(|out, record| writeln!(out, "{}", record.args()))
        .target(Target::Pipe(Box::new(lines.clone())))
        .build();
    thread::scope(|scope| {
        scope.spawn(|| say(&logger, "theirs"));
        if at_once {
            say(&logger, "begin\nend");
        } else {
            say(&logger, "begin");
            say(&logger, "end");
        }
    });
    let text = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
    assert!(text.contains("theirs\n") && text.contains("begin\nend\n"), "{text}");
}

pub fn planted() {
    two(false);
}

pub fn correct() {
    two(true);
}
