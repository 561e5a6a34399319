//! The collections in a value that the environment acts on.

use std::fmt::Write;

use quote::ToTokens;
use syn::{GenericArgument, PathArguments, Type};

use crate::arguments::Generics;
use crate::foreign::{self, Foreign};
use crate::index::Index;
use crate::names::{Scope, Target, Want};
use crate::subject::{INSTRUMENTED, is_atomic, is_run, package_of};
use crate::types::Ty;
use crate::values::Made;

/// The environment acts on so many elements of a list.
const ELEMENTS: usize = 2;
/// Pointers to what is shared.
const POINTERS: [&str; 3] = ["Arc", "Rc", "Box"];
/// A collection in a value.
pub(crate) struct Part {
    /// Its path: `inner.map`, or `shards[].map` for those in the elements of a list.
    pub(crate) name: String,
    pub(crate) code: String,
    /// The list, of whose elements `code` is said, each as `element`.
    pub(crate) list: Option<String>,
    /// How the code of the harness uses it, where the driver does not know its crate.
    pub(crate) foreign: Option<&'static Foreign>,
}

impl Part {
    pub(crate) fn is(&self, made: &Made) -> bool {
        made.placed.path.strip_prefix('.') == Some(&*self.name)
    }
}

/// An expression for these parts; `here` is a type of the harness.
pub(crate) fn listed(parts: &[Part], here: &str) -> String {
    let seen = |part: &Part| part.foreign.map_or_else(|| part.code.clone(), |foreign| foreign.seen(&part.code, here));
    let part =
        |part: &Part| format!("(std::string::String::from({:?}), {} as &dyn {INSTRUMENTED}), ", part.name, seen(part));
    let fixed: String = parts.iter().filter(|one| one.list.is_none()).map(part).collect();
    let mut code = format!("std::vec![{fixed}]");
    let of_lists: Vec<&Part> = parts.iter().filter(|one| one.list.is_some()).collect();
    if of_lists.is_empty() {
        return code;
    }
    code = format!("let mut parts: std::vec::Vec<(std::string::String, &dyn {INSTRUMENTED})> = {code};\n            ");
    for one in of_lists {
        let (name, of_element) = (&one.name, seen(one));
        let list = one.list.as_deref().unwrap_or_default();
        let _ = write!(
            code,
            "for (at, element) in {list}.iter().enumerate().take({ELEMENTS}) {{ \
             parts.push(({name:?}.replace(\"[]\", &format!(\"[{{at}}]\")), {of_element} as &dyn {INSTRUMENTED})); }}\n            "
        );
    }
    code + "parts"
}

