//! What a path names.

use syn::{Path, Type};

use crate::index::Index;

/// Where a name is written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scope {
    /// The module, by its number.
    pub(crate) module: usize,
    /// What `Self` is, by its number.
    pub(crate) own: Option<usize>,
}

/// The namespace in which a name is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Want {
    Type,
    Value,
}

/// What a path names.
#[derive(Clone)]
pub(crate) enum Target<'a> {
    Module(usize),
    Struct(usize),
    /// A type alias, with the module that it is in.
    Alias(usize, &'a Type),
    Static(usize),
    Function(usize),
    /// Something of another crate.
    External(Vec<String>),
}

/// Imports of imports are followed so far.
const STEPS: usize = 12;

/// The names of a path.
pub(crate) fn segments(path: &Path) -> Vec<String> {
    path.segments.iter().map(|segment| segment.ident.to_string()).collect()
}

impl<'a> Index<'a> {
    /// What a path in a module names; `None` if nothing is known of it.
    pub(crate) fn resolve(&self, module: usize, path: &[String], want: Want) -> Option<Target<'a>> {
        self.step(module, path, want, STEPS)
    }

    fn step(&self, module: usize, path: &[String], want: Want, steps: usize) -> Option<Target<'a>> {
        let steps = steps.checked_sub(1)?;
        let (first, rest) = path.split_first()?;
        let next = match first.as_str() {
            "crate" | "$crate" => Some(self.modules[module].root),
            "self" => Some(module),
            "super" => Some(self.modules[module].parent?),
            "" => return self.in_other_crate(rest, want, steps),
            _ => None,
        };
        if let Some(next) = next {
            return if rest.is_empty() { Some(Target::Module(next)) } else { self.inside(next, rest, want, steps) };
        }
        self.inside(module, path, want, steps).or_else(|| self.in_other_crate(path, want, steps))
    }

    /// A path that begins with a name in a module.
    fn inside(&self, module: usize, path: &[String], want: Want, steps: usize) -> Option<Target<'a>> {
        let (first, rest) = path.split_first()?;
        if matches!(first.as_str(), "self" | "super" | "crate") {
            return self.step(module, path, want, steps);
        }
        let here = &self.modules[module];
        let wanted = if rest.is_empty() { want } else { Want::Type };
        let found = match wanted {
            Want::Type => here.types.get(first).cloned(),
            Want::Value => here.values.get(first).cloned(),
        };
        let found = found.or_else(|| {
            let import = here.imports.get(first)?;
            // `use x;` in the module where `x` is would go round.
            let same = import.len() == 1 && import[0] == *first;
            if same { self.in_other_crate(import, wanted, steps) } else { self.step(module, import, wanted, steps) }
        });
        let found = found.or_else(|| {
            here.globs.iter().find_map(|glob| match self.step(module, glob, Want::Type, steps.min(4))? {
                Target::Module(inner) if inner != module => {
                    // Modules may import each other as a whole.
                    self.inside(inner, std::slice::from_ref(first), wanted, steps.min(4).checked_sub(1)?)
                }
                Target::External(names) => {
                    let names = [&names[..], std::slice::from_ref(first)].concat();
                    self.is_collection(&names).then_some(Target::External(names))
                }
                _ => None,
            })
        })?;
        self.then(found, rest, want, steps)
    }

    fn then(&self, found: Target<'a>, rest: &[String], want: Want, steps: usize) -> Option<Target<'a>> {
        if rest.is_empty() {
            return Some(found);
        }
        match found {
            Target::Module(inner) => self.inside(inner, rest, want, steps.checked_sub(1)?),
            Target::External(names) => Some(Target::External([&names[..], rest].concat())),
            Target::Struct(number) if want == Want::Value && rest.len() == 1 => {
                self.methods.get(&(number, rest[0].clone())).map(|function| Target::Function(*function))
            }
            Target::Alias(module, Type::Path(path)) => {
                let names = [segments(&path.path), rest.to_vec()].concat();
                self.step(module, &names, want, steps)
            }
            _ => None,
        }
    }

    fn in_other_crate(&self, path: &[String], want: Want, steps: usize) -> Option<Target<'a>> {
        let (first, rest) = path.split_first()?;
        match self.crates.get(first) {
            Some(root) => self.then(Target::Module(*root), rest, want, steps),
            None => Some(Target::External(path.to_vec())),
        }
    }
}
