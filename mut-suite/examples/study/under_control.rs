//! What hunts say of the published types of the study, with the sources of the crates under control: the data of docs/FINDINGS.md.

use interloper::objects::{MethodId, Object};
use serde_json::Value;

/// The verdict of a search that has shown no violation.
const NOTHING: &str = "no violation found";

/// The results of the hunts that docs/FINDINGS.md is printed from.
const FINDINGS: &str = include_str!("../../../cargo-interloper/findings/results.json");

/// The data about the types of published crates.
pub struct UnderControl(Value);

impl UnderControl {
    pub fn read() -> UnderControl {
        UnderControl(serde_json::from_str(FINDINGS).expect("the data has its form"))
    }

    /// The verdict on a method of a described type, and which methods at fault ran beside no call of it if nothing was found.
    ///
    /// # Panics
    /// When the data does not have the method: each method that is described is hunted.
    pub fn verdict(&self, object: &str, method: &str) -> String {
        let row = self.row(object, method);
        let verdict = row["verdict"].as_str().expect("a verdict");
        let left_out: Vec<&str> = row["left_out"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        match verdict == NOTHING && !left_out.is_empty() {
            true => format!("{verdict}, without {} beside it", left_out.join(" and ")),
            false => verdict.to_owned(),
        }
    }

    fn row(&self, object: &str, method: &str) -> &Value {
        let crates = self.0["crates"].as_object().expect("crates by name");
        let objects = crates.values().filter_map(|one| one["objects"].as_array()).flatten();
        let of_object = objects.filter(|one| one["name"] == *object).filter_map(|one| one["methods"].as_array());
        let row = of_object.flatten().find(|one| one["name"] == *method);
        row.unwrap_or_else(|| panic!("no result of {object}::{method}"))
    }

    /// The methods whose violation was found, in a row.
    pub fn found(&self, object: &Object) -> String {
        let labels = (0..object.methods().len()).map(|index| object.label(MethodId(index)));
        let found: Vec<String> = labels.filter(|label| self.row(object.name(), label)["verdict"] != NOTHING).collect();
        if found.is_empty() { "–".to_owned() } else { found.join(", ") }
    }

    /// What a reader of the source says of the violation that was found.
    pub fn reading(&self, object: &str, method: &str) -> Option<&str> {
        self.0["readings"][format!("{object}::{method}")].as_str()
    }
}
