//! Results as a log in the format SARIF 2.1.0 (OASIS Standard, 27 March 2020), which code hosts and editors show at the lines
//! of the source.

use serde_json::{Value, json};

const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json";

/// What kind of result there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its name.
    pub id: &'static str,
    /// What it says, as a sentence.
    pub text: &'static str,
}

/// How much a result matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Good to know.
    Note,
    /// Worth a look.
    Warning,
    /// Something is wrong.
    Error,
}

/// A place in a source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place<'a> {
    /// The file.
    pub file: &'a str,
    /// The line, counted from 1.
    pub line: u32,
    /// The column, counted from 1 in characters.
    pub column: u32,
}

/// A result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding<'a> {
    /// The name of its rule.
    pub rule: &'static str,
    /// How much it matters.
    pub level: Level,
    /// What it says.
    pub text: String,
    /// Where it is.
    pub place: Place<'a>,
    /// Other places that belong to it, each with what is there.
    pub related: Vec<(Place<'a>, String)>,
}

/// A change of a file that mends what a result says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix<'a> {
    /// What it does.
    pub text: String,
    /// The file.
    pub file: &'a str,
    /// What is replaced, in its order.
    pub replacements: Vec<Replacement<'a>>,
}

/// A part of a file that is replaced. Lines and columns are counted from 1, columns in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Replacement<'a> {
    /// Its first line and column.
    pub from: (u32, u32),
    /// The line and column after it.
    pub to: (u32, u32),
    /// What is there then.
    pub text: &'a str,
}

/// The log of one run.
pub fn log<'a>(rules: &[Rule], findings: impl IntoIterator<Item = Finding<'a>>) -> String {
    log_with_fixes(rules, findings.into_iter().map(|finding| (finding, None)))
}

/// As [`log`], with a fix for each result that has one.
pub fn log_with_fixes<'a>(
    rules: &[Rule],
    findings: impl IntoIterator<Item = (Finding<'a>, Option<Fix<'a>>)>,
) -> String {
    let rule = |rule: &Rule| json!({ "id": rule.id, "shortDescription": { "text": rule.text } });
    let log = json!({
        "version": "2.1.0",
        "$schema": SCHEMA,
        "runs": [{
            "tool": { "driver": {
                "name": "interloper",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules.iter().map(rule).collect::<Vec<_>>(),
            } },
            "columnKind": "unicodeCodePoints",
            "results": findings.into_iter().map(|(finding, fix)| fixed(result(finding), fix)).collect::<Vec<_>>(),
        }],
    });
    let mut text = serde_json::to_string_pretty(&log).expect("a value is always JSON");
    text.push('\n');
    text
}

fn fixed(mut result: Value, fix: Option<Fix<'_>>) -> Value {
    let Some(Fix { text, file, replacements }) = fix else { return result };
    let replacement = |one: &Replacement<'_>| {
        let ((line, column), (end_line, end_column)) = (one.from, one.to);
        json!({
            "deletedRegion": {
                "startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column,
            },
            "insertedContent": { "text": one.text },
        })
    };
    result["fixes"] = json!([{
        "description": { "text": text },
        "artifactChanges": [{
            "artifactLocation": { "uri": uri(file) },
            "replacements": replacements.iter().map(replacement).collect::<Vec<_>>(),
        }],
    }]);
    result
}

fn result(finding: Finding<'_>) -> Value {
    let level = match finding.level {
        Level::Note => "note",
        Level::Warning => "warning",
        Level::Error => "error",
    };
    let mut result = json!({
        "ruleId": finding.rule,
        "level": level,
        "message": { "text": finding.text },
        "locations": [{ "physicalLocation": physical(&finding.place) }],
    });
    if !finding.related.is_empty() {
        let related = finding.related.iter().enumerate().map(
            |(id, (place, text))| json!({ "id": id, "physicalLocation": physical(place), "message": { "text": text } }),
        );
        result["relatedLocations"] = related.collect();
    }
    result
}

fn physical(place: &Place<'_>) -> Value {
    json!({
        "artifactLocation": { "uri": uri(place.file) },
        "region": { "startLine": place.line, "startColumn": place.column },
    })
}

/// The address of a file: relative as it is, or absolute with its scheme.
fn uri(file: &str) -> String {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(byte);
    let path: String = file
        .replace('\\', "/")
        .bytes()
        .map(|byte| if plain(&byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect();
    if path.starts_with('/') { format!("file://{path}") } else { path }
}
