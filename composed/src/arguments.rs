//! The arguments of an operation: a few values that stand for all of a type.

use std::collections::BTreeMap;

use syn::{GenericArgument, Type};

use crate::generics::{Generics, Stand, pure, stand_of, with_numbers};
use crate::index::Index;
use crate::names::{Scope, Target, Want, segments};
use crate::runnable::{NESTED, written};
use crate::subject::Given;

/// So many combinations of arguments are tried.
const ARGUMENTS: usize = 4;
/// The same for a call beside another, before values that are others.
const BEFORE_OTHERS: usize = 3;

/// What is passed for a parameter.
pub(crate) struct Argument {
    /// The type of the values that are tried, or `None` for a value that is always the same.
    pub(crate) ty: Option<String>,
    /// The values.
    pub(crate) values: Vec<String>,
    /// How the value is passed, with `{}` for it.
    pub(crate) pass: String,
}

impl Index<'_> {
    /// What is passed for a parameter of a type that is written in a scope.
    pub(crate) fn argument(&self, scope: Scope, ty: &Type, generics: &Generics) -> Result<Argument, String> {
        self.argument_within(scope, ty, generics, NESTED)
    }

    /// The same, where what it is made of is made in so many steps at most.
    pub(crate) fn argument_within(
        &self,
        scope: Scope,
        ty: &Type,
        generics: &Generics,
        depth: usize,
    ) -> Result<Argument, String> {
        let hole = || format!("needs an argument of type {}", written(ty));
        match stand_of(ty, generics) {
            Some(Stand::Code(code)) => return Ok(passed(code)),
            Some(Stand::Collection(item)) => {
                return self.collection(scope, &item, generics, depth).map(passed).ok_or_else(hole);
            }
            Some(Stand::Iterator(item)) => {
                let all = self.collection(scope, &item, generics, depth).ok_or_else(hole)?;
                return Ok(passed(format!("{all}.into_iter()")));
            }
            None => {}
        }
        if let Ok(argument) = argument(ty, generics) {
            return Ok(argument);
        }
        let (borrowed, owned) = match ty {
            Type::Reference(reference) if reference.mutability.is_none() => (true, &*reference.elem),
            other => (false, other),
        };
        let values = self.made_values(scope, owned, generics, depth).ok_or_else(hole)?;
        let value = match &values[..] {
            [one] => one.clone(),
            // The environment and the reports know such a value by its number.
            several => {
                let last = several.len() - 1;
                let arms = several.iter().enumerate().map(|(at, value)| match at {
                    at if at == last => format!("_ => {value}"),
                    at => format!("{at} => {value}, "),
                });
                format!("match {{}} {{{{ {} }}}}", arms.collect::<String>())
            }
        };
        let pass = if borrowed { format!("&({value})") } else { value };
        let (ty, values, pass) = match values.len() {
            1 => (None, vec![String::new()], pass),
            many => {
                let numbers = (0..many).map(|at| format!("{at}_u8")).collect();
                (Some("u8".to_owned()), numbers, pass.replace("{{", "{").replace("}}", "}"))
            }
        };
        Ok(Argument { ty, values, pass })
    }

    /// A list of two values of a type, or of one where no other is known.
    fn collection(&self, scope: Scope, item: &Type, generics: &Generics, depth: usize) -> Option<String> {
        let depth = depth.checked_sub(1)?;
        let one = self.one_of(scope, item, generics, depth)?;
        let another = other(&one);
        Some(if another == one { format!("vec![{one}]") } else { format!("vec![{one}, {another}]") })
    }

    /// A value of a type, as an expression.
    fn one_of(&self, scope: Scope, ty: &Type, generics: &Generics, depth: usize) -> Option<String> {
        if let Type::Tuple(tuple) = ty {
            let parts: Option<Vec<String>> =
                tuple.elems.iter().map(|part| self.one_of(scope, part, generics, depth)).collect();
            let parts = parts?;
            return Some(match &parts[..] {
                [one] => format!("({one},)"),
                parts => format!("({})", parts.join(", ")),
            });
        }
        let argument = self.argument_within(scope, ty, generics, depth).ok()?;
        Some(argument.pass.replace("{}", argument.values.first()?))
    }

    /// A few values of a type, as expressions: of structs and enums of the workspace whose fields can be reached, and of
    /// types of std that have simple values.
    fn made_values(&self, scope: Scope, ty: &Type, generics: &Generics, depth: usize) -> Option<Vec<String>> {
        let depth = depth.checked_sub(1)?;
        let text = with_numbers(ty, generics).replace(' ', "");
        // A type of the workspace may have the name of another.
        let target = match ty {
            Type::Path(path) => self.resolve(scope.module, &segments(&path.path), Want::Type),
            _ => None,
        };
        match (target, ty) {
            (Some(Target::Alias(module, ty)), _) => {
                self.made_values(Scope { module, own: None }, ty, generics, depth + 1)
            }
            (Some(Target::Struct(number)), _) => {
                let name = if depth + 1 == NESTED { text } else { self.path_of(number) };
                self.made_structs(scope, number, &name, depth)
            }
            (_, ty) => {
                let known = fixed(&text).map(|known| vec![known.to_owned()]).or_else(|| values(&text));
                known.or_else(|| match ty {
                    Type::Path(path) => self.made_wrapped(scope, path, generics, depth),
                    _ => None,
                })
            }
        }
    }

    /// A struct or an enum of the workspace as any module of its crate may name it.
    fn path_of(&self, number: usize) -> String {
        let one = &self.structs[number];
        let module = &self.modules[one.module].path;
        if module.is_empty() { format!("crate::{}", one.name) } else { format!("crate::{module}::{}", one.name) }
    }

    /// A value of a type of std around another: a pointer to it, or nothing where that will do.
    fn made_wrapped(
        &self,
        scope: Scope,
        path: &syn::TypePath,
        generics: &Generics,
        depth: usize,
    ) -> Option<Vec<String>> {
        let last = path.path.segments.last()?;
        let syn::PathArguments::AngleBracketed(given) = &last.arguments else { return None };
        let inner = given.args.iter().find_map(|argument| match argument {
            GenericArgument::Type(ty) => Some(ty),
            _ => None,
        })?;
        let name = last.ident.to_string();
        match name.as_str() {
            "Option" => Some(vec!["None".to_owned()]),
            "Vec" | "VecDeque" | "HashMap" | "HashSet" | "BTreeMap" | "BTreeSet" => {
                Some(vec!["Default::default()".to_owned()])
            }
            "Arc" | "Box" => {
                let values = match inner {
                    Type::TraitObject(bounds) => {
                        vec![bounds.bounds.iter().find_map(pure)?]
                    }
                    inner => self.made_values(scope, inner, generics, depth + 1)?,
                };
                let module = if name == "Arc" { "sync" } else { "boxed" };
                Some(values.iter().map(|value| format!("std::{module}::{name}::new({value})")).collect())
            }
            _ => None,
        }
    }

    fn made_structs(&self, scope: Scope, number: usize, name: &str, depth: usize) -> Option<Vec<String>> {
        let one = &self.structs[number];
        let inner = Scope { module: one.module, own: Some(number) };
        let here = one.module == scope.module;
        let none = Generics::new();
        let fields = |fields: &syn::Fields, reachable: bool| -> Option<String> {
            let mut all = Vec::new();
            for field in fields {
                if !reachable && matches!(field.vis, syn::Visibility::Inherited) {
                    return None;
                }
                let value = self.made_values(inner, &field.ty, &none, depth)?.into_iter().next()?;
                all.push(match &field.ident {
                    Some(name) => format!("{name}: {value}"),
                    None => value,
                });
            }
            let all = all.join(", ");
            Some(match fields {
                syn::Fields::Named(_) => format!(" {{ {all} }}"),
                syn::Fields::Unnamed(_) => format!("({all})"),
                syn::Fields::Unit => String::new(),
            })
        };
        match one.definition {
            syn::Item::Struct(item) if item.generics.params.is_empty() => {
                if self.has_default(number) {
                    return Some(vec![format!("<{name} as Default>::default()")]);
                }
                if let Some(fields) = fields(&item.fields, here) {
                    return Some(vec![format!("{name}{fields}")]);
                }
                let (code, given) = self.constructed_by(number, name, depth)?;
                Some(vec![match given {
                    Given::Itself => code,
                    Given::Perhaps => format!("{code}.unwrap()"),
                    Given::Pointer => return None,
                }])
            }
            syn::Item::Enum(item) if item.generics.params.is_empty() => {
                let variants = item.variants.iter().filter(|one| !one.attrs.iter().any(|it| it.path().is_ident("cfg")));
                let made =
                    variants.filter_map(|one| Some(format!("{name}::{}{}", one.ident, fields(&one.fields, true)?)));
                let made: Vec<String> = made.take(VARIANTS).collect();
                (!made.is_empty()).then_some(made)
            }
            _ => None,
        }
    }
}

