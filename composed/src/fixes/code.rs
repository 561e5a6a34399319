//! Questions about pieces of code.

use std::collections::BTreeSet;

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::visit::{self, Visit};
use syn::{BinOp, Block, Expr, ExprMethodCall, Ident, Pat, Stmt, UnOp};

/// Methods without effects, of values that are no collections.
const PURE: [&str; 27] = [
    "clone",
    "to_owned",
    "to_string",
    "into",
    "as_str",
    "as_ref",
    "copied",
    "cloned",
    "is_some",
    "is_none",
    "unwrap_or",
    "unwrap_or_default",
    "min",
    "max",
    "pow",
    "wrapping_add",
    "wrapping_sub",
    "wrapping_mul",
    "saturating_add",
    "saturating_sub",
    "saturating_mul",
    "abs",
    "not",
    "rem_euclid",
    "is_multiple_of",
    "clamp",
    "to_vec",
];

/// Whether the expression has no effect, reads nothing that others change, and is cheap, so that it may run twice, later, or under a
/// lock.
pub(super) fn is_simple(expr: &Expr) -> bool {
    match expr {
        Expr::Lit(_) | Expr::Path(_) => true,
        Expr::Paren(one) => is_simple(&one.expr),
        Expr::Group(one) => is_simple(&one.expr),
        Expr::Cast(one) => is_simple(&one.expr),
        Expr::Reference(one) => one.mutability.is_none() && is_simple(&one.expr),
        Expr::Field(one) => is_simple(&one.base),
        Expr::Unary(one) => is_simple(&one.expr),
        Expr::Tuple(one) => one.elems.iter().all(is_simple),
        Expr::Array(one) => one.elems.iter().all(is_simple),
        Expr::Struct(one) => {
            one.rest.as_deref().is_none_or(is_simple) && one.fields.iter().all(|field| is_simple(&field.expr))
        }
        Expr::Binary(one) => !assigns(&one.op) && is_simple(&one.left) && is_simple(&one.right),
        Expr::MethodCall(one) => {
            PURE.contains(&one.method.to_string().as_str())
                && is_simple(&one.receiver)
                && one.args.iter().all(is_simple)
        }
        Expr::Call(one) => is_constructor(&one.func) && one.args.iter().all(is_simple),
        _ => false,
    }
}

/// `Some`, `Arc::new`, `String::from`, `Arc::clone`.
fn is_constructor(callee: &Expr) -> bool {
    const NAMES: [&str; 12] = [
        "Some",
        "Ok",
        "Err",
        "Arc::new",
        "Arc::clone",
        "Box::new",
        "Rc::new",
        "String::new",
        "String::from",
        "Vec::new",
        "Default::default",
        "Duration::from_secs",
    ];
    let Expr::Path(path) = callee else { return false };
    let text = tokens(path);
    NAMES.contains(&text.replace(' ', "").as_str())
}

pub(super) fn assigns(op: &BinOp) -> bool {
    matches!(
        op,
        BinOp::AddAssign(_)
            | BinOp::SubAssign(_)
            | BinOp::MulAssign(_)
            | BinOp::DivAssign(_)
            | BinOp::RemAssign(_)
            | BinOp::BitXorAssign(_)
            | BinOp::BitAndAssign(_)
            | BinOp::BitOrAssign(_)
            | BinOp::ShlAssign(_)
            | BinOp::ShrAssign(_)
    )
}

/// The code, with single spaces.
pub(super) fn tokens(code: &impl ToTokens) -> String {
    code.to_token_stream().to_string()
}

