//! The values that the environment puts into collections: of types of std, and of structs and enums of the crate whose fields are such
//! values. The code of a harness says of the latter how they are made (`interloper::datum!`).

use std::collections::BTreeSet;
use std::path::PathBuf;

use quote::ToTokens;
use syn::{Fields, GenericParam, Item, Type, WherePredicate};

use crate::generics::Generics;
use crate::index::Index;
use crate::names::{Scope, Target, Want, segments};
use crate::parts::{POINTERS, arguments_of, content};
use crate::runnable::written;
use crate::subject::{is_atomic, is_run};
use crate::types::Ty;

/// How values of a type of the crate are made: an item, once in a crate.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Declared {
    /// The file of the module that the type stands in, at whose end the code belongs.
    pub file: PathBuf,
    /// The name of the type.
    pub name: String,
    /// The items.
    pub code: String,
}

/// The types of the crate of which values have to be made.
#[derive(Default)]
struct Sought {
    found: BTreeSet<usize>,
    /// Those that are being looked into.
    within: Vec<usize>,
    /// The first type whose values cannot be made, as it is written.
    missing: Option<String>,
}

impl Index<'_> {
    /// The types of the crate whose values the environment makes when it acts on a collection of this type.
    ///
    /// # Errors
    /// The type whose values it cannot make, where it is that which keeps it from acting.
    pub(crate) fn acted_on(
        &self,
        scope: Scope,
        ty: &Ty,
        written: &Type,
        generics: &Generics,
    ) -> Result<BTreeSet<usize>, Option<String>> {
        let mut sought = Sought::default();
        let is_part = match ty {
            Ty::Collection(collection) => {
                is_run(&collection.library, &collection.kind)
                    && (is_atomic(&collection.kind) || self.has_plain_arguments(scope, written, generics, &mut sought))
            }
            Ty::Lock(kind, _) => {
                is_run("", kind)
                    && content(written).is_some_and(|inner| self.is_content(scope, inner, generics, &mut sought))
            }
            _ => false,
        };
        if is_part { Ok(sought.found) } else { Err(sought.missing) }
    }

    /// Whether all type arguments of a collection are data, behind pointers to it.
    fn has_plain_arguments(&self, scope: Scope, ty: &Type, generics: &Generics, sought: &mut Sought) -> bool {
        let Type::Path(path) = ty else { return true };
        let names = segments(&path.path);
        if let Some(Target::Alias(module, ty)) = self.resolve(scope.module, &names, Want::Type) {
            return self.has_plain_arguments(Scope { module, own: None }, ty, generics, sought);
        }
        let wrapped = names.last().is_some_and(|name| POINTERS.contains(&name.as_str()));
        // A hasher comes last, if there is one.
        arguments_of(path).take(2).all(|inner| match wrapped {
            true => self.has_plain_arguments(scope, inner, generics, sought),
            false => self.is_data(scope, inner, generics, sought),
        })
    }

    /// Whether a lock around the type is one that the environment can act on.
    fn is_content(&self, scope: Scope, ty: &Type, generics: &Generics, sought: &mut Sought) -> bool {
        const TABLES: [&str; 7] = ["HashMap", "HashSet", "BTreeMap", "BTreeSet", "VecDeque", "Vec", "BinaryHeap"];
        /// What a lock keeps as a whole, beside numbers and the like.
        const WHOLE: [&str; 3] = ["Option", "Duration", "Instant"];
        let Type::Path(path) = ty else { return false };
        let names = segments(&path.path);
        match self.resolve(scope.module, &names, Want::Type) {
            Some(Target::Alias(module, ty)) => self.is_content(Scope { module, own: None }, ty, generics, sought),
            Some(Target::Struct(_)) => self.is_data(scope, ty, generics, sought),
            _ => {
                let name = names.last().map(String::as_str).unwrap_or_default();
                let whole =
                    WHOLE.contains(&name) || NUMBERS.contains(&name) || generics.get(name).is_some_and(Option::is_none);
                if TABLES.contains(&name) {
                    arguments_of(path).take(2).all(|inner| self.is_data(scope, inner, generics, sought))
                } else {
                    whole && self.is_data(scope, ty, generics, sought)
                }
            }
        }
    }

    /// Whether the environment can make values of the type.
    fn is_data(&self, scope: Scope, ty: &Type, generics: &Generics, sought: &mut Sought) -> bool {
        let is_data = self.looks_like_data(scope, ty, generics, sought);
        if !is_data && sought.missing.is_none() {
            sought.missing = Some(written(ty));
        }
        is_data
    }

    fn looks_like_data(&self, scope: Scope, ty: &Type, generics: &Generics, sought: &mut Sought) -> bool {
        match ty {
            Type::Tuple(tuple) => {
                tuple.elems.len() <= 4 && tuple.elems.iter().all(|inner| self.is_data(scope, inner, generics, sought))
            }
            Type::Array(array) => self.is_data(scope, &array.elem, generics, sought),
            Type::Paren(inner) => self.is_data(scope, &inner.elem, generics, sought),
            Type::Group(inner) => self.is_data(scope, &inner.elem, generics, sought),
            Type::Reference(reference) => reference.to_token_stream().to_string().replace(' ', "") == "&'staticstr",
            Type::Path(path) => {
                let names = segments(&path.path);
                match self.resolve(scope.module, &names, Want::Type) {
                    Some(Target::Alias(module, ty)) => self.is_data(Scope { module, own: None }, ty, generics, sought),
                    Some(Target::Struct(number)) => {
                        arguments_of(path).all(|inner| self.is_data(scope, inner, generics, sought))
                            && self.is_declared(scope, number, sought)
                    }
                    Some(Target::External(full)) => self.is_known(scope, &full, path, generics, sought),
                    _ => self.is_known(scope, &names, path, generics, sought),
                }
            }
            _ => false,
        }
    }

    /// Whether a type of no crate of the workspace is one of those whose values are known.
    fn is_known(
        &self,
        scope: Scope,
        names: &[String],
        path: &syn::TypePath,
        generics: &Generics,
        sought: &mut Sought,
    ) -> bool {
        /// Other crates have some of the same names.
        const OF_STD: [&str; 11] = [
            "Duration",
            "Instant",
            "SystemTime",
            "PathBuf",
            "IpAddr",
            "Ipv4Addr",
            "Ipv6Addr",
            "SocketAddr",
            "SocketAddrV4",
            "SocketAddrV6",
            "PhantomData",
        ];
        const AROUND: [&str; 9] =
            ["Option", "Vec", "VecDeque", "BTreeMap", "BTreeSet", "HashMap", "HashSet", "Arc", "Box"];
        let name = names.last().map(String::as_str).unwrap_or_default();
        let is_std = matches!(names[0].as_str(), "std" | "core" | "alloc");
        if OF_STD.contains(&name) && !(is_std || names.len() == 1) {
            return false;
        }
        let number = names.len() == 1 && generics.get(name).is_some_and(Option::is_none);
        let inside: Vec<&Type> = arguments_of(path).collect();
        let is_table = matches!(name, "HashMap" | "HashSet");
        // A table with a hasher of its own has no plain form.
        let wraps = AROUND.contains(&name)
            && (names.len() == 1 || is_std)
            && !inside.is_empty()
            && (!is_table || inside.len() == if name == "HashMap" { 2 } else { 1 });
        let is_text =
            matches!(name, "Arc" | "Box") && matches!(inside[..], [Type::Path(of)] if of.path.is_ident("str"));
        NUMBERS.contains(&name)
            || OF_STD.contains(&name)
            || number
            || is_text
            || wraps && inside.into_iter().all(|inner| self.is_data(scope, inner, generics, sought))
    }

    /// Whether a harness can say how values of a struct or an enum of the crate are made.
    fn is_declared(&self, scope: Scope, number: usize, sought: &mut Sought) -> bool {
        if sought.found.contains(&number) {
            return true;
        }
        let one = &self.structs[number];
        let module = &self.modules[one.module];
        // The code stands in the same file, where all fields can be reached. A type that contains itself has no first value.
        let is_reached = module.root == self.modules[scope.module].root && module.whole.is_some();
        if !is_reached || sought.within.contains(&number) || self.methods.contains_key(&(number, "drop".to_owned())) {
            return false;
        }
        let Some((parameters, cases)) = parts_of(one.definition) else { return false };
        let Some(generics) = numbers(parameters) else { return false };
        let inner = Scope { module: one.module, own: Some(number) };
        sought.within.push(number);
        let all = cases.iter().all(|(_, fields)| {
            fields
                .iter()
                .all(|field| is_always_there(&field.attrs) && self.is_data(inner, &field.ty, &generics, sought))
        });
        sought.within.pop();
        if all {
            sought.found.insert(number);
        }
        all
    }

    /// The code for types of the crate.
    pub(crate) fn declared_types(&self, numbers: &BTreeSet<usize>) -> Vec<Declared> {
        numbers.iter().filter_map(|number| self.declaration(*number)).collect()
    }

    fn declaration(&self, number: usize) -> Option<Declared> {
        let one = &self.structs[number];
        let (parameters, cases) = parts_of(one.definition)?;
        let bounded = bounded(parameters);
        let names: Vec<String> = parameters.type_params().map(|one| one.ident.to_string()).collect();
        let ty = if names.is_empty() { one.name.clone() } else { format!("{}<{}>", one.name, names.join(", ")) };
        let cases: Vec<String> = cases.iter().map(|(name, fields)| format!("{name} {{ {} }}", bound(fields))).collect();
        let mut code = format!("interloper::datum! {{ [{bounded}] {ty}: {} }}\n", cases.join(", "));
        code.push_str(&format!("impl<{bounded}> interloper::collections::Record for {ty} {{}}\n"));
        if !one.clone {
            code.push_str(&format!(
                "impl<{bounded}> Clone for {ty} {{\n    fn clone(&self) -> Self {{\n        interloper::operations::copied(self)\n    }}\n}}\n"
            ));
        }
        Some(Declared { file: self.modules[one.module].whole?.to_owned(), name: one.name.clone(), code })
    }
}

