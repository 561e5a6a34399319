//! The items of all crates, by name.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use proc_macro2::{TokenStream, TokenTree};
use syn::spanned::Spanned;
use syn::{Attribute, Block, Fields, ImplItem, Item, ItemImpl, ItemMacro, Signature, Stmt, TraitItem, Type, UseTree};

use crate::collections::{self, Family};
use crate::files::{self, Crate};
use crate::names::{Scope, Target, segments};
use crate::operation::Unread;
use crate::options::{Options, Package};
use crate::sections::Key;
use crate::summary::Summary;
use crate::types::Ty;

/// All items.
pub(crate) struct Index<'a> {
    pub(crate) packages: &'a [Package],
    pub(crate) options: &'a Options,
    pub(crate) modules: Vec<Names<'a>>,
    /// The root modules of the libraries, by name.
    pub(crate) crates: HashMap<String, usize>,
    /// The names of the crates, by their root modules.
    pub(crate) roots: HashMap<usize, String>,
    pub(crate) structs: Vec<Struct<'a>>,
    pub(crate) statics: Vec<Static>,
    pub(crate) functions: Vec<Function<'a>>,
    /// Functions of types, by type and name.
    pub(crate) methods: HashMap<(usize, String), usize>,
    /// The macros of the workspace whose text names a collection.
    pub(crate) macros: HashMap<String, String>,
    /// What each function does, as far as it was asked for.
    pub(crate) summaries: RefCell<HashMap<usize, Rc<Summary>>>,
    /// What is called in critical sections of locks beside what they lock, and elsewhere without the lock: there, a critical section
    /// does not hide it.
    pub(crate) bare: RefCell<BTreeSet<Key>>,
    /// The local functions that are called, and whether outside of critical sections.
    pub(crate) called: RefCell<BTreeMap<usize, bool>>,
    /// The invocations of macros in the place of items, with the module.
    pub(crate) item_macros: Vec<(usize, &'a ItemMacro)>,
    pub(crate) unread: RefCell<Vec<Unread>>,
}

/// The names in a module.
pub(crate) struct Names<'a> {
    pub(crate) package: usize,
    pub(crate) file: Rc<str>,
    /// The file, where the module is the whole of it.
    pub(crate) whole: Option<&'a std::path::Path>,
    /// The first file of the crate.
    pub(crate) first: &'a std::path::Path,
    /// The path in its crate.
    pub(crate) path: String,
    pub(crate) root: usize,
    pub(crate) parent: Option<usize>,
    pub(crate) types: HashMap<String, Target<'a>>,
    pub(crate) values: HashMap<String, Target<'a>>,
    pub(crate) imports: HashMap<String, Vec<String>>,
    pub(crate) globs: Vec<Vec<String>>,
}

/// A struct or an enum.
pub(crate) struct Struct<'a> {
    pub(crate) name: String,
    pub(crate) module: usize,
    pub(crate) definition: &'a Item,
    /// The fields of a struct.
    pub(crate) fields: RefCell<Vec<(String, Ty)>>,
    /// The fields of each variant of an enum.
    pub(crate) variants: RefCell<HashMap<String, Vec<(String, Ty)>>>,
    /// Whether `Default` is implemented or derived.
    pub(crate) default: bool,
    /// Whether `Clone` is.
    pub(crate) clone: bool,
}

/// A static.
pub(crate) struct Static {
    pub(crate) name: String,
    pub(crate) ty: RefCell<Ty>,
}

impl Static {
    /// Whether it is made when it is first used.
    pub(crate) fn is_lazy(&self) -> bool {
        match &*self.ty.borrow() {
            Ty::Shared(inner) => matches!(**inner, Ty::Lazy(_)),
            ty => matches!(ty, Ty::Lazy(_)),
        }
    }
}

/// A function with a body.
pub(crate) struct Function<'a> {
    pub(crate) module: usize,
    /// The type of the `impl` block.
    pub(crate) own: Option<usize>,
    /// The path in its crate.
    pub(crate) name: String,
    pub(crate) signature: &'a Signature,
    pub(crate) body: &'a Block,
    /// The type parameters of the `impl` block.
    pub(crate) around: Option<&'a syn::Generics>,
    pub(crate) generic: bool,
    /// The trait of the `impl` block, by its name.
    pub(crate) of_trait: Option<String>,
    /// Whether it says if a value is consistent: `#[interloper::invariant]`.
    pub(crate) invariant: bool,
}

