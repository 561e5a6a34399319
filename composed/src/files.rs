//! Reads the files of a crate, module by module.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use proc_macro2::Span;
use syn::{Attribute, Expr, Item, ItemMod, Lit, Meta};

use crate::operation::{Place, Unread};
use crate::options::{Options, Package};

/// What was read.
#[derive(Default)]
pub(crate) struct Read {
    pub(crate) crates: Vec<Crate>,
    pub(crate) unread: Vec<Unread>,
    pub(crate) files: usize,
    pub(crate) lines: usize,
}

/// A crate: its modules, the root first.
pub(crate) struct Crate {
    pub(crate) package: usize,
    pub(crate) name: String,
    /// Its first file.
    pub(crate) root: PathBuf,
    pub(crate) modules: Vec<Module>,
}

/// A module with its items, other modules excepted.
pub(crate) struct Module {
    pub(crate) name: String,
    pub(crate) parent: Option<usize>,
    pub(crate) file: Rc<str>,
    /// The file, where the module is the whole of it.
    pub(crate) whole: Option<PathBuf>,
    pub(crate) items: Vec<Item>,
}

/// Reads all crates of the packages.
pub(crate) fn read(packages: &[Package], options: &Options) -> Read {
    let mut all = Read::default();
    let mut seen = BTreeSet::new();
    for (package, described) in packages.iter().enumerate() {
        for (name, root) in &described.crates {
            let mut reader = Reader { options, seen: &mut seen, modules: Vec::new(), read: &mut all };
            reader.file(root, true, String::new(), None);
            let modules = reader.modules;
            all.crates.push(Crate { package, name: name.clone(), root: root.clone(), modules });
        }
    }
    all
}

struct Reader<'r> {
    options: &'r Options,
    /// The files that were read before, perhaps for another crate: they count once.
    seen: &'r mut BTreeSet<PathBuf>,
    modules: Vec<Module>,
    read: &'r mut Read,
}

/// Where the modules of a module are.
struct Nest {
    /// The folder of the file.
    folder: PathBuf,
    /// The folder for modules of their own files.
    modules: PathBuf,
}

impl Reader<'_> {
    /// Reads a file. `owns` says that modules of this file lie beside it: the root of a crate, or `mod.rs`.
    fn file(&mut self, path: &Path, owns: bool, name: String, parent: Option<usize>) {
        let shown = self.shown(path);
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) => return self.unread(&shown, 1, 1, format!("the file cannot be read: {error}")),
        };
        if self.seen.insert(path.to_owned()) {
            self.read.files += 1;
            self.read.lines += text.lines().count();
        }
        let parsed = match syn::parse_file(&text) {
            Ok(parsed) => parsed,
            Err(error) => {
                let start = error.span().start();
                return self.unread(&shown, start.line, start.column + 1, format!("the file does not parse: {error}"));
            }
        };
        if !self.options.tests && parsed.attrs.iter().any(needs_test) {
            return;
        }
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        let modules = if owns { folder.clone() } else { folder.join(path.file_stem().unwrap_or_default()) };
        let module = Module { name, parent, file: shown, whole: Some(path.to_owned()), items: Vec::new() };
        self.module(parsed.items, &Nest { folder, modules }, module);
    }

    fn module(&mut self, items: Vec<Item>, nest: &Nest, module: Module) {
        let own = self.modules.len();
        let file = Rc::clone(&module.file);
        self.modules.push(module);
        let mut kept = Vec::new();
        for item in unwrapped(items) {
            match item {
                Item::Mod(inner) if self.left_out(&inner.attrs) => drop(inner),
                Item::Mod(inner) => self.inner(inner, &file, nest, own),
                item => kept.push(item),
            }
        }
        self.modules[own].items = kept;
    }

    fn inner(&mut self, inner: ItemMod, file: &Rc<str>, nest: &Nest, parent: usize) {
        let name = inner.ident.to_string();
        let plain = name.trim_start_matches("r#").to_owned();
        let given = inner.attrs.iter().find_map(path_of);
        if let Some((_, items)) = inner.content {
            let folder = nest.modules.join(given.unwrap_or(plain));
            let nest = Nest { folder: folder.clone(), modules: folder };
            let module = Module { name, parent: Some(parent), file: Rc::clone(file), whole: None, items: Vec::new() };
            return self.module(items, &nest, module);
        }
        if let Some(given) = given {
            let path = nest.folder.join(given);
            return self.file(&path, true, name, Some(parent));
        }
        let (beside, inside) = (nest.modules.join(format!("{plain}.rs")), nest.modules.join(&plain).join("mod.rs"));
        match (beside.is_file(), inside.is_file()) {
            (true, _) => self.file(&beside, false, name, Some(parent)),
            (_, true) => self.file(&inside, true, name, Some(parent)),
            // Behind a `cfg`, the file is often made by a build script, or is not there on purpose.
            _ => self.unread_at(file, inner.ident.span(), format!("the file of module {plain} is not there")),
        }
    }

    fn left_out(&self, attributes: &[Attribute]) -> bool {
        !self.options.tests && attributes.iter().any(needs_test)
    }

    fn shown(&self, path: &Path) -> Rc<str> {
        path.strip_prefix(&self.options.base).unwrap_or(path).to_string_lossy().into()
    }

    fn unread_at(&mut self, file: &str, span: Span, reason: String) {
        let start = span.start();
        self.unread(file, start.line, start.column + 1, reason);
    }

    fn unread(&mut self, file: &str, line: usize, column: usize, reason: String) {
        self.read.unread.push(Unread { place: place(file, line, column), reason });
    }
}

