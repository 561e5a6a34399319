//! What an operation is run on, and what of it the environment acts on.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use quote::ToTokens;
use syn::{FnArg, GenericParam, Type};

use crate::foreign;
use crate::generics::{Generics, NUMBER, generics, with_numbers};
use crate::index::Index;
use crate::names::Scope;
use crate::parts::{Part, Parts, methods};
use crate::recipe::{Holes, hole, parameter_name};
use crate::runnable::NESTED;
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
pub(crate) const INSTRUMENTED: &str = "interloper::collections::session::Instrumented";
/// Structs are looked into so deep for collections.
const DEPTH: usize = 3;
/// The environment acts on so many collections of a type at most.
const MOST: usize = 12;
/// The traits with constructors that are in scope everywhere.
const IN_SCOPE: [&str; 4] = ["Default", "From", "FromIterator", "TryFrom"];
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
    /// The types of the crate whose values the environment makes.
    pub(crate) data: BTreeSet<usize>,
    /// The packages of its locks.
    pub(crate) packages: BTreeSet<&'static str>,
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

/// What a constructor gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Given {
    Itself,
    /// An `Arc` of it.
    Pointer,
    /// An `Option` or a `Result`.
    Perhaps,
}

/// Whether the driver runs a collection of this name, of this crate where it is not one of std.
pub(crate) fn is_run(library: &str, kind: &str) -> bool {
    package_of(library, kind).is_some() || is_atomic(kind) || matches!(kind, "Mutex" | "RwLock" | "OnceLock")
}

/// Atomic numbers, and `AtomicBool`.
pub(crate) fn is_atomic(kind: &str) -> bool {
    const WIDTHS: [&str; 5] = ["8", "16", "32", "64", "size"];
    let number = kind.strip_prefix("Atomic").and_then(|rest| rest.strip_prefix(['U', 'I']));
    kind == "AtomicBool" || number.is_some_and(|width| WIDTHS.contains(&width))
}

/// The package of a collection that the driver runs.
pub(crate) fn package_of(library: &str, kind: &str) -> Option<&'static str> {
    let known = KNOWN.iter().find(|(name, _)| *name == kind).map(|(_, package)| *package);
    known.or_else(|| foreign::of(library, kind).filter(|one| one.is_of_a_package()).map(|one| one.package))
}

/// A new collection of this type. One with a capacity has room for two.
fn made_of(ty: &str) -> String {
    if ty.contains("ArrayQueue") { format!("<{ty}>::new(2)") } else { format!("<{ty}>::default()") }
}

/// How a method takes the value of its type, which others may have too.
///
/// # Errors
/// When it takes it otherwise.
pub(crate) fn passed_as(receiver: &syn::Receiver) -> Result<String, String> {
    let by_pointer = receiver.colon_token.is_some();
    let is_arc = || receiver.ty.to_token_stream().to_string().contains("Arc");
    if receiver.mutability.is_some() || receiver.reference.is_none() && !by_pointer || by_pointer && !is_arc() {
        return Err("needs `&self`".to_owned());
    }
    Ok(if by_pointer && receiver.reference.is_none() && !is_reference(&receiver.ty) {
        format!("std::sync::Arc::clone(&{OWNED})")
    } else {
        OWNED.to_owned()
    })
}

