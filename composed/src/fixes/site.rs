//! The text of an operation: its function, its calls, and the block where they are.

use std::collections::BTreeSet;
use std::ops::Range;

use quote::ToTokens;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Block, Expr, ExprMethodCall, File, ImplItemFn, ItemFn, ItemImpl, Signature, Stmt};

use super::code::{self, idents};
use super::{Edit, Fix};
use crate::operation::{Call, Operation, Place};

/// A parsed file whose places are those of the text.
pub(super) fn parse(text: &str) -> Result<File, String> {
    if text.starts_with('\u{feff}') || text.starts_with("#!/") {
        return Err("the file begins with a mark or a command".to_owned());
    }
    syn::parse_file(text).map_err(|error| format!("the file does not parse: {error}"))
}

/// An operation in its file.
pub(super) struct Site<'a> {
    pub(super) text: &'a str,
    pub(super) operation: &'a Operation,
    file: &'a File,
    around: Option<&'a ItemImpl>,
    whole: Range<usize>,
    pub(super) signature: &'a Signature,
    pub(super) block: &'a Block,
    /// All method calls in the function, macros excepted.
    pub(super) calls: Vec<&'a ExprMethodCall>,
    blocks: Vec<&'a Block>,
    names: BTreeSet<String>,
}

/// The two calls of an operation on one value that is named plainly, and the statements with both in a block.
pub(super) struct Pair<'a> {
    pub(super) first: &'a ExprMethodCall,
    pub(super) second: &'a ExprMethodCall,
    pub(super) block: &'a Block,
    pub(super) from: usize,
    pub(super) to: usize,
}

/// A function with the `impl` block around it, and its bytes.
type Function<'a> = (Option<&'a ItemImpl>, Range<usize>, &'a Signature, &'a Block);

/// The functions of a file with what is around them.
#[derive(Default)]
struct Functions<'a> {
    around: Option<&'a ItemImpl>,
    all: Vec<Function<'a>>,
}

impl<'a> Visit<'a> for Functions<'a> {
    fn visit_item_impl(&mut self, item: &'a ItemImpl) {
        let before = self.around.replace(item);
        visit::visit_item_impl(self, item);
        self.around = before;
    }

    fn visit_impl_item_fn(&mut self, item: &'a ImplItemFn) {
        self.all.push((self.around, range(item), &item.sig, &item.block));
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_item_fn(&mut self, item: &'a ItemFn) {
        self.all.push((None, range(item), &item.sig, &item.block));
        visit::visit_item_fn(self, item);
    }
}

#[derive(Default)]
struct Inside<'a> {
    calls: Vec<&'a ExprMethodCall>,
    blocks: Vec<&'a Block>,
    awaits: bool,
    items: bool,
}

impl<'a> Visit<'a> for Inside<'a> {
    fn visit_expr_method_call(&mut self, call: &'a ExprMethodCall) {
        self.calls.push(call);
        visit::visit_expr_method_call(self, call);
    }

    fn visit_block(&mut self, block: &'a Block) {
        self.blocks.push(block);
        visit::visit_block(self, block);
    }

    fn visit_expr_await(&mut self, one: &'a syn::ExprAwait) {
        self.awaits = true;
        visit::visit_expr_await(self, one);
    }

    fn visit_item(&mut self, item: &'a syn::Item) {
        self.items |= !matches!(item, syn::Item::Use(_) | syn::Item::Const(_));
    }
}

impl<'a> Site<'a> {
    pub(super) fn new(text: &'a str, file: &'a File, operation: &'a Operation) -> Result<Site<'a>, String> {
        let mut functions = Functions::default();
        functions.visit_file(file);
        let found = functions.all.into_iter().find(|one| is_at(one.2.ident.span(), &operation.place));
        let (around, whole, signature, block) = found.ok_or("its text is no function")?;
        let mut inside = Inside::default();
        inside.visit_block(block);
        if signature.asyncness.is_some() || inside.awaits {
            return Err("it awaits, and nothing must be locked meanwhile".to_owned());
        }
        if inside.items {
            return Err("it has items of its own".to_owned());
        }
        let names = idents(block);
        let own = signature.ident.to_string();
        let names_itself = code::calls_function(block, &own) || inside.calls.iter().any(|call| call.method == own);
        if names_itself {
            return Err("it calls itself".to_owned());
        }
        let Inside { calls, blocks, .. } = inside;
        Ok(Site { text, operation, file, around, whole, signature, block, calls, blocks, names })
    }

    /// The text of a piece of code.
    pub(super) fn of(&self, code: &impl Spanned) -> &'a str {
        &self.text[range(code)]
    }

