//! Compiled into the project of each program: measures it, and says so in lines of JSON.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use interloper::Checker;
use interloper::blocks::{Grade, Report};

/// The default, and the next ones.
const SEEDS: [u64; 5] = [42, 43, 44, 45, 46];

#[test]
fn measured() {
    end_with_run();
    for seed in SEEDS {
        let started = Instant::now();
        let checked = Checker::new("planted").seed(seed).check(super::program::planted);
        say("planted", seed, started, checked.map_err(|misuse| misuse.to_string()));
    }
    let started = Instant::now();
    let checked = Checker::new("correct").seed(SEEDS[0]).check(super::program::correct);
    say("correct", SEEDS[0], started, checked.map_err(|misuse| misuse.to_string()));
}

/// Ends this process when the one that has started the run is gone.
fn end_with_run() {
    let Ok(run) = std::env::var("ADOPTED_RUN") else { return };
    let run = Path::new("/proc").join(run);
    if !run.exists() {
        return;
    }
    thread::spawn(move || {
        while run.exists() {
            thread::sleep(Duration::from_secs(1));
        }
        std::process::exit(1);
    });
}

fn say(program: &str, seed: u64, started: Instant, checked: Result<Report, String>) {
    let seconds = started.elapsed().as_secs_f64();
    let report = match checked {
        Ok(report) => report,
        Err(misuse) => {
            println!("\nmeasured: {{\"program\":{program:?},\"seed\":{seed},\"refused\":{misuse:?}}}");
            return;
        }
    };
    let found = match (&report.bug, report.grade) {
        (Some(bug), _) => format!("{:?}", bug.finding.word()),
        (None, Grade::Bug) => "\"bug\"".to_owned(),
        (None, _) => "null".to_owned(),
    };
    let at = report.bug.as_ref().map_or(0, |bug| bug.execution);
    let coverage = &report.coverage;
    println!(
        "\nmeasured: {{\"program\":{program:?},\"seed\":{seed},\"found\":{found},\"at\":{at},\"executions\":{},\"steps\":{},\
         \"traces\":{},\"complete\":{},\"given_up\":{},\"races\":{},\"seconds\":{seconds}}}",
        coverage.executions,
        coverage.steps,
        coverage.traces,
        coverage.complete,
        coverage.given_up,
        coverage.races.is_some(),
    );
    if program == "correct" && report.bug.is_some() {
        println!("{report}");
    }
}