/// All names in a piece of code, those in macros included.
pub(super) fn idents(code: &impl ToTokens) -> BTreeSet<String> {
    fn collect(stream: TokenStream, all: &mut BTreeSet<String>) {
        for token in stream {
            match token {
                TokenTree::Ident(ident) => drop(all.insert(ident.to_string())),
                TokenTree::Group(group) => collect(group.stream(), all),
                // The names in a text that is formatted.
                TokenTree::Literal(literal) => {
                    let text = literal.to_string();
                    if text.contains('{') {
                        let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
                        all.extend(words.filter(|word| !word.is_empty()).map(str::to_owned));
                    }
                }
                TokenTree::Punct(_) => {}
            }
        }
    }
    let mut all = BTreeSet::new();
    collect(code.to_token_stream(), &mut all);
    all
}

/// The variables that an expression reads. Names of fields and methods do not count.
pub(super) fn variables(expr: &Expr) -> BTreeSet<String> {
    struct Names(BTreeSet<String>);
    impl<'a> Visit<'a> for Names {
        fn visit_expr_path(&mut self, path: &'a syn::ExprPath) {
            self.0.extend(path.path.get_ident().map(ToString::to_string).filter(|name| name != "self"));
        }
    }
    let mut names = Names(BTreeSet::new());
    names.visit_expr(expr);
    names.0
}

/// A text with names in braces, and what they stand for. What is put there is not looked at again.
pub(super) fn filled(text: &str, given: &[(&str, &str)]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('{') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let name = rest[1..].find('}').map(|end| &rest[1..=end]);
        match name.and_then(|name| given.iter().find(|(given, _)| *given == name)) {
            Some((name, value)) => {
                out.push_str(value);
                rest = &rest[name.len() + 2..];
            }
            None => {
                out.push('{');
                rest = &rest[1..];
            }
        }
    }
    out + rest
}

/// A text whose lines but the first are indented.
pub(super) fn placed(text: &str, indent: &str) -> String {
    text.replace('\n', &format!("\n{indent}"))
}

/// Whether the code names it.
pub(super) fn mentions(code: &impl ToTokens, name: &str) -> bool {
    idents(code).contains(name)
}

/// The expression without borrows, parentheses and conversions: what a key is.
pub(super) fn bare(expr: &Expr) -> String {
    match expr {
        Expr::Reference(one) => bare(&one.expr),
        Expr::Paren(one) => bare(&one.expr),
        Expr::Unary(one) if matches!(one.op, UnOp::Deref(_)) => bare(&one.expr),
        Expr::MethodCall(one)
            if one.args.is_empty()
                && ["clone", "to_owned", "to_string", "into", "as_str", "as_ref"]
                    .contains(&one.method.to_string().as_str()) =>
        {
            bare(&one.receiver)
        }
        Expr::Call(one) if one.args.len() == 1 && tokens(&one.func).replace(' ', "") == "Arc::clone" => {
            bare(&one.args[0])
        }
        other => tokens(other),
    }
}

/// The name, where the expression is one.
pub(super) fn name(expr: &Expr) -> Option<&Ident> {
    match expr {
        Expr::Path(path) => path.path.get_ident(),
        _ => None,
    }
}

/// The name that a pattern binds, where it is one.
pub(super) fn bound(pattern: &Pat) -> Option<&Ident> {
    match pattern {
        Pat::Ident(one) if one.subpat.is_none() && one.by_ref.is_none() => Some(&one.ident),
        Pat::Type(one) => bound(&one.pat),
        _ => None,
    }
}

/// Whether a `let` gives one name to a simple expression.
pub(super) fn simple_let(statement: &Stmt) -> Option<(&Ident, &Expr)> {
    let Stmt::Local(local) = statement else { return None };
    let init = local.init.as_ref().filter(|init| init.diverge.is_none() && is_simple(&init.expr))?;
    Some((bound(&local.pat)?, &init.expr))
}

/// Whether statements bind or change one of the names.
pub(super) fn rebinds(statements: &[Stmt], names: &BTreeSet<String>) -> bool {
    binds(statements, names, true)
}

/// Whether statements give one of the names to another value, whatever is called on the value.
pub(super) fn renames(statements: &[Stmt], names: &BTreeSet<String>) -> bool {
    binds(statements, names, false)
}