/// So many variants of an enum stand for all.
const VARIANTS: usize = 3;

/// A value of a type of std, where one stands for all.
pub(crate) fn fixed(ty: &str) -> Option<&'static str> {
    Some(match ty {
        "Duration" | "std::time::Duration" | "time::Duration" => "std::time::Duration::from_millis(7)",
        "Instant" | "std::time::Instant" | "time::Instant" => "std::time::Instant::now()",
        "SystemTime" | "std::time::SystemTime" | "time::SystemTime" => "std::time::SystemTime::now()",
        "PathBuf" | "std::path::PathBuf" | "path::PathBuf" => "std::path::PathBuf::from(\"k\")",
        "Path" | "std::path::Path" | "path::Path" => "*std::path::Path::new(\"k\")",
        "IpAddr" | "std::net::IpAddr" => "std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST)",
        "Ipv4Addr" | "std::net::Ipv4Addr" => "std::net::Ipv4Addr::LOCALHOST",
        "SocketAddr" | "std::net::SocketAddr" => {
            "std::net::SocketAddr::V4(std::net::SocketAddrV4::new(std::net::Ipv4Addr::LOCALHOST, 7))"
        }
        "Bytes" | "bytes::Bytes" => "bytes::Bytes::from_static(b\"k\")",
        "Uuid" | "uuid::Uuid" => "uuid::Uuid::from_u128(7)",
        "Value" | "serde_json::Value" => "serde_json::Value::Bool(true)",
        "DateTime<Utc>" | "chrono::DateTime<chrono::Utc>" => "chrono::DateTime::<chrono::Utc>::UNIX_EPOCH",
        "f64" | "f32" => "0.5",
        "u128" | "i128" => "7",
        "[u8]" | "&[u8]" => "b\"k\"[..]",
        "Vec<u8>" => "b\"k\".to_vec()",
        "NonZeroUsize" | "std::num::NonZeroUsize" => "std::num::NonZeroUsize::new(2).unwrap()",
        "Arc<str>" | "Box<str>" | "Arc<String>" => "\"k\".to_owned().into()",
        "Ordering" | "std::sync::atomic::Ordering" | "atomic::Ordering" => "std::sync::atomic::Ordering::SeqCst",
        "implAsRef<[u8]>" => "b\"k\"",
        "implInto<String>" | "implAsRef<str>" | "implToString" => "\"k\"",
        _ => return None,
    })
}