    /// The call of the operation, where it is made in this function.
    pub(super) fn call(&self, call: &Call) -> Option<&'a ExprMethodCall> {
        let here = call.through.is_empty() && call.place.file == self.operation.place.file;
        self.calls.iter().copied().find(|one| here && is_at(one.method.span(), &call.place))
    }

    /// The two calls of an operation that has two on one collection.
    ///
    /// # Errors
    /// Where there are others.
    pub(super) fn two(&self) -> Result<(&'a Call, &'a Call), String> {
        let [first, second] = &self.operation.calls[..] else {
            return Err(format!("{} calls are no form that is known", self.operation.calls.len()));
        };
        if first.collection != second.collection {
            return Err("nothing but one lock around both makes calls of several collections one step".to_owned());
        }
        Ok((first, second))
    }

    /// The two calls of an operation on one value, which is called `what`.
    ///
    /// # Errors
    /// Where there are others, and where they are not together or not on the same value.
    pub(super) fn pair(&self, what: &str) -> Result<Pair<'a>, String> {
        let (first, second) = self.two()?;
        let elsewhere = || "its calls are in different functions".to_owned();
        let (first, second) = (self.call(first).ok_or_else(elsewhere)?, self.call(second).ok_or_else(elsewhere)?);
        let (block, from, to) = self.around(&range(first), &range(second)).ok_or("its calls are in no common block")?;
        if code::tokens(&first.receiver) != code::tokens(&second.receiver) || !code::is_simple(&first.receiver) {
            return Err(format!("its {what} is not a plain name"));
        }
        if code::rebinds(&block.stmts[from..=to], &code::variables(&first.receiver)) {
            return Err(format!("the {what} is another one at the second call"));
        }
        Ok(Pair { first, second, block, from, to })
    }

    /// The two calls, or with a third call that looks again for what the second inserted.
    pub(super) fn two_or_again(&self) -> Result<(&'a Call, &'a Call, Option<&'a ExprMethodCall>), String> {
        let [first, second, third] = &self.operation.calls[..] else {
            return self.two().map(|(first, second)| (first, second, None));
        };
        let gets = ["get", "peek"].contains(&third.method.as_str());
        let one = gets && first.collection == second.collection && first.collection == third.collection;
        match self.call(third).filter(|_| one) {
            Some(again) => Ok((first, second, Some(again))),
            None => self.two().map(|(first, second)| (first, second, None)),
        }
    }

    /// The innermost block that has all of it, with the numbers of its first and its last statement there.
    pub(super) fn around(&self, from: &Range<usize>, to: &Range<usize>) -> Option<(&'a Block, usize, usize)> {
        let has = |outer: &Range<usize>, inner: &Range<usize>| outer.start <= inner.start && inner.end <= outer.end;
        let blocks = self.blocks.iter().filter(|block| has(&range(**block), from) && has(&range(**block), to));
        let block = *blocks.min_by_key(|block| range(**block).len())?;
        let statement = |of: &Range<usize>| block.stmts.iter().position(|one| has(&range(one), of));
        Some((block, statement(from)?, statement(to)?))
    }

    /// A function of this file that has the call of an operation in it.
    pub(super) fn helper(&self, call: &Call) -> Option<(&'a Signature, &'a Block)> {
        let mut functions = Functions::default();
        functions.visit_file(self.file);
        let has = |block: &'a Block| {
            let mut inside = Inside::default();
            inside.visit_block(block);
            inside.calls.iter().any(|one| is_at(one.method.span(), &call.place))
        };
        let is_here = call.place.file == self.operation.place.file;
        functions.all.into_iter().find(|one| is_here && has(one.3)).map(|one| (one.2, one.3))
    }

    /// A name that the function does not have.
    pub(super) fn fresh(&self, name: &str) -> String {
        let mut name = name.to_owned();
        while self.names.contains(&name) {
            name.push('_');
        }
        name
    }

    /// The spaces at the beginning of the line.
    pub(super) fn indent(&self, at: usize) -> &'a str {
        let line = &self.text[self.text[..at].rfind('\n').map_or(0, |end| end + 1)..];
        &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
    }

    /// Removes a statement, with its line if nothing else is on it.
    pub(super) fn without(&self, statement: &Stmt) -> Edit {
        let mut range = range(statement);
        let before = self.text[..range.start].trim_end_matches([' ', '\t']);
        let after = self.text[range.end..].trim_start_matches([' ', '\t', '\r']);
        if (before.is_empty() || before.ends_with('\n')) && after.starts_with('\n') {
            range = before.len()..self.text.len() - after.len() + 1;
        }
        Edit { range, text: String::new() }
    }

    /// A rewrite with these edits.
    pub(super) fn fix(&self, form: &str, mut edits: Vec<Edit>) -> Fix {
        edits.sort_by_key(|edit| edit.range.start);
        if self.text.contains("\r\n") {
            edits.iter_mut().for_each(|edit| edit.text = edit.text.replace('\n', "\r\n"));
        }
        let gives = match &self.signature.output {
            syn::ReturnType::Default => false,
            syn::ReturnType::Type(_, ty) => !matches!(&**ty, syn::Type::Tuple(tuple) if tuple.elems.is_empty()),
        };
        Fix { form: form.to_owned(), edits, gives }
    }

    /// The function with a rewrite, under another name, in an `impl` block of its own if it is a method.
    pub(super) fn item(&self, fix: &Fix, name: &str) -> String {
        let named = Edit { range: range(&self.signature.ident), text: name.to_owned() };
        let begin = self.whole.start;
        let edits: Vec<Edit> = std::iter::once(named)
            .chain(fix.edits.iter().cloned())
            .map(|edit| Edit { range: edit.range.start - begin..edit.range.end - begin, ..edit })
            .collect();
        let function = super::patched(&self.text[begin..self.whole.end], &edits);
        match self.around {
            None => format!("#[allow(warnings, clippy::all)]\n{}\n", function.trim_start()),
            Some(around) => {
                let generics = &around.generics;
                let (params, _, bounds) = generics.split_for_impl();
                let (params, bounds) = (params.to_token_stream(), bounds.to_token_stream());
                let own = &around.self_ty;
                let own = own.to_token_stream();
                format!("#[allow(warnings, clippy::all)]\nimpl {params} {own} {bounds} {{\n{function}\n}}\n")
            }
        }
    }
}

