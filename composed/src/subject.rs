//! What an operation is run on, and what of it the environment acts on.

use std::collections::BTreeMap;
use std::fmt::Write;

use quote::ToTokens;
use syn::{FnArg, GenericArgument, GenericParam, PathArguments, Type};

use crate::arguments::{Generics, NUMBER, generics, with_numbers};
use crate::index::Index;
use crate::names::{Scope, Target, Want};
use crate::recipe::{Holes, hole, parameter_name};
use crate::types::Ty;
use crate::values::{Made, Root};

/// The collections that the driver knows as they were published, with the packages that they are in. Locks and atomics of std
/// are in none.
const KNOWN: [(&str, &str); 4] = [
    ("ArrayQueue", "crossbeam-queue"),
    ("DashMap", "dashmap"),
    ("SegQueue", "crossbeam-queue"),
    ("SkipMap", "crossbeam-skiplist"),
];
/// What a collection is to the driver.
const INSTRUMENTED: &str = "interloper::collections::session::Instrumented";
/// Structs are looked into so deep for collections.
const DEPTH: usize = 3;
/// The environment acts on so many collections of a type at most.
const MOST: usize = 12;
/// Pointers to what is shared.
const POINTERS: [&str; 3] = ["Arc", "Rc", "Box"];
/// The value of the type, behind a pointer.
pub(crate) const OWNED: &str = "subject.0";

/// What the method is run on.
pub(crate) struct Subject {
    pub(crate) ty: String,
    pub(crate) make: String,
    pub(crate) item: Option<(String, String)>,
    /// How it is passed for each parameter that it stands for.
    pub(crate) passed: BTreeMap<usize, String>,
    /// The names of its collections, where they are several arguments.
    pub(crate) names: Vec<String>,
    /// The paths of the collections that the environment acts on.
    pub(crate) parts: Vec<String>,
    /// Something with collections or locks that the environment does not act on.
    pub(crate) apart: Option<String>,
}

impl Subject {
    /// Whether the environment acts on the collection that is called.
    pub(crate) fn has(&self, made: &Made) -> bool {
        let is_own = |part: &String| match &made.placed.root {
            Root::Parameter(_, name) if &**name != "self" && made.placed.path.is_empty() => **part == **name,
            Root::Static(name) => **part == **name,
            _ => format!(".{part}") == made.placed.path,
        };
        !made.counts || made.placed.root == Root::Fresh || self.parts.iter().any(is_own)
    }
}

/// A collection in a value.
struct Part {
    /// Its path: `inner.map`.
    name: String,
    code: String,
}

impl Part {
    fn is(&self, made: &Made) -> bool {
        made.placed.path.strip_prefix('.') == Some(&*self.name)
    }
}

/// What a constructor gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Given {
    Itself,
    /// An `Arc` of it.
    Pointer,
    /// An `Option` or a `Result`.
    Perhaps,
}

/// Whether the driver runs a collection of this name.
pub(crate) fn is_run(kind: &str) -> bool {
    package_of(kind).is_some() || is_atomic(kind) || matches!(kind, "Mutex" | "RwLock")
}

/// Atomic numbers, and `AtomicBool`.
fn is_atomic(kind: &str) -> bool {
    const WIDTHS: [&str; 5] = ["8", "16", "32", "64", "size"];
    let number = kind.strip_prefix("Atomic").and_then(|rest| rest.strip_prefix(['U', 'I']));
    kind == "AtomicBool" || number.is_some_and(|width| WIDTHS.contains(&width))
}

/// The package of a collection that the driver knows.
pub(crate) fn package_of(kind: &str) -> Option<&'static str> {
    KNOWN.iter().find(|(name, _)| *name == kind).map(|(_, package)| *package)
}

/// A new collection of this type. One with a capacity has room for two.
fn made_of(ty: &str) -> String {
    if ty.contains("ArrayQueue") { format!("<{ty}>::new(2)") } else { format!("<{ty}>::default()") }
}

