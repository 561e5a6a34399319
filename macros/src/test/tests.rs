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
fn attributes_in_the_body_stand_before_the_function() {
    let expanded = |item| expand(quote!(every_test), item).unwrap().to_string();
    let inside = expanded(quote!(
        #[inline]
        fn case() {
            #![allow(unused)]
            body()
        }
    ));
    assert!(inside.starts_with("# [inline] # [allow (unused)] #"), "{inside}");
    // One of a block in the body stays there.
    let deeper = expanded(quote!(
        fn case() {
            {
                #![allow(unused)]
                body()
            }
        }
    ));
    assert!(deeper.contains("{ # ! [allow (unused)] body () }"), "{deeper}");
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
    for outcome in [quote!(), quote!(-> u32), quote!(-> Result<u32, String>), quote!(-> Option<()>), quote!(-> Result)]
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
    let parser = include_str!("../test.rs").split_once("match name.as_str() {").expect("the parser").1;
    let parser = parser.split_once("_ => Err(option.error(OPTIONS))").expect("its end").0;
    parser.lines().filter_map(|line| line.trim().strip_prefix('"')?.split_once("\" =>")).map(|(name, _)| name).collect()
}

/// The options of the first table of a text, each with whether it is said to take a value.
fn table(text: &str) -> Vec<(String, bool)> {
    let lines = text.lines().map(|line| line.trim_start_matches("///").trim());
    let rows = lines.skip_while(|line| *line != "| option | value |").skip(2).take_while(|line| line.starts_with('|'));
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
    assert_eq!(names.len(), 21, "{names:?}");
    let (source, page) = (include_str!("../lib.rs"), include_str!("../../../docs/reference/tests.md"));
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
    assert_eq!(
        error(
            quote!(every_test),
            quote!(
                fn main<'a, T>() {}
            )
        ),
        "a test takes no parameters"
    );
    assert!(
        super::expand(
            quote!(every_test),
            quote!(
                fn main<'a>() {}
            )
        )
        .is_ok()
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
