//! The result of a check.

use std::collections::BTreeSet;
use std::fmt;

use interloper_report::Counterexample;
use interloper_report::replay_file::Moment;
use interloper_scheduler::Unseen;
use interloper_scheduler::decisions::Decisions;

/// The answer of the search about a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// A sequential order explains every execution within the bounds.
    Linearizable,
    /// No sequential order explains some execution.
    NotLinearizable,
    /// No sequential order explains some execution in the open environment, but every execution in the environment of the
    /// program is explained: "not linearizable only in the open environment" (the paper's "Modular NL", section 5.3).
    Modular,
    /// No random execution is a violation. Random executions cover no bound, so this is weaker than
    /// [`Verdict::Linearizable`].
    NothingFound,
    /// The search found nothing, and a limit (executions, time) ended it before it covered its bounds.
    Unfinished,
}

impl Verdict {
    /// The verdict as one word, for tables and JSON.
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

/// What a search covered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// How the environment was chosen, in words.
    pub environment: String,
    /// The number of arguments, or of their combinations for several calls.
    pub arguments: usize,
    /// The number of initial states.
    pub initial_states: usize,
    /// The number of operations that the environment chose from.
    pub alphabet: usize,
    /// The collections that no execution used: what the environment does to them makes no difference, so it did nothing there.
    pub unused: Vec<String>,
    /// The most environment operations in one execution.
    pub bound: u32,
    /// The number of concurrent calls of the method (or of the object's methods).
    pub calls: usize,
    /// The number of executions, without the sequential reference runs.
    pub executions: u64,
    /// The steps that the method made in these, and the operations of their environment.
    pub steps: u64,
    /// How many different histories the executions had: where a run begins, and its steps and those of the environment
    /// with their results, in order.
    pub histories: u64,
    /// Whether there were more histories than are counted.
    pub more_histories: bool,
    /// For random runs, unless the search ended at a violation: an estimate of the histories that no run has shown.
    pub unseen: Option<Unseen>,
    /// Whether the executions were drawn at random; random executions cover no bound.
    pub random: bool,
    /// How many executions no sequential order explains: at most 1, unless the search continues after the first.
    pub violating: u64,
    /// Whether the search ran every execution within the bounds.
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
            if !self.unused.is_empty() {
                write!(out, " (no execution uses {})", listed(&self.unused))?;
            }
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

/// `a`, `a or b`, `a, b or c`.
fn listed(names: &[String]) -> String {
    match names {
        [all @ .., last] if !all.is_empty() => format!("{} or {last}", all.join(", ")),
        names => names.join(""),
    }
}

fn plural(out: &mut fmt::Formatter<'_>, count: u64, noun: &str) -> fmt::Result {
    write!(out, "{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// An execution that no sequential order explains.
#[derive(Clone, Debug)]
pub struct Violation {
    /// The execution, described, and the orders that fail to explain it.
    pub counterexample: Counterexample,
    /// How many operations the environment made.
    pub environment_operations: u32,
    /// The number of the execution in the search, counted from 1.
    pub execution: u64,
    /// The decisions that determine the execution.
    pub decisions: Decisions,
    /// The run by its structure: what a replay is compared with.
    pub history: Vec<Moment>,
}

/// The result of a check.
#[derive(Clone, Debug)]
pub struct Report {
    /// The method's name.
    pub name: String,
    /// The verdict.
    pub verdict: Verdict,
    /// The first violation, if the search found one; an exhaustive search finds a smallest one first.
    pub violation: Option<Violation>,
    /// The first violation that the program of the method can do by itself, if its environment was searched after an open one.
    pub own: Option<Violation>,
    /// What each search covered: the open environment first, then the environment of the program if it was tried.
    pub coverage: Vec<Coverage>,
    /// The names of the methods of published collections that were called in some execution, or when the method ran alone. `None`
    /// where the collections are wrappers.
    pub called: Option<BTreeSet<&'static str>>,
}

impl Report {
    /// What came of one execution that ran again.
    pub(super) fn of_one(name: String, violation: Option<Violation>, coverage: Coverage) -> Report {
        let verdict = if violation.is_some() { Verdict::NotLinearizable } else { Verdict::Linearizable };
        Report { name, verdict, violation, own: None, coverage: vec![coverage], called: None }
    }

    /// The number of executions in all searches.
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
