//! How an operation is run: code that makes it a method under test.
//!
//! The code stands in a module of its own inside the module of the operation, so that it reaches what is private there.
//! Collections are those that the driver knows as they were published.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::PathBuf;

use quote::ToTokens;
use syn::FnArg;

use crate::arguments::{Argument, Passed, combinations, low, names, others, parameters, with_others};
use crate::data::Declared;
use crate::flow;
use crate::generics::{Generics, generics};
use crate::index::{Function, Index};
use crate::names::Scope;
use crate::subject::{OWNED, Subject, is_run, package_of};
use crate::types::Ty;
use crate::values::{Made, Root};

/// So many other methods of the type are the environment of its program.
const BESIDE: usize = 4;
/// So many of them are tried where they are not all.
const SOME: usize = 8;
/// From so many collections on, the search begins with fewer states.
const MANY: usize = 4;

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
    /// Such an expression for other methods of its type alone, where they are not all that happens to its collections.
    pub own: Option<String>,
    /// Both with low numbers as arguments, where the first ones may lie outside of what its type was made with.
    pub low: Option<(String, Option<String>)>,
    /// The packages of its collections.
    pub packages: BTreeSet<&'static str>,
    /// How values of types of the crate are made.
    pub data: Vec<Declared>,
    /// Why the environment of its own program is not known, if it is not: then anything may happen to its collections.
    pub unknown: Option<String>,
}

impl Recipe {
    /// The same with low numbers as arguments, where it has such.
    pub fn with_low_numbers(&self) -> Recipe {
        let (check, own) = self.low.clone().unwrap_or_else(|| (self.check.clone(), self.own.clone()));
        Recipe { check, own, low: None, ..self.clone() }
    }
}

/// What could not be made, where a `todo!` may stand for it.
pub(crate) type Holes<'a> = Option<&'a RefCell<Vec<String>>>;

/// Stands for a value that cannot be made.
///
/// # Errors
/// The reason, where nothing may stand for it.
pub(crate) fn hole(holes: Holes<'_>, reason: String) -> Result<String, String> {
    let Some(holes) = holes else { return Err(reason) };
    let code = format!("todo!({reason:?})");
    holes.borrow_mut().push(reason);
    Ok(code)
}

/// Code that makes calls of a method part of a program, or why it cannot be written.
type Beside = Result<Vec<String>, String>;