/// The type of the elements of a list.
fn element_of(ty: &Type) -> Option<&Type> {
    match ty {
        Type::Array(array) => Some(&array.elem),
        Type::Slice(slice) => Some(&slice.elem),
        Type::Path(path) => {
            let inner = arguments_of(path).next()?;
            match path.path.segments.last()?.ident.to_string().as_str() {
                "Vec" => Some(inner),
                "Box" | "Arc" => element_of(inner),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Behind the first pointer.
fn peeled(ty: &Ty) -> &Ty {
    match ty {
        Ty::Shared(inner) => inner,
        ty => ty,
    }
}

/// The type arguments of a path.
fn arguments_of(path: &syn::TypePath) -> impl Iterator<Item = &Type> {
    let given = match path.path.segments.last().map(|last| &last.arguments) {
        Some(PathArguments::AngleBracketed(given)) => Some(given.args.iter()),
        _ => None,
    };
    given.into_iter().flatten().filter_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    })
}

/// What is in a lock, perhaps behind pointers.
fn content(ty: &Type) -> Option<&Type> {
    let Type::Path(path) = ty else { return None };
    let name = path.path.segments.last()?.ident.to_string();
    match name.as_str() {
        "Mutex" | "RwLock" => arguments_of(path).last(),
        name if POINTERS.contains(&name) || name == "CachePadded" => content(arguments_of(path).next()?),
        _ => None,
    }
}

impl Index<'_> {
    /// The collections in a value that the driver knows, with the code that leads to each.
    pub(crate) fn parts(&self, ty: &Ty, code: &str, generics: &Generics, depth: usize, found: &mut Vec<Part>) {
        let Ty::Struct(number) = ty else { return };
        let one = &self.structs[*number];
        let syn::Item::Struct(item) = one.definition else { return };
        let scope = Scope { module: one.module, own: Some(*number) };
        for ((name, field), written) in one.fields.borrow().iter().zip(&item.fields) {
            let path = format!("{code}.{name}");
            let elements = match peeled(field) {
                Ty::Many(element) if code.starts_with("self.0") => element_of(&written.ty).map(|ty| (&**element, ty)),
                _ => None,
            };
            let Some((element, ty)) = elements else {
                self.part(scope, (field, &written.ty), &path, generics, depth, found);
                continue;
            };
            let mut inside = Vec::new();
            self.part(scope, (element, ty), "element", generics, depth, &mut inside);
            let list = path.trim_start_matches("self.0.");
            for part in inside {
                let name = format!("{list}[]{}", part.name.trim_start_matches("element"));
                // It is a reference to the element already.
                let code = if part.code == "&element" { "element".to_owned() } else { part.code };
                found.push(Part { name, code, list: Some(path.clone()), foreign: part.foreign });
            }
        }
    }

    /// The collections in a field, or in an element of a list, to which `path` leads.
    fn part(
        &self,
        scope: Scope,
        (field, written): (&Ty, &Type),
        path: &str,
        generics: &Generics,
        depth: usize,
        found: &mut Vec<Part>,
    ) {
        let inner = peeled(field);
        let (library, kind) = match inner {
            Ty::Collection(collection) => (&*collection.library, &*collection.kind),
            Ty::Lock(kind, _) => ("", &**kind),
            Ty::Struct(number) => ("", &*self.structs[*number].name),
            _ => return,
        };
        let Some(pointers) = self.pointers(scope, written, kind) else { return };
        if !matches!(inner, Ty::Struct(_)) && package_of(library, kind).is_none() && !self.is_of_std(scope, written) {
            return;
        }
        match inner {
            Ty::Struct(_) if depth > 0 => self.parts(inner, path, generics, depth - 1, found),
            Ty::Struct(_) => {}
            inner if self.is_part(scope, inner, written, generics) => {
                let name = path.trim_start_matches("self.0.").to_owned();
                // An element is a reference, which is one pointer more.
                let behind = if path == "element" && pointers > 0 { pointers + 1 } else { pointers };
                found.push(Part {
                    name,
                    code: format!("&{}{path}", "*".repeat(behind)),
                    list: None,
                    foreign: foreign::of(library, kind),
                });
            }
            _ => {}
        }
    }

    /// Whether a lock or an atomic, perhaps behind pointers, is one of std: other crates have some of the same names.
    fn is_of_std(&self, scope: Scope, written: &Type) -> bool {
        let Type::Path(path) = written else { return false };
        let names = crate::names::segments(&path.path);
        let behind = POINTERS.contains(&names.last().map_or("", String::as_str))
            || names.last().is_some_and(|name| name == "CachePadded");
        if behind {
            return arguments_of(path).next().is_some_and(|inner| self.is_of_std(scope, inner));
        }
        match self.resolve(scope.module, &names, Want::Type) {
            Some(Target::Alias(module, ty)) => self.is_of_std(Scope { module, own: None }, ty),
            Some(Target::External(names)) => {
                names.len() == 1 || matches!(names[0].as_str(), "std" | "core" | "interloper")
            }
            _ => false,
        }
    }

    /// How many pointers lead to a value of the type of this name; `None` if something else does.
    fn pointers(&self, scope: Scope, written: &Type, name: &str) -> Option<usize> {
        let Type::Path(path) = written else { return None };
        let names = crate::names::segments(&path.path);
        let last = names.last()?;
        if last == name {
            return Some(0);
        }
        if POINTERS.contains(&last.as_str()) || last == "CachePadded" {
            return Some(1 + self.pointers(scope, arguments_of(path).next()?, name)?);
        }
        match self.resolve(scope.module, &names, Want::Type)? {
            Target::Alias(module, ty) => self.pointers(Scope { module, own: None }, ty, name),
            _ => None,
        }
    }

    /// Whether the environment can act on a collection of this type.
    fn is_part(&self, scope: Scope, ty: &Ty, written: &Type, generics: &Generics) -> bool {
        match ty {
            Ty::Collection(collection) => {
                is_run(&collection.library, &collection.kind)
                    && (is_atomic(&collection.kind) || self.has_plain_arguments(scope, written, generics))
            }
            Ty::Lock(kind, _) => {
                is_run("", kind) && content(written).is_some_and(|inner| self.is_content(scope, inner, generics))
            }
            _ => false,
        }
    }

    /// Whether all type arguments of a collection are data, behind pointers to it.
    fn has_plain_arguments(&self, scope: Scope, written: &Type, generics: &Generics) -> bool {
        let Type::Path(path) = written else { return true };
        let names = crate::names::segments(&path.path);
        if let Some(Target::Alias(module, ty)) = self.resolve(scope.module, &names, Want::Type) {
            return self.has_plain_arguments(Scope { module, own: None }, ty, generics);
        }
        let wrapped = names.last().is_some_and(|name| POINTERS.contains(&name.as_str()));
        // A hasher comes last, if there is one.
        arguments_of(path).take(2).all(|inner| match wrapped {
            true => self.has_plain_arguments(scope, inner, generics),
            false => self.is_data(scope, inner, generics),
        })
    }

    /// Whether a lock around the type is one that the environment can act on.
    fn is_content(&self, scope: Scope, ty: &Type, generics: &Generics) -> bool {
        const TABLES: [&str; 7] = ["HashMap", "HashSet", "BTreeMap", "BTreeSet", "VecDeque", "Vec", "BinaryHeap"];
        let Type::Path(path) = ty else { return self.is_data(scope, ty, generics) && !matches!(ty, Type::Tuple(_)) };
        let names = crate::names::segments(&path.path);
        match self.resolve(scope.module, &names, Want::Type) {
            Some(Target::Alias(module, ty)) => self.is_content(Scope { module, own: None }, ty, generics),
            Some(Target::Struct(_)) => false,
            _ => {
                let name = names.last().map(String::as_str).unwrap_or_default();
                if TABLES.contains(&name) {
                    arguments_of(path).take(2).all(|inner| self.is_data(scope, inner, generics))
                } else {
                    name != "Arc" && self.is_data(scope, ty, generics)
                }
            }
        }
    }

    /// Whether the environment can make values of the type.
    fn is_data(&self, scope: Scope, ty: &Type, generics: &Generics) -> bool {
        const SIMPLE: [&str; 13] =
            ["u8", "u16", "u32", "u64", "usize", "i8", "i16", "i32", "i64", "isize", "bool", "char", "String"];
        match ty {
            Type::Tuple(tuple) => tuple.elems.iter().all(|inner| self.is_data(scope, inner, generics)),
            Type::Reference(reference) => reference.to_token_stream().to_string().replace(' ', "") == "&'staticstr",
            Type::Path(path) => {
                let names = crate::names::segments(&path.path);
                match self.resolve(scope.module, &names, Want::Type) {
                    Some(Target::Alias(module, ty)) => self.is_data(Scope { module, own: None }, ty, generics),
                    Some(Target::Struct(_)) => false,
                    _ => {
                        let name = names.last().map(String::as_str).unwrap_or_default();
                        let wraps = ["Option", "Vec", "VecDeque", "BTreeMap", "BTreeSet", "Arc", "Box"].contains(&name);
                        let inner = || arguments_of(path).all(|inner| self.is_data(scope, inner, generics));
                        let number = names.len() == 1 && generics.get(name) == Some(&None);
                        SIMPLE.contains(&name) || number || (wraps && arguments_of(path).next().is_some() && inner())
                    }
                }
            }
            _ => false,
        }
    }
}
