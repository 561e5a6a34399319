//! The preludes, with the macro of the mirror: a crate that imports one by its name gets what the mirror has.

pub use ::std::prelude::*;

/// A prelude of std with the macro.
macro_rules! prelude {
    ($($(#[$doc:meta])* $name:ident),*) => {$(
        $(#[$doc])*
        pub mod $name {
            #[doc(no_inline)]
            pub use crate::thread_local;
            pub use ::std::prelude::$name::*;
        }
    )*};
}

prelude! {
    /// What each edition has.
    v1,
    /// That of the edition of 2015.
    rust_2015,
    /// That of the edition of 2018.
    rust_2018,
    /// That of the edition of 2021.
    rust_2021,
    /// That of the edition of 2024.
    rust_2024
}
