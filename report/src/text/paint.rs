//! Colours by meaning.

use anstyle::{AnsiColor, Style};

/// What a piece of text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ink {
    Plain,
    Heading,
    Wrong,
    Environment,
    State,
    Faint,
    Command,
}

/// Paints when colour is on, and copies when it is off.
#[derive(Clone, Copy, Debug)]
pub(super) struct Painter {
    color: bool,
}

impl Painter {
    pub(super) fn new(color: bool) -> Self {
        Self { color }
    }

    pub(super) fn paint(self, ink: Ink, text: &str) -> String {
        let style = style(ink);
        if !self.color || text.is_empty() || style.is_plain() {
            return text.to_owned();
        }
        format!("{style}{text}{style:#}")
    }
}

fn style(ink: Ink) -> Style {
    match ink {
        Ink::Plain => Style::new(),
        Ink::Heading => Style::new().bold(),
        Ink::Wrong => Style::new().bold().fg_color(Some(AnsiColor::Red.into())),
        Ink::Environment => Style::new().fg_color(Some(AnsiColor::Yellow.into())),
        Ink::State => Style::new().fg_color(Some(AnsiColor::Cyan.into())),
        Ink::Faint => Style::new().dimmed(),
        Ink::Command => Style::new().fg_color(Some(AnsiColor::Green.into())),
    }
}

/// Colours the marks at the beginning of the lines of a table.
#[must_use]
pub fn paint_marks(table: &str, style: super::Style) -> String {
    if !style.color {
        return table.to_owned();
    }
    let paint = |color: AnsiColor, mark: char| {
        let color = color.on_default();
        format!("{color}{mark}{color:#}")
    };
    let line = |line: &str| match line.chars().next() {
        Some(mark @ '✗') => format!("{}{}", paint(AnsiColor::Red, mark), &line[mark.len_utf8()..]),
        Some(mark @ '✓') => format!("{}{}", paint(AnsiColor::Green, mark), &line[mark.len_utf8()..]),
        _ => line.to_owned(),
    };
    table.split_inclusive('\n').map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_coloured_on_request_only() {
        let table = "  case\n✓ good ✓\n✗ bad\n– other\n";
        assert_eq!(paint_marks(table, crate::text::Style { color: false, width: None }), table);
        assert_eq!(
            paint_marks(table, crate::text::Style { color: true, width: None }),
            "  case\n\u{1b}[32m✓\u{1b}[0m good ✓\n\u{1b}[31m✗\u{1b}[0m bad\n– other\n"
        );
    }
}