fn is_reference(ty: &Type) -> bool {
    matches!(ty, Type::Reference(_))
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
    /// What the operation is run on: the type of `self`, or the collections among its arguments.
    pub(crate) fn subject(
        &self,
        number: usize,
        owner: &str,
        generics: &Generics,
        holes: Holes<'_>,
    ) -> Result<Subject, String> {
        let function = &self.functions[number];
        let scope = Scope { module: function.module, own: function.own };
        if let Some(of_static) = self.of_static(number, owner) {
            return of_static;
        }
        if let Some(receiver) = function.signature.receiver() {
            let Some(own) = function.own else { return Err("needs a type that implements the trait".to_owned()) };
            if owner != "self" {
                return Err("needs its collections in one place".to_owned());
            }
            if receiver.mutability.is_some() {
                return Err("needs `&self`".to_owned());
            }
            let by_pointer = receiver.colon_token.is_some();
            if receiver.reference.is_none() && !by_pointer {
                return Err("needs `&self`".to_owned());
            }
            if by_pointer && !receiver.ty.to_token_stream().to_string().contains("Arc") {
                return Err("needs `&self`".to_owned());
            }
            let passed = if by_pointer && receiver.reference.is_none() && !is_reference(&receiver.ty) {
                format!("std::sync::Arc::clone(&{OWNED})")
            } else {
                OWNED.to_owned()
            };
            return self.of_struct(number, own, (0, passed), holes);
        }
        let mut collections = Vec::new();
        for (at, parameter) in function.signature.inputs.iter().enumerate() {
            let FnArg::Typed(typed) = parameter else { continue };
            match self.ty(scope, &typed.ty) {
                Ty::Shared(inner) => match &*inner {
                    Ty::Collection(_) | Ty::Lock(..) => collections.push((at, &*typed.ty)),
                    Ty::Struct(one) if self.has_collections(&inner) => {
                        return self.of_struct(number, *one, (at, format!("&{OWNED}")), holes);
                    }
                    _ => {}
                },
                ty @ (Ty::Collection(_) | Ty::Lock(..) | Ty::Tuple(_)) if self.has_collections(&ty) => {
                    return Err("needs its collections by reference".to_owned());
                }
                _ => {}
            }
        }
        let plain = |ty: &Type| match ty {
            Type::Reference(reference) if reference.mutability.is_none() => {
                Some(with_numbers(&reference.elem, generics))
            }
            _ => None,
        };
        let types: Option<Vec<String>> = collections.iter().map(|(_, ty)| plain(ty)).collect();
        let types = types.ok_or("needs its collections by reference")?;
        match &types[..] {
            [] => Err("needs its collection as an argument".to_owned()),
            [ty] => {
                let passed = [(collections[0].0, "subject".to_owned())].into();
                let make = made_of(ty);
                let parts = vec![parameter_name(function, collections[0].0)];
                Ok(Subject { ty: ty.clone(), make, item: None, passed, names: Vec::new(), parts, apart: None })
            }
            types => {
                let passed = collections.iter().enumerate().map(|(part, (at, _))| (*at, format!("&subject.{part}")));
                let ty = format!("({})", types.join(", "));
                let names: Vec<String> = collections.iter().map(|(at, _)| parameter_name(function, *at)).collect();
                let make = format!("({})", types.iter().map(|ty| made_of(ty)).collect::<Vec<_>>().join(", "));
                Ok(Subject { ty, make, item: None, passed: passed.collect(), parts: names.clone(), names, apart: None })
            }
        }
    }

    /// A static that is a collection. An execution begins with fresh statics.
    fn of_static(&self, number: usize, name: &str) -> Option<Result<Subject, String>> {
        let function = &self.functions[number];
        let made = self.summary(number).made.iter().find_map(|made| match &made.placed.root {
            Root::Static(own) if **own == *name => Some(made.placed.path.clone()),
            _ => None,
        })?;
        if function.signature.receiver().is_some() || !made.is_empty() {
            return Some(Err(format!("needs `{name}` to be a collection, in a function without `self`")));
        }
        let ty = format!("Static{name}");
        // A lazy one is made when it is first used.
        let is_lazy = self.statics.iter().any(|one| one.name == *name && one.is_lazy());
        let reach = if is_lazy { "&*" } else { "&" };
        let part = format!("(std::string::String::new(), {reach}{name} as &dyn {INSTRUMENTED})");
        let item = format!(
            "struct {ty};\n    impl interloper::Subject for {ty} {{\n        \
             fn parts(&self) -> std::vec::Vec<(std::string::String, &dyn {INSTRUMENTED})> {{\n            std::vec![{part}]\n        }}\n    }}"
        );
        let (make, item) = (ty.clone(), Some((ty.clone(), item)));
        let names = vec![name.to_owned()];
        Some(Ok(Subject { ty, make, item, passed: BTreeMap::new(), parts: names.clone(), names, apart: None }))
    }

    /// A value of a type, behind a pointer: methods may want one.
    fn of_struct(
        &self,
        operation: usize,
        number: usize,
        passed: (usize, String),
        holes: Holes<'_>,
    ) -> Result<Subject, String> {
        let (function, one) = (&self.functions[operation], &self.structs[number]);
        let inside = &self.modules[one.module];
        let here = &self.modules[function.module];
        let below = inside.path.is_empty() || here.path.starts_with(&format!("{}::", inside.path));
        if one.module != function.module && !(inside.root == here.root && below) {
            return Err(format!("needs the fields of {} from another module", one.name));
        }
        let owned = self.named(number);
        let generics = self.generics_of(number);
        let mut all = Vec::new();
        self.parts(&Ty::Struct(number), "self.0", &generics, DEPTH, &mut all);
        let whole = self.summary(operation);
        let touches = |part: &Part| whole.made.iter().any(|made| made.counts && part.is(made));
        let is_all = all.len() <= MOST;
        let parts: Vec<Part> = if is_all { all } else { all.into_iter().filter(touches).collect() };
        if parts.is_empty() {
            return Err(format!("needs a collection in {}, with values that the environment can make", one.name));
        }
        if parts.len() > MOST {
            return Err(format!("needs an environment for {} collections at once", parts.len()));
        }
        let ty = format!("Subject{}", function.signature.ident.span().start().line);
        let mut item =
            format!("struct {ty}(std::sync::Arc<{owned}>);\n    impl interloper::Subject for {ty} {{\n        ");
        let _ = write!(
            item,
            "fn parts(&self) -> std::vec::Vec<(std::string::String, &dyn {INSTRUMENTED})> {{\n            std::vec!["
        );
        for Part { name, code } in &parts {
            let _ = write!(item, "(std::string::String::from({name:?}), {code} as &dyn {INSTRUMENTED}), ");
        }
        item.push_str("]\n        }\n    }");
        let made = match self.made(number, &owned) {
            Err(reason) => format!("std::sync::Arc::new({})", hole(holes, reason)?),
            made => made?,
        };
        let make = format!("{ty}({made})");
        let names: Vec<String> = parts.into_iter().map(|part| part.name).collect();
        let apart = match is_all {
            true => self.apart(number, &names),
            false => Some(format!("all that {} has", one.name)),
        };
        let item = Some((ty.clone(), item));
        Ok(Subject { item, make, ty, passed: [passed].into(), names: Vec::new(), parts: names, apart })
    }

    /// A field with collections or locks that are no parts.
    fn apart(&self, number: usize, parts: &[String]) -> Option<String> {
        let one = &self.structs[number];
        let fields = one.fields.borrow();
        fields.iter().find_map(|(name, ty)| {
            let inside = format!("{name}.");
            let is_part = parts.iter().any(|part| part == name || part.starts_with(&inside));
            (!is_part && self.has_collections(ty)).then(|| format!("{}.{name}", one.name))
        })
    }

    /// The type with numbers for its parameters.
    pub(crate) fn named(&self, number: usize) -> String {
        let one = &self.structs[number];
        let parameters = match one.definition {
            syn::Item::Struct(item) => &item.generics.params,
            syn::Item::Enum(item) => &item.generics.params,
            _ => return one.name.clone(),
        };
        let given: Vec<String> = parameters
            .iter()
            .filter_map(|parameter| match parameter {
                GenericParam::Lifetime(_) => Some("'static".to_owned()),
                GenericParam::Type(ty) => ty.default.is_none().then(|| NUMBER.to_owned()),
                GenericParam::Const(_) => Some("2".to_owned()),
            })
            .collect();
        if given.is_empty() { one.name.clone() } else { format!("{}<{}>", one.name, given.join(", ")) }
    }

    /// An expression for a pointer to a value of the type.
    fn made(&self, number: usize, ty: &str) -> Result<String, String> {
        let one = &self.structs[number];
        if let Some(given) = self.options.constructors.get(&one.name) {
            return Ok(format!("std::sync::Arc::new({given})"));
        }
        if self.has_default(number) {
            return Ok(format!("std::sync::Arc::new(<{ty} as Default>::default())"));
        }
        let (new, given) = self.constructor(number).ok_or_else(|| format!("needs a constructor of {}", one.name))?;
        let function = &self.functions[new];
        let arguments = self.arguments(function, &BTreeMap::new(), &generics(function))?;
        let first =
            arguments.values().map(|one| one.pass.replace("{}", one.values.first().map_or("()", |value| value)));
        let call = format!("<{ty}>::{}({})", function.signature.ident, first.collect::<Vec<_>>().join(", "));
        Ok(match given {
            Given::Itself => format!("std::sync::Arc::new({call})"),
            Given::Pointer => call,
            Given::Perhaps => format!("std::sync::Arc::new({call}.unwrap())"),
        })
    }

    /// A function that makes a value of the type from simple arguments: `new`, or else the first such one by name.
    pub(crate) fn constructor(&self, number: usize) -> Option<(usize, Given)> {
        let own = self.methods.iter().filter(|((of, _), _)| *of == number);
        let mut all: Vec<(bool, &String, usize)> =
            own.map(|((_, name), function)| (name != "new", name, *function)).collect();
        all.sort();
        all.into_iter().find_map(|(_, _, function)| Some((function, self.gives(function, number)?)))
    }

    /// Whether `Default` makes a value of the type, the same each time.
    pub(crate) fn has_default(&self, number: usize) -> bool {
        let written = self.methods.get(&(number, "default".to_owned()));
        self.structs[number].default && written.is_none_or(|function| self.makes_the_same(*function))
    }

    /// Whether a function depends on its arguments alone. An `Instant` is no number: nothing depends on it while nothing waits.
    fn makes_the_same(&self, function: usize) -> bool {
        let is_instant = |reason: &String| reason.starts_with("it reads a clock") && reason.ends_with("Instant::now`");
        self.summary(function).refusals.iter().all(is_instant)
    }

    fn gives(&self, function: usize, number: usize) -> Option<Given> {
        let new = &self.functions[function];
        let scope = Scope { module: new.module, own: new.own };
        let syn::ReturnType::Type(_, output) = &new.signature.output else { return None };
        let signature = new.signature;
        if signature.receiver().is_some() || signature.asyncness.is_some() || signature.unsafety.is_some() {
            return None;
        }
        let written = output.to_token_stream().to_string().replace(' ', "");
        let given = match self.ty(scope, output) {
            Ty::Struct(given) if given == number => {
                let perhaps = written.starts_with("Option<") || written.contains("Result<");
                if perhaps { Given::Perhaps } else { Given::Itself }
            }
            Ty::Shared(inner)
                if matches!(*inner, Ty::Struct(given) if given == number) && written.starts_with("Arc<") =>
            {
                Given::Pointer
            }
            _ => return None,
        };
        // A copy of a value in hand is no new one.
        let all = generics(new);
        let simple =
            |input: &FnArg| matches!(input, FnArg::Typed(typed) if self.argument(scope, &typed.ty, &all).is_ok());
        let can_run = self.makes_the_same(function);
        (can_run && signature.inputs.iter().all(simple)).then_some(given)
    }

    /// The collections in a value that the driver knows, with the code that leads to each.
    fn parts(&self, ty: &Ty, code: &str, generics: &Generics, depth: usize, found: &mut Vec<Part>) {
        let Ty::Struct(number) = ty else { return };
        let one = &self.structs[*number];
        let syn::Item::Struct(item) = one.definition else { return };
        let scope = Scope { module: one.module, own: Some(*number) };
        for ((name, field), written) in one.fields.borrow().iter().zip(&item.fields) {
            let inner = match field {
                Ty::Shared(inner) => &**inner,
                inner => inner,
            };
            let kind = match inner {
                Ty::Collection(collection) => &*collection.kind,
                Ty::Lock(kind, _) => kind,
                Ty::Struct(number) => &self.structs[*number].name,
                _ => continue,
            };
            let Some(pointers) = self.pointers(scope, &written.ty, kind) else { continue };
            if !matches!(inner, Ty::Struct(_)) && package_of(kind).is_none() && !self.is_of_std(scope, &written.ty) {
                continue;
            }
            let path = format!("{code}.{name}");
            match inner {
                Ty::Struct(_) if depth > 0 => self.parts(inner, &path, generics, depth - 1, found),
                Ty::Struct(_) => {}
                inner if self.is_part(scope, inner, &written.ty, generics) => {
                    let name = path.trim_start_matches("self.0.").to_owned();
                    found.push(Part { name, code: format!("&{}{path}", "*".repeat(pointers)) });
                }
                _ => {}
            }
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
                is_run(&collection.kind)
                    && (is_atomic(&collection.kind) || self.has_plain_arguments(scope, written, generics))
            }
            Ty::Lock(kind, _) => {
                is_run(kind) && content(written).is_some_and(|inner| self.is_content(scope, inner, generics))
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

    /// The type parameters of a type, all of which stand for numbers.
    fn generics_of(&self, number: usize) -> Generics {
        let parameters = match self.structs[number].definition {
            syn::Item::Struct(item) => &item.generics,
            syn::Item::Enum(item) => &item.generics,
            _ => return Generics::new(),
        };
        parameters.type_params().map(|parameter| (parameter.ident.to_string(), None)).collect()
    }
}
