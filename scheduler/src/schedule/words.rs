//! Values that are chosen by one of a few words.

/// The text forms of an enum, and the error for any other text. `$wrong` is its message, with `{:?}` for the text.
macro_rules! words {
    ($chosen:ident: $($variant:ident as $word:literal),+; else $error:ident: $wrong:literal) => {
        impl std::fmt::Display for $chosen {
            fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                out.write_str(match self {
                    $($chosen::$variant => $word,)+
                })
            }
        }

        #[doc = concat!("A text that is not a [`", stringify!($chosen), "`].")]
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $error {
            /// The text.
            pub text: String,
        }

        impl std::fmt::Display for $error {
            fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(out, $wrong, self.text)
            }
        }

        impl std::error::Error for $error {}

        impl std::str::FromStr for $chosen {
            type Err = $error;

            fn from_str(text: &str) -> Result<$chosen, $error> {
                match text {
                    $($word => Ok($chosen::$variant),)+
                    _ => Err($error { text: text.to_owned() }),
                }
            }
        }
    };
}
