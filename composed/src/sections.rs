//! Critical sections: what is done under a lock counts as one call.

use std::collections::BTreeSet;

use crate::body::{Body, Held};
use crate::collections::{Effect, Family};
use crate::files;
use crate::flow::Flow;
use crate::index::Index;
use crate::values::{Made, Root, Val};

impl Body<'_, '_> {
    /// A call on a value, or the beginning of a critical section. Gives its number, or that of the section that it is part of.
    pub(crate) fn record(&mut self, on: &Val, what: What<'_>, at: proc_macro2::Span) -> Option<usize> {
        if let Some(section) = on.section {
            self.note(section, what.method, what.effect);
            return Some(section);
        }
        let placed = on.place.clone()?;
        if on.exclusive {
            return None;
        }
        let start = at.start();
        let entered = self.enter(Made {
            placed,
            library: what.library.into(),
            kind: what.kind.into(),
            family: what.family,
            method: what.method.to_owned(),
            effect: what.effect,
            place: files::place(&self.file, start.line, start.column + 1),
            inside: Vec::new(),
            counts: what.counts,
            through: Vec::new(),
        });
        match entered {
            Entered::Call(number) => {
                self.emit(Flow::Call(number));
                Some(number)
            }
            Entered::Part(section) => Some(section),
        }
    }

    /// Enters a call, unless it is part of a critical section that goes on.
    pub(crate) fn enter(&mut self, made: Made) -> Entered {
        if let Some(held) = self.held.iter().find(|held| held.exclusive) {
            let section = held.section;
            if let Some(key) = key(&made, self.scope.own) {
                if self.index.bare.borrow().contains(&key) {
                    self.made.push(made);
                    return Entered::Call(self.made.len() - 1);
                }
                self.inside.insert(key);
            }
            if made.counts {
                self.made[section].counts = true;
            }
            self.note(section, &made.method, made.effect);
            return Entered::Part(section);
        }
        if self.held.is_empty() {
            self.open.extend(key(&made, self.scope.own));
        }
        self.made.push(made);
        Entered::Call(self.made.len() - 1)
    }

    /// Something is done inside of a critical section.
    pub(crate) fn note(&mut self, section: usize, method: &str, effect: Effect) {
        if let Some(made) = self.made.get_mut(section) {
            made.inside.push((method.to_owned(), effect));
        }
    }

    /// A section goes on until it is released.
    pub(crate) fn hold(&mut self, section: usize) {
        let exclusive = self.made[section].effect != Effect::Get;
        if !self.held.iter().any(|held| held.section == section) {
            self.held.push(Held { section, exclusive, variable: None });
        }
    }

    /// The sections that began after a moment end, but the one whose guard is kept.
    pub(crate) fn release(&mut self, from: usize, kept: Option<(usize, String)>) {
        let after = self.held.split_off(from.min(self.held.len()));
        if let Some((section, variable)) = kept
            && let Some(held) = after.into_iter().find(|held| held.section == section)
        {
            self.held.push(Held { variable: Some(variable), ..held });
        }
    }

    /// `drop(guard)`.
    pub(crate) fn dropped(&mut self, variable: &str) {
        self.held.retain(|held| held.variable.as_deref() != Some(variable));
    }
}

/// A collection of a type, or of a static: the type, and the path to it.
pub(crate) type Key = (Option<usize>, String);

/// The collection that is called, unless it is a lock, in a function of a type.
fn key(made: &Made, own: Option<usize>) -> Option<Key> {
    if !made.counts || made.family == Family::Lock {
        return None;
    }
    match &made.placed.root {
        Root::Parameter(0, name) if &**name == "self" => Some((Some(own?), made.placed.path.clone())),
        Root::Static(name) => Some((None, format!("{name}{}", made.placed.path))),
        _ => None,
    }
}

impl Index<'_> {
    /// Looks for what one function calls in a critical section and another one calls without the lock: what sees it there sees
    /// the critical section as several steps.
    pub(crate) fn find_bare(&self) {
        for number in 0..self.functions.len() {
            self.summary(number);
        }
        let called = self.called.take();
        let mut bare = BTreeSet::new();
        // A function that is called under a lock alone is part of its section.
        for number in (0..self.functions.len()).filter(|number| called.get(number) != Some(&false)) {
            bare.extend(self.summary(number).open.iter().cloned());
        }
        // What has such a section is looked at again, and so is whatever calls it.
        let has_one = |number: &usize| !self.summary(*number).inside.is_disjoint(&bare);
        let mut again: BTreeSet<usize> = (0..self.functions.len()).filter(has_one).collect();
        loop {
            let calls = |number: &usize| !self.summary(*number).callees.is_disjoint(&again);
            let more: Vec<usize> =
                (0..self.functions.len()).filter(|number| !again.contains(number)).filter(calls).collect();
            if more.is_empty() {
                break;
            }
            again.extend(more);
        }
        self.summaries.borrow_mut().retain(|number, _| !again.contains(number));
        self.bare.replace(bare);
    }
}

/// What became of a call.
pub(crate) enum Entered {
    /// A call with this number.
    Call(usize),
    /// It is part of a critical section that goes on.
    Part(usize),
}

/// What is called.
#[derive(Clone, Copy)]
pub(crate) struct What<'w> {
    pub(crate) library: &'w str,
    pub(crate) kind: &'w str,
    pub(crate) family: Family,
    pub(crate) method: &'w str,
    pub(crate) effect: Effect,
    pub(crate) counts: bool,
}

impl Made {
    /// What the call does in all.
    pub(crate) fn total(&self) -> Effect {
        if self.family != Family::Lock {
            return self.effect;
        }
        let effects: Vec<Effect> = self.inside.iter().map(|(_, effect)| *effect).collect();
        let reads = effects.iter().copied().find(|effect| effect.reads_only());
        let writes = effects.iter().copied().find(|effect| !effect.reads_only());
        match (reads, writes) {
            (Some(read), None) => read,
            (None, Some(write)) => write,
            (Some(_), Some(_)) => Effect::Change,
            (None, None) => {
                if self.effect == Effect::Get {
                    Effect::Get
                } else {
                    Effect::Other
                }
            }
        }
    }
}