/// What is passed for a parameter of a type that needs no other.
fn argument(ty: &Type, generics: &Generics) -> Result<Argument, String> {
    let (borrowed, owned) = match ty {
        Type::Reference(reference) if reference.mutability.is_none() => (true, &*reference.elem),
        other => (false, other),
    };
    let text = with_numbers(owned, generics).replace(' ', "");
    if text == "str" {
        let ty = Some("&'static str".to_owned());
        return Ok(Argument { ty, values: vec!["\"k\"".to_owned()], pass: "{}".to_owned() });
    }
    let hole = || format!("needs an argument of type {}", crate::runnable::written(ty));
    let values = values(&text).ok_or_else(hole)?;
    let pass = if borrowed { "&{}" } else { "{}" };
    Ok(Argument { ty: Some(text), values, pass: pass.to_owned() })
}

/// Code as an argument, the same each time.
fn passed(code: String) -> Argument {
    Argument { ty: None, values: vec![code], pass: "{}".to_owned() }
}

/// A few values of a type without spaces.
fn values(ty: &str) -> Option<Vec<String>> {
    const INTEGERS: [&str; 10] = ["u8", "u16", "u32", "u64", "usize", "i8", "i16", "i32", "i64", "isize"];
    let some = |values: &[&str]| Some(values.iter().map(|value| (*value).to_owned()).collect());
    if let Some(inner) = ty.strip_prefix("Option<").and_then(|rest| rest.strip_suffix('>')) {
        let inner = values(inner)?;
        return Some(inner.into_iter().map(|value| format!("Some({value})")).chain(["None".to_owned()]).collect());
    }
    if let Some(inner) = ty.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
        let parts = split(inner);
        let firsts: Option<Vec<String>> = parts.iter().map(|part| values(part)?.into_iter().next()).collect();
        let firsts = firsts?;
        return Some(vec![if firsts.len() == 1 {
            format!("({},)", firsts[0])
        } else {
            format!("({})", firsts.join(", "))
        }]);
    }
    match ty {
        "bool" => some(&["true", "false"]),
        "char" => some(&["'k'"]),
        "String" | "std::string::String" => some(&["String::from(\"k\")"]),
        "&'staticstr" => some(&["\"k\""]),
        ty if INTEGERS.contains(&ty) => some(&["7"]),
        _ => None,
    }
}

