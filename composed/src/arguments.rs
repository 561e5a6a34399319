//! The arguments of an operation: a few values that stand for all of a type.

use std::collections::BTreeMap;

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{Type, TypeParamBound, WherePredicate};

use crate::index::Function;

/// So many combinations of arguments are tried.
const ARGUMENTS: usize = 4;

/// What is passed for a parameter.
pub(crate) struct Argument {
    /// The type of the values that are tried, or `None` for a value that is always the same.
    pub(crate) ty: Option<String>,
    /// The values.
    pub(crate) values: Vec<String>,
    /// How the value is passed, with `{}` for it.
    pub(crate) pass: String,
}

/// The type that stands for a type parameter.
pub(crate) const NUMBER: &str = "u32";

/// What stands for the type parameters of a function and of its type: a number, or a closure of this many arguments.
pub(crate) type Generics = BTreeMap<String, Option<usize>>;

pub(crate) fn generics(function: &Function<'_>) -> Generics {
    let mut all = Generics::new();
    let own = &function.signature.generics;
    for parameter in own.type_params().chain(function.around.iter().flat_map(|around| around.type_params())) {
        all.insert(parameter.ident.to_string(), parameter.bounds.iter().find_map(arity));
    }
    for predicate in own.where_clause.iter().flat_map(|clause| &clause.predicates) {
        if let WherePredicate::Type(bound) = predicate {
            let name = bound.bounded_ty.to_token_stream().to_string();
            if let (Some(closure), Some(arity)) = (all.get_mut(&name), bound.bounds.iter().find_map(arity)) {
                *closure = Some(arity);
            }
        }
    }
    all
}

/// How many arguments a closure with this bound takes.
fn arity(bound: &TypeParamBound) -> Option<usize> {
    let TypeParamBound::Trait(bound) = bound else { return None };
    let last = bound.path.segments.last()?;
    let syn::PathArguments::Parenthesized(inputs) = &last.arguments else { return None };
    ["Fn", "FnMut", "FnOnce"].iter().any(|name| last.ident == name).then_some(inputs.inputs.len())
}

/// A type as it is written, with numbers for type parameters.
pub(crate) fn with_numbers(ty: &Type, generics: &Generics) -> String {
    fn replaced(tokens: TokenStream, generics: &Generics) -> TokenStream {
        let token = |token: TokenTree| match token {
            TokenTree::Ident(name) if generics.contains_key(&name.to_string()) => quote!(u32),
            TokenTree::Group(group) => {
                let inner = replaced(group.stream(), generics);
                TokenTree::Group(proc_macro2::Group::new(group.delimiter(), inner)).into()
            }
            other => other.into(),
        };
        tokens.into_iter().map(token).collect::<TokenStream>()
    }
    replaced(ty.to_token_stream(), generics).to_string()
}

/// What is passed for a parameter of a type.
pub(crate) fn argument(ty: &Type, generics: &Generics) -> Result<Argument, String> {
    if let Type::ImplTrait(bounds) = ty
        && let Some(arity) = bounds.bounds.iter().find_map(arity)
    {
        return Ok(pure(arity));
    }
    if let Type::Path(path) = ty
        && let Some(Some(arity)) = path.path.get_ident().and_then(|name| generics.get(&name.to_string()))
    {
        return Ok(pure(*arity));
    }
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

/// A closure without effects.
fn pure(arity: usize) -> Argument {
    let closure = format!("|{}| Default::default()", vec!["_"; arity].join(", "));
    Argument { ty: None, values: vec![closure], pass: "{}".to_owned() }
}

/// A few values of a type without spaces.
fn values(ty: &str) -> Option<Vec<String>> {
    const INTEGERS: [&str; 12] =
        ["u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize"];
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
