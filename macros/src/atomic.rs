//! `#[interloper::atomic]`.

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::Parser;
use syn::{Error, ItemFn, LitStr, ReturnType};

/// What is in the parentheses.
#[derive(Default)]
struct Options {
    name: Option<LitStr>,
    ignore_result: bool,
}

pub(crate) fn expand(options: TokenStream, item: TokenStream) -> Result<TokenStream, Error> {
    let options = parse(options)?;
    let ItemFn { mut attrs, vis, sig, block } = syn::parse2(item)?;
    attrs.iter_mut().for_each(crate::test::stand_before);
    let unfit = sig.asyncness.map(|token| token.span).or(sig.constness.map(|token| token.span));
    if let Some(unfit) = unfit {
        return Err(Error::new(unfit, "the body of an async or const function cannot be an atomic block"));
    }
    let name = options.name.unwrap_or_else(|| LitStr::new(&sig.ident.to_string(), sig.ident.span()));
    // The type of a closure's result cannot be an `impl Trait`.
    let output = match &sig.output {
        ReturnType::Type(arrow, output) if !mentions_impl(output.to_token_stream()) => quote!(#arrow #output),
        _ => quote!(),
    };
    let returns = matches!(sig.output, ReturnType::Type(..)) && !options.ignore_result;
    // Found by value where the type has a form as a value; otherwise the other one is found, behind one more reference.
    let note = returns.then(|| {
        quote! {
            #[allow(unused_imports)]
            use ::interloper::blocks::attribute::{NoValue as _, WithValue as _};
            (&::interloper::blocks::attribute::Returned(&__result)).note(&__block);
        }
    });
    Ok(quote! {
        #(#attrs)*
        #vis #sig {
            let __block = ::interloper::blocks::attribute::enter(#name);
            // In a closure a return is one from the block.
            #[allow(clippy::redundant_closure_call)]
            let __result = (move || #output #block)();
            #note
            __result
        }
    })
}

fn parse(options: TokenStream) -> Result<Options, Error> {
    let mut parsed = Options::default();
    let parser = syn::meta::parser(|option| {
        if option.path.is_ident("name") {
            parsed.name = Some(option.value()?.parse()?);
        } else if option.path.is_ident("ignore_result") {
            parsed.ignore_result = true;
        } else {
            return Err(option.error("the options are name = \"…\" and ignore_result"));
        }
        Ok(())
    });
    parser.parse2(options)?;
    Ok(parsed)
}

fn mentions_impl(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(name) => name == "impl",
        TokenTree::Group(group) => mentions_impl(group.stream()),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(options: TokenStream, item: TokenStream) -> String {
        expand(options, item).unwrap_err().to_string()
    }

    #[test]
    fn the_block_is_named_after_the_function() {
        let text = |options| {
            expand(
                options,
                quote!(
                    pub fn withdraw(self) -> u32 {
                        1
                    }
                ),
            )
            .unwrap()
            .to_string()
        };
        assert!(text(quote!()).contains("enter (\"withdraw\")"));
        assert!(text(quote!()).contains("(move || -> u32 { 1 })"));
        assert!(text(quote!(name = "other")).contains("enter (\"other\")"));
        assert!(text(quote!()).contains("note (& __block)"));
        assert!(!text(quote!(ignore_result)).contains("note"));
    }

    #[test]
    fn a_type_that_closures_cannot_return_is_left_out() {
        let text = expand(
            quote!(),
            quote!(
                fn all() -> Box<impl Iterator> {
                    todo
                }
            ),
        );
        assert!(text.unwrap().to_string().contains("(move || { todo })"));
    }

    #[test]
    fn what_does_not_fit_is_an_error() {
        let unfit = "the body of an async or const function cannot be an atomic block";
        assert_eq!(
            error(
                quote!(),
                quote!(
                    async fn later() {}
                )
            ),
            unfit
        );
        assert_eq!(
            error(
                quote!(),
                quote!(
                    const fn early() {}
                )
            ),
            unfit
        );
        assert_eq!(
            error(
                quote!(nam = "x"),
                quote!(
                    fn f() {}
                )
            ),
            "the options are name = \"…\" and ignore_result"
        );
        assert!(
            !error(
                quote!(),
                quote!(
                    struct Item;
                )
            )
            .is_empty()
        );
    }
}