/// Whether a place is that of a piece of code.
pub(super) fn is_at(span: proc_macro2::Span, place: &Place) -> bool {
    let start = span.start();
    start.line == place.line as usize && start.column + 1 == place.column as usize
}

/// The bytes of a piece of code.
pub(super) fn range(code: &impl Spanned) -> Range<usize> {
    code.span().byte_range()
}

/// A call that is a statement of its own, whose result is not used.
pub(super) fn is_alone(statement: &Stmt, call: &ExprMethodCall) -> bool {
    let is_it = |expr: &Expr| matches!(expr, Expr::MethodCall(one) if std::ptr::eq(one, call));
    match statement {
        Stmt::Expr(expr, Some(_)) => is_it(expr),
        Stmt::Local(local) => {
            let init = local.init.as_ref().filter(|init| init.diverge.is_none());
            matches!(local.pat, syn::Pat::Wild(_)) && init.is_some_and(|init| is_it(&init.expr))
        }
        _ => false,
    }
}

/// A call that is a statement of its own, and is sure to succeed: `queue.push(x).unwrap();`.
pub(super) fn is_sure(statement: &Stmt, call: &ExprMethodCall) -> bool {
    let sure = |expr: &Expr| match expr {
        Expr::MethodCall(one) if ["unwrap", "expect", "ok"].contains(&one.method.to_string().as_str()) => {
            matches!(&*one.receiver, Expr::MethodCall(inner) if std::ptr::eq(inner, call))
        }
        _ => false,
    };
    matches!(statement, Stmt::Expr(expr, Some(_)) if sure(expr))
}
