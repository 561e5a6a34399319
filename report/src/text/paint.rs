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
