//! How an operation is run: code that makes it a method under test.
//!
//! The code stands in a module of its own inside the module of the operation, so that it reaches what is private there.
//! Collections are those that the driver knows as they were published.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::PathBuf;

use quote::ToTokens;
use syn::{FnArg, GenericParam, Type};

use crate::arguments::{Argument, Generics, NUMBER, argument, combinations, generics, names, parameters, with_numbers};
use crate::index::{Function, Index};
use crate::names::Scope;
use crate::types::Ty;
use crate::values::{Made, Root};

/// The collections that the driver knows as they were published, with the packages that they are in.
const KNOWN: [(&str, &str); 4] = [
    ("ArrayQueue", "crossbeam-queue"),
    ("DashMap", "dashmap"),
    ("SegQueue", "crossbeam-queue"),
    ("SkipMap", "crossbeam-skiplist"),
];
/// What a collection is to the driver.
const INSTRUMENTED: &str = "interloper::collections::session::Instrumented";
/// So many other methods of the type are the environment of its program.
const BESIDE: usize = 4;
/// Structs are looked into so deep for collections.
const DEPTH: usize = 3;

/// How an operation is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipe {
    /// The crate, as `use` says it.
    pub krate: String,
    /// The first file of the crate.
    pub root: PathBuf,
    /// The file at whose end the code belongs.
    pub file: PathBuf,
    /// The path of the module of that file in its crate.
    pub module: String,
    /// An item that the code needs, once in a module: the name of the type, and how its collections are found.
    pub subject: Option<(String, String)>,
    /// An expression of type `Result<interloper::Report, interloper::Misuse>`.
    pub check: String,
    /// The packages of its collections.
    pub packages: BTreeSet<&'static str>,
    /// Why the environment of its own program is not known, if it is not: then anything may happen to its collections.
    pub unknown: Option<String>,
}

/// What the method is run on.
struct Subject {
    ty: String,
    make: String,
    item: Option<(String, String)>,
    /// How it is passed for each parameter that it stands for.
    passed: BTreeMap<usize, String>,
    /// The names of its collections, where they are several arguments.
    names: Vec<String>,
}

