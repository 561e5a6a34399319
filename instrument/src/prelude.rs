//! The preludes, with the macro of the mirror: a crate that imports one by its name gets what the mirror has.

/// A prelude of std with the macro. Each name is written out, since an import of all would have attributes of std as well: `test` would come
/// before what a crate has in its place for all of its modules.
macro_rules! prelude {
    ($($(#[$doc:meta])* $name:ident { $($more:path),* })*) => {$(
        $(#[$doc])*
        pub mod $name {
            #[doc(no_inline)]
            pub use crate::thread_local;
            #[doc(no_inline)]
            pub use ::std::{
                borrow::ToOwned,
                boxed::Box,
                clone::Clone,
                cmp::{Eq, Ord, PartialEq, PartialOrd},
                convert::{AsMut, AsRef, From, Into},
                default::Default,
                iter::{DoubleEndedIterator, ExactSizeIterator, Extend, IntoIterator, Iterator},
                marker::{Copy, Send, Sized, Sync, Unpin},
                mem::{align_of, align_of_val, drop, size_of, size_of_val},
                ops::{AsyncFn, AsyncFnMut, AsyncFnOnce, Drop, Fn, FnMut, FnOnce},
                option::Option::{self, None, Some},
                result::Result::{self, Err, Ok},
                string::{String, ToString},
                vec::Vec,
            };
            $(#[doc(no_inline)]
            pub use $more;)*
        }
    )*};
}

prelude! {
    /// What each edition has.
    v1 {}
    /// That of the edition of 2015.
    rust_2015 {}
    /// That of the edition of 2018.
    rust_2018 {}
    /// That of the edition of 2021.
    rust_2021 { ::std::convert::TryFrom, ::std::convert::TryInto, ::std::iter::FromIterator }
    /// That of the edition of 2024.
    rust_2024 {
        ::std::convert::TryFrom, ::std::convert::TryInto, ::std::iter::FromIterator, ::std::future::Future, ::std::future::IntoFuture
    }
}