fn binds(statements: &[Stmt], names: &BTreeSet<String>, called: bool) -> bool {
    struct Bound<'n>(&'n BTreeSet<String>, bool, bool);
    impl Bound<'_> {
        fn changed(&mut self, expr: &Expr) {
            self.1 |= !idents(expr).is_disjoint(self.0);
        }
    }
    impl<'a> Visit<'a> for Bound<'_> {
        fn visit_pat_ident(&mut self, one: &'a syn::PatIdent) {
            self.1 |= self.0.contains(&one.ident.to_string());
            visit::visit_pat_ident(self, one);
        }
        fn visit_expr_assign(&mut self, one: &'a syn::ExprAssign) {
            self.changed(&one.left);
            visit::visit_expr_assign(self, one);
        }
        fn visit_expr_binary(&mut self, one: &'a syn::ExprBinary) {
            if assigns(&one.op) {
                self.changed(&one.left);
            }
            visit::visit_expr_binary(self, one);
        }
        fn visit_expr_reference(&mut self, one: &'a syn::ExprReference) {
            if one.mutability.is_some() {
                self.changed(&one.expr);
            }
            visit::visit_expr_reference(self, one);
        }
        fn visit_expr_method_call(&mut self, one: &'a syn::ExprMethodCall) {
            // `key.push('x')`, `key.next()`.
            const CHANGES: [&str; 9] =
                ["push", "push_str", "next", "insert", "pop", "clear", "take", "replace", "truncate"];
            if let Some(name) = name(&one.receiver)
                && self.2
                && CHANGES.contains(&one.method.to_string().as_str())
            {
                self.1 |= self.0.contains(&name.to_string());
            }
            visit::visit_expr_method_call(self, one);
        }
        fn visit_macro(&mut self, one: &'a syn::Macro) {
            self.1 |= !idents(&one.tokens).is_disjoint(self.0) && !is_plain(one);
        }
    }
    let mut bound = Bound(names, false, called);
    statements.iter().for_each(|statement| bound.visit_stmt(statement));
    bound.1
}

/// Macros that only read what they are given.
fn is_plain(one: &syn::Macro) -> bool {
    const NAMES: [&str; 10] =
        ["format", "vec", "assert", "assert_eq", "debug_assert", "println", "eprintln", "panic", "write", "matches"];
    one.path.segments.last().is_some_and(|last| NAMES.contains(&last.ident.to_string().as_str()))
}

/// Whether the block calls a function of this name.
pub(super) fn calls_function(block: &Block, own: &str) -> bool {
    struct Calls<'n>(&'n str, bool);
    impl<'a> Visit<'a> for Calls<'_> {
        fn visit_expr_call(&mut self, one: &'a syn::ExprCall) {
            if let Expr::Path(path) = &*one.func {
                self.1 |= path.path.segments.last().is_some_and(|last| last.ident == self.0);
            }
            visit::visit_expr_call(self, one);
        }
    }
    let mut calls = Calls(own, false);
    calls.visit_block(block);
    calls.1
}

/// Whether code calls a value: a closure that somebody passed may call back, which under a lock waits forever.
pub(super) fn calls_back(statements: &[Stmt], parameters: &BTreeSet<String>) -> bool {
    struct Calls<'n>(&'n BTreeSet<String>, bool);
    impl<'a> Visit<'a> for Calls<'_> {
        fn visit_expr_call(&mut self, one: &'a syn::ExprCall) {
            self.1 |= match &*one.func {
                Expr::Path(path) => path.path.get_ident().is_some_and(|name| self.0.contains(&name.to_string())),
                _ => true,
            };
            // A closure that is passed on is called, too.
            self.1 |= one
                .args
                .iter()
                .any(|argument| name(argument).is_some_and(|name| self.0.contains(&format!("{name}()"))));
            visit::visit_expr_call(self, one);
        }
        fn visit_expr_method_call(&mut self, one: &'a syn::ExprMethodCall) {
            self.1 |= one
                .args
                .iter()
                .any(|argument| name(argument).is_some_and(|name| self.0.contains(&format!("{name}()"))));
            visit::visit_expr_method_call(self, one);
        }
        fn visit_macro(&mut self, one: &'a syn::Macro) {
            self.1 |= !idents(&one.tokens).is_disjoint(self.0);
        }
    }
    let mut calls = Calls(parameters, false);
    statements.iter().for_each(|statement| calls.visit_stmt(statement));
    calls.1
}

