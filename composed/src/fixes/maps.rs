//! Collections with keys, and cells that are set once: a look, and then an insertion or a removal.

use std::ops::Range;

use syn::{Block, Expr, ExprClosure, ExprIf, ExprMethodCall, Ident, Pat, Stmt, UnOp};

use super::code::{bare, bound, filled, is_simple, name, rebinds, renames, tokens, variables};
use super::site::{Site, is_alone, is_at, is_sure, range};
use super::table::{self, Forms};
use super::{Made, entries, removals};
use crate::operation::Call;

/// A look at a map: whether it has the key, or its value.
pub(super) struct Look<'a> {
    /// What becomes of the value: the closures that it goes through.
    pub(super) through: Vec<Through<'a>>,
    /// Whether the value is looked at through a local function.
    pub(super) helped: bool,
}

/// What an option with the value goes through.
pub(super) enum Through<'a> {
    Map(&'a ExprClosure),
    Copied,
    Cloned,
}

/// A condition on whether the map has the key.
pub(super) struct Presence<'a> {
    pub(super) look: Look<'a>,
    /// Whether it holds where the key is there.
    pub(super) there: bool,
    /// The name for the value, where it has one.
    pub(super) value: Option<&'a Ident>,
}

/// What the operation does to its map.
pub(super) struct Acts<'s, 'a> {
    pub(super) site: &'s Site<'a>,
    pub(super) first: &'a Call,
    pub(super) second: &'a ExprMethodCall,
    /// The map, as the second call names it.
    pub(super) map: &'a str,
    /// The key of the second call; a cell has none.
    pub(super) key: Option<&'a Expr>,
    /// The key as the first call borrows it.
    borrowed: String,
    /// The last argument of a map that is not pinned.
    guard: String,
    pub(super) forms: Forms,
    /// A third call, which looks again for what was inserted.
    again: Option<&'a ExprMethodCall>,
    /// The block with both calls, and the numbers of their statements.
    pub(super) block: &'a Block,
    pub(super) from: usize,
    pub(super) to: usize,
}

pub(super) fn fixes(site: &Site<'_>, forms: Forms) -> Made {
    let (first, second, again) = site.two_or_again()?;
    let call = site.call(second).ok_or("its second call is in another function")?;
    let is_cell = table::is_cell(&first.kind);
    let key = if is_cell { None } else { Some(call.args.first().ok_or("its second call has no key")?) };
    let near = match site.call(first) {
        Some(call) => range(&call.method),
        None => {
            let [through] = &first.through[..] else { return Err("its first call is in another function".to_owned()) };
            let mut helpers = site.calls.iter().filter(|call| call.method == through);
            let helper = helpers.next().ok_or("its first call is in another function")?;
            if helpers.next().is_some() {
                return Err(format!("it calls {through} more than once"));
            }
            range(&helper.method)
        }
    };
    let (block, from, to) = site.around(&near, &range(&call.method)).ok_or("its calls are in no common block")?;
    let map = site.of(&*call.receiver);
    if !is_named(&call.receiver) || !key.is_none_or(is_simple) {
        return Err("its map or its key is not a plain name".to_owned());
    }
    let (names, maps) = (key.map(variables).unwrap_or_default(), variables(&call.receiver));
    let statements = &block.stmts[from..=to];
    if rebinds(statements, &names) || renames(statements, &maps) {
        return Err("the key or the map is another one at the second call".to_owned());
    }
    let borrowed = match (site.call(first).and_then(|call| call.args.first()), key) {
        (Some(looked), _) => site.of(looked).to_owned(),
        (None, Some(key)) => format!("&{}", site.of(key)),
        (None, None) => String::new(),
    };
    let guard = guard(call, key.is_some()).map_or(String::new(), |guard| format!(", {}", site.of(guard)));
    let acts = Acts { site, first, second: call, map, key, borrowed, guard, forms, again, block, from, to };
    let all = match plain(&call.method.to_string()) {
        "insert" | "upsert" | "put" | "set" => entries::fixes(&acts),
        "remove" | "invalidate" if again.is_none() => removals::fixes(&acts),
        other => return Err(format!("a call of `{other}` after `{}` has no form that is known", first.method)),
    };
    if all.is_empty() { Err(acts.missing()) } else { Ok(all) }
}

