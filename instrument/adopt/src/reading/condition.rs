//! Whether what a `cfg` guards is part of a build.

use std::collections::BTreeSet;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// What is known of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Truth {
    True,
    False,
    /// It depends on a name that a build script or the user may set.
    Unknown,
}

/// The configuration that a crate is compiled with.
#[derive(Clone, Debug, Default)]
pub(crate) struct Configuration {
    /// What `rustc --print cfg` prints: `unix`, `target_os="linux"`.
    pub(crate) target: BTreeSet<String>,
    /// The features that are on.
    pub(crate) features: BTreeSet<String>,
}

/// Names that are not set in a build under control.
const OFF: [&str; 13] = [
    "coverage",
    "coverage_nightly",
    "crossbeam_loom",
    "doc",
    "docsrs",
    "doctest",
    "fuzzing",
    "kani",
    "loom",
    "miri",
    "rustdoc",
    "shuttle",
    "test",
];

/// Names of which `rustc --print cfg` says all there is to say.
const TARGET: [&str; 8] =
    ["debug_assertions", "overflow_checks", "panic", "proc_macro", "relocation_model", "ub_checks", "unix", "windows"];

impl Configuration {
    /// What is known of `condition`, the tokens in the parentheses of a `cfg`.
    pub(crate) fn truth(&self, condition: TokenStream) -> Truth {
        let tokens: Vec<TokenTree> = condition.into_iter().collect();
        match &tokens[..] {
            [TokenTree::Ident(name), TokenTree::Group(group), ..] if group.delimiter() == Delimiter::Parenthesis => {
                let all = parts(group.stream());
                let mut all = all.into_iter().map(|part| self.truth(part));
                match name.to_string().as_str() {
                    "not" => all.next().map_or(Truth::Unknown, not),
                    "all" => all.fold(Truth::True, and),
                    "any" => not(all.map(not).fold(Truth::True, and)),
                    _ => Truth::Unknown,
                }
            }
            [TokenTree::Ident(name), TokenTree::Punct(equals), TokenTree::Literal(value), ..]
                if equals.as_char() == '=' =>
            {
                self.value(&name.to_string(), &value.to_string())
            }
            [TokenTree::Ident(name), ..] => self.name(&name.to_string()),
            _ => Truth::Unknown,
        }
    }

    /// `value` is in quotes.
    fn value(&self, name: &str, value: &str) -> Truth {
        if name == "feature" {
            return known(self.features.contains(value.trim_matches('"')));
        }
        if name.starts_with("target_") || name == "panic" {
            return known(self.target.contains(&format!("{name}={value}")));
        }
        Truth::Unknown
    }

    fn name(&self, name: &str) -> Truth {
        match name {
            "true" => Truth::True,
            "false" => Truth::False,
            _ if self.target.contains(name) => Truth::True,
            _ if OFF.contains(&name) || TARGET.contains(&name) || name.starts_with("target_") => Truth::False,
            _ => Truth::Unknown,
        }
    }
}

pub(crate) fn not(truth: Truth) -> Truth {
    match truth {
        Truth::True => Truth::False,
        Truth::False => Truth::True,
        Truth::Unknown => Truth::Unknown,
    }
}

pub(crate) fn and(left: Truth, right: Truth) -> Truth {
    match (left, right) {
        (Truth::False, _) | (_, Truth::False) => Truth::False,
        (Truth::True, Truth::True) => Truth::True,
        _ => Truth::Unknown,
    }
}

fn known(value: bool) -> Truth {
    if value { Truth::True } else { Truth::False }
}

/// What stands between commas.
pub(crate) fn parts(stream: TokenStream) -> Vec<TokenStream> {
    let mut all = vec![TokenStream::new()];
    for token in stream {
        match &token {
            TokenTree::Punct(comma) if comma.as_char() == ',' => all.push(TokenStream::new()),
            _ => all.last_mut().expect("there is a first part").extend([token]),
        }
    }
    all.retain(|part| !part.is_empty());
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(condition: &str, expected: Truth) {
        let set = |all: &[&str]| all.iter().map(|text| (*text).to_owned()).collect();
        let configuration = Configuration {
            target: set(&["unix", "target_os=\"linux\"", "panic=\"unwind\"", "debug_assertions"]),
            features: set(&["std"]),
        };
        assert_eq!(configuration.truth(condition.parse().unwrap()), expected, "{condition}");
    }

    #[test]
    fn names_and_values_are_looked_up() {
        use Truth::{False, True, Unknown};
        for (condition, expected) in [
            ("unix", True),
            ("windows", False),
            ("test", False),
            ("loom", False),
            ("debug_assertions", True),
            ("ub_checks", False),
            ("has_atomics", Unknown),
            ("true", True),
            ("false", False),
            ("feature = \"std\"", True),
            ("feature = \"nightly\"", False),
            ("target_os = \"linux\"", True),
            ("target_os = \"macos\"", False),
            ("target_thread_local", False),
            ("panic = \"abort\"", False),
            ("build = \"mine\"", Unknown),
        ] {
            check(condition, expected);
        }
    }

    /// All pairs of the three values, under each connective.
    #[test]
    fn connectives_know_what_they_do_not_know() {
        use Truth::{False, True, Unknown};
        let values = [("unix", True), ("windows", False), ("mine", Unknown)];
        for (left, a) in values {
            check(
                &format!("not({left})"),
                match a {
                    True => False,
                    False => True,
                    Unknown => Unknown,
                },
            );
            for (right, b) in values {
                let all = match (a, b) {
                    (True, True) => True,
                    (False, _) | (_, False) => False,
                    _ => Unknown,
                };
                let any = match (a, b) {
                    (False, False) => False,
                    (True, _) | (_, True) => True,
                    _ => Unknown,
                };
                check(&format!("all({left}, {right})"), all);
                check(&format!("any({left}, {right},)"), any);
            }
        }
        check("all()", True);
        check("any()", False);
        check("not(any(windows, all(unix, not(feature = \"std\"))))", True);
    }
}
