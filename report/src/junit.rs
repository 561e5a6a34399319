//! Results as JUnit XML, which continuous-integration services read.
//!
//! There is no standard; this is the form that Jenkins, GitLab and GitHub's reporters agree on: `testsuites`, `testsuite`,
//! `testcase`, `failure`, `error`, `skipped`, `system-out`. Times are left out, since the same search gives the same bytes.

use crate::shorten::{LONGEST_TEXT, middle};

/// Some cases that belong together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Suite {
    /// Its name: `composed operations`.
    pub name: String,
    /// The cases.
    pub cases: Vec<Case>,
}

/// A case with its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// Its name.
    pub name: String,
    /// What came of it.
    pub result: Outcome,
    /// What it covered, for a person who looks.
    pub output: String,
}

/// What came of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// As expected.
    Passed,
    /// Not as expected: one line, and the report.
    Failed {
        /// What is wrong, in one line.
        message: String,
        /// The whole report.
        report: String,
    },
    /// No result: it could not be judged.
    Unjudged {
        /// Why.
        reason: String,
    },
    /// It was not looked at.
    Skipped {
        /// Why.
        reason: String,
    },
}

/// The document, ended by a newline.
#[must_use]
pub fn render(suites: &[Suite]) -> String {
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    // Of this element Jenkins' schema knows no number of skipped cases.
    let (counts, _) = counts(suites.iter().flat_map(|suite| &suite.cases));
    out += &format!("<testsuites name=\"interloper\" {counts}>\n");
    for suite in suites {
        let (name, (counts, skipped)) = (attribute(&suite.name), self::counts(&suite.cases));
        out += &format!("  <testsuite name=\"{name}\" {counts} {skipped}>\n");
        suite.cases.iter().for_each(|case| out += &self::case(&suite.name, case));
        out += "  </testsuite>\n";
    }
    out + "</testsuites>\n"
}

fn counts<'c>(cases: impl IntoIterator<Item = &'c Case>) -> (String, String) {
    let (mut all, mut failures, mut errors, mut skipped) = (0, 0, 0, 0);
    for case in cases {
        all += 1;
        match case.result {
            Outcome::Passed => {}
            Outcome::Failed { .. } => failures += 1,
            Outcome::Unjudged { .. } => errors += 1,
            Outcome::Skipped { .. } => skipped += 1,
        }
    }
    (format!("tests=\"{all}\" failures=\"{failures}\" errors=\"{errors}\""), format!("skipped=\"{skipped}\""))
}

fn case(suite: &str, case: &Case) -> String {
    let result = match &case.result {
        Outcome::Passed => String::new(),
        Outcome::Failed { message, report } => {
            let (message, report) = (attribute(message), text(report));
            format!("      <failure message=\"{message}\">{report}</failure>\n")
        }
        Outcome::Unjudged { reason } => format!("      <error message=\"{}\"/>\n", attribute(reason)),
        Outcome::Skipped { reason } => format!("      <skipped message=\"{}\"/>\n", attribute(reason)),
    };
    let output = match case.output.is_empty() {
        true => String::new(),
        false => format!("      <system-out>{}</system-out>\n", text(&case.output)),
    };
    let (name, class) = (attribute(&case.name), attribute(suite));
    match result.is_empty() && output.is_empty() {
        true => format!("    <testcase classname=\"{class}\" name=\"{name}\"/>\n"),
        false => format!("    <testcase classname=\"{class}\" name=\"{name}\">\n{result}{output}    </testcase>\n"),
    }
}

/// The value of an attribute, in one line.
fn attribute(value: &str) -> String {
    text(&middle(value, LONGEST_TEXT)).replace('"', "&quot;").replace('\n', "&#10;").replace('\t', "&#9;")
}

/// The content of an element. XML 1.0 has no place for most control characters, not even escaped.
fn text(content: &str) -> String {
    let mut out = String::with_capacity(content.len());
    for c in content.chars() {
        match c {
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '&' => out += "&amp;",
            '\n' | '\t' => out.push(c),
            '\r' => out += "&#13;",
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out += &c.escape_unicode().to_string(),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str, result: Outcome, output: &str) -> Case {
        Case { name: name.to_owned(), result, output: output.to_owned() }
    }

    #[test]
    fn each_result_has_its_element() {
        let failed = Outcome::Failed { message: "not \"atomic\" <&>".into(), report: "line 1\nline <2>\u{1b}".into() };
        let suite = Suite {
            name: "programs".to_owned(),
            cases: vec![
                named("good", Outcome::Passed, ""),
                named("covered", Outcome::Passed, "10 executions"),
                named("bad", failed, ""),
                named("odd", Outcome::Unjudged { reason: "nothing was explored".into() }, ""),
                named("out", Outcome::Skipped { reason: "not applicable".into() }, ""),
            ],
        };
        let expected = r#"<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="interloper" tests="5" failures="1" errors="1">
  <testsuite name="programs" tests="5" failures="1" errors="1" skipped="1">
    <testcase classname="programs" name="good"/>
    <testcase classname="programs" name="covered">
      <system-out>10 executions</system-out>
    </testcase>
    <testcase classname="programs" name="bad">
      <failure message="not &quot;atomic&quot; &lt;&amp;&gt;">line 1
line &lt;2&gt;\u{1b}</failure>
    </testcase>
    <testcase classname="programs" name="odd">
      <error message="nothing was explored"/>
    </testcase>
    <testcase classname="programs" name="out">
      <skipped message="not applicable"/>
    </testcase>
  </testsuite>
</testsuites>
"#;
        assert_eq!(render(&[suite]), expected);
    }

    #[test]
    fn no_character_is_one_that_xml_has_not() {
        let all: String = (0..0x1_0000).filter_map(char::from_u32).collect();
        let (text, attribute) = (text(&all), attribute(&all));
        let is_allowed = |c: char| matches!(c, '\t' | '\n' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}');
        assert!(text.chars().all(is_allowed) && !attribute.contains(['\n', '\t', '"', '<']));
        assert_eq!(self::text("é→\u{1f600}"), "é→\u{1f600}");
    }

    #[test]
    fn without_cases_there_is_a_document() {
        let empty = "<testsuites name=\"interloper\" tests=\"0\" failures=\"0\" errors=\"0\">\n</testsuites>\n";
        assert!(render(&[]).ends_with(empty));
    }
}
