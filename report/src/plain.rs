//! Makes foreign text safe to show on a terminal.
//!
//! What a program under test, a file or a command line says may hold control characters, which change what a terminal
//! shows or does, and marks that reorder the text around them. All such text goes through this module before it is
//! printed.

use std::borrow::Cow;
use std::fmt::Write;

/// `text` with every control character and every mark of direction escaped as in Rust (`\u{1b}`). Newlines stay.
///
/// ```
/// use interloper_report::plain;
///
/// assert_eq!(plain::text("two\nlines\u{1b}[31m"), "two\nlines\\u{1b}[31m");
/// ```
#[must_use]
pub fn text(text: &str) -> Cow<'_, str> {
    escaped(text, |c| c != '\n' && is_hidden(c))
}

/// The same with newlines escaped too, so that it is one line.
///
/// ```
/// use interloper_report::plain;
///
/// assert_eq!(plain::line("one\nline"), "one\\nline");
/// ```
#[must_use]
pub fn line(text: &str) -> Cow<'_, str> {
    escaped(text, is_hidden)
}

/// Whether a character takes no place on a terminal but has an effect there: control characters, separators of lines
/// and paragraphs, and the marks that reorder the text around them.
#[must_use]
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn escaped(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if is_escaped(c) {
            write!(out, "{}", c.escape_debug()).expect("writing to a string");
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_hidden_is_escaped_and_nothing_else() {
        let check = |given: &str, as_text: &str, as_line: &str| {
            assert_eq!(text(given), as_text);
            assert_eq!(line(given), as_line);
        };
        check("plain \"é\" \\ 'x' …", "plain \"é\" \\ 'x' …", "plain \"é\" \\ 'x' …");
        check("a\r\n\tb", "a\\r\n\\tb", "a\\r\\n\\tb");
        check("\u{1b}]0;title\u{7}", "\\u{1b}]0;title\\u{7}", "\\u{1b}]0;title\\u{7}");
        // C1 controls: 0x9b begins a control sequence, too.
        check("\u{9b}31m\u{7f}", "\\u{9b}31m\\u{7f}", "\\u{9b}31m\\u{7f}");
        check("\u{202e}evil\u{2066}", "\\u{202e}evil\\u{2066}", "\\u{202e}evil\\u{2066}");
        check("\u{2028}", "\\u{2028}", "\\u{2028}");
    }

    #[test]
    fn no_control_character_survives() {
        let all: String = (0..0x3000).filter_map(char::from_u32).collect();
        assert!(!line(&all).contains(is_hidden));
        assert!(!text(&all).contains(|c| c != '\n' && is_hidden(c)));
        let printed = all.chars().filter(|&c| !is_hidden(c));
        assert!(printed.clone().all(|c| line(&c.to_string()) == c.to_string()) && printed.count() > 0x2f00);
    }
}