/// Items in macros that wrap items, such as `cfg_rt! { pub mod runtime; }`, stand where the macro stands.
fn unwrapped(items: Vec<Item>) -> Vec<Item> {
    let inner = |item: Item| match item {
        Item::Macro(one) if one.ident.is_none() => match one.mac.parse_body::<syn::File>() {
            Ok(file) if !file.items.is_empty() && !file.items.iter().any(|item| matches!(item, Item::Verbatim(_))) => {
                unwrapped(file.items)
            }
            _ => vec![Item::Macro(one)],
        },
        item => vec![item],
    };
    items.into_iter().flat_map(inner).collect()
}

/// A place in a file, from numbers of the parser.
pub(crate) fn place(file: &str, line: usize, column: usize) -> Place {
    let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    Place { file: file.to_owned(), line: number(line), column: number(column) }
}

/// Whether an attribute leaves something out of ordinary builds: `#[cfg(test)]`, `#[test]`, `#[tokio::test]`, `#[bench]`.
pub(crate) fn needs_test(attribute: &Attribute) -> bool {
    let Some(last) = attribute.path().segments.last() else { return false };
    match last.ident.to_string().as_str() {
        "test" | "bench" => true,
        "cfg" => attribute.parse_args::<Meta>().is_ok_and(|condition| is_for_tests(&condition)),
        _ => false,
    }
}

fn is_for_tests(condition: &Meta) -> bool {
    match condition {
        Meta::Path(path) => path.is_ident("test"),
        Meta::List(list) => {
            let parse = syn::punctuated::Punctuated::<Meta, syn::Token![,]>::parse_terminated;
            let Ok(inner) = list.parse_args_with(parse) else { return false };
            match () {
                () if list.path.is_ident("all") => inner.iter().any(is_for_tests),
                () if list.path.is_ident("any") => !inner.is_empty() && inner.iter().all(is_for_tests),
                () => false,
            }
        }
        Meta::NameValue(_) => false,
    }
}

/// What `#[path = "…"]` says.
fn path_of(attribute: &Attribute) -> Option<String> {
    let Meta::NameValue(given) = &attribute.meta else { return None };
    match &given.value {
        Expr::Lit(literal) if given.path.is_ident("path") => match &literal.lit {
            Lit::Str(text) => Some(text.value()),
            _ => None,
        },
        _ => None,
    }
}
