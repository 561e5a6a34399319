//! `#[interloper::test]`.

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use quote::quote;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{
    Attribute, Error, Expr, GenericArgument, Ident, ItemFn, Lit, LitStr, Meta, MetaNameValue, PathArguments,
    ReturnType, Signature, Type,
};

/// What is in the parentheses: statements on the settings, the expected grade, and how an async test is run.
#[derive(Default)]
struct Options {
    changes: Vec<TokenStream>,
    expected: Option<TokenStream>,
    flavor: Option<LitStr>,
    workers: Option<(Ident, Expr)>,
}

pub(crate) fn expand(options: TokenStream, item: TokenStream) -> Result<TokenStream, Error> {
    let options = parse(options)?;
    let ItemFn { mut attrs, vis, sig, block } = syn::parse2(item)?;
    let of_tokio = attrs.iter().position(is_of_tokio).map(|at| attrs.remove(at));
    let must_panic = attrs.iter().position(|attribute| attribute.path().is_ident("should_panic"));
    let must_panic = must_panic.map(|at| says_of_panic(&attrs.remove(at))).transpose()?;
    if sig.ident == "main" {
        return Err(Error::new_spanned(&sig.ident, NOT_MAIN));
    }
    if !sig.inputs.is_empty() || !sig.generics.params.is_empty() {
        return Err(Error::new_spanned(&sig.inputs, "a test takes no parameters"));
    }
    let (name, output) = (&sig.ident, &sig.output);
    let marked = marked_blocks(quote!(#block));
    let body = match &of_tokio {
        Some(of_tokio) => body_of_tokio(of_tokio, &options, &sig, &quote!(#block))?,
        None => body(&options, &sig, quote!(#block))?,
    };
    let program = match is_unit_result(output) {
        _ if must_panic.is_some() => {
            let says = must_panic.flatten().map_or_else(|| quote!(""), |says| quote!(#says));
            quote!(|| ::interloper::blocks::attribute::must_panic(#says, __interloper_program))
        }
        true => quote!(|| ::interloper::blocks::attribute::unit_result(__interloper_program())),
        false => quote!(__interloper_program),
    };
    let Options { changes, expected, .. } = options;
    let expected = match expected {
        Some(grade) => quote!(::core::option::Option::Some(::interloper::blocks::Grade::#grade)),
        None => quote!(::core::option::Option::None),
    };
    // Names of items are not hygienic: the body may call a function of the user that is called `program`.
    Ok(quote! {
        #(#attrs)*
        #[::core::prelude::v1::test]
        #vis fn #name() {
            fn __interloper_program() #output #body
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
        }
    })
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
                       critical_sections, inferred_blocks, threads_must_end, check_determinism, allow_trivial, fresh_statics, cancel, flavor, worker_threads, expect";

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
mod tests {
    use super::*;

    fn text(options: TokenStream) -> String {
        expand(
            options,
            quote!(
                fn case() -> u32 {
                    1
                }
            ),
        )
        .unwrap()
        .to_string()
    }

    #[test]
    fn a_test_of_tokio_runs_on_its_runtime() {
        let expanded = |options: TokenStream, item: TokenStream| expand(options, item).map(|tokens| tokens.to_string());
        let plain = expanded(
            quote!(executions = 7),
            quote!(
                #[tokio::test]
                async fn case() -> u32 {
                    1
                }
            ),
        )
        .unwrap();
        let main = "# [tokio :: main (flavor = \"current_thread\" ,)] async fn __interloper_future () -> u32 { 1 } __interloper_future ()";
        assert!(plain.contains(main) && !plain.contains("tokio :: test"), "{plain}");
        assert!(plain.contains("settings . executions = 7 ;"), "{plain}");
        let given = quote!(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn case() {}
        );
        let given = expanded(quote!(), given).unwrap();
        assert!(given.contains("main (flavor = \"multi_thread\" , worker_threads = 2)"), "{given}");
        let paused = expanded(
            quote!(),
            quote!(
                #[tokio::test(start_paused = true)]
                async fn case() {}
            ),
        )
        .unwrap();
        assert!(paused.contains("main (flavor = \"current_thread\" , start_paused = true)"), "{paused}");
        let main = quote!(
            #[tokio::main(worker_threads = 2)]
            async fn case() {}
        );
        let main = expanded(quote!(), main).unwrap();
        assert!(
            main.contains(
                "# [tokio :: main (worker_threads = 2)] async fn __interloper_future () { } __interloper_future ()"
            ),
            "{main}"
        );
        assert!(!main.contains("current_thread"), "{main}");
        // Another attribute of that name is left alone.
        let other = expanded(
            quote!(),
            quote!(
                #[smol::test]
                async fn case() {}
            ),
        )
        .unwrap();
        assert!(other.contains("# [smol :: test]") && other.contains("Executor :: new ()"), "{other}");
        assert!(
            expanded(
                quote!(flavor = "multi_thread"),
                quote!(
                    #[tokio::test]
                    async fn case() {}
                )
            )
            .is_err()
        );
    }

    #[test]
    fn what_tokio_would_refuse_is_refused_in_one_line() {
        let refused = |item: TokenStream| expand(quote!(), item).unwrap_err().to_string();
        let main = quote!(
            #[tokio::main]
            async fn main() {}
        );
        assert_eq!(refused(main), NOT_MAIN);
        let not_async = quote!(
            #[tokio::main]
            fn case() {}
        );
        assert_eq!(refused(not_async), NOT_ASYNC);
    }

    #[test]
    fn options_change_the_settings() {
        let all = text(quote!(seed = 7, executions = 2 * N, strategy = "pos", critical_sections, expect = "bug"));
        assert!(all.contains("settings . seed = 7 ; settings . executions = 2 * N ;"), "{all}");
        assert!(all.contains("attribute :: schedule (\"pos\")"), "{all}");
        assert!(all.contains("Blocks :: CriticalSections"), "{all}");
        assert!(text(quote!(inferred_blocks)).contains("Blocks :: Inferred"));
        assert!(text(quote!(memory = "weak")).contains("attribute :: memory (\"weak\")"));
        assert!(text(quote!(freedoms = "none")).contains("attribute :: freedoms (\"none\")"));
        assert!(all.contains("Some (:: interloper :: blocks :: Grade :: Bug)"), "{all}");
        assert!(text(quote!()).contains("fn __interloper_program () -> u32 { 1 }"));
        assert!(text(quote!()).contains("Option :: None"));
        assert!(text(quote!(allow_trivial)).contains("settings . allow_trivial = true ;"));
    }

    #[test]
    fn an_error_in_place_of_nothing_fails_the_test() {
        let program = |output: TokenStream| {
            let expanded = expand(quote!(), quote!(fn case() #output { body() })).unwrap().to_string();
            assert!(expanded.contains("fn __interloper_program ()"), "{expanded}");
            expanded.contains("unit_result (__interloper_program ())")
        };
        for fails in [
            quote!(-> Result<(), Box<dyn Error>>),
            quote!(-> std::result::Result<(), String>),
            quote!(-> io::Result<()>),
            quote!(-> anyhow::Result<(), Mine>),
        ] {
            assert!(program(fails.clone()), "{fails}");
        }
        for outcome in
            [quote!(), quote!(-> u32), quote!(-> Result<u32, String>), quote!(-> Option<()>), quote!(-> Result)]
        {
            assert!(!program(outcome.clone()), "{outcome}");
        }
        let future = expand(
            quote!(),
            quote!(
                async fn case() -> io::Result<()> {
                    body().await
                }
            ),
        )
        .unwrap()
        .to_string();
        assert!(future.contains("unit_result (__interloper_program ())"), "{future}");
    }

    /// The names that the parser knows: its own source says which.
    fn names() -> Vec<&'static str> {
        let parser = include_str!("test.rs").split_once("match name.as_str() {").expect("the parser").1;
        let parser = parser.split_once("_ => Err(option.error(OPTIONS))").expect("its end").0;
        parser
            .lines()
            .filter_map(|line| line.trim().strip_prefix('"')?.split_once("\" =>"))
            .map(|(name, _)| name)
            .collect()
    }

    /// The options of the first table of a text, each with whether it is said to take a value.
    fn table(text: &str) -> Vec<(String, bool)> {
        let lines = text.lines().map(|line| line.trim_start_matches("///").trim());
        let rows =
            lines.skip_while(|line| *line != "| option | value |").skip(2).take_while(|line| line.starts_with('|'));
        let cells = rows.filter_map(|row| row.trim_matches('|').split_once('|'));
        let options = cells.flat_map(|(names, value)| {
            let takes_value = !value.trim().starts_with("no value");
            names.split('`').skip(1).step_by(2).map(move |name| (name.to_owned(), takes_value))
        });
        let mut options: Vec<(String, bool)> = options.collect();
        options.sort();
        options
    }

    #[test]
    fn the_tables_have_the_options_of_the_parser() {
        let bare = |name: &str| {
            expand(
                name.parse().expect("an option"),
                quote!(
                    fn f() {}
                ),
            )
            .is_ok()
        };
        let mut names: Vec<(String, bool)> = names().into_iter().map(|name| (name.to_owned(), !bare(name))).collect();
        names.sort();
        assert_eq!(names.len(), 20, "{names:?}");
        let (source, page) = (include_str!("lib.rs"), include_str!("../../docs/reference/tests.md"));
        let own = source.split_once("/// Turns a function into a test").expect("the attribute").1;
        assert_eq!(table(own), names);
        assert_eq!(table(page), names);
        let mut told: Vec<&str> = OPTIONS.trim_start_matches("the options are ").split(", ").collect();
        told.sort_unstable();
        assert_eq!(told, names.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>());
    }

    #[test]
    fn the_blocks_in_the_body_are_known() {
        let names = |body| marked_blocks(body).iter().map(LitStr::value).collect::<Vec<_>>();
        let body = quote!({
            let account = std::sync::Mutex::new(0);
            interloper::atomic("deposit", || atomic_returning("inner", || *account.lock()));
            thread::spawn(move || {
                if late {
                    atomic("late", work)
                }
            });
            other("none", atomic);
            atomic(name, || ());
        });
        assert_eq!(names(body), ["deposit", "inner", "late"]);
        assert_eq!(
            names(quote!({
                let atomic = ("none",);
            })),
            [""; 0]
        );
    }

    #[test]
    fn what_does_not_fit_is_an_error() {
        let error = |options, item| expand(options, item).unwrap_err().to_string();
        assert_eq!(
            error(
                quote!(sed = 7),
                quote!(
                    fn f() {}
                )
            ),
            OPTIONS
        );
        assert_eq!(
            error(
                quote!(expect = "ok"),
                quote!(
                    fn f() {}
                )
            ),
            "a grade is \"clean\", \"warning\", \"error\" or \"bug\""
        );
        assert_eq!(
            error(
                quote!(),
                quote!(
                    fn f(x: u32) {}
                )
            ),
            "a test takes no parameters"
        );
        let of = |options| {
            error(
                options,
                quote!(
                    async fn f() {}
                ),
            )
        };
        assert_eq!(of(quote!(flavor = "both")), "a flavor is \"current_thread\" or \"multi_thread\"");
        assert_eq!(of(quote!(worker_threads = 2)), "worker_threads needs flavor = \"multi_thread\"");
        assert_eq!(of(quote!(flavor = "current_thread", worker_threads = 2)), of(quote!(worker_threads = 2)));
        for options in [quote!(flavor = "multi_thread"), quote!(worker_threads = 2)] {
            assert_eq!(
                error(
                    options,
                    quote!(
                        fn f() {}
                    )
                ),
                ONLY_ASYNC
            );
        }
    }

    #[test]
    fn a_panic_that_should_come_is_not_left_to_the_harness() {
        let text = |attribute: TokenStream| expand(quote!(), quote!(#attribute fn case() { f() })).unwrap().to_string();
        for (attribute, says) in [
            (quote!(#[should_panic]), ""),
            (quote!(#[should_panic = "a"]), "a"),
            (quote!(#[should_panic(expected = "a")]), "a"),
            (quote!(#[should_panic(expected = "a",)]), "a"),
        ] {
            let text = text(attribute);
            assert!(text.contains(&format!("must_panic (\"{says}\" , __interloper_program)")), "{text}");
            assert!(!text.contains("should_panic"), "{text}");
        }
        for wrong in [quote!(#[should_panic(message = "a")]), quote!(#[should_panic(expected = 1)])] {
            assert!(expand(quote!(), quote!(#wrong fn case() { f() })).is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_async_test_runs_on_an_executor() {
        let text = |options| {
            expand(
                options,
                quote!(
                    async fn case() -> u32 {
                        1
                    }
                ),
            )
            .unwrap()
            .to_string()
        };
        let plain = text(quote!());
        assert!(
            plain.contains("fn __interloper_program () -> u32 { async fn __interloper_future () -> u32 { 1 }"),
            "{plain}"
        );
        assert!(
            plain.contains(":: interloper :: tasks :: Executor :: new () . block_on (__interloper_future ())"),
            "{plain}"
        );
        assert!(text(quote!(flavor = "current_thread")).contains("Executor :: new ()"));
        assert!(text(quote!(flavor = "multi_thread")).contains("attribute :: multi_thread (2)"));
        assert!(text(quote!(flavor = "multi_thread", worker_threads = N)).contains("attribute :: multi_thread (N)"));
        assert!(text(quote!(cancel = true)).contains("settings . cancel = true ;"));
    }
}
