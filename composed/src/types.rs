//! Types, as far as they matter: where concurrent collections are in them.

use std::rc::Rc;

use syn::{GenericArgument, PathArguments, ReturnType, Type};

use crate::collections::{self, Family};
use crate::index::Index;
use crate::names::{Scope, Target, Want, segments};

/// A type.
#[derive(Clone, Debug)]
pub(crate) enum Ty {
    /// Anything else.
    Opaque,
    /// A concurrent collection.
    Collection(Rc<Collection>),
    /// A lock, and what is in it.
    Lock(Rc<str>, Rc<Ty>),
    /// A cell that is set once, around something that has collections.
    Lazy(Rc<Ty>),
    /// A reference or a pointer that others may have too.
    Shared(Rc<Ty>),
    /// A collection of std or the like, and its elements.
    Many(Rc<Ty>),
    /// A struct or an enum of the workspace, by its number.
    Struct(usize),
    /// A tuple.
    Tuple(Rc<[Ty]>),
}

/// A concurrent collection.
#[derive(Debug)]
pub(crate) struct Collection {
    /// The crate it comes from, or the first part of a path of its name.
    pub(crate) library: Rc<str>,
    pub(crate) kind: Rc<str>,
    pub(crate) family: Family,
    /// Clones of a handle share the collection.
    pub(crate) handle: bool,
    /// Its values.
    pub(crate) value: Ty,
}

impl Ty {
    pub(crate) fn is_opaque(&self) -> bool {
        matches!(self, Ty::Opaque)
    }

    pub(crate) fn shared(self) -> Ty {
        match self {
            Ty::Opaque => Ty::Opaque,
            other => Ty::Shared(Rc::new(other)),
        }
    }

    /// The type of the elements, where it is a collection of std.
    pub(crate) fn element(&self) -> Ty {
        match self {
            Ty::Many(element) => (**element).clone(),
            _ => Ty::Opaque,
        }
    }
}

