//! What stands for the type parameters of an operation.

use std::collections::BTreeMap;

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{GenericArgument, Type, TypeParamBound, WherePredicate};

use crate::arguments::fixed;
use crate::index::Function;

/// The type that stands for a type parameter.
pub(crate) const NUMBER: &str = "u32";

/// What stands for the type parameters of a function and of its type: a number, or this.
pub(crate) type Generics = BTreeMap<String, Option<Stand>>;

/// What stands for a type parameter, where no number can.
#[derive(Clone)]
pub(crate) enum Stand {
    /// This code: a closure, or a text.
    Code(String),
    /// A small collection of values of this type.
    Collection(Box<Type>),
    /// An iterator over one.
    Iterator(Box<Type>),
}

pub(crate) fn generics(function: &Function<'_>) -> Generics {
    let mut all = Generics::new();
    let own = &function.signature.generics;
    for parameter in own.type_params().chain(function.around.iter().flat_map(|around| around.type_params())) {
        all.insert(parameter.ident.to_string(), parameter.bounds.iter().find_map(stand));
    }
    for predicate in own.where_clause.iter().flat_map(|clause| &clause.predicates) {
        if let WherePredicate::Type(bound) = predicate {
            let name = bound.bounded_ty.to_token_stream().to_string();
            if let (Some(known), Some(stand)) = (all.get_mut(&name), bound.bounds.iter().find_map(stand)) {
                *known = Some(stand);
            }
        }
    }
    all
}

/// What stands for a type with such a bound.
fn stand(bound: &TypeParamBound) -> Option<Stand> {
    pure(bound).or_else(|| text(bound)).map(Stand::Code).or_else(|| several(bound))
}

/// A text for a bound that numbers do not have.
fn text(bound: &TypeParamBound) -> Option<String> {
    let bound = bound.to_token_stream().to_string().replace(' ', "");
    let code = fixed(&format!("impl{bound}")).filter(|_| !bound.ends_with("ToString"))?;
    Some(code.to_owned())
}

/// What stands for a type with a bound such as `IntoIterator<Item = u8>`.
fn several(bound: &TypeParamBound) -> Option<Stand> {
    const ITERATORS: [&str; 3] = ["Iterator", "DoubleEndedIterator", "ExactSizeIterator"];
    let TypeParamBound::Trait(bound) = bound else { return None };
    let last = bound.path.segments.last()?;
    let syn::PathArguments::AngleBracketed(given) = &last.arguments else { return None };
    let item = given.args.iter().find_map(|argument| match argument {
        GenericArgument::AssocType(one) if one.ident == "Item" => Some(Box::new(one.ty.clone())),
        _ => None,
    })?;
    match last.ident.to_string().as_str() {
        "IntoIterator" => Some(Stand::Collection(item)),
        name if ITERATORS.contains(&name) => Some(Stand::Iterator(item)),
        _ => None,
    }
}

/// What stands for the type of a parameter.
pub(crate) fn stand_of(ty: &Type, generics: &Generics) -> Option<Stand> {
    match ty {
        Type::ImplTrait(bounds) => bounds.bounds.iter().find_map(stand),
        Type::Path(path) => path.path.get_ident().and_then(|name| generics.get(&name.to_string())?.clone()),
        _ => None,
    }
}

/// A closure without effects for a bound such as `Fn(u8) -> u8`: it gives a default, and a success where it may fail.
pub(crate) fn pure(bound: &TypeParamBound) -> Option<String> {
    let TypeParamBound::Trait(bound) = bound else { return None };
    let last = bound.path.segments.last()?;
    let syn::PathArguments::Parenthesized(signature) = &last.arguments else { return None };
    if !["Fn", "FnMut", "FnOnce"].iter().any(|name| last.ident == name) {
        return None;
    }
    let may_fail = match &signature.output {
        syn::ReturnType::Type(_, ty) => {
            matches!(&**ty, Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "Result"))
        }
        syn::ReturnType::Default => false,
    };
    let gives = if may_fail { "Ok(Default::default())" } else { "Default::default()" };
    Some(format!("|{}| {gives}", vec!["_"; signature.inputs.len()].join(", ")))
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
