//! What functions return: dropping some of it acts on collections, as dropping the lease of a pool gives its connection back.
//!
//! A caller keeps such a value for a while, so dropping it is a call of its own. A search drops each result at once, and would judge
//! two calls as one.

use syn::{Fields, GenericArgument, Item, PathArguments, ReturnType, Type};

use crate::index::{Function, Index};
use crate::names::{Scope, Target, Want, segments};

/// Types are looked into so deep.
const DEPTH: usize = 4;
/// Another owner may be left when one of these is dropped.
const SHARED: [&str; 3] = ["Arc", "Rc", "Weak"];

impl Index<'_> {
    /// Whether dropping what the function returns acts on collections.
    pub(crate) fn acts_when_dropped(&self, function: &Function<'_>) -> bool {
        let scope = Scope { module: function.module, own: function.own };
        match &function.signature.output {
            ReturnType::Default => false,
            ReturnType::Type(_, ty) => self.acts(scope, ty, DEPTH),
        }
    }

    fn acts(&self, scope: Scope, ty: &Type, depth: usize) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        match ty {
            Type::Paren(inner) => self.acts(scope, &inner.elem, depth + 1),
            Type::Group(inner) => self.acts(scope, &inner.elem, depth + 1),
            Type::Array(array) => self.acts(scope, &array.elem, depth),
            Type::Tuple(tuple) => tuple.elems.iter().any(|inner| self.acts(scope, inner, depth)),
            Type::Path(path) => {
                let names = segments(&path.path);
                match self.resolve(scope.module, &names, Want::Type) {
                    Some(Target::Alias(module, ty)) => self.acts(Scope { module, own: None }, ty, depth),
                    Some(Target::Struct(number)) => self.struct_acts(number, depth),
                    _ if names == ["Self"] => scope.own.is_some_and(|own| self.struct_acts(own, depth)),
                    _ if names.last().is_some_and(|name| SHARED.contains(&name.as_str())) => false,
                    _ => path.path.segments.iter().any(|segment| match &segment.arguments {
                        PathArguments::AngleBracketed(given) => given.args.iter().any(
                            |argument| matches!(argument, GenericArgument::Type(inner) if self.acts(scope, inner, depth)),
                        ),
                        _ => false,
                    }),
                }
            }
            _ => false,
        }
    }

    fn struct_acts(&self, number: usize, depth: usize) -> bool {
        let one = &self.structs[number];
        let is_drop =
            |function: &Function<'_>| function.own == Some(number) && function.of_trait.as_deref() == Some("Drop");
        let mut drops = (0..self.functions.len()).filter(|drop| is_drop(&self.functions[*drop]));
        let scope = Scope { module: one.module, own: Some(number) };
        let fields = |fields: &Fields| fields.iter().any(|field| self.acts(scope, &field.ty, depth));
        drops.any(|drop| self.summary(drop).made.iter().any(|made| made.counts))
            || match one.definition {
                Item::Struct(item) => fields(&item.fields),
                Item::Enum(item) => item.variants.iter().any(|one| fields(&one.fields)),
                _ => false,
            }
    }
}