fn is_reference(ty: &Type) -> bool {
    matches!(ty, Type::Reference(_))
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
            let passed = passed_as(receiver)?;
            return self.of_struct(number, own, (0, passed), holes);
        }
        let mut collections = Vec::new();
        for (at, parameter) in function.signature.inputs.iter().enumerate() {
            let FnArg::Typed(typed) = parameter else { continue };
            match self.ty(scope, &typed.ty) {
                Ty::Shared(inner) => match &*inner {
                    Ty::Collection(one) if foreign::of(&one.library, &one.kind).is_some() => {
                        return Err(format!("needs its {} in a field of a type", one.kind));
                    }
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
        // Where they are not known here, the compiler says whether they are values.
        let values = |(_, written): &(usize, &Type)| match written {
            Type::Reference(one) => self.acted_on(scope, &self.ty(scope, &one.elem), &one.elem, generics).ok(),
            _ => None,
        };
        let data: BTreeSet<usize> = collections.iter().filter_map(values).flatten().collect();
        match &types[..] {
            [] => Err("needs its collection as an argument".to_owned()),
            [ty] => {
                let passed = [(collections[0].0, "subject".to_owned())].into();
                let make = made_of(ty);
                let parts = vec![parameter_name(function, collections[0].0)];
                let ty = ty.clone();
                Ok(Subject {
                    ty,
                    make,
                    item: None,
                    passed,
                    names: Vec::new(),
                    parts,
                    apart: None,
                    data,
                    packages: BTreeSet::new(),
                })
            }
            types => {
                let passed = collections.iter().enumerate().map(|(part, (at, _))| (*at, format!("&subject.{part}")));
                let ty = format!("({})", types.join(", "));
                let names: Vec<String> = collections.iter().map(|(at, _)| parameter_name(function, *at)).collect();
                let make = format!("({})", types.iter().map(|ty| made_of(ty)).collect::<Vec<_>>().join(", "));
                let parts = names.clone();
                Ok(Subject {
                    ty,
                    make,
                    item: None,
                    passed: passed.collect(),
                    parts,
                    names,
                    apart: None,
                    data,
                    packages: BTreeSet::new(),
                })
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
        if self.summary(number).made.iter().any(|made| foreign::of(&made.library, &made.kind).is_some()) {
            return Some(Err(format!("needs `{name}` in a field of a type")));
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
        let (names, passed, data) = (vec![name.to_owned()], BTreeMap::new(), BTreeSet::new());
        Some(Ok(Subject {
            ty,
            make,
            item,
            passed,
            parts: names.clone(),
            names,
            apart: None,
            data,
            packages: BTreeSet::new(),
        }))
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
        if one.module != function.module && !self.is_inside(function.module, one.module) {
            return Err(format!("needs the fields of {} from another module", one.name));
        }
        let owned = self.named(number);
        let generics = self.generics_of(number);
        let mut found = Parts { from: Some(function.module), ..Parts::default() };
        self.parts(&Ty::Struct(number), "self.0", &generics, DEPTH, &mut found);
        let Parts { mut all, missing, private, .. } = found;
        let whole = self.summary(operation);
        let touches = |part: &Part| whole.made.iter().any(|made| made.counts && part.is(made));
        // A list that the operation leaves alone would only make more states.
        all.retain(|part| part.list.is_none() || touches(part));
        let is_all = all.len() <= MOST;
        let parts: Vec<Part> = if is_all { all } else { all.into_iter().filter(touches).collect() };
        if parts.is_empty() {
            return Err(match missing.first() {
                Some(ty) => format!("needs values of {ty} that the environment can make, in {}", one.name),
                None => format!("needs a collection in {} that the environment can act on", one.name),
            });
        }
        if parts.len() > MOST {
            return Err(format!("needs an environment for {} collections at once", parts.len()));
        }
        let ty = format!("Subject{}", function.signature.ident.span().start().line);
        let mut item =
            format!("struct {ty}(std::sync::Arc<{owned}>);\n    impl interloper::Subject for {ty} {{\n        ");
        let _ = write!(item, "{}\n    }}", methods(&parts, &ty));
        let mut foreign: Vec<&foreign::Foreign> = parts.iter().filter_map(|part| part.foreign).collect();
        foreign.dedup_by(|one, other| std::ptr::eq(*one, *other));
        for (at, one) in foreign.iter().enumerate() {
            if !foreign[..at].iter().any(|earlier| std::ptr::eq(*earlier, *one)) {
                let _ = write!(item, "\n{}", one.item(&ty).trim_end());
            }
        }
        let made = match self.made(number, &owned) {
            Err(reason) => format!("std::sync::Arc::new({})", hole(holes, reason)?),
            made => made?,
        };
        let make = format!("{ty}({made})");
        let packages = foreign.iter().filter(|one| one.is_of_a_package()).map(|one| one.package).collect();
        let data = parts.iter().flat_map(|part| part.data.iter().copied()).collect();
        let names: Vec<String> = parts.into_iter().map(|part| part.name).collect();
        let apart = match is_all {
            true => private.map(|path| format!("{}.{path}", one.name)).or_else(|| self.apart(number, &names)),
            false => Some(format!("all that {} has", one.name)),
        };
        let item = Some((ty.clone(), item));
        Ok(Subject { item, make, ty, passed: [passed].into(), names: Vec::new(), parts: names, apart, data, packages })
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
                GenericParam::Type(ty) => (!self.has_a_default(number, &ty.ident)).then(|| NUMBER.to_owned()),
                GenericParam::Const(_) => Some("2".to_owned()),
            })
            .collect();
        if given.is_empty() { one.name.clone() } else { format!("{}<{}>", one.name, given.join(", ")) }
    }

    /// Whether a type parameter has a default. Under `cfg`, a type is often written twice, and only one of the two gives defaults.
    fn has_a_default(&self, number: usize, name: &syn::Ident) -> bool {
        let one = &self.structs[number];
        let mut written = self.structs.iter().filter(|other| other.name == one.name && other.module == one.module);
        written.any(|other| match other.definition {
            syn::Item::Struct(syn::ItemStruct { generics, .. }) | syn::Item::Enum(syn::ItemEnum { generics, .. }) => {
                generics.type_params().any(|ty| ty.ident == *name && ty.default.is_some())
            }
            _ => false,
        })
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
        let (call, given) = self
            .constructed_by(number, ty, NESTED + 1)
            .ok_or_else(|| format!("needs a constructor of {}", one.name))?;
        Ok(match given {
            Given::Itself => format!("std::sync::Arc::new({call})"),
            Given::Pointer => call,
            Given::Perhaps => format!("std::sync::Arc::new({call}.unwrap())"),
        })
    }

    /// A call of the constructor of a type, which is named so; its arguments are made in fewer steps than these.
    pub(crate) fn constructed_by(&self, number: usize, ty: &str, depth: usize) -> Option<(String, Given)> {
        let (new, given) = self.constructor_within(number, depth)?;
        let function = &self.functions[new];
        let (scope, all) = (Scope { module: function.module, own: function.own }, generics(function));
        let mut passed = Vec::new();
        for parameter in &function.signature.inputs {
            let FnArg::Typed(typed) = parameter else { return None };
            let argument = self.argument_within(scope, &typed.ty, &all, depth - 1).ok()?;
            passed.push(argument.pass.replace("{}", argument.values.first().map_or("()", |value| value)));
        }
        Some((format!("<{ty}>::{}({})", function.signature.ident, passed.join(", ")), given))
    }

    /// A function that makes a value of the type from simple arguments: `new`, or else the first such one by name.
    pub(crate) fn constructor(&self, number: usize) -> Option<(usize, Given)> {
        self.constructor_within(number, NESTED + 1)
    }

    /// The same, with arguments that are made in fewer steps than these.
    fn constructor_within(&self, number: usize, depth: usize) -> Option<(usize, Given)> {
        let depth = depth.checked_sub(1)?;
        let own = self.methods.iter().filter(|((of, _), new)| *of == number && !self.is_of_another_trait(**new));
        let mut all: Vec<(bool, &String, usize)> =
            own.map(|((_, name), function)| (name != "new", name, *function)).collect();
        all.sort();
        all.into_iter().find_map(|(_, _, function)| Some((function, self.gives(function, number, depth)?)))
    }

    /// Whether a function is one of a trait that may not be in scope.
    fn is_of_another_trait(&self, function: usize) -> bool {
        self.functions[function].of_trait.as_ref().is_some_and(|name| !IN_SCOPE.contains(&name.as_str()))
    }

    /// Whether `Default` makes a value of the type, the same each time.
    pub(crate) fn has_default(&self, number: usize) -> bool {
        let written = self.methods.get(&(number, "default".to_owned()));
        self.structs[number].default && written.is_none_or(|function| self.makes_the_same(*function))
    }

    /// Whether a function depends on its arguments alone.
    fn makes_the_same(&self, function: usize) -> bool {
        self.summary(function).refusals.is_empty()
    }

    fn gives(&self, function: usize, number: usize, depth: usize) -> Option<Given> {
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
        let simple = |input: &FnArg| matches!(input, FnArg::Typed(typed) if self.argument_within(scope, &typed.ty, &all, depth).is_ok());
        let can_run = self.makes_the_same(function);
        (can_run && signature.inputs.iter().all(simple)).then_some(given)
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
