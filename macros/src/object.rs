//! `#[interloper::object]`.

mod parameters;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::parse::Parser;
use syn::spanned::Spanned;
use syn::{
    Attribute, Error, Expr, FnArg, Generics, ImplItem, ImplItemFn, ItemImpl, LitStr, Meta, ReturnType, Signature, Type,
    Visibility,
};

use self::parameters::Given;

/// What is in the parentheses after `object`.
#[derive(Default)]
struct Options {
    name: Option<LitStr>,
    /// What makes a fresh object, if no function of the block does.
    new: Option<Expr>,
    /// What stands for parameters.
    with: Given,
    model: Option<Expr>,
    data_independent: bool,
}

/// What a function of the block is marked as.
enum Mark {
    Constructor,
    /// With the function of `Description` that adds it.
    Method(&'static str, MethodOptions),
    Postcondition,
    Invariant,
}

/// What is in the parentheses after `core` and `method`.
#[derive(Default)]
struct MethodOptions {
    name: Option<LitStr>,
    reads: bool,
    /// The name of a `Level`.
    sees: Option<Ident>,
    /// An expression.
    arguments: Option<TokenStream>,
}

pub(crate) fn expand(options: TokenStream, item: TokenStream) -> Result<TokenStream, Error> {
    let Options { name, new, with, model, data_independent } = parse(options)?;
    let mut item: ItemImpl = syn::parse2(item)?;
    if let Some((_, of, _)) = &item.trait_ {
        return Err(Error::new_spanned(of, "an object is described on an `impl` block of the type, not of a trait"));
    }
    let name = name.map_or_else(|| named_after(&item.self_ty), Ok)?;

    let mut constructor = None;
    let mut methods = Vec::new();
    // What looks at the object is no call: an object can have it whose methods are not marked.
    let (mut looks, mut looking) = (Vec::new(), Vec::new());
    for function in item.items.iter_mut() {
        let ImplItem::Fn(function) = function else { continue };
        match take_mark(function)? {
            None => {}
            Some(Mark::Constructor) if constructor.is_some() || new.is_some() => {
                let reason = "an object has exactly one constructor: `new = …` or a function marked as #[constructor]";
                return Err(Error::new(function.sig.ident.span(), reason));
            }
            Some(Mark::Constructor) => {
                check_constructor(&function.sig)?;
                constructor = Some(Constructor::of(function));
            }
            Some(mark @ (Mark::Postcondition | Mark::Invariant)) => {
                let role = if matches!(mark, Mark::Invariant) { "invariant" } else { "postcondition" };
                looks.push(look(function, role)?);
                looking.push(function.sig.ident.clone());
            }
            Some(Mark::Method(role, options)) => {
                methods.push(method(function, role, options, &with)?);
                mark_calls(function);
            }
        }
    }
    if constructor.is_none() && methods.is_empty() {
        methods = plain(&mut item, &looking, &with)?;
    }
    if constructor.is_none() && new.is_none() {
        constructor = usual_constructor(&item)?;
    }
    let functions = item.items.iter().filter_map(|item| match item {
        ImplItem::Fn(function) => Some(&function.sig.generics),
        _ => None,
    });
    with.check(&functions.chain([&item.generics]).collect::<Vec<&Generics>>())?;
    methods.extend(looks);
    let constructor = new.map(Constructor::expression).or(constructor);
    let Some(Constructor { vis, span, new }) = constructor else {
        let reason = "this object has no constructor: mark a function without parameters as #[constructor], or say what makes \
                      one: new = …";
        return Err(Error::new_spanned(&item.self_ty, reason));
    };
    if methods.is_empty() {
        let reason = "this object has no methods: mark trusted methods as #[core] and methods under test as #[method]";
        return Err(Error::new_spanned(&item.self_ty, reason));
    }

    let description = description(span);
    let model = model.map(|model| quote!(let #description = #description.model(#model);));
    let data_independent = data_independent.then(|| quote!(let #description = #description.data_independent();));
    let new = quote_spanned!(span=> || -> Self { #new });
    let chosen = with.choose(&item.generics)?;
    let (parameters, methods) = (chosen.items(), methods.into_iter().map(|method| chosen.without_lifetimes(method)));
    let self_ty = chosen.without_lifetimes(chosen.put_into(&item.self_ty));
    Ok(quote! {
        #item

        impl #self_ty {
            /// The description of this type as a concurrent object.
            #vis fn object() -> ::interloper::objects::Object {
                Self::object_description().build()
            }

            /// The same description, to which more can be added.
            #vis fn object_description() -> ::interloper::objects::Description<Self> {
                #parameters
                let #description = ::interloper::objects::Object::describe(#name, #new);
                #model
                #data_independent
                #(#methods)*
                #description
            }
        }
    })
}

/// What makes a fresh object, and who sees the description.
struct Constructor {
    vis: Visibility,
    span: Span,
    new: TokenStream,
}

impl Constructor {
    fn of(function: &ImplItemFn) -> Constructor {
        let name = &function.sig.ident;
        let new = quote_spanned!(name.span()=> Self::#name());
        Constructor { vis: function.vis.clone(), span: name.span(), new }
    }

    fn expression(new: Expr) -> Constructor {
        Constructor { vis: syn::parse_quote!(pub), span: new.span(), new: new.into_token_stream() }
    }
}

/// Without a mark of a constructor: `new` without parameters, if there is one.
fn usual_constructor(item: &ItemImpl) -> Result<Option<Constructor>, Error> {
    let functions = item.items.iter().filter_map(|item| match item {
        ImplItem::Fn(function) => Some(function),
        _ => None,
    });
    let mut new = functions.filter(|function| function.sig.ident == "new" && function.sig.inputs.is_empty());
    new.next().map(|function| check_constructor(&function.sig).map(|()| Constructor::of(function))).transpose()
}

/// Without any mark of a constructor or a method: each public function that takes `&self` is under test, except those that look at the
/// object.
fn plain(item: &mut ItemImpl, looking: &[Ident], with: &Given) -> Result<Vec<TokenStream>, Error> {
    let mut methods = Vec::new();
    for function in item.items.iter_mut() {
        let ImplItem::Fn(function) = function else { continue };
        let shared = matches!(
            function.sig.inputs.first(),
            Some(FnArg::Receiver(receiver)) if receiver.reference.is_some() && receiver.mutability.is_none()
        );
        if shared && matches!(function.vis, Visibility::Public(_)) && !looking.contains(&function.sig.ident) {
            let added = method(function, "method", MethodOptions::default(), with).map_err(|mut error| {
                let hint = "without marks, each public function with &self is under test: mark those to test as #[method], and \
                            the constructor";
                error.combine(Error::new(function.sig.ident.span(), hint));
                error
            })?;
            methods.push(added);
            mark_calls(function);
        }
    }
    Ok(methods)
}

/// An object has the name of its type unless it is given one.
fn named_after(self_ty: &Type) -> Result<LitStr, Error> {
    let last = match self_ty {
        Type::Path(path) => path.path.segments.last(),
        _ => None,
    };
    let last =
        last.ok_or_else(|| Error::new_spanned(self_ty, "this type has no name: give it one with name = \"…\""))?;
    Ok(LitStr::new(&last.ident.unraw().to_string(), last.ident.span()))
}

/// The variable that holds the description, with errors shown at the span.
fn description(span: Span) -> Ident {
    Ident::new("description", Span::mixed_site().located_at(span))
}

/// The statement that adds a method to the description.
fn method(function: &ImplItemFn, role: &str, options: MethodOptions, with: &Given) -> Result<TokenStream, Error> {
    let signature = &function.sig;
    let (ident, span) = (&signature.ident, signature.ident.span());
    check_method(signature)?;
    let chosen = with.choose(&signature.generics)?;
    let mut types = Vec::new();
    let mut passed = Vec::new();
    let parameters: Vec<Ident> =
        (1..signature.inputs.len()).map(|index| format_ident!("argument{index}", span = Span::mixed_site())).collect();
    for (input, parameter) in signature.inputs.iter().skip(1).zip(&parameters) {
        let FnArg::Typed(input) = input else { unreachable!("self comes first") };
        match &*input.ty {
            // A harness owns its arguments, and lends them.
            Type::Reference(lent) if lent.mutability.is_none() && !is_static(lent) => {
                let lent = &lent.elem;
                types.push(quote_spanned!(lent.span()=> <#lent as ::std::borrow::ToOwned>::Owned));
                passed.push(quote_spanned!(lent.span()=> ::std::borrow::Borrow::<#lent>::borrow(&#parameter)));
            }
            Type::Reference(lent) if lent.mutability.is_some() => {
                return Err(Error::new_spanned(lent, "a harness cannot pass an argument as &mut"));
            }
            Type::ImplTrait(any) => {
                return Err(Error::new_spanned(any, "a harness must know the concrete type of an argument"));
            }
            owned => {
                types.push(owned.to_token_stream());
                passed.push(parameter.to_token_stream());
            }
        }
    }

    let name = options.name.unwrap_or_else(|| LitStr::new(&ident.unraw().to_string(), span));
    let (role, description) = (Ident::new(role, span), description(span));
    let object = Ident::new("object", Span::mixed_site().located_at(span));
    let reads = options.reads.then(|| quote!(.reads()));
    let sees = options.sees.map(|level| quote!(.sees(::interloper::objects::Level::#level)));
    let arguments = options.arguments.map(|generators| quote!(.arguments(#generators)));
    let conditions = function.attrs.iter().filter(|attribute| attribute.path().is_ident("cfg"));
    let generic = chosen.arguments();
    let call = quote_spanned! {span=>
        .#role(#name, |#object: &Self, (#(#parameters,)*): (#(#types,)*)| Self::#ident #generic(#object, #(#passed),*))
    };
    let added = chosen.without_lifetimes(quote!(#description #call #reads #sees #arguments));
    let added = match generic {
        Some(_) => {
            let parameters = chosen.items();
            quote!({ #parameters #added })
        }
        None => added,
    };
    Ok(quote!(#(#conditions)* let #description = #added;))
}

/// The statement that adds a postcondition or an invariant to the description.
fn look(function: &ImplItemFn, role: &str) -> Result<TokenStream, Error> {
    let signature = &function.sig;
    check_method(signature)?;
    check_concrete(signature)?;
    let a_role = if role == "invariant" { "an invariant" } else { "a postcondition" };
    if let Some(second) = signature.inputs.iter().nth(1) {
        return Err(Error::new_spanned(second, format!("{a_role} takes no arguments but &self")));
    }
    if role == "invariant" {
        returns_bool(signature)?;
    }
    let (ident, span) = (&signature.ident, signature.ident.span());
    let role = Ident::new(role, span);
    let (name, description) = (LitStr::new(&ident.unraw().to_string(), span), description(span));
    let object = Ident::new("object", Span::mixed_site().located_at(span));
    let call = quote_spanned!(span=> .#role(#name, |#object: &Self| Self::#ident(#object)));
    Ok(quote!(let #description = #description #call;))
}

/// Refuses what is no invariant, outside of a described object.
pub fn stray_invariant(item: TokenStream) -> Result<(), Error> {
    let function: ImplItemFn = syn::parse2(item)?;
    let signature = &function.sig;
    let is_shared = signature.receiver().is_some_and(|own| own.reference.is_some() && own.mutability.is_none());
    if !is_shared || signature.inputs.len() != 1 {
        return Err(Error::new(signature.ident.span(), "an invariant takes &self and no other arguments"));
    }
    returns_bool(signature)
}

fn returns_bool(signature: &Signature) -> Result<(), Error> {
    match &signature.output {
        ReturnType::Type(_, ty) if matches!(&**ty, Type::Path(path) if path.path.is_ident("bool")) => Ok(()),
        _ => Err(Error::new(signature.ident.span(), "an invariant says whether it holds: it returns bool")),
    }
}

/// Says in the body of a method where its calls begin and end, for a driver that runs each as one turn.
fn mark_calls(function: &mut ImplItemFn) {
    if function.sig.constness.is_none() {
        let (name, call) = (function.sig.ident.unraw().to_string(), Ident::new("_call", Span::mixed_site()));
        let mark = syn::parse_quote!(let #call = ::interloper::objects::call(#name););
        function.block.stmts.insert(0, mark);
    }
}

fn is_static(reference: &syn::TypeReference) -> bool {
    reference.lifetime.as_ref().is_some_and(|lifetime| lifetime.ident == "static")
}

fn check_constructor(signature: &Signature) -> Result<(), Error> {
    check_function(signature)?;
    check_concrete(signature)?;
    match signature.inputs.first() {
        Some(first) => {
            Err(Error::new_spanned(first, "a constructor takes no parameters: every object starts in the same state"))
        }
        None => Ok(()),
    }
}

fn check_method(signature: &Signature) -> Result<(), Error> {
    const SHARED: &str = "a method of a concurrent object takes &self";
    check_function(signature)?;
    let by_reference = |ty: &Type| match ty {
        Type::Reference(reference) if reference.mutability.is_none() => {
            matches!(&*reference.elem, Type::Path(path) if path.path.is_ident("Self"))
        }
        _ => false,
    };
    match signature.inputs.first() {
        Some(FnArg::Receiver(receiver)) if by_reference(&receiver.ty) => {}
        Some(first) => return Err(Error::new_spanned(first, SHARED)),
        None => return Err(Error::new(signature.ident.span(), SHARED)),
    }
    match signature.inputs.iter().nth(5) {
        Some(fifth) => Err(Error::new_spanned(fifth, "a method of a concurrent object takes at most four arguments")),
        None => Ok(()),
    }
}

/// What holds for all that harnesses call.
fn check_function(signature: &Signature) -> Result<(), Error> {
    if let Some(token) = &signature.asyncness {
        return Err(Error::new(token.span, "a harness cannot call an async function"));
    }
    if let Some(token) = &signature.unsafety {
        return Err(Error::new(token.span, "a harness cannot call an unsafe function"));
    }
    Ok(())
}

fn check_concrete(signature: &Signature) -> Result<(), Error> {
    if !signature.generics.params.is_empty() {
        return Err(Error::new_spanned(
            &signature.generics,
            "a harness cannot call a function with generic parameters",
        ));
    }
    Ok(())
}

/// The attributes of functions in a description.
const MARKS: [&str; 5] = ["constructor", "core", "method", "postcondition", "invariant"];

/// Whether this is the mark of that name: `#[invariant]`, or `#[interloper::invariant]`.
fn is_mark(attribute: &Attribute, name: &str) -> bool {
    let path = attribute.path();
    let first = path.segments.first().map(|first| first.ident == "interloper");
    path.is_ident(name) || (first == Some(true) && path.segments.len() == 2 && path.segments[1].ident == name)
}

/// Removes the mark of a function: rustc knows no such attributes.
fn take_mark(function: &mut ImplItemFn) -> Result<Option<Mark>, Error> {
    let is_any = |attribute: &Attribute| MARKS.iter().any(|name| is_mark(attribute, name));
    let (marks, others) = std::mem::take(&mut function.attrs).into_iter().partition::<Vec<_>, _>(is_any);
    function.attrs = others;
    if let [_, second, ..] = &*marks {
        return Err(Error::new_spanned(
            second,
            "a function has only one of the marks #[constructor], #[core], #[method], #[postcondition] and #[invariant]",
        ));
    }
    let Some(mark) = marks.first() else { return Ok(None) };
    for (name, simple) in
        [("constructor", Mark::Constructor), ("postcondition", Mark::Postcondition), ("invariant", Mark::Invariant)]
    {
        if is_mark(mark, name) {
            mark.meta.require_path_only()?;
            return Ok(Some(simple));
        }
    }
    let role = if is_mark(mark, "core") { "core" } else { "method" };
    Ok(Some(Mark::Method(role, method_options(mark)?)))
}

fn method_options(mark: &Attribute) -> Result<MethodOptions, Error> {
    let mut parsed = MethodOptions::default();
    if let Meta::Path(_) = mark.meta {
        return Ok(parsed);
    }
    mark.parse_nested_meta(|option| {
        if option.path.is_ident("name") {
            parsed.name = Some(option.value()?.parse()?);
        } else if option.path.is_ident("reads") {
            parsed.reads = true;
        } else if option.path.is_ident("sees") {
            parsed.sees = Some(level(&option.value()?.parse()?)?);
        } else if option.path.is_ident("arguments") {
            parsed.arguments = Some(option.value()?.parse::<Expr>()?.into_token_stream());
        } else {
            return Err(option.error("the options are name = \"…\", reads, sees = \"…\" and arguments = […]"));
        }
        Ok(())
    })?;
    Ok(parsed)
}

fn level(text: &LitStr) -> Result<Ident, Error> {
    let level = match text.value().as_str() {
        "weak" => "Weak",
        "basic" => "Basic",
        "monotonic" => "Monotonic",
        "peer" => "Peer",
        "causal" => "Causal",
        "complete" => "Complete",
        _ => {
            let levels = "a level is \"weak\", \"basic\", \"monotonic\", \"peer\", \"causal\" or \"complete\"";
            return Err(Error::new(text.span(), levels));
        }
    };
    Ok(Ident::new(level, text.span()))
}

fn parse(options: TokenStream) -> Result<Options, Error> {
    let mut parsed = Options::default();
    let parser = syn::meta::parser(|option| {
        if option.path.is_ident("name") {
            parsed.name = Some(option.value()?.parse()?);
        } else if option.path.is_ident("new") {
            parsed.new = Some(option.value()?.parse()?);
        } else if option.path.is_ident("with") {
            parsed.with = option.input.parse()?;
        } else if option.path.is_ident("model") {
            parsed.model = Some(option.value()?.parse()?);
        } else if option.path.is_ident("data_independent") {
            parsed.data_independent = true;
        } else {
            return Err(
                option.error("the options are name = \"…\", new = …, with(T = …), model = … and data_independent")
            );
        }
        Ok(())
    });
    parser.parse2(options)?;
    Ok(parsed)
}

#[cfg(test)]
mod tests;
