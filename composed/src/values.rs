//! What an expression gives, as far as it matters: a type, and the place of the collections in it.

use std::rc::Rc;

use syn::ExprClosure;

use crate::collections::{Effect, Family};
use crate::operation::Place;
use crate::types::Ty;

/// What a place begins with.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Root {
    /// A parameter, by its number; `self` is the first one.
    Parameter(usize, Rc<str>),
    /// A static.
    Static(Rc<str>),
    /// A variable that a spawned closure captures.
    Captured(Rc<str>),
    /// A value that the function makes: nobody else has it.
    Fresh,
    /// A value of which only the type is known.
    Elsewhere(Rc<str>),
}

/// A place: `self.shards[].map`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Placed {
    pub(crate) root: Root,
    /// What follows the root: `.shards[].map`.
    pub(crate) path: String,
    /// Whether a pointer that others may have too is on the way.
    pub(crate) shared: bool,
}

/// What an expression gives.
#[derive(Clone)]
pub(crate) struct Val {
    pub(crate) ty: Ty,
    pub(crate) place: Option<Placed>,
    /// Nobody else can reach it at the same time: it is owned, or borrowed mutably.
    pub(crate) exclusive: bool,
    /// The critical section that it belongs to.
    pub(crate) section: Option<usize>,
    /// Whether it is the guard of that section.
    pub(crate) guard: bool,
    pub(crate) closure: Option<Rc<ExprClosure>>,
}

impl Val {
    pub(crate) fn nothing() -> Val {
        Val::of(Ty::Opaque)
    }

    pub(crate) fn of(ty: Ty) -> Val {
        Val { ty, place: None, exclusive: false, section: None, guard: false, closure: None }
    }

    pub(crate) fn at(ty: Ty, root: Root) -> Val {
        Val { place: Some(Placed { root, path: String::new(), shared: false }), ..Val::of(ty) }
    }

    /// The number of the parameter that it is as a whole, if nothing is known of its type.
    pub(crate) fn parameter(&self) -> Option<usize> {
        match &self.place.as_ref()?.root {
            Root::Parameter(number, _) if self.ty.is_opaque() && self.place.as_ref()?.path.is_empty() => Some(*number),
            _ => None,
        }
    }

    /// Behind all pointers.
    pub(crate) fn peeled(mut self) -> Val {
        while let Ty::Shared(inner) = &self.ty {
            self.ty = (**inner).clone();
            self.exclusive = false;
            if let Some(place) = &mut self.place {
                place.shared = true;
            }
        }
        self
    }

    /// A part of it.
    pub(crate) fn part(&self, ty: Ty, name: &str) -> Val {
        let mut part = self.clone();
        part.ty = ty;
        part.guard = false;
        part.closure = None;
        if let Some(place) = &mut part.place {
            place.path.push_str(name);
        }
        part
    }
}

/// A call that was met.
#[derive(Clone, Debug)]
pub(crate) struct Made {
    pub(crate) placed: Placed,
    /// The crate of the collection, where it is known.
    pub(crate) library: Rc<str>,
    pub(crate) kind: Rc<str>,
    pub(crate) family: Family,
    pub(crate) method: String,
    pub(crate) effect: Effect,
    pub(crate) place: Place,
    /// What is done inside of a critical section.
    pub(crate) inside: Vec<(String, Effect)>,
    /// Whether it is a call of a collection, or a critical section that has one.
    pub(crate) counts: bool,
    /// The local functions that lead to it.
    pub(crate) through: Vec<Rc<str>>,
}

impl Made {
    /// Whether it sets a cell that is set once, unless it is set: whenever it is done again, it gives what the first call gave.
    pub(crate) fn settles(&self) -> bool {
        self.family == Family::Once && self.method.starts_with("get_or_")
    }
}
