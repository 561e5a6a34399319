//! The page of an execution.

mod common;

use common::{deadlock, hostile, memoize, overlapping};
use interloper_report::Counterexample;
use interloper_report::explorer::{Exploration, Texts, page};

fn render(counterexample: &Counterexample) -> String {
    page::render(&Exploration::of(counterexample))
}

/// The page in its parts: what comes before the data, the data, the script after it.
fn parts(page: &str) -> (&str, &str, &str) {
    let (shell, rest) = page.split_once(r#"<script id="exploration" type="application/json">"#).expect("the data");
    let (data, script) = rest.split_once("</script>").expect("its end");
    (shell, data, script)
}

/// The shell without the style: the markup that is made of the data.
fn markup(page: &str) -> String {
    let (shell, ..) = parts(page);
    let (head, rest) = shell.split_once("<style>").expect("the style");
    let (_, body) = rest.split_once("</style>").expect("its end");
    format!("{head}{body}")
}

#[test]
fn the_page_of_the_example_without_a_script() {
    let markup = markup(&render(&memoize()));
    // The policy has the hashes of the script and the style, which change with them.
    let policy = markup.split("Security-Policy\" content=\"").nth(1).and_then(|rest| rest.split('"').next());
    let markup = markup.replace(policy.expect("the policy"), "POLICY");
    insta::assert_snapshot!(markup.replace("<tr>", "\n<tr>").replace("<head>", "\n<head>"));
}

#[test]
fn the_data_of_the_example() {
    let page = render(&memoize());
    let data: serde_json::Value = serde_json::from_str(parts(&page).1).expect("JSON");
    insta::assert_snapshot!(serde_json::to_string_pretty(&data).expect("JSON"));
}

#[test]
fn no_data_becomes_markup() {
    let page = render(&hostile());
    let (_, data, script) = parts(&page);
    let markup = markup(&page);
    for wrong in ["<script", "<b>", "<i>", "</td>\"", "<a>", "\" onload", "a<b>"] {
        assert!(!markup.contains(wrong), "{wrong} in {page}");
    }
    for escaped in ["&lt;script&gt;alert(1)&lt;/script&gt;", "&lt;b&gt;MUT", "&amp;amp; &quot; onload=&quot;x"] {
        assert!(markup.contains(escaped), "{escaped} not in {markup}");
    }
    // In the data quotes are harmless, since the data is no attribute; no element begins or ends there.
    assert!(!data.contains(['<', '>', '&']));
    assert_eq!(Exploration::parse(data).expect("the data"), Exploration::of(&hostile()));
    // One script after the data, and nothing of the data in it.
    assert_eq!((script.matches("<script").count(), script.matches("</script").count()), (1, 1));
    assert!(!script.contains("alert(1)"));
}

/// The texts of the page's own script and style, which stand in their elements as they are.
#[test]
fn the_script_and_the_style_end_where_their_elements_end() {
    let page = render(&memoize());
    assert_eq!((page.matches("<style").count(), page.matches("</style").count()), (1, 1));
    assert_eq!((page.matches("<script").count(), page.matches("</script").count()), (2, 2));
    assert!(!page.contains("<!--"));
}

#[test]
fn the_page_needs_nothing_from_elsewhere() {
    for counterexample in [memoize(), deadlock(), overlapping()] {
        // The namespace of drawings is the only address, and is not loaded.
        let page = render(&counterexample).replace("http://www.w3.org/2000/svg", "");
        for outside in ["http:", "https:", "src=", "href=", "url(", "@import", "fetch(", "XMLHttpRequest", "eval("] {
            assert!(!page.contains(outside), "{outside} in {page}");
        }
        assert!(page.contains("default-src 'none'; script-src 'sha256-") && !page.contains("unsafe-inline"));
    }
}

#[test]
fn everything_the_text_shows_is_in_the_table() {
    for counterexample in [memoize(), deadlock(), overlapping()] {
        let page = markup(&render(&counterexample)).replace("&quot;", "\"").replace("&gt;", ">").replace("&amp;", "&");
        let mut data = vec![counterexample.name.clone(), counterexample.verdict.clone(), counterexample.start.clone()];
        data.extend(counterexample.columns.iter().map(|column| column.title.clone()));
        for row in &counterexample.rows {
            data.push(row.event.to_string());
            data.extend(row.state.iter().chain(&row.location).chain(&row.notes).cloned());
        }
        data.extend(
            counterexample.orders.iter().flat_map(|order| [order.sequence.clone(), order.disagreement.clone()]),
        );
        data.extend(counterexample.deadlock.iter().map(ToString::to_string));
        data.extend(counterexample.replay.clone());
        for text in data {
            assert!(page.contains(&text), "{text:?} is not in the table: {page}");
        }
    }
}

/// 100,000 steps fit into 20 MB, and the table without a script stays short.
#[test]
fn a_long_execution_has_a_page_of_bounded_size() {
    let mut exploration = Exploration::of(&overlapping());
    let mut texts = Texts::of(std::mem::take(&mut exploration.texts));
    let step = exploration.steps[2].clone();
    exploration.places = vec!["src/lib.rs:10:9".to_owned()];
    exploration.steps = (0..100_000)
        .map(|number: u32| {
            let mut step = step.clone();
            (step.task, step.place) = (number % 2, Some(0));
            step.text = texts.index(&format!("locks mutex {}", number % 100));
            step.after = if number > 0 { vec![number - 1] } else { Vec::new() };
            step
        })
        .collect();
    exploration.texts = texts.into_all();
    let page = page::render(&exploration);
    assert!(page.len() < 20_000_000, "{}", page.len());
    assert!(markup(&page).len() < 200_000, "{}", markup(&page).len());
    assert!(markup(&page).contains("99,900 steps are left out of this table"));
    assert!(markup(&page).contains(">100000<") && !markup(&page).contains(">50000<"));
}

#[test]
fn a_typical_page_is_small() {
    assert!(render(&memoize()).len() < 100_000);
}