impl Index<'_> {
    /// How an operation on what an owner has is run, or why it is not.
    pub(crate) fn recipe(&self, number: usize, owner: &str) -> Result<Recipe, String> {
        self.recipe_with(number, owner, None)
    }

    /// The same for an operation that is not run because one value cannot be made: a `todo!` stands for it.
    pub(crate) fn draft(&self, number: usize, owner: &str) -> Option<Recipe> {
        let holes = RefCell::default();
        let recipe = self.recipe_with(number, owner, Some(&holes)).ok()?;
        (holes.into_inner().len() == 1).then_some(recipe)
    }

    fn recipe_with(&self, number: usize, owner: &str, holes: Holes<'_>) -> Result<Recipe, String> {
        let function = &self.functions[number];
        let module = &self.modules[function.module];
        let Some(file) = module.whole else { return Err("needs a module with a file of its own".to_owned()) };
        if function.signature.unsafety.is_some() {
            return Err("needs what its callers promise: it is unsafe".to_owned());
        }
        if self.acts_when_dropped(function) {
            return Err("needs a caller that keeps what it returns: dropping that acts on the collections".to_owned());
        }
        // Whoever stores any number into an index breaks memory, and no program does that.
        if self.summary(number).is_unsafe {
            return Err("needs an environment that keeps what its unsafe code relies on".to_owned());
        }
        let generics = generics(function);
        let hidden = self.hidden(number, owner);
        let mut subject = match (self.subject(number, owner, &generics, holes), &hidden) {
            (Err(_), Some((_, reason))) => return Err(reason.clone()),
            (subject, _) => subject?,
        };
        let apart = |made: &&Made| !subject.has(made) && !self.is_lazy_static(made);
        let beyond = self.summary(number).made.iter().find(apart).map(|made| {
            let place = format!("{}{}", name_of(&made.placed.root), made.placed.path);
            let reason = format!("needs `{place}` to be a field of its own that the environment can act on");
            (place, reason)
        });
        if let Some((place, reason)) = hidden.or(beyond) {
            // The rest is worth a search if two of its calls are on one path. Then the environment leaves this alone.
            if !self.has_pair(number, &subject) {
                return Err(reason);
            }
            subject.apart.get_or_insert(place);
        }
        let arguments = self.arguments_or_holes(function, &subject.passed, &generics, holes)?;
        let types: Vec<&String> = arguments.values().filter_map(|one| one.ty.as_ref()).collect();
        let (ty, pattern) = parameters(&types);
        let body = self.called(function, &subject.passed, &names(&arguments));
        let head = format!("interloper::MethodUnderTest::new({:?}, || {}, ", function.name, subject.make);
        let mut check = format!("|subject: &{}, {pattern}: {ty}| {})", subject.ty, form(&body));
        let _ = write!(check, "\n        .arguments([{}])", combinations(&arguments).join(", "));
        if !subject.names.is_empty() {
            let _ = write!(check, "\n        .names({:?})", subject.names);
        }
        let beside = self.beside(function, &subject);
        let program = self.program(function, &subject, &beside);
        let itself = self.beside_calls(function, &subject.passed, others(&arguments), &subject.ty);
        // What some of the methods do by themselves, they can do. What they do not do, others may.
        let some: Vec<&Vec<String>> = beside.iter().filter_map(|code| code.as_ref().ok()).take(SOME).collect();
        let own = (program.is_err() && subject.apart.is_none() && !some.is_empty()).then(|| {
            let calls = some.iter().copied().flatten().cloned().chain(itself.iter().cloned());
            let methods: String = calls.map(|code| format!("\n        {code}")).collect();
            let closed = "settings.environment = interloper::Environment::Closed;";
            format!("{check}{methods}\n        .settings(|settings| {{ limits(settings); {closed} }})")
        });
        if let Ok(beside) = &program {
            beside.iter().chain(&itself).for_each(|code| check.push_str(&format!("\n        {code}")));
        }
        check.push_str(match subject.parts.len() {
            0..=MANY => "\n        .settings(limits)",
            _ => "\n        .settings(|settings| { limits(settings); settings.initial_size = 1; })",
        });
        let is_sized = subject.parts.iter().any(|part| part.contains("[]")) || low(&subject.make) != subject.make;
        let whole = |rest: &str| format!("{head}{rest}");
        let low = (is_sized && low(&check) != check)
            .then(|| (whole(&low(&check)), own.as_deref().map(|own| whole(&low(own)))));
        let root = module.first.to_owned();
        let krate = self.crate_of(function.module);
        Ok(Recipe {
            krate,
            root,
            file: file.to_owned(),
            module: module.path.clone(),
            subject: subject.item,
            check: whole(&check),
            own: own.as_deref().map(whole),
            low,
            packages: self
                .summary(number)
                .made
                .iter()
                .filter_map(|made| package_of(&made.library, &made.kind))
                .chain(subject.packages)
                .collect(),
            data: self.declared_types(&subject.data),
            unknown: program.err(),
        })
    }

    /// A collection that the environment cannot act on, whatever the operation is run on, and why not.
    fn hidden(&self, number: usize, owner: &str) -> Option<(String, String)> {
        let summary = self.summary(number);
        let place = |made: &Made| format!("{}{}", name_of(&made.placed.root), made.placed.path);
        if let Some(other) = summary.made.iter().find(|made| !is_known(made)) {
            let kind = &other.kind;
            let reason = format!("needs {kind} to be run as it was published, which the driver does not do yet");
            return Some((place(other), reason));
        }
        let is_owned = |made: &&Made| {
            made.counts
                && !is_argument(made)
                && made.placed.root != Root::Static(owner.into())
                && !self.is_lazy_static(made)
        };
        let made = summary.made.iter().find(is_owned)?;
        Some((place(made), format!("needs `{}` as an argument", name_of(&made.placed.root))))
    }

    /// Whether it is a call of a static that all functions only settle: then it is as good as one that is made when it is first used, and
    /// nobody else can do anything to it.
    fn is_lazy_static(&self, made: &Made) -> bool {
        let settles = |number: usize| {
            self.summary(number).made.iter().filter(|other| other.placed == made.placed).all(Made::settles)
        };
        matches!(made.placed.root, Root::Static(_)) && made.settles() && (0..self.functions.len()).all(settles)
    }

    /// Whether two calls of what the environment acts on are on one path.
    fn has_pair(&self, number: usize, subject: &Subject) -> bool {
        let summary = self.summary(number);
        let is_part = |call: usize| {
            let made = &summary.made[call];
            made.counts && made.placed.root != Root::Fresh && is_run(&made.library, &made.kind) && subject.has(made)
        };
        let pairs = flow::pairs(&summary.flow);
        pairs.straight.iter().chain(&pairs.around).any(|&(first, second)| is_part(first) && is_part(second))
    }

    pub(crate) fn crate_of(&self, module: usize) -> String {
        let root = self.modules[module].root;
        self.roots.get(&root).cloned().unwrap_or_default()
    }

    pub(crate) fn arguments(
        &self,
        function: &Function<'_>,
        passed: &BTreeMap<usize, String>,
        generics: &Generics,
    ) -> Result<BTreeMap<usize, Argument>, String> {
        self.arguments_or_holes(function, passed, generics, None)
    }

    fn arguments_or_holes(
        &self,
        function: &Function<'_>,
        passed: &BTreeMap<usize, String>,
        generics: &Generics,
        holes: Holes<'_>,
    ) -> Result<BTreeMap<usize, Argument>, String> {
        let mut all = BTreeMap::new();
        for (at, parameter) in function.signature.inputs.iter().enumerate() {
            let FnArg::Typed(typed) = parameter else { continue };
            if !passed.contains_key(&at) {
                let scope = Scope { module: function.module, own: function.own };
                all.insert(
                    at,
                    match self.argument(scope, &typed.ty, generics) {
                        Err(reason) => Argument { ty: None, values: vec![String::new()], pass: hole(holes, reason)? },
                        made => made?,
                    },
                );
            }
        }
        Ok(all)
    }

    /// Such calls of a method: the values as reports show them, and the code.
    pub(crate) fn calls(
        &self,
        function: &Function<'_>,
        passed: &BTreeMap<usize, String>,
        given: Vec<Passed>,
    ) -> Vec<(String, String)> {
        let mut calls: Vec<(String, String)> = Vec::new();
        for given in given {
            let call = (given.shown, form(&self.called(function, passed, &given.code)));
            if !calls.contains(&call) {
                calls.push(call);
            }
        }
        calls
    }

    pub(crate) fn called(
        &self,
        function: &Function<'_>,
        subject: &BTreeMap<usize, String>,
        given: &BTreeMap<usize, String>,
    ) -> String {
        let own = function.signature.receiver().is_some();
        let all: BTreeMap<usize, &String> = subject.iter().chain(given).map(|(at, code)| (*at, code)).collect();
        let name = &function.signature.ident;
        let passed = || all.values().map(|code| code.as_str()).collect::<Vec<_>>().join(", ");
        let call = match function.own {
            Some(_) if own => method(name, &all),
            Some(number) => format!("<{}>::{name}({})", self.named(number), passed()),
            None => format!("{name}({})", passed()),
        };
        if function.signature.asyncness.is_some() { format!("interloper::ready({call})") } else { call }
    }

    /// The other methods of the type, which are all that happens to its collections in its program.
    ///
    /// # Errors
    /// Why they are not all, or cannot all be run.
    fn program(&self, tested: &Function<'_>, subject: &Subject, beside: &[Beside]) -> Result<Vec<String>, String> {
        let own = tested.own.filter(|_| tested.signature.receiver().is_some()).ok_or("it is no method")?;
        self.is_closed(own)?;
        if let Some(name) = &subject.apart {
            return Err(format!("the environment cannot act on {name}"));
        }
        for (number, function) in self.functions.iter().enumerate() {
            if function.own == Some(own) && prepares(function, &self.summary(number).made) {
                return Err(format!("{} may change the collections before they are shared", function.signature.ident));
            }
        }
        let all: Result<Vec<Vec<String>>, String> = beside.iter().cloned().collect();
        let all = all?;
        match all.len() {
            0 => Err("its type has no other method that calls its collections".to_owned()),
            1..=BESIDE => Ok(all.concat()),
            more => Err(format!("{more} other methods are too many")),
        }
    }

    /// The other methods of the type that call its collections, each with code, or with why it cannot be run.
    fn beside(&self, tested: &Function<'_>, subject: &Subject) -> Vec<Beside> {
        let Some(own) = tested.own.filter(|_| tested.signature.receiver().is_some()) else { return Vec::new() };
        let mut all = Vec::new();
        for (number, function) in self.functions.iter().enumerate() {
            let receiver = function.signature.receiver();
            // Who has it for himself has it when nothing else runs.
            let shared = receiver.is_some_and(|own| own.mutability.is_none() && own.reference.is_some());
            let summary = self.summary(number);
            let touches = summary.made.iter().any(|made| made.counts && made.placed.root != Root::Fresh);
            if function.own != Some(own) || !shared || !touches || std::ptr::eq(function, tested) {
                continue;
            }
            let runs = summary.refusals.is_empty()
                && function.signature.unsafety.is_none()
                && summary.made.iter().all(|made| is_known(made) && is_argument(made) && subject.has(made));
            let code = self.beside_code(number, subject).filter(|_| runs);
            all.push(code.ok_or_else(|| format!("{} cannot be run beside it", function.signature.ident)));
        }
        all
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
                // Any name on the way may be that of one of its fields: the types on the way are not known. But what stands first
                // after `self` is a field of the other type, if that has such a field and shares nothing.
                let is_of_other = matches!(&made.placed.root, Root::Parameter(_, name) if &**name == "self")
                    && made.placed.path.split('.').nth(1).is_some_and(|first| {
                        let other = function.own.map(|other| self.structs[other].fields.borrow());
                        let owns = |(name, ty): &(String, Ty)| name == first.trim_end_matches("[]") && !self.shares(ty);
                        other.is_some_and(|fields| fields.iter().any(owns))
                    });
                let mut fields = made.placed.path.split('.').skip(if is_of_other { 2 } else { 1 });
                direct
                    && fields.any(|field| {
                        let field = field.trim_end_matches("[]");
                        one.fields.borrow().iter().any(|(name, _)| name == field)
                    })
            };
            let inside = self.modules[function.module].path.starts_with(&self.modules[one.module].path);
            if inside && self.summary(number).made.iter().any(reaches) {
                return Err(format!("{} may reach its fields", function.name));
            }
        }
        Ok(())
    }

    fn beside_code(&self, number: usize, subject: &Subject) -> Option<Vec<String>> {
        let function = &self.functions[number];
        let passed = [(0, OWNED.to_owned())].into();
        let arguments = self.arguments(function, &passed, &generics(function)).ok()?;
        Some(self.beside_calls(function, &passed, with_others(&arguments), &subject.ty))
    }

    /// Such calls of a method as the environment of another.
    fn beside_calls(
        &self,
        function: &Function<'_>,
        passed: &BTreeMap<usize, String>,
        given: Vec<Passed>,
        ty: &str,
    ) -> Vec<String> {
        let name = function.signature.ident.to_string();
        let calls = self.calls(function, passed, given).into_iter();
        calls.map(|(shown, body)| format!(".beside_call({name:?}, {shown:?}, |subject: &{ty}| {body})")).collect()
    }
}

