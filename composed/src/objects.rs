//! Finds the objects that a workspace describes: `impl` blocks with `#[interloper::object]`.

use std::path::PathBuf;

use proc_macro2::TokenTree;
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{Attribute, Item, ItemImpl, Meta};

use crate::files::{self, Crate, Module};
use crate::operation::{Place, Unread};
use crate::options::{Options, Package};

/// An object that is described in place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Described {
    /// The package.
    pub package: String,
    /// The name of the object: that of its type, unless the description gives it one.
    pub name: String,
    /// Where its description is.
    pub place: Place,
    /// How its description is called from the end of its file, or why it cannot be.
    pub access: Result<Access, String>,
}

/// How a description is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// The first file of the crate.
    pub root: PathBuf,
    /// The file of the module, which is the whole of it.
    pub file: PathBuf,
    /// The path of the module in its crate; empty for the root.
    pub module: String,
    /// The type, as the module names it.
    pub ty: String,
}

/// The objects that packages describe, in the order of packages, files and lines, and what could not be read.
pub fn objects(packages: &[Package], options: &Options) -> (Vec<Described>, Vec<Unread>) {
    let read = files::read(packages, options);
    let mut all = Vec::new();
    for one in &read.crates {
        for (number, module) in one.modules.iter().enumerate() {
            for item in &module.items {
                if let Item::Impl(block) = item
                    && let Some(attribute) = block.attrs.iter().find(|attribute| describes(attribute))
                {
                    all.push(described(packages, one, number, module, block, attribute));
                }
            }
        }
    }
    (all, read.unread)
}

fn described(
    packages: &[Package],
    one: &Crate,
    number: usize,
    module: &Module,
    block: &ItemImpl,
    attribute: &Attribute,
) -> Described {
    let ty = block.self_ty.to_token_stream().to_string().replace(' ', "");
    let start = attribute.span().start();
    let access = match &module.whole {
        _ if !block.generics.params.is_empty() => {
            Err("its type has parameters: describe the object of one type".to_owned())
        }
        None => Err("its module is a part of a file: describe it in a module that is a file".to_owned()),
        Some(file) => {
            Ok(Access { root: one.root.clone(), file: file.clone(), module: path(one, number), ty: ty.clone() })
        }
    };
    Described {
        package: packages[one.package].name.clone(),
        name: name(attribute).unwrap_or(ty),
        place: files::place(&module.file, start.line, start.column + 1),
        access,
    }
}

/// The path of a module in its crate.
fn path(one: &Crate, number: usize) -> String {
    let above = std::iter::successors(Some(number), |number| one.modules[*number].parent);
    let mut names: Vec<&str> = above.map(|number| one.modules[number].name.as_str()).collect();
    // The root has no name.
    names.pop();
    names.reverse();
    names.join("::")
}

/// Whether an attribute is `#[interloper::object]`, perhaps in `cfg_attr`, or `#[object]` after an import.
fn describes(attribute: &Attribute) -> bool {
    let path = attribute.path();
    let last = path.segments.last().is_some_and(|last| last.ident == "object");
    let ours = path.segments.first().is_some_and(|first| first.ident == "interloper") || path.segments.len() == 1;
    let in_condition = || match &attribute.meta {
        Meta::List(list) if path.is_ident("cfg_attr") => {
            let text = list.tokens.to_string().replace(' ', "");
            text.contains("interloper::object")
        }
        _ => false,
    };
    last && ours || in_condition()
}

/// What follows `name =`.
fn name(attribute: &Attribute) -> Option<String> {
    let Meta::List(list) = &attribute.meta else { return None };
    let mut tokens = list.tokens.clone().into_iter();
    tokens.find(|token| matches!(token, TokenTree::Ident(word) if word == "name"))?;
    let text = tokens.nth(1)?.to_string();
    Some(text.trim_matches('"').to_owned())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn descriptions_are_found_where_they_are() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("a file");
        write(
            "lib.rs",
            "mod inner;\n#[interloper::object(name = \"account\")]\nimpl Account {}\nimpl Other {}\nmod part {\n    \
             #[interloper::object]\n    impl Hidden {}\n}\n#[interloper::object]\nimpl<T> Generic<T> {}\n",
        );
        write("inner.rs", "#[cfg_attr(test, interloper::object)]\nimpl Counter {}\n#[other::object]\nimpl Not {}\n");
        let root = folder.path().join("lib.rs");
        let packages = [Package { name: "bank".to_owned(), crates: vec![("bank".to_owned(), root.clone())] }];
        let options = Options { base: folder.path().to_owned(), ..Options::default() };
        let (found, unread) = objects(&packages, &options);
        assert_eq!(unread, []);
        let shown = found
            .iter()
            .map(|one| {
                let access = one.access.as_ref().map(|access| (access.module.as_str(), access.ty.as_str()));
                let place = format!("{}:{}", one.place.file, one.place.line);
                (one.name.as_str(), place, access.map_err(String::as_str))
            })
            .collect::<Vec<_>>();
        let part = Err("its module is a part of a file: describe it in a module that is a file");
        let generic = Err("its type has parameters: describe the object of one type");
        assert_eq!(
            shown,
            [
                ("account", "lib.rs:2".to_owned(), Ok(("", "Account"))),
                ("Generic<T>", "lib.rs:9".to_owned(), generic),
                ("Counter", "inner.rs:1".to_owned(), Ok(("inner", "Counter"))),
                ("Hidden", "lib.rs:6".to_owned(), part),
            ]
        );
    }
}
