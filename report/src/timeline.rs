//! A concurrent history as one self-contained HTML page: a row for each process, a bar for each call.

use maud::{DOCTYPE, Markup, PreEscaped, html};

/// A history, and where a judge lets its calls take effect.
///
/// Time is counted in events: the invocations and returns of the calls, numbered from 0 in their order. The gap with the
/// number g is the time between the events g and g + 1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timeline {
    /// What the page is about.
    pub title: String,
    /// What was found.
    pub verdict: String,
    /// Whether that is a violation.
    pub is_wrong: bool,
    /// Paragraphs below the verdict.
    pub notes: Vec<String>,
    /// The names of the processes, in the order of their rows.
    pub processes: Vec<String>,
    /// The calls.
    pub calls: Vec<Call>,
    /// How many events there are.
    pub events: usize,
    /// The linearization step by step, as cells below [`Timeline::STEP`].
    pub steps: Vec<[String; 5]>,
}

/// A call of a [`Timeline`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The index of its process.
    pub process: usize,
    /// The event at which it was invoked.
    pub from: usize,
    /// The event at which it returned; `None` if it has not returned.
    pub until: Option<usize>,
    /// The call and its result.
    pub text: String,
    /// More about it, shown when it is pointed at.
    pub detail: String,
    /// Where it takes effect.
    pub mark: Mark,
}

/// Where a call takes effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// In a gap, as the so-many-th of all calls.
    Point {
        /// The number of the gap.
        gap: usize,
        /// Its place in the linearization, from 1.
        number: usize,
    },
    /// Nowhere, and it would have to.
    Stuck,
    /// It is not in the linearization, and need not be.
    Open,
}

impl Timeline {
    /// The headings above [`Timeline::steps`].
    pub const STEP: [&'static str; 5] = ["step", "process", "call", "result", "state"];

    /// The page: without scripts or external resources, in light or dark as the reader's system says. All data is escaped.
    #[must_use]
    pub fn page(&self) -> String {
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    // Should markup ever slip through the escaping, it can load and run nothing.
                    meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'";
                    title { (self.title) ": " (self.verdict) }
                    style { (PreEscaped(CSS)) }
                }
                body {
                    h1 {
                        @if self.is_wrong { span.wrong { "✗ " } }
                        (self.title)
                    }
                    p.verdict { span.wrong[self.is_wrong] { (self.verdict) } }
                    @for note in &self.notes { p { (note) } }
                    @if self.is_wide() && self.calls.iter().any(|call| call.mark == Mark::Stuck) {
                        p { a href="#stuck" { "To the call that cannot be placed" } }
                    }
                    div.scroll { (self.rows()) }
                    @if !self.steps.is_empty() { (self.table()) }
                }
            }
        };
        let mut text = page.into_string();
        text.push('\n');
        text
    }

    fn rows(&self) -> Markup {
        let names = self.processes.iter().map(|name| name.chars().count()).max().unwrap_or(0);
        let scale = Scale { left: names * LETTER + 20, event: self.event() };
        let (left, width) = (scale.left, scale.at(self.events + 1));
        let height = self.processes.len() * ROW + 10;
        html! {
            svg xmlns="http://www.w3.org/2000/svg" width=(width) height=(height) viewBox=(format!("0 0 {width} {height}")) {
                @for (index, name) in self.processes.iter().enumerate() {
                    g.process {
                        text x="0" y=(index * ROW + ROW - 14) { (name) }
                        line x1=(left) x2=(width) y1=(index * ROW + ROW - 18) y2=(index * ROW + ROW - 18) {}
                        @for call in self.calls.iter().filter(|call| call.process == index) {
                            (self.bar(call, scale, index * ROW))
                        }
                    }
                }
            }
        }
    }

    /// The distance between two events: where they are few, enough for the texts of the calls.
    fn event(&self) -> usize {
        let wanted = |call: &Call| {
            let events = call.until.unwrap_or(self.events).saturating_sub(call.from).max(1);
            ((call.text.chars().count() + 2) * LETTER).div_ceil(events)
        };
        let most = (WIDE / self.events.max(1)).clamp(EVENT, 4 * EVENT);
        self.calls.iter().map(wanted).max().unwrap_or(0).clamp(EVENT, most)
    }

    /// Whether it takes scrolling to see all calls.
    fn is_wide(&self) -> bool {
        self.events * self.event() > WIDE / 4
    }

    fn bar(&self, call: &Call, scale: Scale, top: usize) -> Markup {
        let from = scale.at(call.from);
        // A pending call extends beyond the last event.
        let until = scale.at(call.until.unwrap_or(self.events));
        let width = until.saturating_sub(from).max(1);
        let class = match (call.mark, call.until) {
            (Mark::Stuck, _) => "stuck",
            (_, None) => "pending",
            _ => "call",
        };
        html! {
            g class=(class) {
                title { (call.text) "\n" (call.detail) }
                rect id=[(call.mark == Mark::Stuck).then_some("stuck")] x=(from) y=(top + 22) width=(width) height="22" rx="3" {}
                @if let Mark::Point { gap, number } = call.mark {
                    @let x = scale.at(gap) + self.offset(scale, gap, number);
                    line.point x1=(x) x2=(x) y1=(top + 17) y2=(top + 47) {}
                    text.point x=(x) y=(top + 14) { (number) }
                }
                text.name x=(from + 5) y=(top + 37) { (fitting(&call.text, width / LETTER)) }
            }
        }
    }

    /// How far after the event that opens a gap a call takes effect: calls in the same gap stand side by side.
    fn offset(&self, scale: Scale, gap: usize, number: usize) -> usize {
        let same = self.calls.iter().filter_map(|call| match call.mark {
            Mark::Point { gap: other, number } if other == gap => Some(number),
            _ => None,
        });
        let (before, all) = same.fold((0, 0), |(before, all), other| (before + usize::from(other < number), all + 1));
        scale.event * (before + 1) / (all + 1)
    }

    fn table(&self) -> Markup {
        html! {
            h2 { "The linearization" }
            div.scroll {
                table {
                    thead { tr { @for heading in Self::STEP { th scope="col" { (heading) } } } }
                    tbody { @for step in &self.steps { tr { @for cell in step { td { (cell) } } } } }
                }
            }
        }
    }
}