/// The parts of a list, at commas outside of brackets.
fn split(list: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut begin) = (Vec::new(), 0_i32, 0);
    for (at, char) in list.char_indices() {
        match char {
            '<' | '(' => depth += 1,
            '>' | ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&list[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
    }
    if !list[begin..].is_empty() {
        parts.push(&list[begin..]);
    }
    parts
}

/// The type of the argument, and the names of its parts.
pub(crate) fn parameters(types: &[&String]) -> (String, String) {
    match types {
        [] => ("()".to_owned(), "()".to_owned()),
        [ty] => ((*ty).clone(), "a0".to_owned()),
        types => {
            let names: Vec<String> = (0..types.len()).map(|at| format!("a{at}")).collect();
            let types: Vec<&str> = types.iter().map(|ty| ty.as_str()).collect();
            (format!("({})", types.join(", ")), format!("({})", names.join(", ")))
        }
    }
}

/// What is passed for each parameter, by the names of [`parameters`].
pub(crate) fn names(arguments: &BTreeMap<usize, Argument>) -> BTreeMap<usize, String> {
    let mut next = 0;
    let mut all = BTreeMap::new();
    for (at, argument) in arguments {
        let value = match (&argument.ty, argument.values.first()) {
            (Some(_), _) => {
                next += 1;
                format!("a{}", next - 1)
            }
            (None, value) => value.cloned().unwrap_or_default(),
        };
        all.insert(*at, argument.pass.replace("{}", &value));
    }
    all
}

/// The arguments that are tried: all combinations of the values, as far as there is room for them.
pub(crate) fn combinations(arguments: &BTreeMap<usize, Argument>) -> Vec<String> {
    let mut all = vec![Vec::new()];
    for argument in arguments.values().filter(|argument| argument.ty.is_some()) {
        let longer = |before: &Vec<String>| -> Vec<Vec<String>> {
            argument.values.iter().map(|value| [&before[..], std::slice::from_ref(value)].concat()).collect()
        };
        all = all.iter().flat_map(longer).collect();
        all.truncate(ARGUMENTS);
    }
    let text = |values: Vec<String>| match &values[..] {
        [one] => one.clone(),
        values => format!("({})", values.join(", ")),
    };
    all.into_iter().map(text).collect()
}

/// What is passed in one call.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Passed {
    /// The code of each argument.
    pub(crate) code: BTreeMap<usize, String>,
    /// The arguments as reports show them: `(7, true)`.
    pub(crate) shown: String,
}

/// What is passed in a few calls: some combinations of the values, and [`others`].
pub(crate) fn with_others(arguments: &BTreeMap<usize, Argument>) -> Vec<Passed> {
    let mut all: Vec<Vec<String>> = vec![Vec::new()];
    for argument in arguments.values() {
        let longer = |before: &Vec<String>| -> Vec<Vec<String>> {
            argument.values.iter().map(|value| [&before[..], std::slice::from_ref(value)].concat()).collect()
        };
        all = all.iter().flat_map(longer).collect();
        all.truncate(BEFORE_OTHERS);
    }
    let mut calls: Vec<Passed> = all.iter().map(|values| passed_in_call(arguments, values, &[])).collect();
    let mut others = others(arguments);
    let all_differ = others.pop();
    // First what is a value under the same key.
    others.into_iter().for_each(|call| calls.insert(1, call));
    calls.extend(all_differ);
    calls
}

/// What is passed in calls that differ from the first one: in the last argument, as a value under the same key would, and in all.
pub(crate) fn others(arguments: &BTreeMap<usize, Argument>) -> Vec<Passed> {
    let first: Vec<String> = arguments.values().map(|argument| argument.values[0].clone()).collect();
    let changes = |at: &usize| {
        let argument = arguments.values().nth(*at).expect("one of them");
        let code = argument.pass.replace("{}", &first[*at]);
        other(&code) != code
    };
    let changing: Vec<usize> = (0..first.len()).filter(changes).collect();
    match changing[..] {
        [] => Vec::new(),
        [_] => vec![passed_in_call(arguments, &first, &changing)],
        [.., last] => vec![passed_in_call(arguments, &first, &[last]), passed_in_call(arguments, &first, &changing)],
    }
}