/// Types of std that are values by themselves.
const NUMBERS: [&str; 17] = [
    "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize", "f32", "f64", "bool",
    "char", "String",
];

/// The type parameters and the cases of a struct or an enum; `None` for what is neither, and for an enum without cases.
fn parts_of(item: &Item) -> Option<(&syn::Generics, Vec<(String, &Fields)>)> {
    match item {
        Item::Struct(one) => Some((&one.generics, vec![(one.ident.to_string(), &one.fields)])),
        Item::Enum(one) if !one.variants.is_empty() && one.variants.iter().all(|case| is_always_there(&case.attrs)) => {
            let cases = one.variants.iter().map(|case| (format!("{}::{}", one.ident, case.ident), &case.fields));
            Some((&one.generics, cases.collect()))
        }
        _ => None,
    }
}

/// Whether no condition decides whether a field or a case is there.
fn is_always_there(attributes: &[syn::Attribute]) -> bool {
    !attributes.iter().any(|attribute| attribute.path().is_ident("cfg"))
}

/// The type parameters, where there are no others and nothing is asked of more than one of them.
fn numbers(generics: &syn::Generics) -> Option<Generics> {
    let mut all = Generics::new();
    for parameter in &generics.params {
        let GenericParam::Type(one) = parameter else { return None };
        all.insert(one.ident.to_string(), None);
    }
    let is_simple = |predicate: &WherePredicate| {
        matches!(predicate, WherePredicate::Type(bound)
            if bound.lifetimes.is_none() && all.contains_key(&bound.bounded_ty.to_token_stream().to_string()))
    };
    let simple = generics.where_clause.iter().flat_map(|clause| &clause.predicates).all(is_simple);
    simple.then_some(all)
}

/// The type parameters with what the type asks of them, and values besides.
fn bounded(generics: &syn::Generics) -> String {
    let of = |one: &syn::TypeParam| {
        let own = one.bounds.iter().map(|bound| bound.to_token_stream().to_string());
        let elsewhere = generics.where_clause.iter().flat_map(|clause| &clause.predicates).filter_map(|it| match it {
            WherePredicate::Type(bound) if one.ident == bound.bounded_ty.to_token_stream().to_string() => {
                Some(bound.bounds.to_token_stream().to_string())
            }
            _ => None,
        });
        let all: Vec<String> = own.chain(elsewhere).chain(["interloper::Datum".to_owned()]).collect();
        format!("{}: {}", one.ident, all.join(" + "))
    };
    generics.type_params().map(of).collect::<Vec<_>>().join(", ")
}

/// A pattern for all fields, without braces.
fn bound(fields: &Fields) -> String {
    let named = fields.iter().enumerate().map(|(at, field)| match &field.ident {
        Some(name) => format!("{name}: part{at}"),
        None => format!("{at}: part{at}"),
    });
    named.collect::<Vec<_>>().join(", ")
}