impl Index<'_> {
    /// How an operation on what an owner has is run, or why it is not.
    pub(crate) fn recipe(&self, number: usize, owner: &str) -> Result<Recipe, String> {
        let function = &self.functions[number];
        let module = &self.modules[function.module];
        let Some(file) = module.whole else { return Err("needs a module with a file of its own".to_owned()) };
        if let Some(other) = self.summary(number).made.iter().find(|made| !is_known(made)) {
            return Err(format!(
                "needs {} to be run as it was published, which the driver does not do yet",
                other.kind
            ));
        }
        let is_owned =
            |made: &&Made| made.counts && !is_argument(made) && made.placed.root != Root::Static(owner.into());
        if let Some(made) = self.summary(number).made.iter().find(is_owned) {
            return Err(format!("needs `{}` as an argument", name_of(&made.placed.root)));
        }
        let generics = generics(function);
        let subject = self.subject(number, owner, &generics)?;
        let arguments = self.arguments(function, &subject.passed, &generics)?;
        let types: Vec<&String> = arguments.values().filter_map(|one| one.ty.as_ref()).collect();
        let (ty, pattern) = parameters(&types);
        let body = self.called(function, &subject.passed, &names(&arguments));
        let mut check = format!(
            "interloper::MethodUnderTest::new({:?}, || {}, |subject: &{}, {pattern}: {ty}| interloper::ToValue::to_value(&{body}))",
            function.name, subject.make, subject.ty,
        );
        let _ = write!(check, "\n        .arguments([{}])", combinations(&arguments).join(", "));
        if !subject.names.is_empty() {
            let _ = write!(check, "\n        .names({:?})", subject.names);
        }
        let program = self.program(function, &subject, &types, &pattern, &ty);
        if let Ok(beside) = &program {
            beside.iter().for_each(|code| check.push_str(&format!("\n        {code}")));
        }
        check.push_str("\n        .settings(limits).check()");
        let root = module.first.to_owned();
        let krate = self.crate_of(function.module);
        Ok(Recipe {
            krate,
            root,
            file: file.to_owned(),
            module: module.path.clone(),
            subject: subject.item,
            check,
            packages: self.summary(number).made.iter().filter_map(|made| package_of(&made.kind)).collect(),
            unknown: program.err(),
        })
    }

    fn crate_of(&self, module: usize) -> String {
        let root = self.modules[module].root;
        self.roots.get(&root).cloned().unwrap_or_default()
    }

    /// What the operation is run on: the type of `self`, or the collections among its arguments.
    fn subject(&self, number: usize, owner: &str, generics: &Generics) -> Result<Subject, String> {
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
            let shared = receiver.colon_token.is_some() && receiver.ty.to_token_stream().to_string().contains("Arc");
            if shared || receiver.reference.is_none() {
                return Err("needs `&self`".to_owned());
            }
            return self.of_struct(own, function.module, 0);
        }
        let mut collections = Vec::new();
        for (at, parameter) in function.signature.inputs.iter().enumerate() {
            let FnArg::Typed(typed) = parameter else { continue };
            match self.ty(scope, &typed.ty) {
                Ty::Shared(inner) => match &*inner {
                    Ty::Collection(_) => collections.push((at, &*typed.ty)),
                    Ty::Struct(number) if self.has_collections(&inner) => {
                        return self.of_struct(*number, function.module, at);
                    }
                    _ => {}
                },
                ty @ (Ty::Collection(_) | Ty::Tuple(_)) if self.has_collections(&ty) => {
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
                Ok(Subject { ty: ty.clone(), make, item: None, passed, names: Vec::new() })
            }
            types => {
                let passed = collections.iter().enumerate().map(|(part, (at, _))| (*at, format!("&subject.{part}")));
                let ty = format!("({})", types.join(", "));
                let names = collections.iter().map(|(at, _)| parameter_name(function, *at)).collect();
                let make = format!("({})", types.iter().map(|ty| made_of(ty)).collect::<Vec<_>>().join(", "));
                Ok(Subject { ty, make, item: None, passed: passed.collect(), names })
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
        let part = format!("(String::new(), &*{name} as &dyn {INSTRUMENTED})");
        let item = format!(
            "struct {ty};\n    impl interloper::Subject for {ty} {{\n        \
             fn parts(&self) -> Vec<(String, &dyn {INSTRUMENTED})> {{\n            vec![{part}]\n        }}\n    }}"
        );
        let (make, item) = (ty.clone(), Some((ty.clone(), item)));
        Some(Ok(Subject { ty, make, item, passed: BTreeMap::new(), names: vec![name.to_owned()] }))
    }

    fn of_struct(&self, number: usize, module: usize, at: usize) -> Result<Subject, String> {
        let one = &self.structs[number];
        if one.module != module {
            return Err(format!("needs the fields of {} from another module", one.name));
        }
        let ty = self.named(number);
        let mut parts = Vec::new();
        self.parts(&Ty::Struct(number), "self", DEPTH, &mut parts);
        if parts.is_empty() {
            return Err(format!("needs a collection in {}", one.name));
        }
        let mut item = format!("impl interloper::Subject for {ty} {{\n        ");
        let _ = write!(item, "fn parts(&self) -> Vec<(String, &dyn {INSTRUMENTED})> {{\n            vec![");
        for (name, code) in &parts {
            let _ = write!(item, "({name:?}.to_owned(), {code} as &dyn {INSTRUMENTED}), ");
        }
        item.push_str("]\n        }\n    }");
        let make = self.made(number, &ty)?;
        Ok(Subject {
            item: Some((ty.clone(), item)),
            make,
            ty,
            passed: [(at, "subject".to_owned())].into(),
            names: Vec::new(),
        })
    }

    /// The type with numbers for its parameters.
    fn named(&self, number: usize) -> String {
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

    /// An expression for a value of the type.
    fn made(&self, number: usize, ty: &str) -> Result<String, String> {
        let one = &self.structs[number];
        if let Some(given) = self.options.constructors.get(&one.name) {
            return Ok(given.clone());
        }
        if one.default {
            return Ok(format!("<{ty} as Default>::default()"));
        }
        let hole = || format!("needs a constructor of {}", one.name);
        let new = self.methods.get(&(number, "new".to_owned())).ok_or_else(hole)?;
        let new = &self.functions[*new];
        if !self.can_make(number) {
            return Err(hole());
        }
        let arguments = self.arguments(new, &BTreeMap::new(), &generics(new))?;
        let first =
            arguments.values().map(|one| one.pass.replace("{}", one.values.first().map_or("()", |value| value)));
        Ok(format!("<{ty}>::new({})", first.collect::<Vec<_>>().join(", ")))
    }

    /// The collections in a value that the driver knows, with the code that leads to each.
    fn parts(&self, ty: &Ty, code: &str, depth: usize, found: &mut Vec<(String, String)>) {
        let Ty::Struct(number) = ty else { return };
        for (name, field) in self.structs[*number].fields.borrow().iter() {
            let path = format!("{code}.{name}");
            match field {
                Ty::Collection(collection) if package_of(&collection.kind).is_some() => {
                    found.push((path.trim_start_matches("self.").to_owned(), format!("&{path}")));
                }
                Ty::Shared(inner) => match &**inner {
                    Ty::Collection(collection) if package_of(&collection.kind).is_some() => {
                        found.push((path.trim_start_matches("self.").to_owned(), format!("&*{path}")));
                    }
                    inner if depth > 0 => self.parts(inner, &path, depth - 1, found),
                    _ => {}
                },
                inner if depth > 0 => self.parts(inner, &path, depth - 1, found),
                _ => {}
            }
        }
    }

    fn arguments(
        &self,
        function: &Function<'_>,
        passed: &BTreeMap<usize, String>,
        generics: &Generics,
    ) -> Result<BTreeMap<usize, Argument>, String> {
        let mut all = BTreeMap::new();
        for (at, parameter) in function.signature.inputs.iter().enumerate() {
            let FnArg::Typed(typed) = parameter else { continue };
            if !passed.contains_key(&at) {
                all.insert(at, argument(&typed.ty, generics)?);
            }
        }
        Ok(all)
    }

    fn called(
        &self,
        function: &Function<'_>,
        subject: &BTreeMap<usize, String>,
        given: &BTreeMap<usize, String>,
    ) -> String {
        let own = function.signature.receiver().is_some();
        let all: BTreeMap<usize, &String> = subject.iter().chain(given).map(|(at, code)| (*at, code)).collect();
        let name = &function.signature.ident;
        let path = match function.own {
            Some(_) if own => return method(name, &all),
            Some(number) => format!("<{}>::{name}", self.named(number)),
            None => name.to_string(),
        };
        format!("{path}({})", all.values().map(|code| code.as_str()).collect::<Vec<_>>().join(", "))
    }

    /// The other methods of the type, which are all that happens to its collections in its program.
    ///
    /// # Errors
    /// Why they are not all, or cannot all be run.
    fn program(
        &self,
        tested: &Function<'_>,
        subject: &Subject,
        types: &[&String],
        pattern: &str,
        ty: &str,
    ) -> Result<Vec<String>, String> {
        let own = tested.own.filter(|_| tested.signature.receiver().is_some()).ok_or("it is no method")?;
        self.is_closed(own)?;
        let mut all = Vec::new();
        for (number, function) in self.functions.iter().enumerate() {
            let receiver = function.signature.receiver();
            // Who has it for himself has it when nothing else runs.
            let shared = receiver.is_some_and(|own| own.mutability.is_none() && own.reference.is_some());
            let summary = self.summary(number);
            let touches = summary.made.iter().any(|made| made.counts && made.placed.root != Root::Fresh);
            if function.own == Some(own) && prepares(function, &summary.made) {
                return Err(format!("{} may change the collections before they are shared", function.signature.ident));
            }
            if function.own != Some(own) || !shared || !touches || std::ptr::eq(function, tested) {
                continue;
            }
            let runs =
                summary.refusals.is_empty() && summary.made.iter().all(|made| is_known(made) && is_argument(made));
            let code = self.beside_code(number, subject, types, pattern, ty).filter(|_| runs);
            all.push(code.ok_or_else(|| format!("{} cannot be run beside it", function.signature.ident))?);
        }
        match all.len() {
            0 => Err("its type has no other method that calls its collections".to_owned()),
            1..=BESIDE => Ok(all),
            more => Err(format!("{more} other methods are too many")),
        }
    }

    /// Whether the collections of a type are reached by its methods alone.
    fn is_closed(&self, own: usize) -> Result<(), String> {
        let one = &self.structs[own];
        let syn::Item::Struct(item) = one.definition else { return Err("it is no struct".to_owned()) };
        let open = item.fields.iter().zip(one.fields.borrow().iter()).find_map(|(field, (name, ty))| {
            let private = matches!(field.vis, syn::Visibility::Inherited);
            (!private && self.has_collections(ty)).then(|| name.clone())
        });
        if let Some(name) = open {
            return Err(format!("others can reach {}.{name}", one.name));
        }
        // What is private to a module is open to the rest of the module, and to the modules inside.
        for (number, function) in self.functions.iter().enumerate().filter(|(_, other)| other.own != Some(own)) {
            let reaches = |made: &Made| {
                let direct = made.counts && made.through.is_empty() && made.placed.root != Root::Fresh;
                let field = made.placed.path.split('.').nth(1).unwrap_or_default();
                direct && one.fields.borrow().iter().any(|(name, _)| name == field)
            };
            let inside = self.modules[function.module].path.starts_with(&self.modules[one.module].path);
            if inside && self.summary(number).made.iter().any(reaches) {
                return Err(format!("{} may reach its fields", function.name));
            }
        }
        Ok(())
    }

    fn beside_code(
        &self,
        number: usize,
        subject: &Subject,
        types: &[&String],
        pattern: &str,
        ty: &str,
    ) -> Option<String> {
        let function = &self.functions[number];
        let passed = [(0, "subject".to_owned())].into();
        let arguments = self.arguments(function, &passed, &generics(function)).ok()?;
        let mut given = BTreeMap::new();
        for (at, argument) in &arguments {
            // The same key as that of the method under test, where it has one.
            let same = argument.ty.as_ref().and_then(|ty| types.iter().position(|other| *other == ty));
            let value = match same {
                Some(number) => format!("a{number}.clone()"),
                None => argument.values.first()?.clone(),
            };
            given.insert(*at, argument.pass.replace("{}", &value));
        }
        let body = self.called(function, &passed, &given);
        Some(format!(
            ".beside({:?}, |subject: &{}, {pattern}: {ty}| interloper::ToValue::to_value(&{body}))",
            function.signature.ident.to_string(),
            subject.ty
        ))
    }
}

fn name_of(root: &Root) -> &str {
    match root {
        Root::Parameter(_, name) | Root::Static(name) | Root::Captured(name) | Root::Elsewhere(name) => name,
        Root::Fresh => "",
    }
}

fn parameter_name(function: &Function<'_>, at: usize) -> String {
    match function.signature.inputs.iter().nth(at) {
        Some(FnArg::Typed(typed)) => typed.pat.to_token_stream().to_string(),
        _ => "self".to_owned(),
    }
}

fn method(name: &syn::Ident, all: &BTreeMap<usize, &String>) -> String {
    let mut all = all.values();
    let subject = all.next().map_or("subject", |code| code.as_str());
    format!("{subject}.{name}({})", all.map(|code| code.as_str()).collect::<Vec<_>>().join(", "))
}

/// A new collection of this type. One with a capacity has room for two.
fn made_of(ty: &str) -> String {
    if ty.contains("ArrayQueue") { format!("<{ty}>::new(2)") } else { format!("<{ty}>::default()") }
}

/// The package of a collection that the driver knows.
fn package_of(kind: &str) -> Option<&'static str> {
    KNOWN.iter().find(|(name, _)| *name == kind).map(|(_, package)| *package)
}

/// Whether a function of a type changes its collections while nobody else has them. The search does not begin with what it leaves.
fn prepares(function: &Function<'_>, made: &[Made]) -> bool {
    match function.signature.receiver() {
        Some(own) => own.mutability.is_some() && function.signature.ident != "drop",
        None => made.iter().any(|made| made.counts && made.placed.root == Root::Fresh && !made.total().reads_only()),
    }
}

fn is_known(made: &Made) -> bool {
    !made.counts || made.placed.root == Root::Fresh || package_of(&made.kind).is_some()
}

fn is_argument(made: &Made) -> bool {
    matches!(made.placed.root, Root::Parameter(..) | Root::Fresh)
}
