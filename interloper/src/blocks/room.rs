//! How much memory a search may use. What executions put into statics and forget stays allocated to the end of the process, so a
//! long search of such a program ends here, with what it has found, before the system ends the process.

use std::fs;
use std::path::Path;

/// The search looks at the memory of the process in every so manieth execution.
pub(super) const EVERY: u64 = 256;

/// The memory that the process uses, in bytes. `None` where the system does not say.
pub(super) fn used() -> Option<u64> {
    kilobytes(&fs::read_to_string("/proc/self/status").ok()?, "VmRSS:")
}

/// Three quarters of the memory that the process can have, in bytes. `None` where the system does not say.
pub(super) fn most() -> Option<u64> {
    let machine = fs::read_to_string("/proc/meminfo").ok().and_then(|text| kilobytes(&text, "MemTotal:"));
    // The second one is that of older systems.
    let group = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];
    let group = group.into_iter().find_map(|file| fs::read_to_string(Path::new(file)).ok()?.trim().parse::<u64>().ok());
    machine.into_iter().chain(group).min().map(|all| all / 4 * 3)
}

/// The number of bytes in a line such as `VmRSS:    1024 kB`.
fn kilobytes(text: &str, label: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(label))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_system_are_read() {
        let text = "VmPeak:\t  900 kB\nVmRSS:\t   12 kB\nThreads:\t1\n";
        assert_eq!(kilobytes(text, "VmRSS:"), Some(12 * 1024));
        assert_eq!((kilobytes(text, "VmSwap:"), kilobytes(text, "Threads:")), (None, None));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_process_has_less_than_it_may_have() {
        let (used, most) = (used().expect("Linux says it"), most().expect("Linux says it"));
        assert!(used > 0 && used < most, "{used} {most}");
    }
}
