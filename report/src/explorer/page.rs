//! The page: a shell, the data of an exploration as JSON, and the script that shows it.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::escape::json_in_page;
use super::policy::policy;
use super::{Exploration, table};
use crate::shorten::{LONGEST_TEXT, middle};

/// The script: first what computes, then what draws.
const SCRIPT: &str =
    concat!(include_str!("model.js"), include_str!("lanes.js"), include_str!("panels.js"), include_str!("view.js"));
const STYLE: &str = include_str!("explorer.css");

/// The script without its comments and its indentation, which would be a quarter of a small page. A comment takes whole lines.
fn script() -> String {
    let (mut out, mut in_comment) = (String::new(), false);
    for line in SCRIPT.lines().map(str::trim) {
        in_comment |= line.starts_with("/*");
        let ends = in_comment && line.contains("*/");
        // A type in front of an expression is a comment, too.
        let is_code = !in_comment || !line.ends_with("*/") && ends;
        if is_code && !line.is_empty() && !line.starts_with("//") {
            out.push_str(line);
            out.push('\n');
        }
        in_comment &= !ends;
    }
    out
}

/// The page, ended by a newline. All data is escaped; the page loads nothing, and its policy lets nothing but its own script
/// and style have an effect.
#[must_use]
pub fn render(exploration: &Exploration) -> String {
    let (name, verdict) = (middle(&exploration.name, LONGEST_TEXT), middle(&exploration.verdict, LONGEST_TEXT));
    let script = script();
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="Content-Security-Policy" content=(policy(&script, STYLE));
                title { (name) ": " (verdict) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                header {
                    h1 {
                        @if exploration.is_wrong { span.wrong aria-hidden="true" { "✗" } " " }
                        (name)
                    }
                    p.verdict {
                        span.wrong[exploration.is_wrong] { (verdict) }
                        @if !exploration.detail.is_empty() { " (" (middle(&exploration.detail, LONGEST_TEXT)) ")" }
                    }
                    (notes(exploration))
                }
                main id="explorer" { noscript { (table::render(exploration)) } }
                script id="exploration" type="application/json" { (PreEscaped(json_in_page(&exploration.to_json()))) }
                script { (PreEscaped(&script)) }
            }
        }
    };
    let mut text = page.into_string();
    text.push('\n');
    text
}

fn notes(exploration: &Exploration) -> Markup {
    html! { @for note in &exploration.notes { p.note { (middle(note, LONGEST_TEXT)) } } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_loses_its_comments_alone() {
        let script = script();
        assert!(script.len() < SCRIPT.len() * 4 / 5, "{} of {}", script.len(), SCRIPT.len());
        let is_comment = |line: &&str| ["//", "/*", "*"].iter().any(|mark| line.starts_with(mark));
        assert_eq!(script.lines().filter(|line| is_comment(line) && !line.contains("*/")).count(), 0);
        // All other lines are there, in their order: those of the sources that are neither empty nor begin like a comment.
        let code = SCRIPT.lines().map(str::trim).filter(|line| !line.is_empty() && !is_comment(line));
        let kept = script.lines().filter(|line| !is_comment(line));
        assert!(code.eq(kept));
        // A text over several lines would change.
        assert!(SCRIPT.lines().all(|line| line.matches('`').count().is_multiple_of(2)));
    }
}
