//! The steps as a table: what the page shows without a script.

use maud::{Markup, html};

use super::{Exploration, Kind, Step};
use crate::Lane;
use crate::shorten::{LONGEST_TEXT, grouped, middle};

/// So many steps are in the table; of more, the first and the last fifty and what is marked.
const MOST: usize = 300;
const AT_EACH_END: usize = 50;
/// So many sequential orders are in the table.
const MOST_ORDERS: usize = 200;

/// The steps, the orders, and the rest of the report.
pub(super) fn render(exploration: &Exploration) -> Markup {
    html! {
        (steps(exploration))
        @if let Some(deadlock) = &exploration.deadlock {
            h2 { "Deadlock" }
            p { (short(&deadlock.to_string())) "." }
        }
        (orders(exploration))
        (linearization(exploration))
        @if let Some(replay) = &exploration.replay {
            h2 { "Replay" }
            pre { code { (short(replay)) } }
        }
    }
}

fn steps(exploration: &Exploration) -> Markup {
    let with_state = exploration.steps.iter().any(|step| step.state.is_some());
    let numbered = exploration.steps.iter().zip(exploration.numbers()).enumerate();
    let count = exploration.steps.len();
    let is_shown =
        |index: usize, step: &Step| count <= MOST || index < AT_EACH_END || index + AT_EACH_END >= count || step.marked;
    let shown: Vec<_> = numbered.filter(|(index, (step, _))| is_shown(*index, step)).take(2 * MOST).collect();
    let left_out = exploration.left_out + (count - shown.len()) as u64;
    let heading = if exploration.start.is_empty() { String::new() } else { format!("start: {}", exploration.start) };
    html! {
        @if left_out > 0 { p { (grouped(left_out)) " steps are left out of this table." } }
        div.scroll {
            table {
                thead {
                    tr {
                        th scope="col" { (short(&heading)) }
                        @for task in &exploration.tasks { th scope="col" { (short(&task.title)) } }
                        @if with_state { th scope="col" { "state" } }
                    }
                }
                tbody {
                    @for (_, (step, number)) in shown {
                        tr {
                            th scope="row" { @if let Some(number) = number { (number) } }
                            @for (at, task) in exploration.tasks.iter().enumerate() {
                                td.environment[task.lane == Lane::Environment] {
                                    @if at == step.task as usize { (event(exploration, step)) }
                                }
                            }
                            @if with_state { td.state { @if let Some(state) = &step.state { (short(state)) } } }
                        }
                    }
                }
            }
        }
    }
}

fn event(exploration: &Exploration, step: &Step) -> Markup {
    let text = |index: u32| short(&exploration.texts[index as usize]).into_owned();
    let wrong = matches!(step.kind, Kind::Panicked | Kind::Blocked);
    let before = match step.kind {
        Kind::Called => "called ",
        Kind::Returned => "returned ",
        Kind::Panicked => "panicked: ",
        Kind::Operation | Kind::Blocked => "",
    };
    html! {
        span.wrong[wrong] { (before) (text(step.text)) }
        @if let Some(place) = step.place { div.note { "at " (short(&exploration.places[place as usize])) } }
        @for &note in &step.notes { div.note { (text(note)) } }
    }
}

fn orders(exploration: &Exploration) -> Markup {
    html! {
        @if !exploration.orders.is_empty() {
            h2 { "No sequential order explains it" }
            div.scroll {
                table {
                    thead { tr { th scope="col" { "order" } th scope="col" { "what differs" } } }
                    tbody {
                        @for order in exploration.orders.iter().take(MOST_ORDERS) {
                            tr { td { (short(&order.sequence)) } td { (short(&order.disagreement)) } }
                        }
                    }
                }
            }
        }
    }
}

fn linearization(exploration: &Exploration) -> Markup {
    html! {
        @if !exploration.linearization.is_empty() {
            h2 { "The linearization" }
            div.scroll {
                table {
                    thead { tr { @for heading in ["", "call", "state"] { th scope="col" { (heading) } } } }
                    tbody {
                        @for effect in exploration.linearization.iter().take(MOST) {
                            tr { th scope="row" { (effect.number) } td { (short(&effect.text)) } td { (short(&effect.state)) } }
                        }
                    }
                }
            }
        }
    }
}

fn short(text: &str) -> std::borrow::Cow<'_, str> {
    middle(text, LONGEST_TEXT)
}