pub(crate) fn name_of(root: &Root) -> &str {
    match root {
        Root::Parameter(_, name) | Root::Static(name) | Root::Captured(name) | Root::Elsewhere(name) => name,
        Root::Fresh => "",
    }
}

pub(crate) fn parameter_name(function: &Function<'_>, at: usize) -> String {
    match function.signature.inputs.iter().nth(at) {
        Some(FnArg::Typed(typed)) => typed.pat.to_token_stream().to_string(),
        _ => "self".to_owned(),
    }
}

fn method(name: &syn::Ident, all: &BTreeMap<usize, &String>) -> String {
    // `Arc` has these itself: a clone of the pointer would be taken for a clone of the value.
    const OF_ARC: [&str; 12] = [
        "as_ref",
        "borrow",
        "clone",
        "cmp",
        "deref",
        "eq",
        "fmt",
        "hash",
        "ne",
        "partial_cmp",
        "to_owned",
        "to_string",
    ];
    let mut all = all.values();
    let subject = all.next().map_or("subject", |code| code.as_str());
    let itself = format!("(*{subject})");
    let subject = if subject == OWNED && OF_ARC.contains(&name.to_string().as_str()) { &itself } else { subject };
    format!("{subject}.{name}({})", all.map(|code| code.as_str()).collect::<Vec<_>>().join(", "))
}

/// Whether a function of a type changes its collections while nobody else has them. The search does not begin with what it leaves.
fn prepares(function: &Function<'_>, made: &[Made]) -> bool {
    match function.signature.receiver() {
        Some(own) => own.mutability.is_some() && function.signature.ident != "drop",
        None => made.iter().any(|made| made.counts && made.placed.root == Root::Fresh && !made.total().reads_only()),
    }
}

pub(crate) fn is_known(made: &Made) -> bool {
    !made.counts || made.placed.root == Root::Fresh || is_run(&made.library, &made.kind)
}

/// The form of a result: as a value where it is one, and otherwise what `Debug` says of it.
pub(crate) fn form(body: &str) -> String {
    format!("interloper::shown!({body})")
}

pub(crate) fn is_argument(made: &Made) -> bool {
    matches!(made.placed.root, Root::Parameter(..) | Root::Fresh)
}