impl<'a> Index<'a> {
    pub(crate) fn new(crates: &'a [Crate], packages: &'a [Package], options: &'a Options) -> Index<'a> {
        let mut index = Index {
            packages,
            options,
            modules: Vec::new(),
            crates: HashMap::new(),
            roots: HashMap::new(),
            structs: Vec::new(),
            statics: Vec::new(),
            functions: Vec::new(),
            methods: HashMap::new(),
            macros: HashMap::new(),
            summaries: RefCell::default(),
            bare: RefCell::default(),
            called: RefCell::default(),
            item_macros: Vec::new(),
            unread: RefCell::default(),
        };
        let mut written = Written::default();
        let mut first = Vec::new();
        for one in crates {
            let root = index.modules.len();
            first.push(root);
            // The library is the first crate of its package.
            index.roots.insert(root, one.name.clone());
            index.crates.entry(one.name.clone()).or_insert(root);
            index.declare(one, root, &mut written);
        }
        for (one, root) in crates.iter().zip(first) {
            for (at, module) in one.modules.iter().enumerate() {
                index.implementations(root + at, &module.items);
            }
        }
        index.resolve_types(written);
        index
    }

    fn declare(&mut self, one: &'a Crate, root: usize, written: &mut Written<'a>) {
        for module in &one.modules {
            let parent = module.parent.map(|parent| root + parent);
            let path = match parent.map(|parent| self.modules[parent].path.as_str()) {
                None => String::new(),
                Some("") => module.name.clone(),
                Some(above) => format!("{above}::{}", module.name),
            };
            self.modules.push(Names {
                package: one.package,
                file: Rc::clone(&module.file),
                whole: module.whole.as_deref(),
                first: &one.root,
                path,
                root,
                parent,
                types: HashMap::new(),
                values: HashMap::new(),
                imports: HashMap::new(),
                globs: Vec::new(),
            });
            let own = self.modules.len() - 1;
            if let Some(parent) = parent {
                self.modules[parent].types.insert(module.name.clone(), Target::Module(own));
            }
        }
        for (at, module) in one.modules.iter().enumerate() {
            module.items.iter().for_each(|item| self.item(root + at, item, written));
        }
    }

    fn item(&mut self, module: usize, item: &'a Item, written: &mut Written<'a>) {
        match item {
            Item::Struct(one) => self.structure(module, one.ident.to_string(), &one.attrs, item),
            Item::Enum(one) => self.structure(module, one.ident.to_string(), &one.attrs, item),
            Item::Type(one) => {
                self.modules[module].types.insert(one.ident.to_string(), Target::Alias(module, &one.ty));
            }
            Item::Static(one) => self.fixed(module, one.ident.to_string(), &one.ty, written),
            Item::Const(one) => self.fixed(module, one.ident.to_string(), &one.ty, written),
            Item::Use(one) => {
                let before = if one.leading_colon.is_some() { vec![String::new()] } else { Vec::new() };
                self.import(module, before, &one.tree);
            }
            Item::Fn(one) if !self.left_out(&one.attrs) => {
                let name = one.sig.ident.to_string();
                let number = self.function(module, None, &one.sig, &one.block);
                self.modules[module].values.insert(name, Target::Function(number));
                self.inner_items(module, &one.block, written);
            }
            Item::Macro(one) => self.item_macro(module, one, written),
            _ => {}
        }
    }

    /// Imports and statics in the body of a function: as if they stood beside it.
    fn inner_items(&mut self, module: usize, block: &'a Block, written: &mut Written<'a>) {
        for statement in &block.stmts {
            if let Stmt::Item(item @ (Item::Use(_) | Item::Static(_) | Item::Fn(_) | Item::Macro(_))) = statement {
                self.item(module, item, written);
            }
        }
    }

    fn structure(&mut self, module: usize, name: String, attributes: &'a [Attribute], definition: &'a Item) {
        let number = self.structs.len();
        self.modules[module].types.insert(name.clone(), Target::Struct(number));
        let derives = |name: &str| {
            attributes.iter().any(|attribute| {
                attribute.path().is_ident("derive") && quote::quote!(#attribute).to_string().contains(name)
            })
        };
        let (default, clone) = (derives("Default"), derives("Clone"));
        self.structs.push(Struct {
            name,
            module,
            definition,
            fields: RefCell::default(),
            variants: RefCell::default(),
            default,
            clone,
        });
    }

    fn fixed(&mut self, module: usize, name: String, ty: &'a Type, written: &mut Written<'a>) {
        let number = self.statics.len();
        self.modules[module].values.insert(name.clone(), Target::Static(number));
        self.statics.push(Static { name, ty: RefCell::new(Ty::Opaque) });
        written.statics.push((number, module, Seen::Borrowed(ty)));
    }

    fn import(&mut self, module: usize, before: Vec<String>, tree: &UseTree) {
        match tree {
            UseTree::Path(path) => self.import(module, with(before, path.ident.to_string()), &path.tree),
            UseTree::Name(name) if name.ident == "self" => {
                let Some(last) = before.last().cloned() else { return };
                self.modules[module].imports.insert(last, before);
            }
            UseTree::Name(name) => {
                let name = name.ident.to_string();
                self.modules[module].imports.insert(name.clone(), with(before, name));
            }
            UseTree::Rename(rename) if rename.ident == "self" => {
                self.modules[module].imports.insert(rename.rename.to_string(), before);
            }
            UseTree::Rename(rename) => {
                let path = with(before, rename.ident.to_string());
                self.modules[module].imports.insert(rename.rename.to_string(), path);
            }
            UseTree::Glob(_) => self.modules[module].globs.push(before),
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.import(module, before.clone(), tree)),
        }
    }

    fn item_macro(&mut self, module: usize, one: &'a ItemMacro, written: &mut Written<'a>) {
        let name = one.mac.path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default();
        match name.as_str() {
            "macro_rules" => {
                let named = one.ident.as_ref().zip(names_collection(&one.mac.tokens));
                if let Some((ident, collection)) = named {
                    self.macros.insert(ident.to_string(), collection);
                }
            }
            "lazy_static" => {
                for (name, ty) in lazy_statics(&one.mac.tokens) {
                    let number = self.statics.len();
                    self.modules[module].values.insert(name.clone(), Target::Static(number));
                    self.statics.push(Static { name, ty: RefCell::new(Ty::Opaque) });
                    written.statics.push((number, module, Seen::Owned(Box::new(ty))));
                }
            }
            // A value of its own for each thread.
            "thread_local" => {}
            _ => self.item_macros.push((module, one)),
        }
    }

    fn function(&mut self, module: usize, own: Option<usize>, signature: &'a Signature, body: &'a Block) -> usize {
        let names = [self.modules[module].path.as_str(), own.map_or("", |own| self.structs[own].name.as_str())];
        let mut name = String::new();
        for part in names.into_iter().filter(|part| !part.is_empty()) {
            name.push_str(part);
            name.push_str("::");
        }
        name.push_str(&signature.ident.to_string());
        let generic = signature.generics.type_params().next().is_some();
        let (around, of_trait, invariant) = (None, None, false);
        self.functions.push(Function { module, own, name, signature, body, around, generic, of_trait, invariant });
        self.functions.len() - 1
    }

    fn implementations(&mut self, module: usize, items: &'a [Item]) {
        let mut written = Written::default();
        for item in items {
            match item {
                Item::Impl(one) if !self.left_out(&one.attrs) => self.implementation(module, one, &mut written),
                Item::Trait(one) if !self.left_out(&one.attrs) => {
                    for item in &one.items {
                        if let TraitItem::Fn(function) = item
                            && let Some(body) = &function.default
                        {
                            self.function(module, None, &function.sig, body);
                        }
                    }
                }
                _ => {}
            }
        }
        self.resolve_types(written);
    }

    fn implementation(&mut self, module: usize, one: &'a ItemImpl, written: &mut Written<'a>) {
        let own = match self.ty(Scope { module, own: None }, &one.self_ty) {
            Ty::Struct(number) => Some(number),
            _ => None,
        };
        let of_trait = one.trait_.as_ref().map(|(_, path, _)| segments(path));
        if let (Some(own), Some(path)) = (own, &of_trait) {
            match path.last().map(String::as_str) {
                Some("Default") => self.structs[own].default = true,
                Some("Clone") => self.structs[own].clone = true,
                _ => {}
            }
        }
        for item in &one.items {
            let ImplItem::Fn(function) = item else { continue };
            if self.left_out(&function.attrs) {
                continue;
            }
            let number = self.function(module, own, &function.sig, &function.block);
            self.functions[number].around = Some(&one.generics);
            self.functions[number].of_trait = of_trait.as_ref().and_then(|path| path.last().cloned());
            self.functions[number].invariant = function.attrs.iter().any(is_invariant);
            self.inner_items(module, &function.block, written);
            if let Some(own) = own {
                self.methods.entry((own, function.sig.ident.to_string())).or_insert(number);
            }
        }
    }

    fn left_out(&self, attributes: &[Attribute]) -> bool {
        !self.options.tests && attributes.iter().any(files::needs_test)
    }

    /// Types of fields and statics, once all names are known.
    fn resolve_types(&self, written: Written<'a>) {
        for one in &self.structs {
            if !one.fields.borrow().is_empty() || !one.variants.borrow().is_empty() {
                continue;
            }
            let scope = Scope { module: one.module, own: None };
            match one.definition {
                Item::Struct(item) => *one.fields.borrow_mut() = self.fields(scope, &item.fields),
                Item::Enum(item) => {
                    let variants = item.variants.iter();
                    let variants = variants.map(|one| (one.ident.to_string(), self.fields(scope, &one.fields)));
                    *one.variants.borrow_mut() = variants.collect();
                }
                _ => {}
            }
        }
        for (number, module, ty) in written.statics {
            let scope = Scope { module, own: None };
            let ty = match &ty {
                Seen::Borrowed(ty) => self.ty(scope, ty),
                Seen::Owned(ty) => self.ty(scope, ty),
            };
            *self.statics[number].ty.borrow_mut() = ty.shared();
        }
    }

    fn fields(&self, scope: Scope, fields: &Fields) -> Vec<(String, Ty)> {
        let named = fields.iter().enumerate().map(|(at, field)| {
            let name = field.ident.as_ref().map_or_else(|| at.to_string(), ToString::to_string);
            (name, self.ty(scope, &field.ty))
        });
        named.collect()
    }

    /// The family of a type that the manifest declares.
    pub(crate) fn declared(&self, path: &[String]) -> Option<Family> {
        let full = path.join("::");
        let declared = &self.options.collections;
        declared.get(&full).or_else(|| declared.get(path.last()?)).copied()
    }

    pub(crate) fn is_collection(&self, path: &[String]) -> bool {
        let name = path.last().map(String::as_str).unwrap_or_default();
        self.declared(path).is_some()
            || collections::known(path).is_some()
            || collections::is_lock(path)
            || matches!(name, "Arc" | "LazyLock" | "Lazy")
    }
}

/// Whether an attribute is `#[interloper::invariant]`, perhaps in `cfg_attr`, or `#[invariant]` after an import.
fn is_invariant(attribute: &Attribute) -> bool {
    let path = attribute.path();
    let names = segments(path);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let in_condition = || match &attribute.meta {
        syn::Meta::List(list) if path.is_ident("cfg_attr") => {
            list.tokens.to_string().replace(' ', "").contains("interloper::invariant")
        }
        _ => false,
    };
    matches!(names[..], ["invariant"] | ["interloper", "invariant"]) || in_condition()
}

/// What is resolved after all names are known.
#[derive(Default)]
struct Written<'a> {
    statics: Vec<(usize, usize, Seen<'a>)>,
}

enum Seen<'a> {
    Borrowed(&'a Type),
    Owned(Box<Type>),
}

fn with(mut path: Vec<String>, name: String) -> Vec<String> {
    path.push(name);
    path
}

/// `static ref NAME: TYPE = …;`, as often as there is one.
fn lazy_statics(tokens: &TokenStream) -> Vec<(String, Type)> {
    let tokens: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let is = |at: usize, text: &str| tokens.get(at).is_some_and(|token| token.to_string() == text);
    let mut found = Vec::new();
    for at in 0..tokens.len() {
        if is(at, "static") && is(at + 1, "ref") && is(at + 3, ":") {
            let ty = tokens[at + 4..].iter().take_while(|token| token.to_string() != "=").cloned();
            if let Ok(ty) = syn::parse2::<Type>(ty.collect()) {
                found.push((tokens[at + 2].to_string(), ty));
            }
        }
    }
    found
}

/// The first name of a concurrent collection in a text. Names that other types often have do not count.
pub(crate) fn names_collection(tokens: &TokenStream) -> Option<String> {
    tokens.clone().into_iter().find_map(|token| match token {
        TokenTree::Ident(name) => {
            let name = name.to_string();
            collections::known(std::slice::from_ref(&name)).map(|_| name)
        }
        TokenTree::Group(group) => names_collection(&group.stream()),
        _ => None,
    })
}

/// The last line of an item.
pub(crate) fn last_line(item: &impl Spanned) -> u32 {
    u32::try_from(item.span().end().line).unwrap_or(u32::MAX)
}
