//! Breaking text to a width without losing any of it.

use textwrap::{Options, WordSeparator, WordSplitter};

pub(super) use textwrap::core::display_width;

/// The lines of `text`, each at most `width` wide, continuation lines indented by two. A word that is too long is
/// broken; only the spaces at a break are dropped.
pub(super) fn wrap(text: &str, width: Option<usize>) -> Vec<String> {
    let Some(width) = width else { return text.split('\n').map(str::to_owned).collect() };
    let options = Options::new(width)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
        .subsequent_indent(if width >= 8 { "  " } else { "" });
    textwrap::wrap(text, options).into_iter().map(std::borrow::Cow::into_owned).collect()
}

/// The beginning of `text`, at most `width` wide, with `…` for what does not fit.
pub(super) fn cut(text: &str, width: usize) -> String {
    if display_width(text) <= width {
        return text.to_owned();
    }
    let mut fits = String::new();
    for character in text.chars() {
        fits.push(character);
        if display_width(&fits) >= width {
            fits.pop();
            break;
        }
    }
    fits.push('…');
    fits
}

/// `text` followed by spaces up to `width`.
pub(super) fn pad(text: &str, width: usize) -> String {
    let missing = width.saturating_sub(display_width(text));
    format!("{text}{}", " ".repeat(missing))
}