/// Where events are drawn.
#[derive(Clone, Copy)]
struct Scale {
    /// The first one.
    left: usize,
    /// The distance between two.
    event: usize,
}

impl Scale {
    fn at(self, event: usize) -> usize {
        self.left + event * self.event
    }
}

/// How wide a page becomes so that texts have room.
const WIDE: usize = 5000;

/// The least distance between two events, the height of a row, and the width of a letter.
const EVENT: usize = 56;
const ROW: usize = 60;
const LETTER: usize = 8;

/// As much of a text as there is room for.
fn fitting(text: &str, letters: usize) -> String {
    if text.chars().count() < letters {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(letters.saturating_sub(2)).collect();
    if letters >= 2 {
        short.push('…');
    }
    short
}

const CSS: &str = "
:root { color-scheme: light dark; --wrong: #b3261e; --call: #dbe7f6; --edge: #4a78b5; --line: #c9c9c9; --faint: #666; \
--ink: #111; }
@media (prefers-color-scheme: dark) { :root { --wrong: #ff8a80; --call: #24374f; --edge: #7ea9dd; --line: #4a4a4a; \
--faint: #a0a0a0; --ink: #eee; } }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem; }
h1 { font-size: 1.4rem; margin-bottom: 0; } h2 { font-size: 1.05rem; margin-top: 2rem; }
table { font-family: ui-monospace, monospace; font-size: 0.9rem; border-collapse: collapse; }
.scroll { overflow-x: auto; }
th, td { text-align: left; vertical-align: top; padding: 0.25rem 1.5rem 0.25rem 0; white-space: pre-wrap; }
thead th { border-bottom: 1px solid var(--line); }
.verdict { margin-top: 0; } .wrong { color: var(--wrong); font-weight: 600; }
svg text { font: 13px ui-monospace, monospace; fill: var(--ink); }
svg .process > line { stroke: var(--line); }
svg rect { fill: var(--call); stroke: var(--edge); }
svg .pending rect { stroke-dasharray: 4 3; fill-opacity: 0.5; }
svg .stuck rect { stroke: var(--wrong); stroke-width: 2; } svg .stuck text { fill: var(--wrong); }
svg text.name { paint-order: stroke; stroke: var(--call); stroke-width: 3px; }
svg line.point { stroke: var(--ink); stroke-width: 2; }
svg text.point { font-size: 11px; text-anchor: middle; fill: var(--faint); }
";

#[cfg(test)]
mod tests {
    use super::*;

    fn call(process: usize, from: usize, until: Option<usize>, text: &str, mark: Mark) -> Call {
        Call { process, from, until, text: text.into(), detail: "line 1".into(), mark }
    }

    fn example() -> Timeline {
        Timeline {
            title: "register".into(),
            verdict: "not linearizable".into(),
            is_wrong: true,
            notes: vec!["one note".into()],
            processes: vec!["process 0".into(), "process 1".into()],
            calls: vec![
                call(0, 0, Some(3), "write(\"<b>\") → null", Mark::Point { gap: 1, number: 1 }),
                call(1, 1, Some(2), "read() → 7", Mark::Stuck),
                call(1, 4, None, "write(2)", Mark::Open),
            ],
            events: 5,
            steps: vec![["1", "0", "write(\"<b>\")", "null", "\"<b>\""].map(String::from)],
        }
    }

    #[test]
    fn a_page_has_a_row_for_each_process_and_a_bar_for_each_call() {
        let page = example().page();
        let count = |what: &str| page.matches(what).count();
        assert_eq!(count("<g class=\"process\">"), 2);
        assert_eq!(count("<rect "), 3);
        assert_eq!(
            [count("<g class=\"stuck\">"), count("<g class=\"pending\">"), count("<g class=\"call\">")],
            [1, 1, 1]
        );
        assert_eq!(count("<line class=\"point\""), 1);
        assert!(page.contains("<td>1</td><td>0</td>") && page.contains("<p>one note</p>"));
    }

    #[test]
    fn all_data_is_escaped_and_nothing_is_loaded() {
        let page = example().page();
        assert!(!page.contains("<b>") && page.contains("&lt;b&gt;"));
        // The namespace of SVG is the only address.
        assert_eq!(page.matches("://").count(), 1);
        assert!(!page.contains("<script") && !page.contains("src=") && !page.contains("<link"));
    }

    #[test]
    fn points_of_one_gap_stand_side_by_side() {
        let mut timeline = example();
        timeline.calls[1].mark = Mark::Point { gap: 1, number: 2 };
        let scale = Scale { left: 0, event: 60 };
        assert_eq!((timeline.offset(scale, 1, 1), timeline.offset(scale, 1, 2)), (20, 40));
        assert_eq!(example().offset(scale, 1, 1), 30);
    }

    #[test]
    fn a_text_is_cut_to_the_room_that_there_is() {
        let check = |letters, expected: &str| assert_eq!(fitting("write(1)", letters), expected);
        check(9, "write(1)");
        check(8, "write(…");
        check(2, "…");
        check(1, "");
        check(0, "");
    }

    #[test]
    fn few_calls_have_room_for_their_texts() {
        let mut timeline = example();
        // "read() → 7" takes 12 letters with its margin, and one event.
        assert_eq!(timeline.event(), 12 * LETTER);
        let page = timeline.page();
        assert!(page.contains(">read() → 7</text>") && page.contains("<rect id=\"stuck\""));
        assert!(!page.contains("#stuck"));
        timeline.calls[1].text = "x".repeat(60);
        assert_eq!(timeline.event(), 4 * EVENT);
        // Many events stand as close as they can, and a link leads to the call.
        timeline.events = 600;
        assert_eq!(timeline.event(), EVENT);
        assert!(timeline.page().contains("<a href=\"#stuck\">"));
    }

    #[test]
    fn an_empty_history_has_a_page() {
        assert!(Timeline::default().page().contains("<svg"));
    }
}
