//! What is known of the plain memory of a program under control: whether its accesses are announced, and judged.

use std::path::Path;

use super::Copied;
use crate::announce;
use crate::cargo::Races;
use crate::plan::Class;
use crate::project::{Package, Project, Role};
use crate::refusal::Refusal;

/// What both spellings of the request for steps at plain memory contain: files without it need no closer look.
const PART_OF_PREEMPT: &str = "reempt";

impl Project {
    /// Whether the program announces its loads and stores.
    pub(crate) fn announces(&self) -> bool {
        announce::is_possible(&self.triple)
    }

    /// Whether executions are judged for data races; if not, why.
    pub(super) fn judges_races(&self, copies: &[Copied], own_allocator: Option<&Path>) -> Result<(), String> {
        if !self.announces() {
            return Err(format!("the compiler cannot announce loads and stores for {}", self.triple));
        }
        match self.options.races {
            Races::On => return Ok(()),
            Races::Off => return Err("`--races off`".to_owned()),
            Races::Auto => {}
        }
        if let Some(file) = own_allocator {
            // That its calls order the free before the next use is not seen.
            return Err(format!(
                "the project has an allocator of its own, so that memory which one thread frees and another one gets would look shared \
                 (`--races on`): {}",
                file.display()
            ));
        }
        // The program does not contain members that are not built, nor dependencies that only they have.
        let built = self.built();
        let is_outside = |index: usize, package: &Package| {
            let is_copied = copies.iter().any(|copy| copy.changed && copy.package == index);
            package.role == Role::Dependency && built.contains(&index) && !is_copied
        };
        let packages = self.packages.iter().enumerate().filter(|(index, package)| is_outside(*index, package));
        let synchronises = |package: &Package| {
            let judged = self.read(package);
            matches!(judged.class, Class::Instrument | Class::Replace | Class::Cannot) && !judged.only_reads
        };
        let own = built.iter().map(|index| &self.packages[*index]);
        let own = own.filter(|package| package.role == Role::Own && self.hides(package).is_some());
        let outside: Vec<String> = packages
            .map(|(_, package)| package)
            .filter(|package| synchronises(package))
            .chain(own)
            .map(Package::label)
            .collect();
        if outside.is_empty() {
            return Ok(());
        }
        let (shown, more) =
            (outside.iter().take(3).cloned().collect::<Vec<_>>().join(", "), outside.len().saturating_sub(3));
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        Err(format!("{shown}{more} may synchronise outside of control (`--instrument`, or `--races on`)"))
    }

    /// Whether each load and each store has to be announced: the command asks for steps at plain memory, or a test of the project
    /// does.
    pub(super) fn announces_all(&self, own_allocator: Option<&Path>) -> Result<bool, Refusal> {
        let asks = |text: &str| {
            let text: String = text.chars().filter(|letter| !letter.is_whitespace()).collect();
            text.contains("preempt=\"memory\"") || text.contains("Preempt::Memory")
        };
        let reason = match own_allocator {
            _ if !self.announces() => format!("the compiler cannot announce them for {}", self.triple),
            Some(file) => {
                format!("the project has an allocator of its own, which must not be interrupted: {}", file.display())
            }
            None => return Ok(self.options.preempts || self.has_file(asks)?),
        };
        // A test that asks for them says so itself.
        let refused = || Refusal::Request(format!("loads and stores cannot be steps: {reason}"));
        if self.options.preempts { Err(refused()) } else { Ok(false) }
    }

    /// Whether a file of the project's own that may ask for steps at plain memory is so.
    fn has_file(&self, is_so: impl Fn(&str) -> bool) -> Result<bool, Refusal> {
        for package in self.packages.iter().filter(|package| package.role == Role::Own) {
            if self.files_with(package, PART_OF_PREEMPT)?.iter().any(|(_, source)| is_so(source)) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
