//! `#[interloper::test]`.

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use quote::quote;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{
    AttrStyle, Attribute, Error, Expr, GenericArgument, GenericParam, Ident, ItemFn, Lit, LitStr, Meta, MetaNameValue,
    PathArguments, ReturnType, Signature, Type,
};

/// What is in the parentheses: statements on the settings, the expected grade, and how an async test is run.
#[derive(Default)]
struct Options {
    changes: Vec<TokenStream>,
    expected: Option<TokenStream>,
    flavor: Option<LitStr>,
    workers: Option<(Ident, Expr)>,
    every_test: bool,
}

pub(crate) fn expand(options: TokenStream, item: TokenStream) -> Result<TokenStream, Error> {
    let options = parse(options)?;
    let ItemFn { mut attrs, vis, sig, block } = syn::parse2(item)?;
    attrs.iter_mut().for_each(stand_before);
    let of_tokio = attrs.iter().position(is_of_tokio).map(|at| attrs.remove(at));
    let must_panic = attrs.iter().position(|attribute| attribute.path().is_ident("should_panic"));
    let must_panic = must_panic.map(|at| says_of_panic(&attrs.remove(at))).transpose()?;
    if sig.ident == "main" && !options.every_test {
        return Err(Error::new_spanned(&sig.ident, NOT_MAIN));
    }
    // std's attribute, too, takes lifetimes.
    let is_lifetime = |parameter: &GenericParam| matches!(parameter, GenericParam::Lifetime(_));
    if !sig.inputs.is_empty() || !sig.generics.params.iter().all(is_lifetime) {
        return Err(Error::new_spanned(&sig.inputs, "a test takes no parameters"));
    }
    let (name, output, generics) = (&sig.ident, &sig.output, &sig.generics);
    let marked = marked_blocks(quote!(#block));
    let body = match &of_tokio {
        Some(of_tokio) => body_of_tokio(of_tokio, &options, &sig, &quote!(#block))?,
        None => body(&options, &sig, quote!(#block))?,
    };
    let program = match must_panic {
        Some(says) => {
            let says = says.map_or_else(|| quote!(""), |says| quote!(#says));
            quote!(|| ::interloper::blocks::attribute::must_panic(#says, __interloper_program))
        }
        None if is_unit_result(output) => {
            quote!(|| ::interloper::blocks::attribute::unit_result(__interloper_program()))
        }
        None if matches!(output, ReturnType::Default) => quote!(__interloper_program),
        // Nobody wrote the test for Interloper: what it returns means what it means to std.
        None if options.every_test => quote!(|| {
            use ::interloper::blocks::attribute::{Ended, WithStatus as _};
            Ended::new(__interloper_program()).outcome()
        }),
        None => quote!(|| {
            use ::interloper::blocks::attribute::{Ended, WithOutcome as _, WithStatus as _};
            Ended::new(__interloper_program()).outcome()
        }),
    };
    let Options { changes, expected, every_test, .. } = options;
    // A test that another one calls is a part of that one's program, which may use what it returns.
    let returns = every_test && sig.asyncness.is_none() && is_unit_result(output);
    let called = every_test.then(|| {
        let result = quote!(__interloper_program());
        let result = if returns { result } else { quote!(::core::mem::drop(#result)) };
        quote! {
            if ::interloper::blocks::attribute::is_called_by_a_test() {
                return #result;
            }
        }
    });
    let (declared, passed) = match returns {
        true => (quote!(#generics () #output), Some(quote!(::core::result::Result::Ok(())))),
        false => (quote!(()), None),
    };
    let expected = match expected {
        Some(grade) => quote!(::core::option::Option::Some(::interloper::blocks::Grade::#grade)),
        None => quote!(::core::option::Option::None),
    };
    // Names of items are not hygienic: the body may call a function of the user that is called `program`.
    Ok(quote! {
        #(#attrs)*
        #[::interloper::blocks::attribute::std_test]
        #vis fn #name #declared {
            fn __interloper_program #generics () #output #body
            #called
            ::interloper::blocks::attribute::test(
                &::interloper::blocks::attribute::Site {
                    name: ::core::concat!(::core::module_path!(), "::", ::core::stringify!(#name)),
                    file: ::core::file!(),
                    manifest: ::core::env!("CARGO_MANIFEST_DIR"),
                },
                |settings| {
                    settings.marked.extend_from_slice(&[#(#marked),*]);
                    #(#changes)*
                },
                #expected,
                #program,
            );
            #passed
        }
    })
}

/// An attribute at the beginning of a body (`#![allow(…)]`) is one of the function, and may stand before it, too.
pub(crate) fn stand_before(attribute: &mut Attribute) {
    attribute.style = AttrStyle::Outer;
}

/// What the panic must contain that `#[should_panic]` asks for, if it says so. The attribute is not left to the harness of the tests, for
/// which any failure of a check would be such a panic.
fn says_of_panic(attribute: &Attribute) -> Result<Option<LitStr>, Error> {
    let text = |value: &Expr| match value {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Str(text) => Ok(Some(text.clone())),
            other => Err(Error::new_spanned(other, "what the panic contains is a text")),
        },
        other => Err(Error::new_spanned(other, "what the panic contains is a text")),
    };
    match &attribute.meta {
        Meta::Path(_) => Ok(None),
        Meta::NameValue(MetaNameValue { value, .. }) => text(value),
        Meta::List(list) => {
            let all = list.parse_args_with(Punctuated::<MetaNameValue, syn::Token![,]>::parse_terminated)?;
            let Some(expected) = all.first().filter(|_| all.len() == 1) else {
                return Err(Error::new_spanned(list, "write #[should_panic(expected = \"…\")]"));
            };
            if !expected.path.is_ident("expected") {
                return Err(Error::new_spanned(&expected.path, "write #[should_panic(expected = \"…\")]"));
            }
            text(&expected.value)
        }
    }
}

/// Whether a test returns a `Result` of `()`, under this or another module's name (`io::Result<()>`): as with std's attribute, its error
/// fails the test. Other results are part of the outcome.
fn is_unit_result(output: &ReturnType) -> bool {
    let ReturnType::Type(_, output) = output else { return false };
    let Type::Path(path) = &**output else { return false };
    let Some(last) = path.path.segments.last() else { return false };
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return false };
    last.ident == "Result"
        && matches!(arguments.args.first(), Some(GenericArgument::Type(Type::Tuple(first))) if first.elems.is_empty())
}

/// The body of the program: that of the test, on an executor if the test is async.
fn body(options: &Options, sig: &Signature, block: TokenStream) -> Result<TokenStream, Error> {
    if sig.asyncness.is_none() {
        return match options {
            Options { flavor: Some(flavor), .. } => Err(Error::new(flavor.span(), ONLY_ASYNC)),
            Options { workers: Some((name, _)), .. } => Err(Error::new(name.span(), ONLY_ASYNC)),
            _ => Ok(block),
        };
    }
    let executor = executor(options)?;
    let output = match &sig.output {
        ReturnType::Default => quote!(()),
        ReturnType::Type(_, output) => quote!(#output),
    };
    Ok(quote!({
        async fn __interloper_future() -> #output #block
        #executor.block_on(__interloper_future())
    }))
}

/// Without the harness of the tests, the function is not there.
const NOT_MAIN: &str = "a test cannot be the main function: write a test of another name that calls main()";

/// Whether an attribute is `#[tokio::test]` or `#[tokio::main]`.
fn is_of_tokio(attribute: &Attribute) -> bool {
    let names: Vec<String> = attribute.path().segments.iter().map(|segment| segment.ident.to_string()).collect();
    names.len() == 2 && names[0] == "tokio" && ["test", "main"].contains(&names[1].as_str())
}

/// The body of a test of tokio: on the runtime that its attribute asks for.
fn body_of_tokio(
    of_tokio: &Attribute,
    options: &Options,
    sig: &Signature,
    block: &TokenStream,
) -> Result<TokenStream, Error> {
    let own = options.flavor.as_ref().map(LitStr::span).or(options.workers.as_ref().map(|(name, _)| name.span()));
    if let Some(span) = own {
        return Err(Error::new(span, "the runtime is tokio's: give this option to the attribute of tokio"));
    }
    if sig.asyncness.is_none() {
        return Err(Error::new_spanned(sig.fn_token, NOT_ASYNC));
    }
    let of_main = of_tokio.path().segments.last().is_some_and(|last| last.ident == "main");
    let given = match &of_tokio.meta {
        Meta::List(list) => list.tokens.clone(),
        _ => TokenStream::new(),
    };
    // Unless they say otherwise, a test has the runtime with one thread, and `tokio::main` that with several.
    let says_flavor = |token: TokenTree| matches!(token, TokenTree::Ident(name) if name == "flavor");
    let is_default = !of_main && !given.clone().into_iter().any(says_flavor);
    let flavor = is_default.then(|| quote!(flavor = "current_thread",));
    // The crate as the test names it.
    let mut main = of_tokio.path().clone();
    main.segments.iter_mut().next_back().expect("it has two names").ident = Ident::new("main", Span::call_site());
    let output = &sig.output;
    Ok(quote!({
        #[#main(#flavor #given)]
        async fn __interloper_future() #output #block
        __interloper_future()
    }))
}

const NOT_ASYNC: &str = "an attribute of tokio is for async functions: write `async fn`, or remove the attribute";

const ONLY_ASYNC: &str = "flavor and worker_threads are for async tests: write `async fn`, or remove the option";

/// The executor of an async test.
fn executor(options: &Options) -> Result<TokenStream, Error> {
    let current_thread = quote!(::interloper::tasks::Executor::new());
    match (options.flavor.as_ref().map(LitStr::value).as_deref(), &options.workers) {
        (None | Some("current_thread"), None) => Ok(current_thread),
        (None | Some("current_thread"), Some((name, _))) => {
            Err(Error::new(name.span(), "worker_threads needs flavor = \"multi_thread\""))
        }
        (Some("multi_thread"), workers) => {
            let workers = workers.as_ref().map_or_else(|| quote!(2), |(_, workers)| quote!(#workers));
            Ok(quote!(::interloper::blocks::attribute::multi_thread(#workers)))
        }
        (Some(_), _) => {
            let flavor = options.flavor.as_ref().expect("it has a text");
            Err(Error::new(flavor.span(), "a flavor is \"current_thread\" or \"multi_thread\""))
        }
    }
}

/// The names of the blocks that a test marks itself: the text behind `atomic(` and `atomic_returning(`. Each must run.
fn marked_blocks(body: TokenStream) -> Vec<LitStr> {
    let tokens: Vec<TokenTree> = body.into_iter().collect();
    let mut names = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let TokenTree::Group(group) = token else { continue };
        let marks = |token: &TokenTree| matches!(token, TokenTree::Ident(name) if name == "atomic" || name == "atomic_returning");
        if group.delimiter() == Delimiter::Parenthesis && at > 0 && marks(&tokens[at - 1]) {
            let first = group.stream().into_iter().next();
            names.extend(first.and_then(|first| syn::parse2::<LitStr>(first.into()).ok()));
        }
        names.extend(marked_blocks(group.stream()));
    }
    names
}

const OPTIONS: &str = "the options are strategy, freedoms, memory, preempt, seed, executions, serial_executions, jobs, time_ms, steps, \
                       critical_sections, inferred_blocks, threads_must_end, check_determinism, allow_trivial, every_test, fresh_statics, cancel, flavor, worker_threads, expect";

fn parse(options: TokenStream) -> Result<Options, Error> {
    let mut parsed = Options::default();
    let parser = syn::meta::parser(|option| {
        let Some(name) = option.path.get_ident().map(|name| name.to_string()) else {
            return Err(option.error(OPTIONS));
        };
        let value = || option.value()?.parse::<Expr>();
        let change = match name.as_str() {
            "seed" => value().map(|value| quote!(settings.seed = #value;)),
            "executions" => value().map(|value| quote!(settings.executions = #value;)),
            "serial_executions" => value().map(|value| quote!(settings.serial_executions = #value;)),
            "strategy" => {
                value().map(|value| quote!(settings.schedule = ::interloper::blocks::attribute::schedule(#value);))
            }
            "freedoms" => value().map(|value| {
                quote!(settings.freedoms = ::core::option::Option::Some(::interloper::blocks::attribute::freedoms(#value));)
            }),
            "memory" => value().map(|value| {
                quote!(settings.memory = ::core::option::Option::Some(::interloper::blocks::attribute::memory(#value));)
            }),
            "preempt" => {
                value().map(|value| quote!(settings.preempt = ::interloper::blocks::attribute::preempt(#value);))
            }
            "jobs" => value().map(|value| quote!(settings.jobs = ::interloper::blocks::attribute::jobs(#value);)),
            "time_ms" => value().map(|value| {
                quote!(settings.time = ::core::option::Option::Some(::core::time::Duration::from_millis(#value));)
            }),
            "steps" => value()
                .map(|value| quote!(settings.steps = ::interloper::blocks::StepBound::FailAfter(#value);)),
            "critical_sections" => Ok(quote!(settings.blocks = ::interloper::blocks::Blocks::CriticalSections;)),
            "inferred_blocks" => Ok(quote!(settings.blocks = ::interloper::blocks::Blocks::Inferred;)),
            "threads_must_end" => Ok(quote!(settings.detached = ::interloper::blocks::Detached::MustEnd;)),
            "check_determinism" => Ok(quote!(settings.check_determinism = true;)),
            "allow_trivial" => Ok(quote!(settings.allow_trivial = true;)),
            "every_test" => {
                parsed.every_test = true;
                Ok(quote!(::interloper::blocks::attribute::every_test(settings);))
            }
            "fresh_statics" => {
                Ok(quote!(settings.fresh_statics = ::interloper::blocks::attribute::own_crate(::core::module_path!());))
            }
            "cancel" => {
                value().map(|value| quote!(settings.cancel = #value;))
            }
            "flavor" => {
                parsed.flavor = Some(option.value()?.parse()?);
                return Ok(());
            }
            "worker_threads" => {
                let name = option.path.get_ident().expect("it has a name").clone();
                parsed.workers = Some((name, value()?));
                return Ok(());
            }
            "expect" => {
                parsed.expected = Some(grade(&option.value()?.parse()?)?);
                return Ok(());
            }
            _ => Err(option.error(OPTIONS)),
        };
        parsed.changes.push(change?);
        Ok(())
    });
    parser.parse2(options)?;
    Ok(parsed)
}

fn grade(text: &LitStr) -> Result<TokenStream, Error> {
    match text.value().as_str() {
        "clean" => Ok(quote!(Clean)),
        "warning" => Ok(quote!(Warning)),
        "error" => Ok(quote!(Error)),
        "bug" => Ok(quote!(Bug)),
        _ => Err(Error::new(text.span(), "a grade is \"clean\", \"warning\", \"error\" or \"bug\"")),
    }
}

#[cfg(test)]
mod tests;
