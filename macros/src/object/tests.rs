use super::*;

fn text(options: TokenStream, functions: TokenStream) -> String {
    expand(options, quote!(impl Set { #functions })).unwrap().to_string()
}

/// The error of a block with these functions.
fn error(functions: TokenStream) -> String {
    expand(quote!(), quote!(impl Set { #functions })).unwrap_err().to_string()
}

/// The error of a block with a constructor and this.
fn method_error(method: TokenStream) -> String {
    error(quote!(#[constructor] fn new() -> Set { Set } #method))
}

#[test]
fn marks_are_taken_off_and_what_is_not_marked_is_left_alone() {
    let text = text(
        quote!(),
        quote! {
            #[constructor] pub fn new() -> Set { Set }
            #[inline] #[core(reads)] fn has(&self, item: i64) -> bool { true }
            #[method] fn size(&self) -> usize { 0 }
            fn helper(&mut self) {}
        },
    );
    // The body of a method says where its calls begin and end; nothing else is changed.
    assert!(
        text.starts_with(
            "impl Set { pub fn new () -> Set { Set } # [inline] fn has (& self , item : i64) -> bool { \
             let _call = :: interloper :: objects :: call (\"has\") ; true } \
             fn size (& self) -> usize { let _call = :: interloper :: objects :: call (\"size\") ; 0 } \
             fn helper (& mut self) { } }"
        ),
        "{text}"
    );
    assert!(text.contains("pub fn object () -> :: interloper :: objects :: Object"), "{text}");
    assert!(text.contains("describe (\"Set\" , || -> Self { Self :: new () })"), "{text}");
    let has = ". core (\"has\" , | object : & Self , (argument1 ,) : (i64 ,) | Self :: has (object , argument1)) \
               . reads () ;";
    assert!(text.contains(has), "{text}");
    assert!(text.contains(". method (\"size\" , | object : & Self , () : () | Self :: size (object ,)) ;"), "{text}");
    assert!(!text.contains("helper (object"), "{text}");
}

#[test]
fn an_invariant_is_marked_with_or_without_the_name_of_the_crate() {
    for mark in [quote!(#[invariant]), quote!(#[interloper::invariant])] {
        let functions = quote!(#[constructor] fn new() -> Set { Set } #mark fn holds(&self) -> bool { true });
        let text = text(quote!(), functions);
        assert!(text.contains(". invariant (\"holds\" , | object : & Self | Self :: holds (object))"), "{text}");
        assert!(text.starts_with("impl Set { fn new () -> Set { Set } fn holds (& self) -> bool { true } }"), "{text}");
    }
    // It does not say which functions are methods.
    let unmarked = text(
        quote!(),
        quote!(
            pub fn new() -> Set {
                Set
            }
            pub fn add(&self, item: i64) {}
            #[invariant]
            pub fn holds(&self) -> bool {
                true
            }
        ),
    );
    assert!(unmarked.contains(". method (\"add\"") && unmarked.contains(". invariant (\"holds\""), "{unmarked}");
    assert!(!unmarked.contains(". method (\"holds\""), "{unmarked}");
    let number = method_error(quote!(
        #[invariant]
        fn size(&self) -> usize {
            0
        }
    ));
    assert_eq!(number, "an invariant says whether it holds: it returns bool");
    let more = method_error(quote!(
        #[invariant]
        fn has(&self, item: i64) -> bool {
            true
        }
    ));
    assert_eq!(more, "an invariant takes no arguments but &self");
}

#[test]
fn without_marks_all_that_is_public_is_under_test() {
    let text = text(
        quote!(),
        quote! {
            pub fn new() -> Set { Set }
            pub fn has(&self, item: i64) -> bool { true }
            pub fn grow(&mut self) {}
            fn helper(&self) {}
        },
    );
    assert!(text.contains("describe (\"Set\" , || -> Self { Self :: new () })"), "{text}");
    assert!(text.contains(". method (\"has\" , | object : & Self , (argument1 ,) : (i64 ,) |"), "{text}");
    assert!(!text.contains("grow (object") && !text.contains("helper (object"), "{text}");
    // What would be left out in silence is an error.
    let generic = quote!(
        pub fn new() -> Set {
            Set
        }
        pub fn has<F: Fn(i64) -> bool>(&self, matches: F) -> bool {
            true
        }
    );
    assert_eq!(error(generic), "a harness passes values, and F is a function");
}

#[test]
fn a_postcondition_is_no_method() {
    let text = text(
        quote!(),
        quote! {
            #[constructor] fn new() -> Set { Set }
            #[method] fn add(&self) {}
            #[postcondition] fn all(&self) -> Vec<i64> { vec![] }
        },
    );
    assert!(text.contains(". postcondition (\"all\" , | object : & Self | Self :: all (object)) ;"), "{text}");
    assert_eq!(
        method_error(quote!(
            #[postcondition]
            fn all(&self, from: i64) {}
        )),
        "a postcondition takes no arguments but &self"
    );
}

#[test]
fn options_become_calls_of_the_description() {
    let text = text(
        quote!(name = "a-set", model = model(), data_independent),
        quote! {
            #[constructor] fn new() -> Self { Set }
            #[cfg(unix)]
            #[method(name = "addAll", sees = "peer", arguments = [one()])]
            fn add_all(&self, items: &[i64]) {}
        },
    );
    assert!(text.contains("describe (\"a-set\""), "{text}");
    assert!(text.contains("description . model (model ()) ;"), "{text}");
    assert!(text.contains("description . data_independent () ;"), "{text}");
    assert!(text.contains("# [cfg (unix)] let description = description . method (\"addAll\""), "{text}");
    assert!(text.contains("(< [i64] as :: std :: borrow :: ToOwned > :: Owned ,)"), "{text}");
    let said = ". sees (:: interloper :: objects :: Level :: Peer) . arguments ([one ()]) ;";
    assert!(text.contains(said), "{text}");
    assert!(!text.contains("reads"), "{text}");
}

#[test]
fn new_makes_the_objects_unless_another_function_is_marked() {
    let made = |constructors: TokenStream| {
        let block = quote!(impl Set { #constructors #[method] fn has(&self) -> bool { true } pub fn other(&self) {} });
        let text = added(quote!(), block);
        // Only what is marked is under test.
        assert!(!text.contains("other"), "{text}");
        text
    };
    let by = |name: &str| format!("describe (\"Set\" , || -> Self {{ Self :: {name} () }})");
    assert!(
        made(quote!(
            fn new() -> Set {
                Set
            }
        ))
        .contains(&by("new"))
    );
    let both = quote!(
        pub fn new() -> Set {
            Set
        }
        #[constructor]
        fn full() -> Set {
            Set
        }
    );
    assert!(made(both).contains(&by("full")));
}

#[test]
fn a_block_that_does_not_fit_is_an_error() {
    let needs_constructor = "this object has no constructor: mark a function without parameters as #[constructor], or say what makes one: new = …";
    assert_eq!(
        error(quote!(
            #[core]
            fn get(&self) {}
        )),
        needs_constructor
    );
    let needs_methods =
        "this object has no methods: mark trusted methods as #[core] and methods under test as #[method]";
    assert_eq!(
        error(quote!(
            pub fn get(&self) {}
        )),
        needs_constructor
    );
    assert_eq!(
        method_error(quote!(
            fn get(&self) {}
        )),
        needs_methods
    );
    assert_eq!(
        method_error(quote!(
            #[constructor]
            fn other() {}
        )),
        "an object has exactly one constructor: `new = …` or a function marked as #[constructor]"
    );
    let both =
        "a function has only one of the marks #[constructor], #[core], #[method], #[postcondition] and #[invariant]";
    assert_eq!(
        method_error(quote!(
            #[core]
            #[method]
            fn get(&self) {}
        )),
        both
    );
    let of_trait = expand(quote!(), quote!(impl Clone for Set {})).unwrap_err().to_string();
    assert_eq!(of_trait, "an object is described on an `impl` block of the type, not of a trait");
    assert!(
        expand(
            quote!(),
            quote!(
                struct Set;
            )
        )
        .is_err()
    );
}

#[test]
fn an_unknown_option_is_an_error() {
    let object = expand(quote!(modle = 1), quote!(impl Set {})).unwrap_err().to_string();
    assert_eq!(object, "the options are name = \"…\", new = …, with(T = …), model = … and data_independent");
    let method = "the options are name = \"…\", reads, sees = \"…\" and arguments = […]";
    assert_eq!(
        method_error(quote!(
            #[core(read)]
            fn get(&self) {}
        )),
        method
    );
    let levels = "a level is \"weak\", \"basic\", \"monotonic\", \"peer\", \"causal\" or \"complete\"";
    assert_eq!(
        method_error(quote!(
            #[core(sees = "strong")]
            fn get(&self) {}
        )),
        levels
    );
    assert!(
        error(quote!(
            #[constructor(reads)]
            fn new() {}
        ))
        .starts_with("unexpected token")
    );
}

#[test]
fn a_function_that_harnesses_cannot_call_is_an_error() {
    let shared = "a method of a concurrent object takes &self";
    assert_eq!(
        method_error(quote!(
            #[method]
            fn get(&mut self) {}
        )),
        shared
    );
    assert_eq!(
        method_error(quote!(
            #[method]
            fn get(self) {}
        )),
        shared
    );
    assert_eq!(
        method_error(quote!(
            #[method]
            fn get(self: &Arc<Self>) {}
        )),
        shared
    );
    assert_eq!(
        method_error(quote!(
            #[method]
            fn get(item: i64) {}
        )),
        shared
    );
    assert_eq!(
        method_error(quote!(
            #[method]
            fn get() {}
        )),
        shared
    );
    let parameters = "a constructor takes no parameters: every object starts in the same state";
    assert_eq!(
        error(quote!(
            #[constructor]
            fn new(size: usize) {}
        )),
        parameters
    );
    let is_async = "a harness cannot call an async function";
    assert_eq!(
        method_error(quote!(
            #[method]
            async fn get(&self) {}
        )),
        is_async
    );
    assert_eq!(
        error(quote!(
            #[constructor]
            unsafe fn new() {}
        )),
        "a harness cannot call an unsafe function"
    );
    let generic = "a harness cannot call a function with generic parameters";
    assert_eq!(
        error(quote!(
            #[constructor]
            fn new<T>() {}
        )),
        generic
    );
    assert_eq!(
        method_error(quote!(
            #[postcondition]
            fn all<T>(&self) -> Vec<T> {
                vec![]
            }
        )),
        generic
    );
    let any = "a harness must know the concrete type of an argument";
    assert_eq!(
        method_error(quote!(
            #[method]
            fn get(&self, item: impl Into<i64>) {}
        )),
        any
    );
    let lent = "a harness cannot pass an argument as &mut";
    assert_eq!(
        method_error(quote!(
            #[method]
            fn get(&self, into: &mut i64) {}
        )),
        lent
    );
    let five = quote!(
        #[method]
        fn get(&self, a: u8, b: u8, c: u8, d: u8, e: u8) {}
    );
    assert_eq!(method_error(five), "a method of a concurrent object takes at most four arguments");
    let four = quote!(
        #[constructor]
        fn new() {}
        #[method]
        fn get(self: &Self, a: u8, b: u8, c: u8, d: u8) {}
    );
    assert!(text(quote!(), four).contains("argument4"));
}

/// What the attribute adds to a block.
fn added(options: TokenStream, block: TokenStream) -> String {
    let all = expand(options, block.clone()).unwrap().to_string();
    let at = all.rfind("impl ").expect("the added block");
    all[at..].to_owned()
}

#[test]
fn numbers_stand_for_the_parameters_of_a_type() {
    let block = quote! {
        impl<'a, K: Eq, V, S, const N: usize> Map<'a, K, Vec<V>, S, N>
        where
            S: Clone + std::hash::BuildHasher,
        {
            #[constructor]
            fn new() -> Self { todo!() }
            #[method]
            fn get<'k, Q: Hash + ?Sized>(&self, key: &Q, text: Text<'k>, other: Text<'a>) -> Option<V> { None }
            #[method]
            fn put(&self, key: K, value: V) {}
        }
    };
    let text = added(quote!(with(V = String, Q = str)), block);
    let start = "impl Map < 'static , u64 , Vec < String > , :: std :: collections :: hash_map :: RandomState , 2 > {";
    assert!(text.starts_with(start), "{text}");
    for part in [
        "# [allow (dead_code)] type K = u64 ; # [allow (dead_code)] type V = String ; # [allow (dead_code)] type S = :: std :: \
         collections :: hash_map :: RandomState ; # [allow (dead_code)] const N : usize = 2 ;",
        "let description = { # [allow (dead_code)] type Q = str ; description . method (\"get\" , | object : & Self , (argument1 , \
         argument2 , argument3 ,) : (< Q as :: std :: borrow :: ToOwned > :: Owned , Text < 'static > , Text < 'static > ,) | \
         Self :: get :: < Q > (object ,",
        "description . method (\"put\" , | object : & Self , (argument1 , argument2 ,) : (K , V ,) | Self :: put (object , argument1 \
         , argument2))",
    ] {
        assert!(text.contains(part), "{part}\nis not in\n{text}");
    }
}

#[test]
fn what_makes_an_object_can_be_an_expression() {
    let queue = quote! {
        impl Queue {
            pub fn push(&self, item: i64) {}
            pub fn new() -> Queue { todo!() }
        }
    };
    let text = added(quote!(new = Queue::bounded(2)), queue.clone());
    assert!(text.contains("describe (\"Queue\" , || -> Self { Queue :: bounded (2) })"), "{text}");
    assert!(text.contains("pub fn object ()") && text.contains(". method (\"push\""), "{text}");
    let text = added(quote!(), queue);
    assert!(text.contains("describe (\"Queue\" , || -> Self { Self :: new () })"), "{text}");
    let both = quote! { impl Queue { #[constructor] fn new() -> Queue { todo!() } #[method] fn push(&self) {} } };
    let error = expand(quote!(new = Queue::bounded(2)), both).unwrap_err().to_string();
    assert_eq!(error, "an object has exactly one constructor: `new = …` or a function marked as #[constructor]");
}

#[test]
fn what_cannot_stand_for_a_parameter_is_an_error() {
    let of = |options: TokenStream, generics: TokenStream| {
        let block = quote!(impl #generics Set { #[constructor] fn new() -> Set { Set } #[method] fn get(&self) {} });
        expand(options, block).unwrap_err().to_string()
    };
    assert_eq!(of(quote!(), quote!(<F: Fn() -> u64>)), "a harness passes values, and F is a function");
    assert_eq!(of(quote!(), quote!(<const P: Policy>)), "say what stands for this parameter: with(P = …)");
    let unknown = "neither the `impl` block nor a function that harnesses call has a parameter V";
    assert_eq!(of(quote!(with(K = u8, V = u8)), quote!(<K>)), unknown);
    assert_eq!(of(quote!(with(K)), quote!(<K>)), "expected `=`");
}
