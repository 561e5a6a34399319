//! What stands for the parameters of a generic type or function: a harness calls functions of one type, with values.

use proc_macro2::{Group, Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{
    Error, GenericArgument, GenericParam, Generics, LifetimeParam, Token, Type, TypeParam, TypeParamBound,
    WherePredicate, parenthesized,
};

/// What the parentheses after `with` say: `K = String, N = 4`.
#[derive(Default)]
pub struct Given(Vec<(Ident, GenericArgument)>);

/// The parameters of a type or a function, each with what stands for it.
pub struct Chosen<'a> {
    generics: &'a Generics,
    /// Without lifetimes, for which `'static` stands.
    named: Vec<(&'a GenericParam, &'a Ident, TokenStream)>,
}

impl Parse for Given {
    fn parse(input: ParseStream<'_>) -> Result<Given, Error> {
        let content;
        parenthesized!(content in input);
        let one = |input: ParseStream<'_>| {
            let name: Ident = input.parse()?;
            input.parse::<Token![=]>()?;
            Ok((name, input.parse()?))
        };
        Ok(Given(Punctuated::<_, Token![,]>::parse_terminated_with(&content, one)?.into_iter().collect()))
    }
}

impl Given {
    /// What stands for each parameter: what is given, and otherwise a number, or the hasher of std.
    pub fn choose<'a>(&self, generics: &'a Generics) -> Result<Chosen<'a>, Error> {
        let mut named = Vec::new();
        for parameter in &generics.params {
            let (name, otherwise) = match parameter {
                GenericParam::Lifetime(_) => continue,
                GenericParam::Type(of) => (&of.ident, any_type(of, generics)),
                GenericParam::Const(of) => (&of.ident, any_constant(&of.ident, &of.ty)),
            };
            let given = self.0.iter().find(|(given, _)| given == name);
            named.push((parameter, name, given.map_or(otherwise, |(_, stands)| Ok(stands.to_token_stream()))?));
        }
        Ok(Chosen { generics, named })
    }

    /// Each name that is given is one of these parameters.
    pub fn check(&self, all: &[&Generics]) -> Result<(), Error> {
        let names = |generics: &&Generics| {
            let of = |one: &GenericParam| match one {
                GenericParam::Lifetime(_) => None,
                GenericParam::Type(of) => Some(of.ident.clone()),
                GenericParam::Const(of) => Some(of.ident.clone()),
            };
            generics.params.iter().filter_map(of).collect::<Vec<_>>()
        };
        let known: Vec<Ident> = all.iter().flat_map(names).collect();
        match self.0.iter().find(|(name, _)| !known.contains(name)) {
            None => Ok(()),
            Some((name, _)) => {
                let reason =
                    format!("neither the `impl` block nor a function that harnesses call has a parameter {name}");
                Err(Error::new(name.span(), reason))
            }
        }
    }
}

