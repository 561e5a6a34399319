//! Maps: a look, and then an insertion or a removal.

use std::ops::Range;

use syn::{BinOp, Block, Expr, ExprClosure, ExprIf, ExprMethodCall, Ident, Pat, Stmt, UnOp};

use super::code::{bare, bound, is_simple, name, rebinds, tokens, variables};
use super::site::{Site, is_alone, is_at, range};
use super::{Edit, Fix, Made, entries};
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
    /// The key of the second call.
    pub(super) key: &'a Expr,
    pub(super) is_dash: bool,
    /// The block with both calls, and the numbers of their statements.
    pub(super) block: &'a Block,
    pub(super) from: usize,
    pub(super) to: usize,
}

pub(super) fn fixes(site: &Site<'_>) -> Made {
    let (first, second) = site.two()?;
    let call = site.call(second).ok_or("its second call is in another function")?;
    let key = call.args.first().ok_or("its second call has no key")?;
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
    let is_dash = first.kind == "DashMap";
    let map = site.of(&*call.receiver);
    if !is_simple(&call.receiver) || !is_simple(key) {
        return Err("its map or its key is not a plain name".to_owned());
    }
    let acts = Acts { site, first, second: call, map, key, is_dash, block, from, to };
    let mut names = variables(key);
    names.extend(variables(&call.receiver));
    if rebinds(&block.stmts[from..=to], &names) {
        return Err("the key or the map is another one at the second call".to_owned());
    }
    let all = match call.method.to_string().as_str() {
        "insert" => entries::fixes(&acts),
        "remove" => acts.removals(),
        other => return Err(format!("a call of `{other}` after `{}` has no form that is known", first.method)),
    };
    if all.is_empty() { Err("its text has no form that is known".to_owned()) } else { Ok(all) }
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
                let asks = matches!(one.method.to_string().as_str(), "contains_key" | "contains");
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
            return self.checked(call).filter(|_| matches!(name.as_str(), "get" | "get_mut"));
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
        let key = call.args.first().filter(|_| call.args.len() == 1)?;
        let same = bare(key) == bare(self.key) && tokens(&call.receiver) == tokens(&self.second.receiver);
        same.then(|| Look { through: Vec::new(), helped: false })
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
        let is_own = name(&call.receiver).is_some_and(|name| name == "self") && bare(key) == bare(self.key);
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

    /// The statements behind the second call.
    pub(super) fn rest(&self) -> &'a [Stmt] {
        &self.block.stmts[self.to + 1..]
    }

    /// A look, and then a removal.
    fn removals(&self) -> Vec<Fix> {
        self.conditional_removal().into_iter().chain(self.removal_of_a_value()).collect()
    }

    /// `if map.contains_key(&key) { map.remove(&key); … }`, or with a condition on the value.
    fn conditional_removal(&self) -> Option<Fix> {
        let Stmt::Expr(Expr::If(one), _) = &self.block.stmts[self.from] else { return None };
        let begins = one.then_branch.stmts.first().filter(|first| is_alone(first, self.second))?;
        let key = self.site.of(self.key);
        if self.from != self.to {
            return None;
        }
        let (form, call) = match self.presence(&one.cond) {
            Some(presence) if presence.there && presence.value.is_none() && !presence.look.helped => {
                ("`remove`, whose result says whether the key was there", format!("{}.remove({key})", self.map))
            }
            Some(_) => return None,
            None if self.is_dash => {
                let condition = self.condition(&one.cond)?;
                ("`remove_if`", format!("{}.remove_if({key}, {condition})", self.map))
            }
            None => return None,
        };
        let only = one.then_branch.stmts.len() == 1 && one.else_branch.is_none();
        Some(if only {
            self.site.fix(form, vec![Edit { range: range(one), text: format!("{call};") }])
        } else {
            let edits =
                vec![Edit { range: range(&*one.cond), text: format!("{call}.is_some()") }, self.site.without(begins)];
            self.site.fix(form, edits)
        })
    }

    /// What is asked of the value, as a closure for `remove_if`.
    fn condition(&self, condition: &'a Expr) -> Option<String> {
        let of = |closure: &'a ExprClosure, compared: Option<String>| {
            let pattern = bound(&closure.inputs[0])?;
            let body = is_simple(&closure.body).then(|| self.site.of(&*closure.body))?;
            let compared = compared.map_or(String::new(), |value| format!(" == {value}"));
            Some(format!("|_, {pattern}| {body}{compared}"))
        };
        match condition {
            Expr::Paren(one) => self.condition(&one.expr),
            Expr::MethodCall(one) if one.method == "is_some_and" || one.method == "map_or" => {
                let look = self.look(&one.receiver)?;
                let begins = if one.method == "map_or" {
                    matches!(&one.args[0], Expr::Lit(no) if tokens(no) == "false")
                } else {
                    true
                };
                match one.args.last()? {
                    Expr::Closure(closure) if look.through.is_empty() && begins && closure.inputs.len() == 1 => {
                        of(closure, None)
                    }
                    _ => None,
                }
            }
            Expr::Binary(one) if matches!(one.op, BinOp::Eq(_)) => {
                let look = self.look(&one.left)?;
                let Expr::Call(some) = &*one.right else { return None };
                let value = some.args.first().filter(|_| tokens(&some.func) == "Some" && some.args.len() == 1)?;
                match &look.through[..] {
                    [Through::Map(closure)] if is_simple(value) => of(closure, Some(self.site.of(value).to_owned())),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// `let value = map.get(&key).map(|value| *value); map.remove(&key);`.
    fn removal_of_a_value(&self) -> Option<Fix> {
        let Stmt::Local(local) = &self.block.stmts[self.from] else { return None };
        let init = local.init.as_ref().filter(|init| init.diverge.is_none())?;
        let look = self.look(&init.expr)?;
        let removal = &self.block.stmts[self.to];
        if !self.is_dash || self.to != self.from + 1 || !is_alone(removal, self.second) || look.helped {
            return None;
        }
        is_value(&look.through)?;
        let value = self.site.fresh("value");
        let text = format!("{}.remove({}).map(|(_, {value})| {value})", self.map, self.site.of(self.key));
        let edits = vec![Edit { range: range(&*init.expr), text }, self.site.without(removal)];
        Some(self.site.fix("`remove`, which gives the value", edits))
    }
}

/// How the value itself comes out of an option: `*entry` or `entry.clone()`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Out {
    Deref,
    Clone,
}

/// Whether what the option goes through gives the value itself.
pub(super) fn is_value(through: &[Through<'_>]) -> Option<Out> {
    match through {
        [Through::Map(closure)] => out_of(&closure.body, bound(&closure.inputs[0])?),
        [Through::Copied] => Some(Out::Deref),
        [Through::Cloned] => Some(Out::Clone),
        _ => None,
    }
}

/// Whether an expression is the value of an entry: `*entry`, `*entry.value()`, `entry.clone()`, `entry.value().clone()`.
pub(super) fn out_of(expr: &Expr, entry: &Ident) -> Option<Out> {
    let is_entry = |expr: &Expr| {
        let expr = match expr {
            Expr::MethodCall(one) if one.method == "value" && one.args.is_empty() => &*one.receiver,
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
