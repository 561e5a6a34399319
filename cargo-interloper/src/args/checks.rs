//! The options of checks, which override what the tests say. The environment can say the same.

use std::ffi::OsString;

use clap::Args;
use interloper::Shard;
use interloper::blocks::{Freedoms, Memory, Schedule};
use interloper_report::time;

/// What each check is told.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Checks")]
pub struct Checks {
    /// The seed of every random choice
    #[arg(long, value_name = "N", env = "INTERLOPER_SEED", hide_env_values = true)]
    pub seed: Option<u64>,
    /// The number of executions of a search
    #[arg(long, value_name = "N", value_parser = executions, env = "INTERLOPER_EXECUTIONS", hide_env_values = true)]
    pub executions: Option<u64>,
    /// The longest time for a check, in seconds, or as `30m` or `8h`; the result then depends on the machine
    #[arg(long, value_name = "TIME", value_parser = milliseconds)]
    pub time: Option<u64>,
    /// Who runs at each step, such as `pos` or `exhaustive`
    #[arg(long, value_name = "STRATEGY", env = "INTERLOPER_STRATEGY", hide_env_values = true)]
    pub strategy: Option<Schedule>,
    /// What executions use of what std leaves open, such as `none`, `all` or `time:2+wakeups`
    #[arg(long, value_name = "FREEDOMS", env = "INTERLOPER_FREEDOMS", hide_env_values = true)]
    pub freedoms: Option<Freedoms>,
    /// The memory of executions, sc (sequentially consistent) or weak
    #[arg(long, value_name = "MEMORY", env = "INTERLOPER_MEMORY", hide_env_values = true)]
    pub memory: Option<Memory>,
    /// The most steps of an execution
    #[arg(long, value_name = "N", env = "INTERLOPER_STEPS", hide_env_values = true)]
    pub steps: Option<u64>,
    /// Only this part of the executions of each search, `2/4` for the second of four
    #[arg(long, value_name = "I/N", env = "INTERLOPER_SHARD", hide_env_values = true)]
    pub shard: Option<Shard>,
}

impl Checks {
    /// The variables in which checks find this.
    pub fn variables(&self) -> Vec<(&'static str, String)> {
        let time = self.time.map(|time| ("INTERLOPER_TIME_MS", time.to_string()));
        let seed = self.seed.map(|seed| ("INTERLOPER_SEED", seed.to_string()));
        let shard = self.shard.as_ref().map(|shard| ("INTERLOPER_SHARD", shard.to_string()));
        let others = self.others().into_iter().map(|(_, variable, value)| (variable, value));
        others.chain(time).chain(seed).chain(shard).collect()
    }

    /// As typed, except for the seed and the shard, which a failing test says itself, and the time, which is the machine's.
    pub fn typed(&self) -> impl Iterator<Item = OsString> {
        self.others().into_iter().flat_map(|(option, _, value)| [option.into(), value.into()])
    }

    fn others(&self) -> Vec<(&'static str, &'static str, String)> {
        let of = |option, variable, value: Option<String>| value.map(|value| (option, variable, value));
        let all = [
            of("--executions", "INTERLOPER_EXECUTIONS", self.executions.map(|number| number.to_string())),
            of("--strategy", "INTERLOPER_STRATEGY", self.strategy.as_ref().map(ToString::to_string)),
            of("--freedoms", "INTERLOPER_FREEDOMS", self.freedoms.as_ref().map(ToString::to_string)),
            of("--memory", "INTERLOPER_MEMORY", self.memory.as_ref().map(ToString::to_string)),
            of("--steps", "INTERLOPER_STEPS", self.steps.map(|number| number.to_string())),
        ];
        all.into_iter().flatten().collect()
    }
}

fn executions(text: &str) -> Result<u64, String> {
    let number = text.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| format!("the number of executions is a whole number from 1 to {}", u64::MAX))
}

fn milliseconds(text: &str) -> Result<u64, String> {
    let time = time::parse(text)?.as_millis();
    u64::try_from(time).ok().filter(|time| *time > 0).ok_or_else(|| "a time is a millisecond at least".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_has_an_execution() {
        assert_eq!((executions("1"), executions(&u64::MAX.to_string())), (Ok(1), Ok(u64::MAX)));
        for text in ["0", "-1", "1.5", "18446744073709551616"] {
            let reason = "the number of executions is a whole number from 1 to 18446744073709551615";
            assert_eq!(executions(text), Err(reason.to_owned()));
        }
    }

    #[test]
    fn what_is_typed_is_what_checks_are_told() {
        let checks = Checks {
            seed: Some(7),
            time: Some(1500),
            strategy: Some(Schedule::Pos),
            memory: Some("weak".parse().unwrap()),
            shard: Some(Shard::new(2, 4).unwrap()),
            ..Checks::default()
        };
        let variables = checks.variables();
        let expected = [
            ("INTERLOPER_STRATEGY", "pos"),
            ("INTERLOPER_MEMORY", "weak"),
            ("INTERLOPER_TIME_MS", "1500"),
            ("INTERLOPER_SEED", "7"),
            ("INTERLOPER_SHARD", "2/4"),
        ];
        assert_eq!(variables.iter().map(|(name, value)| (*name, value.as_str())).collect::<Vec<_>>(), expected);
        assert_eq!(checks.typed().collect::<Vec<_>>(), ["--strategy", "pos", "--memory", "weak"]);
        assert_eq!((Checks::default().variables().len(), Checks::default().typed().count()), (0, 0));
    }
}
