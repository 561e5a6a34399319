//! Orderings as a log in the format SARIF 2.1.0 (OASIS Standard, 27 March 2020), which code hosts and editors show at the
//! lines of the source.

use serde_json::{Value, json};

use super::{Orderings, Site, Verdict};

const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json";

const STRONGER: &str = "ordering-stronger-than-justified";
const NOT_REACHED: &str = "ordering-not-reached";
const FINDING: &str = "ordering-too-weak";

/// The log: a result for each ordering that survived, for each that was not reached, and for each stronger ordering that
/// removes a finding.
pub fn sarif(orderings: &Orderings) -> String {
    let of_sites = orderings.sites.iter().filter_map(of_site);
    let fixes = orderings.findings.iter().flat_map(|finding| finding.fixes.iter().map(move |fix| (finding, fix)));
    let of_fixes = fixes.map(|(finding, fix)| {
        let text = format!("{}: {} instead of {} removes it.", finding.finding, fix.ordering, fix.site.ordering);
        result(FINDING, "error", &text, &fix.site)
    });
    let results: Vec<Value> = of_sites.chain(of_fixes).collect();
    let rule = |id: &str, text: &str| json!({ "id": id, "shortDescription": { "text": text } });
    let log = json!({
        "version": "2.1.0",
        "$schema": SCHEMA,
        "runs": [{
            "tool": { "driver": {
                "name": "interloper",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": [
                    rule(STRONGER, "A memory ordering is stronger than the tests can justify."),
                    rule(NOT_REACHED, "No test reaches a memory ordering."),
                    rule(FINDING, "A stronger memory ordering removes a finding."),
                ],
            } },
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    });
    let mut text = serde_json::to_string_pretty(&log).expect("a value is always JSON");
    text.push('\n');
    text
}

fn of_site(site: &Site) -> Option<Value> {
    let Site { operation, ordering, .. } = site;
    match site.verdict() {
        Verdict::Stronger(enough) => {
            let enough = enough.join(" or ");
            let text = format!(
                "{enough} is enough for this {operation}: {ordering} is stronger than the tests can justify, or the \
                 tests are too weak."
            );
            Some(result(STRONGER, "note", &text, site))
        }
        Verdict::NotReached => {
            Some(result(NOT_REACHED, "note", &format!("No test reaches this {operation} ({ordering})."), site))
        }
        Verdict::Needed | Verdict::Unclear => None,
    }
}

fn result(rule: &str, level: &str, text: &str, site: &Site) -> Value {
    json!({
        "ruleId": rule,
        "level": level,
        "message": { "text": text },
        "locations": [{ "physicalLocation": {
            "artifactLocation": { "uri": uri(&site.file) },
            "region": { "startLine": site.line, "startColumn": site.column },
        } }],
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
