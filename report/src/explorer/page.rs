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

/// The page, ended by a newline. All data is escaped; the page loads nothing, and its policy lets nothing but its own script
/// and style have an effect.
#[must_use]
pub fn render(exploration: &Exploration) -> String {
    let (name, verdict) = (middle(&exploration.name, LONGEST_TEXT), middle(&exploration.verdict, LONGEST_TEXT));
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="Content-Security-Policy" content=(policy(SCRIPT, STYLE));
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
                script { (PreEscaped(SCRIPT)) }
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
