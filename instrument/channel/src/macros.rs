//! `select!` and `select_biased!`.

/// Mirrors [`crossbeam_channel::select!`].
#[macro_export]
macro_rules! select {
    ($($arms:tt)*) => {
        $crate::__select!(@arms ($crate::Select::new()) [] [] $($arms)*)
    };
}

/// Mirrors [`crossbeam_channel::select_biased!`].
#[macro_export]
macro_rules! select_biased {
    ($($arms:tt)*) => {
        $crate::__select!(@arms ($crate::Select::new_biased()) [] [] $($arms)*)
    };
}

/// Reads the arms of a `select!` one after the other, and then makes the selection.
#[doc(hidden)]
#[macro_export]
macro_rules! __select {
    // The arms. Each ends with a comma, or is a block, or is the last.
    (@arms $select:tt $cases:tt $default:tt) => {
        $crate::__select!(@bind $select $default [] $cases)
    };
    (@arms $select:tt [$($cases:tt)*] $default:tt recv($receiver:expr $(,)?) -> $result:pat => $body:block, $($rest:tt)*) => {
        $crate::__select!(@arms $select [$($cases)* (recv ($receiver) () ($result) $body)] $default $($rest)*)
    };
    (@arms $select:tt [$($cases:tt)*] $default:tt recv($receiver:expr $(,)?) -> $result:pat => $body:block $($rest:tt)*) => {
        $crate::__select!(@arms $select [$($cases)* (recv ($receiver) () ($result) $body)] $default $($rest)*)
    };
    (@arms $select:tt [$($cases:tt)*] $default:tt recv($receiver:expr $(,)?) -> $result:pat => $body:expr $(, $($rest:tt)*)?) => {
        $crate::__select!(@arms $select [$($cases)* (recv ($receiver) () ($result) $body)] $default $($($rest)*)?)
    };
    (@arms $select:tt [$($cases:tt)*] $default:tt send($sender:expr, $message:expr $(,)?) -> $result:pat => $body:block, $($rest:tt)*) => {
        $crate::__select!(@arms $select [$($cases)* (send ($sender) ($message) ($result) $body)] $default $($rest)*)
    };
    (@arms $select:tt [$($cases:tt)*] $default:tt send($sender:expr, $message:expr $(,)?) -> $result:pat => $body:block $($rest:tt)*) => {
        $crate::__select!(@arms $select [$($cases)* (send ($sender) ($message) ($result) $body)] $default $($rest)*)
    };
    (@arms $select:tt [$($cases:tt)*] $default:tt send($sender:expr, $message:expr $(,)?) -> $result:pat => $body:expr $(, $($rest:tt)*)?) => {
        $crate::__select!(@arms $select [$($cases)* (send ($sender) ($message) ($result) $body)] $default $($($rest)*)?)
    };
    (@arms $select:tt $cases:tt [] default $(($($timeout:expr)?))? => $body:block, $($rest:tt)*) => {
        $crate::__select!(@arms $select $cases [($($($timeout)?)?) $body] $($rest)*)
    };
    (@arms $select:tt $cases:tt [] default $(($($timeout:expr)?))? => $body:block $($rest:tt)*) => {
        $crate::__select!(@arms $select $cases [($($($timeout)?)?) $body] $($rest)*)
    };
    (@arms $select:tt $cases:tt [] default $(($($timeout:expr)?))? => $body:expr $(, $($rest:tt)*)?) => {
        $crate::__select!(@arms $select $cases [($($($timeout)?)?) $body] $($($rest)*)?)
    };
    // The ends of channels are evaluated one after the other, each with a name of its own.
    (@bind $select:tt $default:tt [$($bound:tt)*] [($kind:ident ($end:expr) $message:tt $result:tt $body:expr) $($rest:tt)*]) => {
        match &$end {
            end => $crate::__select!(@bind $select $default [$($bound)* ($kind end $message $result $body)] [$($rest)*]),
        }
    };
    (@bind ($select:expr) $default:tt $bound:tt []) => {{
        let mut select = $select;
        $crate::__select!(@index select $default [] $bound)
    }};
    // Each operation gets its index.
    (@index $select:ident $default:tt [$($cases:tt)*] [($kind:ident $end:ident $message:tt $result:tt $body:expr) $($rest:tt)*]) => {{
        let index = $select.$kind($end);
        $crate::__select!(@index $select $default [$($cases)* (index $kind $end $message $result $body)] [$($rest)*])
    }};
    // The selection.
    (@index $select:ident [] $cases:tt []) => {{
        let operation = $select.select();
        $crate::__select!(@complete operation $cases)
    }};
    (@index $select:ident [() $body:expr] $cases:tt []) => {
        match $select.try_select() {
            Ok(operation) => $crate::__select!(@complete operation $cases),
            Err(_) => {
                drop($select);
                $body
            }
        }
    };
    (@index $select:ident [($timeout:expr) $body:expr] $cases:tt []) => {
        match $select.select_timeout($timeout) {
            Ok(operation) => $crate::__select!(@complete operation $cases),
            Err(_) => {
                drop($select);
                $body
            }
        }
    };
    (@complete $operation:ident [$(($index:ident $kind:ident $end:ident ($($message:expr)?) ($result:pat) $body:expr))*]) => {
        $(
            if $operation.index() == $index {
                let $result = $operation.$kind($end $(, $message)?);
                $body
            } else
        )* {
            unreachable!("one of the operations is selected")
        }
    };
}
