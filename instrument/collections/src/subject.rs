//! The shared state of a method under test: one collection, a tuple of them, or a struct with collections in its
//! fields.

use std::rc::Rc;
use std::sync::Arc;

use crate::session::Instrumented;

/// The shared state of a method under test.
///
/// Implemented for every instrumented collection and for tuples of up to four. A struct of your own gets it from
/// [`subject!`](crate::subject).
pub trait Subject {
    /// Whether the subject has only its collections, so that restoring them gives a fresh subject. A struct may hold
    /// more, and is made anew for each run.
    const REUSABLE: bool = false;

    /// The collections that the environment acts on, with the names that reports use; the empty name stands for "the
    /// collection" where there is only one.
    fn parts(&self) -> Vec<(String, &dyn Instrumented)>;

    /// The collections of [`parts`](Subject::parts) without their names, which a check wants once, and not in each run.
    fn collections(&self) -> Vec<&dyn Instrumented> {
        unnamed(self.parts())
    }
}

/// Not in the default method, which is compiled in the user's crate, where each store may be announced.
fn unnamed(parts: Vec<(String, &dyn Instrumented)>) -> Vec<&dyn Instrumented> {
    parts.into_iter().map(|(_, part)| part).collect()
}

impl<T: Instrumented> Subject for T {
    const REUSABLE: bool = true;

    fn parts(&self) -> Vec<(String, &dyn Instrumented)> {
        vec![(String::new(), self)]
    }

    fn collections(&self) -> Vec<&dyn Instrumented> {
        vec![self]
    }
}

macro_rules! pointers {
    ($($pointer:ident),*) => {$(
        impl<T: Subject> Subject for $pointer<T> {
            const REUSABLE: bool = T::REUSABLE;

            fn parts(&self) -> Vec<(String, &dyn Instrumented)> {
                (**self).parts()
            }

            fn collections(&self) -> Vec<&dyn Instrumented> {
                (**self).collections()
            }
        }
    )*};
}

pointers!(Arc, Rc);

macro_rules! tuples {
    ($($name:ident . $index:tt),+) => {
        impl<$($name: Instrumented),+> Subject for ($($name,)+) {
            const REUSABLE: bool = true;

            fn parts(&self) -> Vec<(String, &dyn Instrumented)> {
                named(self.collections())
            }

            fn collections(&self) -> Vec<&dyn Instrumented> {
                vec![$(&self.$index),+]
            }
        }
    };
}

tuples!(A.0);
tuples!(A.0, B.1);
tuples!(A.0, B.1, C.2);
tuples!(A.0, B.1, C.2, D.3);

/// Names the collections by their types: `map` and `queue`, or `map0` and `map1` where two types are the same.
fn named(parts: Vec<&dyn Instrumented>) -> Vec<(String, &dyn Instrumented)> {
    let kinds: Vec<String> = parts.iter().map(|part| part.model().name().replace('-', "_")).collect();
    let name = |index: usize| {
        let alike = kinds.iter().filter(|kind| **kind == kinds[index]).count();
        let before = kinds[..index].iter().filter(|kind| **kind == kinds[index]).count();
        if alike == 1 { kinds[index].clone() } else { format!("{}{before}", kinds[index]) }
    };
    let names: Vec<String> = (0..parts.len()).map(name).collect();
    names.into_iter().zip(parts).collect()
}

/// Makes a struct a [`Subject`]: names the fields that are instrumented collections.
#[macro_export]
macro_rules! subject {
    ($type:ty { $($field:ident),+ $(,)? }) => {
        impl $crate::Subject for $type {
            fn parts(&self) -> ::std::vec::Vec<(::std::string::String, &dyn $crate::session::Instrumented)> {
                ::std::vec![$((
                    ::std::string::String::from(::std::stringify!($field)),
                    &self.$field as &dyn $crate::session::Instrumented,
                )),+]
            }

            fn collections(&self) -> ::std::vec::Vec<&dyn $crate::session::Instrumented> {
                ::std::vec![$(&self.$field),+]
            }
        }
    };
}