impl Chosen<'_> {
    /// Items that give the parameters their names in a block. A description may use none of them, and so calls for no warning.
    pub fn items(&self) -> TokenStream {
        let item = |(parameter, name, stands): &(&GenericParam, &Ident, TokenStream)| match parameter {
            GenericParam::Const(of) => {
                let ty = &of.ty;
                quote!(#[allow(dead_code)] const #name: #ty = #stands;)
            }
            _ => quote!(#[allow(dead_code)] type #name = #stands;),
        };
        self.named.iter().map(item).collect()
    }

    /// The arguments of a call, `::<Q>`, where [`Chosen::items`] are in scope.
    pub fn arguments(&self) -> Option<TokenStream> {
        let names = self.named.iter().map(|(_, name, _)| name);
        (!self.named.is_empty()).then(|| quote!(::<#(#names),*>))
    }

    /// A type, as it is written where the parameters have no names.
    pub fn put_into(&self, ty: &Type) -> TokenStream {
        replaced(ty.to_token_stream(), &|name| {
            self.named.iter().find(|(_, parameter, _)| *parameter == name).map(|(_, _, stands)| stands.clone())
        })
    }

    /// A type with `'static` for the lifetimes among the parameters.
    pub fn without_lifetimes(&self, ty: TokenStream) -> TokenStream {
        match self.generics.lifetimes().next() {
            None => ty,
            Some(_) => self.with_static(ty),
        }
    }

    fn with_static(&self, tokens: TokenStream) -> TokenStream {
        let is_own =
            |name: &Ident| self.generics.lifetimes().any(|LifetimeParam { lifetime, .. }| lifetime.ident == *name);
        let mut after_tick = false;
        let tree = |tree| {
            let was = after_tick;
            after_tick = matches!(&tree, TokenTree::Punct(mark) if mark.as_char() == '\'');
            match tree {
                TokenTree::Ident(name) if was && is_own(&name) => TokenTree::Ident(Ident::new("static", name.span())),
                TokenTree::Group(group) => TokenTree::Group(with_stream(&group, self.with_static(group.stream()))),
                other => other,
            }
        };
        tokens.into_iter().map(tree).collect()
    }
}

/// These tokens, with others in the place of some names.
fn replaced(tokens: TokenStream, by: &dyn Fn(&Ident) -> Option<TokenStream>) -> TokenStream {
    let tree = |tree| match tree {
        TokenTree::Ident(name) => by(&name).unwrap_or_else(|| name.into_token_stream()),
        TokenTree::Group(group) => with_stream(&group, replaced(group.stream(), by)).into_token_stream(),
        other => other.into_token_stream(),
    };
    tokens.into_iter().map(tree).collect()
}

fn with_stream(group: &Group, stream: TokenStream) -> Group {
    let mut new = Group::new(group.delimiter(), stream);
    new.set_span(group.span());
    new
}

/// What stands for a type of which the description says nothing.
fn any_type(of: &TypeParam, generics: &Generics) -> Result<TokenStream, Error> {
    let bounds = bounds(of, generics);
    let asks_for = |names: &[&str]| {
        let is_one = |bound: &&&TypeParamBound| match bound {
            TypeParamBound::Trait(bound) => {
                bound.path.segments.last().is_some_and(|last| names.iter().any(|name| last.ident == name))
            }
            _ => false,
        };
        bounds.iter().any(|bound| is_one(&bound))
    };
    let (name, span) = (&of.ident, of.ident.span());
    if asks_for(&["Fn", "FnMut", "FnOnce"]) {
        return Err(Error::new(span, format!("a harness passes values, and {name} is a function")));
    }
    if asks_for(&["BuildHasher"]) {
        return Ok(quote_spanned!(span=> ::std::collections::hash_map::RandomState));
    }
    Ok(quote_spanned!(span=> u64))
}

/// What is asked of a type, beside its name and in the `where` clause.
fn bounds<'a>(of: &'a TypeParam, generics: &'a Generics) -> Vec<&'a TypeParamBound> {
    let is_of = |ty: &Type| matches!(ty, Type::Path(path) if path.path.is_ident(&of.ident));
    let clauses = generics.where_clause.iter().flat_map(|clause| &clause.predicates);
    let of_clauses = clauses.filter_map(|predicate| match predicate {
        WherePredicate::Type(asked) if is_of(&asked.bounded_ty) => Some(&asked.bounds),
        _ => None,
    });
    of.bounds.iter().chain(of_clauses.flatten()).collect()
}

/// What stands for a constant of which the description says nothing: a small size.
fn any_constant(name: &Ident, ty: &Type) -> Result<TokenStream, Error> {
    let integers = ["u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize"];
    match ty {
        Type::Path(path) if integers.iter().any(|integer| path.path.is_ident(integer)) => {
            Ok(quote_spanned!(ty.span()=> 2))
        }
        _ => Err(Error::new(name.span(), format!("say what stands for this parameter: with({name} = …)"))),
    }
}
