//! What a check says.

use std::fmt;

use interloper_report::Counterexample;
use interloper_report::replay_file::Moment;
use interloper_scheduler::Unseen;
use interloper_scheduler::decisions::Decisions;

/// What the search found out about a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// Every run within the bounds is explained by a sequential order.
    Linearizable,
    /// A run is explained by none.
    NotLinearizable,
    /// A run is explained by none in the open environment, and every run is in the environment of the program: "not
    /// linearizable only in the open environment" (the paper's "Modular NL", section 5.3).
    Modular,
    /// None of the random runs that were asked for is a violation. That covers no bound: it is less than
    /// [`Verdict::Linearizable`].
    NothingFound,
    /// Nothing was found, and a limit (executions, time) ended the search before its bounds were covered.
    Unfinished,
}

impl Verdict {
    /// The verdict as one word, as the suite's tables and JSON have it.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Linearizable => "linearizable",
            Verdict::NotLinearizable => "not-linearizable",
            Verdict::Modular => "modular",
            Verdict::NothingFound => "nothing-found",
            Verdict::Unfinished => "unfinished",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Verdict::Linearizable => "linearizable",
            Verdict::NotLinearizable => "not linearizable",
            Verdict::Modular => "not linearizable only in the open environment",
            Verdict::NothingFound => "nothing found",
            Verdict::Unfinished => "unfinished",
        })
    }
}

/// What a search went through.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// How the environment was chosen, in words.
    pub environment: String,
    /// Arguments (for several calls: combinations of them) that the method was called with.
    pub arguments: usize,
    /// Initial states.
    pub initial_states: usize,
    /// Different operations that the environment chose from.
    pub alphabet: usize,
    /// Environment operations in one run, at most.
    pub bound: u32,
    /// Concurrent calls of the method (or of the object's methods).
    pub calls: usize,
    /// Runs of the method, the sequential reference runs not counted.
    pub executions: u64,
    /// The steps of the method that these made, with the operations of their environment.
    pub steps: u64,
    /// How many different histories they were: where a run begins, and its steps and those of the environment with their
    /// results, in their order.
    pub histories: u64,
    /// Whether there were more histories than are counted.
    pub more_histories: bool,
    /// For random runs, unless the search ended at a violation: what they say about the histories that they have not shown.
    pub unseen: Option<Unseen>,
    /// Whether they were drawn at random: they cover no bound.
    pub random: bool,
    /// How many of them no sequential order explains: 1 at most, unless the search keeps going.
    pub violating: u64,
    /// Whether every run within the bounds was made.
    pub complete: bool,
}

impl fmt::Display for Coverage {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: ", self.environment)?;
        if self.calls > 1 {
            write!(out, "{} concurrent calls, ", self.calls)?;
        }
        plural(out, self.arguments as u64, "argument")?;
        write!(out, ", ")?;
        plural(out, self.initial_states as u64, "initial state")?;
        if self.alphabet > 0 {
            write!(out, ", up to ")?;
            plural(out, u64::from(self.bound), "environment operation")?;
            write!(out, " out of {}", self.alphabet)?;
        }
        write!(out, "; ")?;
        plural(out, self.executions, if self.random { "random execution" } else { "execution" })?;
        if self.executions > 0 {
            out.write_str(if self.more_histories { " of more than " } else { " of " })?;
            match self.histories {
                1 => write!(out, "1 history")?,
                histories => write!(out, "{histories} histories")?,
            }
            write!(out, ", ")?;
            plural(out, self.steps, "step")?;
        }
        out.write_str(match (self.complete, self.violating) {
            (true, _) => ", complete",
            (false, 0) if self.random => "",
            (false, 0) => ", not complete",
            (false, _) => ", stopped at the first violation",
        })?;
        match self.unseen {
            Some(unseen) => write!(out, "; {}", unseen.text("history")),
            None => Ok(()),
        }
    }
}

fn plural(out: &mut fmt::Formatter<'_>, count: u64, noun: &str) -> fmt::Result {
    write!(out, "{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// A run that no sequential order explains.
#[derive(Clone, Debug)]
pub struct Violation {
    /// The run and the orders that fail to explain it.
    pub counterexample: Counterexample,
    /// How many operations the environment made in it.
    pub environment_operations: u32,
    /// Which execution of the search it was, counted from 1.
    pub execution: u64,
    /// What determines the run.
    pub decisions: Decisions,
    /// The run by its structure: what a replay is compared with.
    pub history: Vec<Moment>,
}

/// The result of a check.
#[derive(Clone, Debug)]
pub struct Report {
    /// The method's name.
    pub name: String,
    /// What was found out.
    pub verdict: Verdict,
    /// The first violation, where there is one: the smallest, for an exhaustive search.
    pub violation: Option<Violation>,
    /// What each search went through: the open environment first, then the program's where that was tried.
    pub coverage: Vec<Coverage>,
}

impl Report {
    /// Runs of the method in all searches.
    pub fn executions(&self) -> u64 {
        self.coverage.iter().map(|coverage| coverage.executions).sum()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.violation {
            Some(violation) => {
                let style = interloper_report::text::Style::default();
                out.write_str(&interloper_report::text::render(&violation.counterexample, style))?;
            }
            None => {
                let mark = if self.verdict == Verdict::Unfinished { '?' } else { '✓' };
                writeln!(out, "{mark} {}  {}", self.name, self.verdict)?;
            }
        }
        for coverage in &self.coverage {
            writeln!(out, "  {coverage}")?;
        }
        Ok(())
    }
}
