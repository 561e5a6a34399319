//! Whether an operation can be run as it is.

use serde::{Deserialize, Serialize};
use syn::{FnArg, GenericArgument, PathArguments, Type};

use crate::generics::generics;
use crate::index::{Function, Index};
use crate::names::{Scope, Target, Want, segments};
use crate::types::Ty;

/// Whether an operation can be run as it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "run", rename_all = "kebab-case")]
pub enum Runnable {
    /// Its owner and its arguments can be made.
    AsItIs,
    /// It can be run once somebody says how to make this.
    Hole {
        /// What cannot be made.
        what: String,
    },
    /// It cannot be run in a search.
    Refused {
        /// Why.
        reason: String,
    },
}

impl std::fmt::Display for Runnable {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Runnable::AsItIs => out.pad("as it is"),
            Runnable::Hole { what } => write!(out, "needs {what}"),
            Runnable::Refused { reason } => write!(out, "no: {reason}"),
        }
    }
}

/// Structs of structs are made so deep.
pub(crate) const NESTED: usize = 3;

impl Index<'_> {
    /// Whether a function can be run, apart from what it does.
    pub(crate) fn runnable(&self, function: &Function<'_>) -> Runnable {
        match self.hole(function) {
            Some(what) => Runnable::Hole { what },
            None => Runnable::AsItIs,
        }
    }

    fn hole(&self, function: &Function<'_>) -> Option<String> {
        let scope = Scope { module: function.module, own: function.own };
        if function.signature.receiver().is_some() {
            let Some(own) = function.own else { return Some("a type that implements the trait".to_owned()) };
            if !self.can_make(own) {
                return Some(format!("a constructor of {}", self.structs[own].name));
            }
        }
        if function.generic {
            return Some("types for its generic parameters".to_owned());
        }
        function.signature.inputs.iter().find_map(|parameter| match parameter {
            FnArg::Receiver(_) => None,
            FnArg::Typed(typed) => {
                let ty = self.ty(scope, &typed.ty);
                let made = self.is_subject(&ty)
                    || self.is_small(scope, &typed.ty, NESTED)
                    || self.argument(scope, &typed.ty, &generics(function)).is_ok();
                (!made).then(|| format!("an argument of type {}", written(&typed.ty)))
            }
        })
    }

    /// Whether a value of the type can be the collections of a free function.
    fn is_subject(&self, ty: &Ty) -> bool {
        match ty {
            Ty::Collection(_) | Ty::Lock(..) => true,
            Ty::Shared(inner) => self.is_subject(inner),
            Ty::Tuple(parts) => parts.iter().all(|part| self.is_subject(part)),
            Ty::Struct(number) => self.has_collections(ty) && self.can_make(*number),
            Ty::Opaque | Ty::Lazy(_) | Ty::Many(_) => false,
        }
    }

    /// Whether a value of a type of the workspace can be made without knowing more.
    pub(crate) fn can_make(&self, number: usize) -> bool {
        let one = &self.structs[number];
        self.options.constructors.contains_key(&one.name)
            || self.has_default(number)
            || self.constructor(number).is_some()
    }

    /// Whether the type has a few values that stand for all: numbers, texts, options, tuples, small structs and enums.
    fn is_small(&self, scope: Scope, ty: &Type, depth: usize) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        match ty {
            Type::Reference(reference) => {
                reference.mutability.is_none() && self.is_small(scope, &reference.elem, depth + 1)
            }
            Type::Paren(inner) => self.is_small(scope, &inner.elem, depth + 1),
            Type::Group(inner) => self.is_small(scope, &inner.elem, depth + 1),
            Type::Tuple(tuple) => tuple.elems.iter().all(|element| self.is_small(scope, element, depth)),
            Type::Path(path) => {
                let names = segments(&path.path);
                match self.resolve(scope.module, &names, Want::Type) {
                    Some(Target::Alias(module, ty)) => self.is_small(Scope { module, own: None }, ty, depth),
                    Some(Target::Struct(number)) => self.is_small_struct(number, depth),
                    _ => {
                        is_small_name(&names)
                            || (names.last().is_some_and(|name| name == "Option")
                                && {
                                    let inner = path.path.segments.last().map(|last| &last.arguments);
                                    matches!(inner, Some(PathArguments::AngleBracketed(given)) if given.args.iter().all(|argument| {
                                        matches!(argument, GenericArgument::Type(inner) if self.is_small(scope, inner, depth))
                                    }))
                                })
                    }
                }
            }
            _ => false,
        }
    }

    fn is_small_struct(&self, number: usize, depth: usize) -> bool {
        let one = &self.structs[number];
        let scope = Scope { module: one.module, own: Some(number) };
        let all = |fields: &syn::Fields| fields.iter().all(|field| self.is_small(scope, &field.ty, depth));
        match one.definition {
            syn::Item::Struct(item) => item.generics.params.is_empty() && all(&item.fields),
            syn::Item::Enum(item) => {
                item.generics.params.is_empty()
                    && !item.variants.is_empty()
                    && item.variants.iter().all(|one| all(&one.fields))
            }
            _ => false,
        }
    }
}

fn is_small_name(names: &[String]) -> bool {
    const NAMES: [&str; 16] = [
        "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize", "bool", "char", "str",
        "String",
    ];
    matches!(names, [name] if NAMES.contains(&name.as_str()))
}

/// A type as it is written.
pub(crate) fn written(ty: &Type) -> String {
    let text = quote::quote!(#ty).to_string();
    let text = text.replace(" :: ", "::").replace(" < ", "<").replace(" >", ">").replace(" ,", ",").replace("& ", "&");
    text.replace("< ", "<")
}
