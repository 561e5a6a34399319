//! Where tasks can be preempted, as a value with a text form.

/// Where tasks can be preempted. The text forms are `sync` and `memory`.
///
/// ```
/// use interloper_scheduler::schedule::Preempt;
///
/// assert_eq!("memory".parse(), Ok(Preempt::Memory));
/// assert_eq!(Preempt::default().to_string(), "sync");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Preempt {
    /// Before they synchronise: atomics, locks, channels, threads. What they do to plain memory in between belongs to the step
    /// before it.
    #[default]
    Synchronisation,
    /// Before loads and stores of plain memory as well, unless no other task can have reached the memory. This is for programs
    /// whose bugs are in plain variables.
    Memory,
}

words! {
    Preempt: Synchronisation as "sync", Memory as "memory";
    else PreemptError: "{:?} is no place to preempt at: write sync or memory (loads and stores, too)"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts() {
        for preempt in [Preempt::Synchronisation, Preempt::Memory] {
            assert_eq!(preempt.to_string().parse(), Ok(preempt));
        }
        let error = "plain".parse::<Preempt>().unwrap_err().to_string();
        assert_eq!(error, "\"plain\" is no place to preempt at: write sync or memory (loads and stores, too)");
    }
}
