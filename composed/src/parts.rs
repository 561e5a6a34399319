//! The collections in a value that the environment acts on.

use std::collections::BTreeSet;
use std::fmt::Write;

use syn::{GenericArgument, PathArguments, Type};

use crate::foreign::{self, Foreign};
use crate::generics::Generics;
use crate::index::Index;
use crate::names::{Scope, Target, Want};
use crate::subject::{INSTRUMENTED, package_of};
use crate::types::Ty;
use crate::values::Made;

/// The environment acts on so many elements of a list.
const ELEMENTS: usize = 2;
/// Pointers to what is shared.
pub(crate) const POINTERS: [&str; 3] = ["Arc", "Rc", "Box"];

/// The collections in a value.
#[derive(Default)]
pub(crate) struct Parts {
    /// The module that reaches them. The others may reach all.
    pub(crate) from: Option<usize>,
    pub(crate) all: Vec<Part>,
    /// The path of a field with collections that is private to another module.
    pub(crate) private: Option<String>,
    /// The types whose values would have to be made for more.
    pub(crate) missing: Vec<String>,
}

/// A collection in a value.
pub(crate) struct Part {
    /// Its path: `inner.map`, or `shards[].map` for those in the elements of a list.
    pub(crate) name: String,
    pub(crate) code: String,
    /// The list, of whose elements `code` is said, each as `element`.
    pub(crate) list: Option<String>,
    /// How the code of the harness uses it, where the driver does not know its crate.
    pub(crate) foreign: Option<&'static Foreign>,
    /// The types of the crate whose values are in it.
    pub(crate) data: BTreeSet<usize>,
}

impl Part {
    pub(crate) fn is(&self, made: &Made) -> bool {
        made.placed.path.strip_prefix('.') == Some(&*self.name)
    }
}

/// The methods of a `Subject` that has these parts; `here` is a type of the harness.
pub(crate) fn methods(parts: &[Part], here: &str) -> String {
    let seen = |part: &Part| part.foreign.map_or_else(|| part.code.clone(), |foreign| foreign.seen(&part.code, here));
    let named =
        |part: &Part| format!("(std::string::String::from({:?}), {} as &dyn {INSTRUMENTED})", part.name, seen(part));
    let named_elements = |part: &Part| {
        let name = format!("{:?}.replace(\"[]\", &format!(\"[{{at}}]\"))", part.name);
        (".enumerate()", "(at, element)", format!("({name}, {} as &dyn {INSTRUMENTED})", seen(part)))
    };
    let one = |part: &Part| format!("{} as &dyn {INSTRUMENTED}", seen(part));
    let elements = |part: &Part| ("", "element", one(part));
    let pair = format!("(std::string::String, &dyn {INSTRUMENTED})");
    method("parts", &pair, parts, named, named_elements)
        + "\n        "
        + &method("collections", &format!("&dyn {INSTRUMENTED}"), parts, one, elements)
}