/// The names of the parameters that may be called, once as they are and once as `name()`.
pub(super) fn callables(signature: &syn::Signature) -> BTreeSet<String> {
    let is_called = |ty: &syn::Type| {
        let names = idents(ty);
        let generic = |name: &String| {
            let bounds =
                signature.generics.type_params().filter(|one| one.ident == *name).map(|one| tokens(&one.bounds));
            bounds.chain(signature.generics.where_clause.iter().map(tokens)).any(|text| text.contains("Fn"))
        };
        names.iter().any(|name| name.starts_with("Fn") || name == "fn" || generic(name))
    };
    let typed = signature.inputs.iter().filter_map(|input| match input {
        syn::FnArg::Typed(typed) if is_called(&typed.ty) => bound(&typed.pat),
        _ => None,
    });
    typed.flat_map(|name| [name.to_string(), format!("{name}()")]).collect()
}

/// The value that a block returns from the function at its end; `None` if it does not, `Some(None)` for `return;`.
pub(super) fn returned(block: &Block) -> Option<Option<&Expr>> {
    match block.stmts.last()? {
        Stmt::Expr(Expr::Return(one), _) => Some(one.expr.as_deref()),
        _ => None,
    }
}

/// Whether code leaves a loop or the function, or may.
pub(super) fn leaves(statements: &[Stmt]) -> bool {
    struct Leaves(bool);
    impl<'a> Visit<'a> for Leaves {
        fn visit_expr_return(&mut self, _: &'a syn::ExprReturn) {
            self.0 = true;
        }
        fn visit_expr_break(&mut self, _: &'a syn::ExprBreak) {
            self.0 = true;
        }
        fn visit_expr_continue(&mut self, _: &'a syn::ExprContinue) {
            self.0 = true;
        }
        fn visit_expr_try(&mut self, _: &'a syn::ExprTry) {
            self.0 = true;
        }
        fn visit_expr_closure(&mut self, _: &'a syn::ExprClosure) {}
    }
    let mut leaves = Leaves(false);
    statements.iter().for_each(|statement| leaves.visit_stmt(statement));
    leaves.0
}

/// The expression without parentheses around it.
pub(super) fn strip(expr: &Expr) -> &Expr {
    match expr {
        Expr::Paren(one) => strip(&one.expr),
        other => other,
    }
}

/// Whether an expression is the call.
pub(super) fn is_it(expr: &Expr, call: &ExprMethodCall) -> bool {
    matches!(strip(expr), Expr::MethodCall(one) if std::ptr::eq(one, call))
}

/// The call inside of an expression.
pub(super) fn find<'e>(expr: &'e Expr, call: &ExprMethodCall) -> Option<&'e Expr> {
    struct Find<'e, 'c>(&'c ExprMethodCall, Option<&'e Expr>);
    impl<'e> syn::visit::Visit<'e> for Find<'e, '_> {
        fn visit_expr(&mut self, expr: &'e Expr) {
            if matches!(expr, Expr::MethodCall(one) if std::ptr::eq(one, self.0)) {
                self.1 = Some(expr);
            }
            syn::visit::visit_expr(self, expr);
        }
    }
    let mut find = Find(call, None);
    syn::visit::Visit::visit_expr(&mut find, expr);
    find.1
}