/// The name of a method without the ending that scc gives to methods that do not wait.
pub(super) fn plain(method: &str) -> &str {
    method.trim_end_matches("_sync")
}

/// Whether a collection is named: a place without effects, or a pin of it.
fn is_named(receiver: &Expr) -> bool {
    match receiver {
        Expr::MethodCall(one) => one.method == "pin" && one.args.is_empty() && is_simple(&one.receiver),
        other => is_simple(other),
    }
}

/// The guard that a call is given as its last argument: a plain name after the key, and the value.
fn guard(call: &ExprMethodCall, keyed: bool) -> Option<&Expr> {
    let own = match plain(&call.method.to_string()) {
        "remove" | "invalidate" => 1,
        _ => 2,
    };
    call.args.iter().nth(own).filter(|one| keyed && call.args.len() == own + 1 && is_simple(one))
}

impl<'a> Acts<'_, 'a> {
    /// A condition on whether the map has the key.
    pub(super) fn presence(&self, condition: &'a Expr) -> Option<Presence<'a>> {
        match condition {
            Expr::Paren(one) => self.presence(&one.expr),
            Expr::Unary(one) if matches!(one.op, UnOp::Not(_)) => {
                let inner = self.presence(&one.expr).filter(|inner| inner.value.is_none())?;
                Some(Presence { there: !inner.there, ..inner })
            }
            Expr::Let(one) => {
                let look = self.look(&one.expr)?;
                match &*one.pat {
                    Pat::TupleStruct(some) if some.path.is_ident("Some") && some.elems.len() == 1 => {
                        let value = match &some.elems[0] {
                            Pat::Wild(_) => None,
                            pattern => Some(bound(pattern)?),
                        };
                        Some(Presence { look, there: true, value })
                    }
                    Pat::Ident(none) if none.ident == "None" => Some(Presence { look, there: false, value: None }),
                    _ => None,
                }
            }
            Expr::MethodCall(one) if one.method == "is_some" || one.method == "is_none" => {
                Some(Presence { look: self.look(&one.receiver)?, there: one.method == "is_some", value: None })
            }
            Expr::MethodCall(one) if is_at(one.method.span(), &self.first.place) => {
                let asks = matches!(plain(&one.method.to_string()), "contains_key" | "contains" | "initialized");
                let look = self.checked(one).filter(|_| asks)?;
                Some(Presence { look, there: true, value: None })
            }
            _ => None,
        }
    }

    /// The first call as an option that is `Some` just where the key is there.
    pub(super) fn look(&self, expr: &'a Expr) -> Option<Look<'a>> {
        let name = match expr {
            Expr::Paren(one) => return self.look(&one.expr),
            Expr::MethodCall(one) => one.method.to_string(),
            _ => return None,
        };
        let Expr::MethodCall(call) = expr else { return None };
        if is_at(call.method.span(), &self.first.place) {
            let gets = matches!(plain(&name), "get" | "get_mut" | "peek" | "read" | "peek_with");
            return self.checked(call).filter(|_| gets);
        }
        let with = |through: Through<'a>| {
            let mut look = self.look(&call.receiver)?;
            look.through.push(through);
            Some(look)
        };
        match (name.as_str(), call.args.first()) {
            ("map", Some(Expr::Closure(closure))) if closure.inputs.len() == 1 => with(Through::Map(closure)),
            ("copied", None) => with(Through::Copied),
            ("cloned", None) => with(Through::Cloned),
            _ if self.first.through.first() == Some(&name) => self.helped(call),
            _ => None,
        }
    }

    /// The first call, if it has the key of the second.
    fn checked(&self, call: &'a ExprMethodCall) -> Option<Look<'a>> {
        let mut args = call.args.iter();
        if let Some(key) = self.key {
            args.next().filter(|looked| bare(looked) == bare(key))?;
        }
        if tokens(&call.receiver) != tokens(&self.second.receiver) {
            return None;
        }
        let through = match (plain(&call.method.to_string()), args.next()) {
            ("read" | "peek_with", Some(Expr::Closure(closure))) => {
                let named = closure.inputs.len() == 2 && matches!(closure.inputs[0], Pat::Wild(_));
                vec![named.then_some(Through::Map(closure))?]
            }
            ("read" | "peek_with", _) => return None,
            // A guard.
            (_, Some(guard)) => is_simple(guard).then(Vec::new)?,
            (_, None) => Vec::new(),
        };
        args.next().is_none().then_some(Look { through, helped: false })
    }

    /// A local function that does nothing but look at its argument.
    fn helped(&self, call: &'a ExprMethodCall) -> Option<Look<'a>> {
        let key = call.args.first().filter(|_| call.args.len() == 1)?;
        let (signature, block) = self.site.helper(self.first)?;
        let parameter = match signature.inputs.iter().nth(1)? {
            syn::FnArg::Typed(typed) => bound(&typed.pat)?,
            syn::FnArg::Receiver(_) => return None,
        };
        let [Stmt::Expr(inner, None)] = &block.stmts[..] else { return None };
        let through = self.inside(inner, parameter)?;
        let is_own = name(&call.receiver).is_some_and(|name| name == "self") && bare(key) == bare(self.key?);
        (is_own && signature.inputs.len() == 2).then_some(Look { through, helped: true })
    }

    fn inside(&self, expr: &'a Expr, parameter: &Ident) -> Option<Vec<Through<'a>>> {
        let Expr::MethodCall(call) = expr else { return None };
        if is_at(call.method.span(), &self.first.place) {
            let key = call.args.first()?;
            let same = call.method == "get" && *parameter == bare(key);
            return (same && tokens(&call.receiver) == tokens(&self.second.receiver)).then(Vec::new);
        }
        let mut through = self.inside(&call.receiver, parameter)?;
        through.push(match (call.method.to_string().as_str(), call.args.first()) {
            ("map", Some(Expr::Closure(closure))) if closure.inputs.len() == 1 => Through::Map(closure),
            ("copied", None) => Through::Copied,
            ("cloned", None) => Through::Cloned,
            _ => return None,
        });
        Some(through)
    }

    /// The statements of the block from the first to the second call, without these two.
    pub(super) fn between(&self) -> &'a [Stmt] {
        &self.block.stmts[self.from + 1..self.to.max(self.from + 1)]
    }

    /// The statements after the second call.
    pub(super) fn rest(&self) -> &'a [Stmt] {
        &self.block.stmts[self.to + 1..]
    }

    /// Whether a statement is the second call, and leaves the result, or is sure of it where that says only whether it did something.
    pub(super) fn is_second(&self, statement: &Stmt) -> bool {
        let says = self.first.library == "scc" || table::is_cell(&self.first.kind);
        is_alone(statement, self.second) || (says && is_sure(statement, self.second))
    }

    /// Whether an expression is what was inserted, looked up once more.
    pub(super) fn is_again(&self, expr: &Expr) -> bool {
        let Some(again) = self.again else { return false };
        match expr {
            Expr::Paren(one) => self.is_again(&one.expr),
            Expr::Unary(one) if matches!(one.op, UnOp::Deref(_)) => self.is_again(&one.expr),
            Expr::MethodCall(one) if one.method == "clone" => self.is_again(&one.receiver),
            Expr::MethodCall(one) if one.method == "unwrap" || one.method == "expect" => {
                let is_it = matches!(&*one.receiver, Expr::MethodCall(inner) if std::ptr::eq(inner, again));
                let keys = again.args.first().map(bare) == self.key.map(bare);
                is_it && keys && tokens(&again.receiver) == tokens(&self.second.receiver)
            }
            _ => false,
        }
    }

    pub(super) fn looks_again(&self) -> bool {
        self.again.is_some()
    }

    /// A text of the table with what the operation has.
    pub(super) fn filled(&self, text: &str, given: &[(&str, &str)]) -> String {
        let sync = if self.second.method.to_string().ends_with("_sync") { "_sync" } else { "" };
        let key = self.key.map_or("", |key| self.site.of(key));
        let own = [("map", self.map), ("key", key), ("ref", &self.borrowed), ("guard", &self.guard), ("sync", sync)];
        filled(text, &[&own[..], given].concat())
    }

    /// Why no form fits: the collection has none for what the operation does, or the text is another.
    fn missing(&self) -> String {
        use crate::pattern::Pattern;
        let forms = &self.forms;
        let inserts = forms.unless.is_some() || forms.get_or_insert.is_some();
        let (has, what) = match self.site.operation.pattern {
            Pattern::GetThenInsert if forms.change.is_none() && self.replaces() => {
                (false, "reads a value and writes another")
            }
            Pattern::GetThenInsert => (
                forms.get_or_insert.is_some() || forms.get_or_insert_with.is_some(),
                "gives the value that is there, or inserts one",
            ),
            Pattern::CheckThenAct | Pattern::LenThenPush => (inserts, "inserts only where nothing is"),
            Pattern::GetThenRemove if forms.remove_if.is_none() => (false, "looks at a value and removes it"),
            _ => (true, ""),
        };
        if has {
            return "its text has no form that is known".to_owned();
        }
        format!("no call of `{}` {what}: one lock around both calls would make them one step", self.first.kind)
    }

    /// Whether the first call is a statement that gives a value a name, as it is before another is written.
    fn replaces(&self) -> bool {
        matches!(self.block.stmts[self.from], Stmt::Local(_))
    }
}

/// How the value itself comes out of an option: `*entry` or `entry.clone()`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Out {
    Deref,
    Clone,
    /// It is the value, or a reference that is passed on.
    Itself,
}