/// A method that gives a list with an item for each part. For a list of collections, `of_elements` says what its iterator is followed
/// by, what it gives, and the item.
fn method(
    name: &str,
    item: &str,
    parts: &[Part],
    of: impl Fn(&Part) -> String,
    of_elements: impl Fn(&Part) -> (&'static str, &'static str, String),
) -> String {
    let fixed: Vec<String> = parts.iter().filter(|one| one.list.is_none()).map(of).collect();
    let mut code = format!("std::vec![{}]", fixed.join(", "));
    let of_lists: Vec<&Part> = parts.iter().filter(|one| one.list.is_some()).collect();
    if !of_lists.is_empty() {
        code = format!("let mut parts: std::vec::Vec<{item}> = {code};\n            ");
        for one in of_lists {
            let (more, given, pushed) = of_elements(one);
            let list = one.list.as_deref().unwrap_or_default();
            let _ = write!(
                code,
                "for {given} in {list}.iter(){more}.take({ELEMENTS}) {{ parts.push({pushed}); }}\n            "
            );
        }
        code += "parts";
    }
    format!("fn {name}(&self) -> std::vec::Vec<{item}> {{\n            {code}\n        }}")
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
pub(crate) fn arguments_of(path: &syn::TypePath) -> impl Iterator<Item = &Type> {
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
pub(crate) fn content(ty: &Type) -> Option<&Type> {
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
    ///
    /// Also the types whose values cannot be made, as far as nothing else keeps a collection from being a part.
    pub(crate) fn parts(&self, ty: &Ty, code: &str, generics: &Generics, depth: usize, found: &mut Parts) {
        let Ty::Struct(number) = ty else { return };
        let one = &self.structs[*number];
        let syn::Item::Struct(item) = one.definition else { return };
        let scope = Scope { module: one.module, own: Some(*number) };
        for ((name, field), written) in one.fields.borrow().iter().zip(&item.fields) {
            let path = format!("{code}.{name}");
            let is_private = matches!(written.vis, syn::Visibility::Inherited);
            if is_private && found.from.is_some_and(|from| !self.is_inside(from, one.module)) {
                if self.has_collections(field) {
                    found.private.get_or_insert_with(|| path.trim_start_matches("self.0.").to_owned());
                }
                continue;
            }
            let elements = match peeled(field) {
                Ty::Many(element) if code.starts_with("self.0") => element_of(&written.ty).map(|ty| (&**element, ty)),
                _ => None,
            };
            let Some((element, ty)) = elements else {
                self.part(scope, (field, &written.ty), &path, generics, depth, found);
                continue;
            };
            let mut inside = Parts { from: found.from, ..Parts::default() };
            self.part(scope, (element, ty), "element", generics, depth, &mut inside);
            let list = path.trim_start_matches("self.0.");
            found.missing.append(&mut inside.missing);
            found.private = found.private.take().or(inside.private.map(|_| list.to_owned()));
            for part in inside.all {
                let name = format!("{list}[]{}", part.name.trim_start_matches("element"));
                // It is a reference to the element already.
                let code = if part.code == "&element" { "element".to_owned() } else { part.code };
                found.all.push(Part { name, code, list: Some(path.clone()), ..part });
            }
        }
    }

    /// Whether a module is another one or inside of that.
    pub(crate) fn is_inside(&self, module: usize, of: usize) -> bool {
        let (module, of) = (&self.modules[module], &self.modules[of]);
        let is_below =
            of.path.is_empty() || module.path == of.path || module.path.starts_with(&format!("{}::", of.path));
        module.root == of.root && is_below
    }

    /// The collections in a field, or in an element of a list, to which `path` leads.
    fn part(
        &self,
        scope: Scope,
        (field, written): (&Ty, &Type),
        path: &str,
        generics: &Generics,
        depth: usize,
        found: &mut Parts,
    ) {
        let inner = peeled(field);
        let (library, kind) = match inner {
            Ty::Collection(collection) => (&*collection.library, &*collection.kind),
            Ty::Lock(kind, _) => ("", &**kind),
            Ty::Struct(number) => ("", &*self.structs[*number].name),
            _ => return,
        };
        let Some(pointers) = self.pointers(scope, written, kind) else { return };
        let mut foreign = foreign::of(library, kind);
        if !matches!(inner, Ty::Struct(_)) && package_of(library, kind).is_none() {
            match self.library_of(scope, written).as_deref() {
                Some("std") => {}
                Some("parking_lot") if foreign::parking_lot(kind).is_some() => foreign = foreign::parking_lot(kind),
                _ => return,
            }
        }
        match inner {
            Ty::Struct(_) if depth > 0 => self.parts(inner, path, generics, depth - 1, found),
            Ty::Struct(_) => {}
            inner => {
                let data = match self.acted_on(scope, inner, written, generics) {
                    Ok(data) => data,
                    Err(missing) => return found.missing.extend(missing),
                };
                let name = path.trim_start_matches("self.0.").to_owned();
                // An element is a reference, which is one pointer more.
                let behind = if path == "element" && pointers > 0 { pointers + 1 } else { pointers };
                found.all.push(Part {
                    name,
                    code: format!("&{}{path}", "*".repeat(behind)),
                    list: None,
                    foreign,
                    data,
                });
            }
        }
    }

    /// The crate of a lock or an atomic, perhaps behind pointers: several have some of the same names.
    fn library_of(&self, scope: Scope, written: &Type) -> Option<String> {
        let Type::Path(path) = written else { return None };
        let names = crate::names::segments(&path.path);
        let behind = POINTERS.contains(&names.last().map_or("", String::as_str))
            || names.last().is_some_and(|name| name == "CachePadded");
        if behind {
            return self.library_of(scope, arguments_of(path).next()?);
        }
        match self.resolve(scope.module, &names, Want::Type)? {
            Target::Alias(module, ty) => self.library_of(Scope { module, own: None }, ty),
            Target::External(names) if names.len() == 1 => Some("std".to_owned()),
            Target::External(names) => match names[0].as_str() {
                "core" | "interloper" => Some("std".to_owned()),
                other => Some(other.to_owned()),
            },
            _ => None,
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
}
