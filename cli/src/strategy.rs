//! The strategy of a search.

use interloper::blocks::Schedule;

use crate::args::SearchArgs;
use crate::failure::Failure;

/// The options that say how schedules are chosen.
pub const OPTIONS: [&str; 5] = ["--strategy", "--freedoms", "--memory", "--q", "--depth"];

/// The strategy that was asked for, or else `own`, with the parameters that were asked for.
pub fn chosen(own: Schedule, search: &SearchArgs) -> Result<Schedule, Failure> {
    let mut schedule = search.strategy.clone().unwrap_or(own);
    let refused = |option: &str, about: &str, schedule: &Schedule| {
        Err(Failure::Request(format!("{option} is for {about}, and the strategy is {schedule}")))
    };
    if search.q.is_some_and(|q| !schedule.set_q(q)) {
        return refused("--q", "atomfuzzer", &schedule);
    }
    if search.depth.is_some_and(|depth| !schedule.set_depth(depth)) {
        return refused("--depth", "pct", &schedule);
    }
    Ok(schedule)
}

/// The options that say how schedules are chosen, where one of them was given, with the seed: as they are typed after a
/// command, with a space before each.
pub fn typed(search: &SearchArgs) -> String {
    let given = [
        search.strategy.as_ref().map(|strategy| format!(" --strategy {strategy}")),
        search.freedoms.map(|freedoms| format!(" --freedoms {freedoms}")),
        search.memory.map(|memory| format!(" --memory {memory}")),
        search.q.map(|q| format!(" --q {q}")),
        search.depth.map(|depth| format!(" --depth {depth}")),
    ];
    let given: String = given.into_iter().flatten().collect();
    if given.is_empty() { given } else { format!(" --seed {}{given}", search.seed()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Request, parse};

    fn search(arguments: &[&str]) -> SearchArgs {
        let arguments = std::iter::once("interloper").chain(arguments.iter().copied()).map(Into::into);
        match parse(arguments) {
            Ok(Request::Run(cli)) => cli.search,
            other => panic!("{other:?}"),
        }
    }

    fn schedule(arguments: &[&str]) -> Result<String, Failure> {
        chosen(Schedule::default(), &search(arguments)).map(|schedule| schedule.to_string())
    }

    #[test]
    fn q_and_depth_change_the_strategies_that_have_them() {
        assert_eq!(schedule(&[]).as_deref(), Ok("atomfuzzer:0.5+rff+pct:3+pos+surw+random"));
        let both = schedule(&["--q", "1", "--depth", "5"]);
        assert_eq!(both.as_deref(), Ok("atomfuzzer:1+rff+pct:5+pos+surw+random"));
        assert_eq!(schedule(&["--strategy", "pct", "--depth", "2"]).as_deref(), Ok("pct:2"));
        let refused = |arguments: &[&str], reason: &str| {
            assert_eq!(schedule(arguments), Err(Failure::Request(reason.to_owned())));
        };
        refused(&["--strategy", "pct", "--q", "1"], "--q is for atomfuzzer, and the strategy is pct:3");
        refused(&["--strategy", "random", "--depth", "1"], "--depth is for pct, and the strategy is random");
    }

    #[test]
    fn what_was_given_is_typed_again_with_the_seed() {
        assert_eq!(typed(&search(&["--seed", "7", "--time", "3"])), "");
        let given = ["--strategy", "pct", "--depth", "2", "--freedoms", "none"];
        assert_eq!(typed(&search(&given)), " --seed 42 --strategy pct:3 --freedoms none --depth 2");
    }
}
