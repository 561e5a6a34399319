//! Patterns bind names to parts of values.

use syn::{Member, Pat};

use crate::body::Body;
use crate::types::Ty;
use crate::values::Val;

impl Body<'_, '_> {
    /// Binds the names of a pattern.
    pub(crate) fn bind(&mut self, pattern: &Pat, val: Val) {
        match pattern {
            Pat::Ident(name) => {
                if let Some((_, inner)) = &name.subpat {
                    self.bind(inner, val.clone());
                }
                self.bind_name(&name.ident.to_string(), val);
            }
            Pat::Type(typed) => self.bind(&typed.pat, val),
            Pat::Reference(reference) => self.bind(&reference.pat, val),
            Pat::Paren(inner) => self.bind(&inner.pat, val),
            Pat::Or(or) => or.cases.iter().for_each(|case| self.bind(case, val.clone())),
            Pat::Tuple(tuple) => {
                let val = val.peeled();
                for (at, pattern) in tuple.elems.iter().enumerate() {
                    let part = match &val.ty {
                        Ty::Tuple(types) => types.get(at).map(|ty| val.part(ty.clone(), &format!(".{at}"))),
                        // An entry of a collection: its value is the last part.
                        ty if at + 1 == tuple.elems.len() && !ty.is_opaque() => Some(val.clone()),
                        _ => None,
                    };
                    self.bind(pattern, part.unwrap_or_else(Val::nothing));
                }
            }
            Pat::TupleStruct(inner) => {
                let name = inner.path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default();
                let parts = self.parts(&name, &val);
                for (at, pattern) in inner.elems.iter().enumerate() {
                    let part = parts.as_ref().map(|parts| parts.get(at).map(|(_, part)| part.clone()));
                    // `Some(map)`, `Ok(guard)`: what is in it.
                    let part = part.unwrap_or_else(|| (inner.elems.len() == 1).then(|| val.clone()));
                    self.bind(pattern, part.unwrap_or_else(Val::nothing));
                }
            }
            Pat::Struct(inner) => {
                let name = inner.path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default();
                let parts = self.parts(&name, &val).unwrap_or_default();
                for field in &inner.fields {
                    let name = match &field.member {
                        Member::Named(name) => name.to_string(),
                        Member::Unnamed(index) => index.index.to_string(),
                    };
                    let part = parts.iter().find(|(own, _)| *own == name).map(|(_, part)| part.clone());
                    self.bind(&field.pat, part.unwrap_or_else(Val::nothing));
                }
            }
            Pat::Slice(slice) => {
                let element = val.part(val.ty.element(), "[]");
                slice.elems.iter().for_each(|pattern| self.bind(pattern, element.clone()));
            }
            _ => {}
        }
    }

    /// The parts of a struct, or of a variant of an enum; `None` if it is neither.
    fn parts(&self, name: &str, val: &Val) -> Option<Vec<(String, Val)>> {
        let val = val.clone().peeled();
        let Ty::Struct(number) = val.ty else { return None };
        let one = &self.index.structs[number];
        let variants = one.variants.borrow();
        let is_own = name == one.name || name == "Self";
        let fields = match variants.get(name) {
            Some(fields) => fields.clone(),
            None if is_own => one.fields.borrow().clone(),
            None => return None,
        };
        let part = |(field, ty): (String, Ty)| {
            let part = val.part(ty, &format!(".{field}"));
            (field, part)
        };
        Some(fields.into_iter().map(part).collect())
    }
}
