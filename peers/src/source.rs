//! In the place of the corpus's own module of this name: the text of the programs is not needed here.

/// The code of a program: nothing.
pub fn cut(_file: &'static str, _name: &str) -> &'static str {
    ""
}