/// Whether what the option goes through gives the value itself.
pub(super) fn is_value(through: &[Through<'_>]) -> Option<Out> {
    match through {
        [Through::Map(closure)] => out_of(&closure.body, bound(closure.inputs.last()?)?),
        [Through::Copied] => Some(Out::Deref),
        [Through::Cloned] => Some(Out::Clone),
        _ => None,
    }
}

/// Whether an expression is the value of an entry: `*entry`, `*entry.value()`, `entry.clone()`, `entry.get().clone()`.
pub(super) fn out_of(expr: &Expr, entry: &Ident) -> Option<Out> {
    let is_entry = |expr: &Expr| {
        let expr = match expr {
            Expr::MethodCall(one) if (one.method == "value" || one.method == "get") && one.args.is_empty() => {
                &*one.receiver
            }
            other => other,
        };
        name(expr).is_some_and(|name| name == entry)
    };
    match expr {
        Expr::Unary(one) if matches!(one.op, UnOp::Deref(_)) && is_entry(&one.expr) => Some(Out::Deref),
        Expr::MethodCall(one) if one.method == "clone" && one.args.is_empty() && is_entry(&one.receiver) => {
            Some(Out::Clone)
        }
        Expr::Paren(one) => out_of(&one.expr, entry),
        _ => None,
    }
}

/// The end of the last statement, and the beginning of the first.
pub(super) fn span_of(statements: &[Stmt]) -> Option<Range<usize>> {
    Some(range(statements.first()?).start..range(statements.last()?).end)
}

/// The `if` that a statement is.
pub(super) fn as_if(statement: &Stmt) -> Option<&ExprIf> {
    match statement {
        Stmt::Expr(Expr::If(one), _) => Some(one),
        _ => None,
    }
}