impl Index<'_> {
    /// The type that is written in a scope.
    pub(crate) fn ty(&self, scope: Scope, written: &Type) -> Ty {
        match written {
            Type::Reference(reference) if reference.mutability.is_some() => self.ty(scope, &reference.elem),
            Type::Reference(reference) => self.ty(scope, &reference.elem).shared(),
            Type::Ptr(pointer) => self.ty(scope, &pointer.elem).shared(),
            Type::Paren(inner) => self.ty(scope, &inner.elem),
            Type::Group(inner) => self.ty(scope, &inner.elem),
            Type::Array(array) => many(self.ty(scope, &array.elem)),
            Type::Slice(slice) => many(self.ty(scope, &slice.elem)),
            Type::Tuple(tuple) if !tuple.elems.is_empty() => {
                Ty::Tuple(tuple.elems.iter().map(|element| self.ty(scope, element)).collect())
            }
            Type::Path(path) if path.qself.is_none() => self.path_type(scope, &path.path),
            Type::ImplTrait(bounds) => self.bound(scope, &bounds.bounds),
            Type::TraitObject(bounds) => self.bound(scope, &bounds.bounds),
            _ => Ty::Opaque,
        }
    }

    /// `impl Deref<Target = T>`, `impl AsRef<T>`, `impl Borrow<T>`.
    fn bound<'t>(&self, scope: Scope, bounds: impl IntoIterator<Item = &'t syn::TypeParamBound>) -> Ty {
        let of_bound = |bound: &syn::TypeParamBound| {
            let syn::TypeParamBound::Trait(bound) = bound else { return None };
            let last = bound.path.segments.last()?;
            let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
            arguments.args.iter().find_map(|argument| match argument {
                GenericArgument::AssocType(assigned) if assigned.ident == "Target" => {
                    Some(self.ty(scope, &assigned.ty))
                }
                GenericArgument::Type(written) if last.ident == "AsRef" || last.ident == "Borrow" => {
                    Some(self.ty(scope, written))
                }
                _ => None,
            })
        };
        bounds.into_iter().find_map(of_bound).map_or(Ty::Opaque, Ty::shared)
    }

    /// The type that a function returns.
    pub(crate) fn returned(&self, scope: Scope, output: &ReturnType) -> Ty {
        match output {
            ReturnType::Default => Ty::Opaque,
            ReturnType::Type(_, written) => self.ty(scope, written),
        }
    }

    /// The type that a path names, in the namespace of types.
    pub(crate) fn path_type(&self, scope: Scope, path: &syn::Path) -> Ty {
        let names = segments(path);
        if names == ["Self"] {
            return scope.own.map_or(Ty::Opaque, Ty::Struct);
        }
        let arguments = || {
            let Some(last) = path.segments.last() else { return Vec::new() };
            let PathArguments::AngleBracketed(given) = &last.arguments else { return Vec::new() };
            let types = given.args.iter().filter_map(|argument| match argument {
                GenericArgument::Type(written) => Some(self.ty(scope, written)),
                _ => None,
            });
            types.collect()
        };
        match self.resolve(scope.module, &names, Want::Type) {
            Some(Target::Struct(number)) if self.declared(&names).is_none() => Ty::Struct(number),
            Some(Target::Alias(module, written)) => self.ty(Scope { module, own: None }, written),
            Some(Target::External(names)) => self.external(&names, arguments),
            Some(Target::Module(_) | Target::Static(_) | Target::Function(_)) => Ty::Opaque,
            // What a macro or another crate defines is known by its name alone.
            Some(Target::Struct(_)) | None => self.external(&names, arguments),
        }
    }

    /// A type of another crate.
    fn external(&self, names: &[String], arguments: impl Fn() -> Vec<Ty>) -> Ty {
        let name = names.last().map(String::as_str).unwrap_or_default();
        let first = || arguments().into_iter().next().unwrap_or(Ty::Opaque);
        let last = || arguments().into_iter().last().unwrap_or(Ty::Opaque);
        let family = self.declared(names).or_else(|| collections::known(names));
        if family == Some(Family::Once) {
            let inner = first();
            if self.has_collections(&inner) {
                return Ty::Lazy(Rc::new(inner));
            }
        }
        if let Some(family) = family.filter(|family| *family != Family::Lock) {
            let values = arguments();
            // Keys come first, and a hasher may come last.
            let value = values.get(1).or(values.first()).cloned().unwrap_or(Ty::Opaque);
            let handle = collections::is_handle(names);
            let library = names.first().filter(|_| names.len() > 1).map(String::as_str).unwrap_or_default().into();
            return Ty::Collection(Rc::new(Collection { library, kind: name.into(), family, handle, value }));
        }
        if family == Some(Family::Lock) || collections::is_lock(names) {
            return Ty::Lock(name.into(), Rc::new(last()));
        }
        if collections::is_plain(name) {
            return many(last());
        }
        match name {
            "Arc" | "Rc" | "Weak" | "Data" | "State" | "Extension" => first().shared(),
            "LazyLock" | "Lazy" | "OnceLock" | "OnceCell" => match first() {
                Ty::Opaque => Ty::Opaque,
                inner => Ty::Lazy(Rc::new(inner)),
            },
            "Box" | "Option" | "Pin" | "ManuallyDrop" | "CachePadded" | "Result" | "Cow" | "Aligned" => first(),
            _ => Ty::Opaque,
        }
    }

    /// Whether there is a concurrent collection, or a lock, in a value of the type.
    pub(crate) fn has_collections(&self, ty: &Ty) -> bool {
        self.looks_for(ty, 4, &|ty| matches!(ty, Ty::Collection(_) | Ty::Lock(..)))
    }

    /// Whether a lock around the type is one around a collection.
    pub(crate) fn is_locked_collection(&self, inner: &Ty) -> bool {
        self.looks_for(inner, 3, &|ty| matches!(ty, Ty::Many(_) | Ty::Collection(_)))
    }

    /// Whether two values of the type may have the same collection: there is a pointer in it, or a handle whose clones share one.
    pub(crate) fn shares(&self, ty: &Ty) -> bool {
        self.looks_for(ty, 3, &|ty| match ty {
            Ty::Shared(_) => true,
            Ty::Collection(collection) => collection.handle,
            _ => false,
        })
    }

    fn looks_for(&self, ty: &Ty, depth: usize, wanted: &dyn Fn(&Ty) -> bool) -> bool {
        if wanted(ty) {
            return true;
        }
        let below = |ty: &Ty| depth > 0 && self.looks_for(ty, depth - 1, wanted);
        match ty {
            Ty::Opaque | Ty::Collection(_) => false,
            Ty::Lock(_, inner) | Ty::Lazy(inner) | Ty::Shared(inner) | Ty::Many(inner) => below(inner),
            Ty::Struct(number) => self.structs[*number].fields.borrow().iter().any(|(_, field)| below(field)),
            Ty::Tuple(elements) => elements.iter().any(below),
        }
    }
}

fn many(element: Ty) -> Ty {
    Ty::Many(Rc::new(element))
}
