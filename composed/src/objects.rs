//! Finds the objects that a workspace describes: `impl` blocks with `#[interloper::object]`.

use std::path::PathBuf;

use proc_macro2::TokenTree;
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Attribute, Item, ItemImpl, Meta, PathArguments, Type};

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
    /// The type, as an expression in the module names it before `::`.
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
    let (ty, own_name) = (called(block), type_name(block));
    let start = attribute.span().start();
    let access = match &module.whole {
        None => Err("its module is a part of a file: describe it in a module that is a file".to_owned()),
        Some(file) => Ok(Access { root: one.root.clone(), file: file.clone(), module: path(one, number), ty }),
    };
    Described {
        package: packages[one.package].name.clone(),
        name: name(attribute).unwrap_or(own_name),
        place: files::place(&module.file, start.line, start.column + 1),
        access,
    }
}

/// The type of a block, before `::` in an expression. If the block has parameters, the compiler finds what stands for them: only one
/// `impl` block of the type has a function `object`.
fn called(block: &ItemImpl) -> String {
    let mut ty = (*block.self_ty).clone();
    let text = |ty: &Type| ty.to_token_stream().to_string().replace(' ', "");
    match &mut ty {
        Type::Path(path) if !block.generics.params.is_empty() => {
            if let Some(last) = path.path.segments.last_mut() {
                last.arguments = PathArguments::None;
            }
            text(&ty)
        }
        _ => format!("<{}>", text(&ty)),
    }
}

/// The name of an object without a name of its own.
fn type_name(block: &ItemImpl) -> String {
    match &*block.self_ty {
        Type::Path(path) => path.path.segments.last().map(|last| last.ident.unraw().to_string()),
        _ => None,
    }
    .unwrap_or_else(|| block.self_ty.to_token_stream().to_string().replace(' ', ""))
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

/// The text of `name = "…"`.
fn name(attribute: &Attribute) -> Option<String> {
    let Meta::List(list) = &attribute.meta else { return None };
    let mut tokens: Vec<TokenTree> = list.tokens.clone().into_iter().collect();
    if attribute.path().is_ident("cfg_attr") {
        // The options are in the parentheses after the attribute, which comes last.
        let TokenTree::Group(options) = tokens.pop()? else { return None };
        tokens = options.stream().into_iter().collect();
    }
    tokens.windows(3).find_map(|three| match three {
        [TokenTree::Ident(word), TokenTree::Punct(is), TokenTree::Literal(text)]
            if word == "name" && is.as_char() == '=' =>
        {
            Some(text.to_string().trim_matches('"').to_owned())
        }
        _ => None,
    })
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
             #[interloper::object]\n    impl Hidden {}\n}\n#[interloper::object]\nimpl<T> Generic<T> {}\n\
             #[interloper::object(new = name::of(name))]\nimpl of::Generic<u64> {}\n",
        );
        write(
            "inner.rs",
            "#[cfg_attr(test, interloper::object)]\nimpl Counter {}\n#[other::object]\nimpl Not {}\n\
             #[cfg_attr(test, interloper::object(name = \"last\"))]\nimpl Last {}\n",
        );
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
        assert_eq!(
            shown,
            [
                ("account", "lib.rs:2".to_owned(), Ok(("", "<Account>"))),
                ("Generic", "lib.rs:9".to_owned(), Ok(("", "Generic"))),
                ("Generic", "lib.rs:11".to_owned(), Ok(("", "<of::Generic<u64>>"))),
                ("Counter", "inner.rs:1".to_owned(), Ok(("inner", "<Counter>"))),
                ("last", "inner.rs:5".to_owned(), Ok(("inner", "<Last>"))),
                ("Hidden", "lib.rs:6".to_owned(), part),
            ]
        );
    }
}
