//! A counterexample as one self-contained HTML page.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::shorten::Shown;
use crate::{Counterexample, Event, Lane, Row};

/// The page: what the text rendering shows, in tables, without scripts or external resources, in light or dark as the
/// reader's system says. All data is escaped.
#[must_use]
pub fn render(counterexample: &Counterexample) -> String {
    let shown = Shown::new(counterexample);
    let counterexample = &*shown.counterexample;
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                // Should markup ever slip through the escaping, it can load and run nothing.
                meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'";
                title { (counterexample.name) ": " (counterexample.verdict) }
                style { (PreEscaped(CSS)) }
            }
            body {
                h1 { span.wrong { "✗" } " " (counterexample.name) }
                p.verdict {
                    span.wrong { (counterexample.verdict) }
                    @if !counterexample.detail.is_empty() { " (" (counterexample.detail) ")" }
                }
                (interleaving(&shown))
                @if let Some(deadlock) = &counterexample.deadlock {
                    h2 { "Deadlock" }
                    p { (deadlock) "." }
                }
                (orders(counterexample))
                @if let Some(replay) = &counterexample.replay {
                    h2 { "Replay" }
                    pre { code { (replay) } }
                }
                @if let Some(note) = shown.note { p.note { (note) } }
            }
        }
    };
    let mut text = page.into_string();
    text.push('\n');
    text
}

fn interleaving(shown: &Shown<'_>) -> Markup {
    let counterexample = &*shown.counterexample;
    let with_state = counterexample.rows.iter().any(|row| row.state.is_some());
    html! {
        div.scroll {
            table.interleaving {
                thead {
                    tr {
                        th scope="col" { (counterexample.heading()) }
                        @for column in &counterexample.columns { th scope="col" { (column.title) } }
                        @if with_state { th scope="col" { "state" } }
                    }
                }
                tbody {
                    @for ((row, step), quote) in counterexample.rows.iter().zip(&shown.numbers).zip(&shown.quotes) {
                        tr {
                            th scope="row" {
                                @if let Some(step) = step { (step) }
                                // A row without a column is a mistake of the caller, and still part of the data.
                                @if row.column >= counterexample.columns.len() { (event(row, quote.as_deref())) }
                            }
                            @for (at, column) in counterexample.columns.iter().enumerate() {
                                td.environment[column.lane == Lane::Environment] {
                                    @if at == row.column { (event(row, quote.as_deref())) }
                                }
                            }
                            @if with_state { td.state { @if let Some(state) = &row.state { (state) } } }
                        }
                    }
                }
            }
        }
    }
}

fn event(row: &Row, quote: Option<&str>) -> Markup {
    let wrong = matches!(row.event, Event::Panicked(_) | Event::Blocked(_));
    html! {
        span.wrong[wrong] { (row.event) }
        @if let Some(location) = &row.location { div.note { "at " (location) } }
        @if let Some(code) = quote { pre.note { code { (code) } } }
        @for note in &row.notes { div.note { (note) } }
    }
}

fn orders(counterexample: &Counterexample) -> Markup {
    html! {
        @if !counterexample.orders.is_empty() {
            h2 { "No sequential order explains it" }
            div.scroll {
                table {
                    thead { tr { th scope="col" { "order" } th scope="col" { "what differs" } } }
                    tbody {
                        @for order in &counterexample.orders {
                            tr { td { (order.sequence) } td { (order.disagreement) } }
                        }
                    }
                }
            }
        }
    }
}

const CSS: &str = "
:root { color-scheme: light dark; --wrong: #b3261e; --environment: #7a4f01; --state: #00677d; --line: #c9c9c9; \
--faint: #666; }
@media (prefers-color-scheme: dark) { :root { --wrong: #ff8a80; --environment: #f2c14e; --state: #67d4e8; \
--line: #4a4a4a; --faint: #a0a0a0; } }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 80rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.4rem; margin-bottom: 0; } h2 { font-size: 1.05rem; margin-top: 2rem; }
td pre { margin: 0; } table, pre { font-family: ui-monospace, monospace; font-size: 0.9rem; }
table { border-collapse: collapse; } .scroll, pre { overflow-x: auto; }
th, td { text-align: left; vertical-align: top; padding: 0.25rem 1.5rem 0.25rem 0; white-space: pre-wrap; }
thead th { border-bottom: 1px solid var(--line); } tbody th { color: var(--faint); font-weight: normal; }
.verdict { margin-top: 0; } .wrong { color: var(--wrong); font-weight: 600; }
.environment { color: var(--environment); } .state { color: var(--state); } .note { color: var(--faint); }
";
