//! The lists of methods: one macro, so that constants, signatures and names cannot disagree.

use crate::{Condition, Method, MethodId, Signature, Specification};

/// A method together with what its parameters are called in a table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub method: Method,
    pub names: &'static [&'static str],
}

impl Entry {
    /// The same method, used by an open environment or not.
    pub(super) const fn in_environment(mut self, environment: bool) -> Entry {
        self.method.environment = environment;
        self
    }
}

/// Declares the methods of a model from index `$start` on: a constant for each, and `ENTRIES`.
macro_rules! methods {
    (
        from $start:expr;
        $( $(#[$doc:meta])* $constant:ident = $name:ident ( $($parameter:ident : $kind:ident),* ) $(, $environment:ident)? ; )*
    ) => {
        #[allow(clippy::upper_case_acronyms, non_camel_case_types)]
        #[repr(u8)]
        enum Index { $($constant),* }
        $(
            $(#[$doc])*
            pub const $constant: $crate::MethodId = $crate::MethodId($start + Index::$constant as u8);
        )*
        /// The methods declared in this module, the first with index `$start`.
        pub(super) const ENTRIES: &[$crate::models::methods::Entry] = &[
            $($crate::models::methods::Entry {
                method: $crate::Method {
                    name: stringify!($name),
                    parameters: &[$($crate::Parameter::$kind),*],
                    environment: methods!(@environment $($environment)?),
                },
                names: &[$(stringify!($parameter)),*],
            }),*
        ];
    };
    (@environment environment) => { true };
    (@environment) => { false };
}

/// The signatures of `entries`, in the form that [`crate::Model::methods`] returns.
pub(super) fn signatures(entries: impl IntoIterator<Item = Entry>) -> Vec<Method> {
    entries.into_iter().map(|entry| entry.method).collect()
}

/// A table of `entries`; `key` is what the parameter is called that two operations share. See [`Specification::new`].
pub(super) fn specification(
    name: &'static str,
    entries: impl IntoIterator<Item = Entry>,
    key: Option<&str>,
    conflict: impl Fn(MethodId, MethodId) -> Condition,
) -> Specification {
    let keyed = |names: &[&str]| names.first().is_some_and(|first| Some(*first) == key);
    let signature =
        |entry: Entry| Signature { name: entry.method.name, parameters: entry.names, keyed: keyed(entry.names) };
    Specification::new(name, entries.into_iter().map(signature).collect(), conflict)
}
