//! The HTML rendering.

mod common;

use common::{deadlock, hostile, memoize, overlapping};
use interloper_report::html::render;

#[test]
fn the_page_of_the_example() {
    insta::assert_snapshot!(render(&memoize()).replace("<tr>", "\n<tr>"));
}

#[test]
fn no_data_becomes_markup() {
    let page = render(&hostile());
    for markup in ["<script", "<b>", "<i>", "</td>\"", "<a>", "\" onload", "a<b>"] {
        assert!(!page.contains(markup), "{markup} in {page}");
    }
    for escaped in ["&lt;script&gt;alert(1)&lt;/script&gt;", "&lt;b&gt;MUT", "&amp;amp; &quot; onload=&quot;x"] {
        assert!(page.contains(escaped), "{escaped} not in {page}");
    }
}

#[test]
fn the_page_needs_nothing_from_elsewhere() {
    for counterexample in [memoize(), deadlock(), overlapping()] {
        let page = render(&counterexample);
        for outside in ["http:", "https:", "src=", "href=", "url(", "@import", "<script"] {
            assert!(!page.contains(outside), "{outside} in {page}");
        }
    }
}

#[test]
fn everything_the_text_shows_is_on_the_page() {
    for counterexample in [memoize(), deadlock(), overlapping()] {
        // The characters that are escaped are none of the data here but the backquotes' neighbours: undo them.
        let page = render(&counterexample).replace("&quot;", "\"").replace("&gt;", ">");
        let page = page.replace("&amp;", "&");
        let mut data = vec![counterexample.name.clone(), counterexample.verdict.clone(), counterexample.start.clone()];
        data.extend(counterexample.columns.iter().map(|column| column.title.clone()));
        for row in &counterexample.rows {
            data.push(row.event.to_string());
            data.extend(row.state.iter().chain(&row.location).chain(&row.source).chain(&row.notes).cloned());
        }
        data.extend(
            counterexample.orders.iter().flat_map(|order| [order.sequence.clone(), order.disagreement.clone()]),
        );
        data.extend(counterexample.deadlock.iter().map(ToString::to_string));
        data.extend(counterexample.replay.clone());
        for text in data {
            assert!(page.contains(&text), "{text:?} is not on the page: {page}");
        }
    }
}
