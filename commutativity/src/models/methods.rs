//! What every model declares: its methods, so that constants, signatures and names cannot disagree, and the rest of a
//! [`crate::Model`].

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

/// Implements [`crate::Model`] for a type: what it is called, the state of a fresh object, its methods, the table of those
/// methods, and what runs a call on which states. A call is refused where that gives nothing, and on every other state.
macro_rules! model {
    (
        $model:ty = $name:literal, initially $initial:expr;
        methods: $entries:expr;
        table: $table:expr;
        run: ($state:pat, $call:ident) => $run:expr $(;)?
    ) => {
        impl $crate::Model for $model {
            fn name(&self) -> &str {
                $name
            }

            fn methods(&self) -> &[$crate::Method] {
                static METHODS: std::sync::LazyLock<Vec<$crate::Method>> =
                    std::sync::LazyLock::new(|| $crate::models::methods::signatures($entries));
                &METHODS
            }

            fn initial(&self) -> $crate::Value {
                let initial: fn(&Self) -> $crate::Value = $initial;
                initial(self)
            }

            fn specification(&self) -> Option<&$crate::Specification> {
                static TABLE: std::sync::LazyLock<$crate::Specification> = std::sync::LazyLock::new(|| $table);
                Some(&TABLE)
            }

            fn apply(&self, state: &mut $crate::Value, $call: &$crate::Invocation) -> $crate::Value {
                // A register may hold anything.
                #[allow(unreachable_patterns)]
                let result = match state {
                    $state => $run,
                    _ => None,
                };
                result.unwrap_or_else($crate::models::refused)
            }
        }
    };
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
