//! The methods of a type, which are run two at once: code that makes them pairs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use syn::spanned::Spanned;
use syn::{GenericArgument, PathArguments, Type};

use crate::arguments::with_others;
use crate::data::Declared;
use crate::files;
use crate::generics::{Generics, generics};
use crate::index::{Function, Index};
use crate::names::{Scope, Target, Want, segments};
use crate::operation::Place;
use crate::recipe::{is_argument, is_known};
use crate::subject::{Subject, package_of, passed_as};
use crate::types::Ty;
use crate::values::{Made, Root};

/// Structs are looked into so deep for fields that keep something.
const DEPTH: usize = 4;

/// A type whose methods are run two at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Together {
    /// The package.
    pub package: String,
    /// The path of the type in its crate.
    pub name: String,
    /// Where it is.
    pub place: Place,
    /// The crate, as `use` says it.
    pub krate: String,
    /// The first file of the crate.
    pub root: PathBuf,
    /// The file at whose end the code belongs.
    pub file: PathBuf,
    /// The path of the module of that file in its crate.
    pub module: String,
    /// The type that the code needs, once in a module: its name, and how its collections are found.
    pub subject: (String, String),
    /// An expression of type `interloper::Pairs`, without calls.
    pub make: String,
    /// The methods, each with the calls that it adds to the expression, and whether it is a composed operation.
    pub methods: Vec<Called>,
    /// The invariants, each with what it adds to the expression.
    pub invariants: Vec<(String, String)>,
    /// The packages of its collections.
    pub packages: BTreeSet<&'static str>,
    /// How values of types of the crate are made.
    pub data: Vec<Declared>,
    /// The methods that are not run, each with the reason.
    pub left_out: Vec<(String, String)>,
    /// The fields that are not compared: what they keep cannot be read.
    pub unread: Vec<String>,
}

/// A method with its calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Called {
    /// Its name in its type.
    pub name: String,
    /// The path of the operation, if it is one.
    pub operation: Option<String>,
    /// `.call(…)` for each call.
    pub calls: Vec<String>,
}

impl Together {
    /// Whether nothing is left to be run.
    pub fn is_empty(&self) -> bool {
        self.methods.iter().all(|method| method.operation.is_none())
    }
}