/// What is passed in a call with these values, of which some are replaced by others.
fn passed_in_call(arguments: &BTreeMap<usize, Argument>, values: &[String], changed: &[usize]) -> Passed {
    let (mut code, mut shown) = (BTreeMap::new(), Vec::new());
    for (number, ((at, argument), value)) in arguments.iter().zip(values).enumerate() {
        let made = argument.pass.replace("{}", value);
        let is_changed = changed.contains(&number);
        let text = match (argument.ty.is_some(), is_changed) {
            (true, true) => other(value),
            (true, false) => value.clone(),
            (false, true) => other(&made),
            // It is the same in most calls.
            (false, false) => String::new(),
        };
        shown.extend((!text.is_empty()).then(|| plain(&text)));
        code.insert(*at, if is_changed { other(&made) } else { made });
    }
    Passed { code, shown: format!("({})", shown.join(", ")) }
}

/// The same code with low numbers in the place of those that stand for all, so that they are indices of short lists.
pub(crate) fn low(code: &str) -> String {
    let low = |(at, char): (usize, char)| match char {
        '7' if stands_alone(code, at) => '1',
        '8' if stands_alone(code, at) => '0',
        other => other,
    };
    code.char_indices().map(low).collect()
}

/// Whether the digit there is a number by itself.
fn stands_alone(code: &str, at: usize) -> bool {
    let is_word = |char: char| char.is_alphanumeric() || char == '_' || char == '.';
    !code[..at].ends_with(is_word) && !code[at + 1..].starts_with(|char: char| char.is_ascii_digit())
}

/// Another value of the same type, where the code of the value has a number or a text of those that stand for all.
fn other(code: &str) -> String {
    // Another time is no other value.
    if code.contains("Duration") {
        return code.to_owned();
    }
    let mut text = String::with_capacity(code.len());
    for (at, char) in code.char_indices() {
        let (before, after) = (&code[..at], &code[at + char.len_utf8()..]);
        let quoted = |quote: char| before.ends_with(quote) && after.starts_with(quote);
        text.push(match char {
            '7' if stands_alone(code, at) => '8',
            '0' if after.starts_with(".5") && stands_alone(code, at) => '1',
            'k' if quoted('"') || quoted('\'') => 'j',
            other => other,
        });
    }
    text
}

/// A value as reports show it.
fn plain(value: &str) -> String {
    value.replace("String::from(\"k\")", "\"k\"").replace("String::from(\"j\")", "\"j\"").replace("_u8", "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_values_differ_in_numbers_and_texts_that_stand_alone() {
        for (code, expected) in [
            ("7", "8"),
            ("Some(7)", "Some(8)"),
            ("0.5", "1.5"),
            ("b\"k\".to_vec()", "b\"j\".to_vec()"),
            ("&(Entry { key: 'k', v7: 7_u8, of: Base7::A17 })", "&(Entry { key: 'j', v7: 8_u8, of: Base7::A17 })"),
            ("std::time::Duration::from_millis(7)", "std::time::Duration::from_millis(7)"),
            ("|_| Default::default()", "|_| Default::default()"),
        ] {
            assert_eq!(other(code), expected);
        }
    }

    #[test]
    fn low_numbers_replace_those_that_stand_alone() {
        for (code, expected) in [
            ("subject.0.at(7)", "subject.0.at(1)"),
            ("vec![7, 8]", "vec![1, 0]"),
            ("&(Slot7 { at: 8_usize, of: 77, part: self.8 })", "&(Slot7 { at: 0_usize, of: 77, part: self.8 })"),
        ] {
            assert_eq!(low(code), expected);
        }
    }

    #[test]
    fn calls_beside_another_have_other_values_too() {
        let number = |value: &str| Argument { ty: Some("u32".into()), values: vec![value.into()], pass: "{}".into() };
        let made = Argument { ty: None, values: vec![String::new()], pass: "&(Entry { hits: 7 })".into() };
        let closure = Argument { ty: None, values: vec!["|_| 0".into()], pass: "{}".into() };
        let shown = |all: &[Passed]| all.iter().map(|call| call.shown.clone()).collect::<Vec<_>>();
        let both = BTreeMap::from([(1, number("7")), (2, made), (3, closure)]);
        assert_eq!(shown(&with_others(&both)), ["(7)", "(7, &(Entry { hits: 8 }))", "(8, &(Entry { hits: 8 }))"]);
        assert_eq!(with_others(&both)[1].code[&2], "&(Entry { hits: 8 })");
        assert_eq!(with_others(&both)[1].code[&3], "|_| 0");
        let flag = Argument { ty: Some("bool".into()), values: vec!["true".into(), "false".into()], pass: "{}".into() };
        assert_eq!(shown(&with_others(&[(1, flag)].into())), ["(true)", "(false)"]);
        assert_eq!(shown(&with_others(&BTreeMap::new())), ["()"]);
    }
}