impl Index<'_> {
    /// The types of these operations, which are methods.
    pub(crate) fn together(&self, methods: &[usize]) -> Vec<Together> {
        let mut types: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for &method in methods {
            if let Some(own) = self.functions[method].own {
                types.entry(own).or_default().push(method);
            }
        }
        let mut all: Vec<Together> =
            types.into_iter().filter_map(|(own, operations)| self.together_of(own, &operations)).collect();
        all.sort_by(|one, other| (&one.package, &one.place).cmp(&(&other.package, &other.place)));
        // A file that belongs to several crates is read for each of them.
        all.dedup_by(|one, other| one.package == other.package && one.place == other.place);
        all
    }

    fn together_of(&self, own: usize, operations: &[usize]) -> Option<Together> {
        let (first, subject) = operations.iter().find_map(|&number| {
            let function = &self.functions[number];
            Some((number, self.subject(number, "self", &generics(function), None).ok()?))
        })?;
        let module = &self.modules[self.functions[first].module];
        let definition = &self.structs[own];
        let place = definition.definition.span().start();
        let [apart, hides] = self.unread(own, &subject.parts);
        let path = &self.modules[definition.module].path;
        let name = if path.is_empty() { definition.name.clone() } else { format!("{path}::{}", definition.name) };
        let mut make = format!("interloper::Pairs::new({name:?}, || {})", subject.make);
        if !hides.is_empty() {
            make.push_str(".hides_state()");
        }
        let mut all = Together {
            package: self.packages[module.package].name.clone(),
            name,
            place: files::place(&self.modules[definition.module].file, place.line, place.column + 1),
            krate: self.crate_of(self.functions[first].module),
            root: module.first.to_owned(),
            file: module.whole?.to_owned(),
            module: module.path.clone(),
            subject: subject.item.clone()?,
            make,
            methods: Vec::new(),
            invariants: Vec::new(),
            packages: subject.packages.clone(),
            data: self.declared_types(&subject.data),
            left_out: Vec::new(),
            unread: apart.into_iter().chain(hides).collect(),
        };
        let mut names = BTreeSet::new();
        for (number, function) in self.functions.iter().enumerate().filter(|(_, function)| function.own == Some(own)) {
            let name = function.signature.ident.to_string();
            let touches = self.summary(number).made.iter().any(|made| made.counts && made.placed.root != Root::Fresh);
            let is_shared = function.signature.receiver().is_some_and(|own| passed_as(own).is_ok());
            if function.invariant {
                match self.invariant(function, first, &subject) {
                    Ok(code) => all.invariants.push((name, code)),
                    Err(reason) => all.left_out.push((name, reason)),
                }
            } else if touches && is_shared && names.insert(name.clone()) {
                match self.calls_of(number, first, &subject, &all.unread) {
                    Ok(calls) => {
                        let made = &self.summary(number).made;
                        all.packages.extend(made.iter().filter_map(|made| package_of(&made.library, &made.kind)));
                        let operation = operations.contains(&number).then(|| function.name.clone());
                        all.methods.push(Called { name, operation, calls });
                    }
                    Err(reason) => all.left_out.push((name, reason)),
                }
            }
        }
        (!all.is_empty()).then_some(all)
    }

    /// Whether code beside one method can name another.
    fn is_in_reach(&self, function: &Function<'_>, first: usize) -> bool {
        let here = &self.modules[self.functions[first].module];
        let there = &self.modules[function.module];
        let above =
            there.path.is_empty() || here.path == there.path || here.path.starts_with(&format!("{}::", there.path));
        here.root == there.root && above
    }

    fn invariant(&self, function: &Function<'_>, first: usize, subject: &Subject) -> Result<String, String> {
        let signature = function.signature;
        let is_bool = matches!(&signature.output, syn::ReturnType::Type(_, ty)
            if matches!(&**ty, Type::Path(path) if path.path.is_ident("bool")));
        let is_shared = signature.receiver().is_some_and(|own| own.reference.is_some() && own.mutability.is_none());
        if !is_bool || !is_shared || signature.inputs.len() != 1 {
            return Err("an invariant is a function `&self -> bool`".to_owned());
        }
        if !self.is_in_reach(function, first) {
            return Err("the code of the pairs stands in another module".to_owned());
        }
        let body = self.called(
            function,
            &[(0, passed_as(signature.receiver().expect("looked at"))?)].into(),
            &BTreeMap::new(),
        );
        Ok(format!(".invariant({:?}, |subject: &{}| {body})", signature.ident.to_string(), subject.ty))
    }

    /// The calls of a method, with a few arguments each.
    fn calls_of(
        &self,
        number: usize,
        first: usize,
        subject: &Subject,
        unread: &[String],
    ) -> Result<Vec<String>, String> {
        let (function, summary) = (&self.functions[number], self.summary(number));
        if let Some(reason) = summary.refusals.first() {
            return Err(reason.clone());
        }
        if function.signature.unsafety.is_some() {
            return Err("it is unsafe".to_owned());
        }
        if self.acts_when_dropped(function) {
            return Err("dropping what it returns acts on the collections: a call of its own".to_owned());
        }
        if !self.is_in_reach(function, first) {
            return Err("the code of the pairs stands in another module".to_owned());
        }
        if let Some(other) = summary.made.iter().find(|made| !is_known(made)) {
            return Err(format!("it needs {} to be run as it was published", other.kind));
        }
        // Also a lock around something that is no collection: it may keep something.
        let is_unread = |made: &Made| {
            let inside = |field: &str| {
                made.placed.path[1..]
                    .strip_prefix(field)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
            };
            let mut fields = unread.iter().filter_map(|field| Some(field.split_once('.')?.1));
            made.placed.path.starts_with('.') && fields.any(inside)
        };
        let is_other = |made: &&Made| !is_argument(made) || !subject.has(made) || is_unread(made);
        if let Some(other) = summary.made.iter().find(is_other) {
            return Err(format!("it uses `{}`, which cannot be compared", other.placed.path.trim_start_matches('.')));
        }
        let receiver = function.signature.receiver().ok_or("it has no `&self`")?;
        let passed = [(0, passed_as(receiver)?)].into();
        let arguments = self.arguments(function, &passed, &generics(function))?;
        let name = function.signature.ident.to_string();
        let calls = self.calls(function, &passed, with_others(&arguments)).into_iter();
        Ok(calls
            .map(|(shown, body)| format!(".call({name:?}, {shown:?}, |subject: &{}| {body})", subject.ty))
            .collect())
    }

    /// The fields that are not compared, in two lists: those with collections that are no parts, whose methods are left out, and those
    /// that may keep something that nobody sees.
    fn unread(&self, number: usize, parts: &[String]) -> [Vec<String>; 2] {
        let mut all = [Vec::new(), Vec::new()];
        self.add_unread(number, &format!("{}.", self.structs[number].name), "", parts, &mut all);
        all
    }

    fn add_unread(&self, number: usize, name: &str, path: &str, parts: &[String], all: &mut [Vec<String>; 2]) {
        let one = &self.structs[number];
        let syn::Item::Struct(item) = one.definition else { return };
        let (scope, generics) = (Scope { module: one.module, own: Some(number) }, self.parameters_of(number));
        for ((field, ty), written) in one.fields.borrow().iter().zip(&item.fields) {
            let inner = format!("{path}{field}");
            let (inside, list) = (format!("{inner}."), format!("{inner}["));
            let target = match ty {
                Ty::Shared(inner) => &**inner,
                ty => ty,
            };
            match target {
                _ if parts.iter().any(|part| *part == inner || part.starts_with(&list)) => {}
                // A part is a part of something smaller.
                Ty::Struct(number) if parts.iter().any(|part| part.starts_with(&inside)) => {
                    self.add_unread(*number, name, &inside, parts, all);
                }
                _ if self.has_collections(ty) => all[0].push(format!("{name}{inner}")),
                _ if self.is_fixed(scope, &written.ty, &generics, DEPTH) => {}
                _ => all[1].push(format!("{name}{inner}")),
            }
        }
    }

    fn parameters_of(&self, number: usize) -> Generics {
        let parameters = match self.structs[number].definition {
            syn::Item::Struct(item) => &item.generics,
            syn::Item::Enum(item) => &item.generics,
            _ => return Generics::new(),
        };
        parameters.type_params().map(|parameter| (parameter.ident.to_string(), None)).collect()
    }

    /// Whether nothing behind `&` of the type can change.
    fn is_fixed(&self, scope: Scope, ty: &Type, generics: &Generics, depth: usize) -> bool {
        const SIMPLE: [&str; 24] = [
            "u8",
            "u16",
            "u32",
            "u64",
            "u128",
            "usize",
            "i8",
            "i16",
            "i32",
            "i64",
            "i128",
            "isize",
            "f32",
            "f64",
            "bool",
            "char",
            "str",
            "String",
            "Duration",
            "Instant",
            "PhantomData",
            "PathBuf",
            "NonZeroUsize",
            "RandomState",
        ];
        const AROUND: [&str; 12] = [
            "Option", "Vec", "Box", "Arc", "Rc", "HashMap", "HashSet", "BTreeMap", "BTreeSet", "VecDeque", "Result",
            "Cow",
        ];
        let Some(depth) = depth.checked_sub(1) else { return false };
        let all = |fields: &syn::Fields, scope: Scope, generics: &Generics| {
            fields.iter().all(|field| self.is_fixed(scope, &field.ty, generics, depth))
        };
        match ty {
            Type::Reference(reference) => self.is_fixed(scope, &reference.elem, generics, depth + 1),
            Type::Paren(inner) => self.is_fixed(scope, &inner.elem, generics, depth + 1),
            Type::Group(inner) => self.is_fixed(scope, &inner.elem, generics, depth + 1),
            Type::Array(array) => self.is_fixed(scope, &array.elem, generics, depth),
            Type::Slice(slice) => self.is_fixed(scope, &slice.elem, generics, depth),
            Type::Tuple(tuple) => tuple.elems.iter().all(|inner| self.is_fixed(scope, inner, generics, depth)),
            Type::BareFn(_) | Type::Never(_) => true,
            Type::Path(path) => {
                let names = segments(&path.path);
                match self.resolve(scope.module, &names, Want::Type) {
                    Some(Target::Alias(module, ty)) => self.is_fixed(Scope { module, own: None }, ty, generics, depth),
                    Some(Target::Struct(number)) => {
                        let scope = Scope { module: self.structs[number].module, own: Some(number) };
                        let generics = self.parameters_of(number);
                        match self.structs[number].definition {
                            syn::Item::Struct(item) => all(&item.fields, scope, &generics),
                            syn::Item::Enum(item) => item.variants.iter().all(|one| all(&one.fields, scope, &generics)),
                            _ => false,
                        }
                    }
                    _ => {
                        let name = names.last().map(String::as_str).unwrap_or_default();
                        let inner = |argument: &&GenericArgument| match argument {
                            GenericArgument::Type(inner) => self.is_fixed(scope, inner, generics, depth),
                            _ => true,
                        };
                        let is_parameter = names.len() == 1 && generics.get(name).is_some_and(Option::is_none);
                        SIMPLE.contains(&name)
                            || is_parameter
                            || AROUND.contains(&name) && arguments(path).all(|one| inner(&one))
                    }
                }
            }
            _ => false,
        }
    }
}

fn arguments(path: &syn::TypePath) -> impl Iterator<Item = &GenericArgument> {
    let given = match path.path.segments.last().map(|last| &last.arguments) {
        Some(PathArguments::AngleBracketed(given)) => Some(given.args.iter()),
        _ => None,
    };
    given.into_iter().flatten()
}
