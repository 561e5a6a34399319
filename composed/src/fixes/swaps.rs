//! Pointers that are exchanged as a whole: what is read and then stored becomes the closure of `rcu`, which runs again if another
//! pointer was stored meanwhile.

use std::collections::BTreeSet;

use syn::{Block, Expr, ExprIf, ExprMethodCall, Stmt};

use super::code::{assigns, bound, find, idents, is_it, is_simple, mentions, placed, rebinds, returned, simple_let};
use super::maps::as_if;
use super::site::{Pair, Site, is_alone, range};
use super::{Edit, Fix, Made};

const FORM: &str = "`rcu`, which tries again until nothing has changed in between";

/// The two calls of an operation on a pointer.
struct Acts<'s, 'a> {
    site: &'s Site<'a>,
    first: &'a ExprMethodCall,
    second: &'a ExprMethodCall,
    swap: &'a str,
    /// What is stored.
    given: &'a Expr,
    block: &'a Block,
    from: usize,
    to: usize,
}

pub(super) fn fixes(site: &Site<'_>) -> Made {
    let Pair { first, second, block, from, to } = site.pair("pointer")?;
    let (one, other) = (first.method.to_string(), second.method.to_string());
    let given = second.args.first().filter(|_| other == "store" && ["load", "load_full"].contains(&one.as_str()));
    let given = given.ok_or_else(|| format!("a call of `{other}` after `{one}` has no form that is known"))?;
    let acts = Acts { site, first, second, swap: site.of(&*first.receiver), given, block, from, to };
    let begins = as_if(&block.stmts[from]);
    let all: Vec<Fix> = [acts.nested(), acts.straight()]
        .into_iter()
        .chain([begins.and_then(|one| acts.conditional(one)), begins.and_then(|one| acts.early(one))])
        .flatten()
        .collect();
    if all.is_empty() { Err("its text has no form that is known".to_owned()) } else { Ok(all) }
}

impl Acts<'_, '_> {
    /// The pointer that was read, as it is in the closure, which is given a reference to it.
    fn read(&self, now: &str) -> String {
        if self.is_full() { format!("{now}.clone()") } else { now.to_owned() }
    }

    fn is_full(&self) -> bool {
        self.first.method == "load_full"
    }

    /// An expression with another text in the place of the call that reads.
    fn with(&self, expr: &Expr, text: &str) -> Option<String> {
        let (outer, inner) = (range(expr), range(find(expr, self.first)?));
        let whole = self.site.of(expr);
        Some(format!("{}{text}{}", &whole[..inner.start - outer.start], &whole[inner.end - outer.start..]))
    }

    fn is_simple_with(&self, expr: &Expr, now: &str) -> Option<String> {
        let text = self.with(expr, &self.read(now))?;
        syn::parse_str::<Expr>(&text).is_ok_and(|text| is_simple(&text)).then_some(text)
    }

    /// `swap.store(Arc::new(**swap.load() + 1));`
    fn nested(&self) -> Option<Fix> {
        let statement = &self.block.stmts[self.from];
        if self.from != self.to || !is_alone(statement, self.second) {
            return None;
        }
        let now = self.site.fresh("now");
        let new = self.is_simple_with(self.given, &now)?;
        let text = format!("{}.rcu(|{now}| {new});", self.swap);
        Some(self.site.fix(FORM, vec![Edit { range: range(statement), text }]))
    }

    /// `let now = swap.load(); let mut next = (**now).clone(); next.push(1); swap.store(Arc::new(next));`
    fn straight(&self) -> Option<Fix> {
        let Stmt::Local(local) = &self.block.stmts[self.from] else { return None };
        let init = local.init.as_ref().filter(|init| init.diverge.is_none())?;
        let now = bound(&local.pat)?.to_string();
        let writing = &self.block.stmts[self.to];
        if self.to == self.from || !is_it(&init.expr, self.first) || !is_alone(writing, self.second) {
            return None;
        }
        let between = &self.block.stmts[self.from + 1..self.to];
        if !is_simple(self.given) || !is_work(between) || rebinds(between, &BTreeSet::from([now.clone()])) {
            return None;
        }
        let rest: BTreeSet<String> = self.block.stmts[self.to + 1..].iter().flat_map(idents).collect();
        let names: BTreeSet<String> = between.iter().filter_map(named).collect();
        let again = !rest.is_disjoint(&names);
        if again && !between.iter().all(|one| simple_let(one).is_some()) {
            return None;
        }
        let indent = self.site.indent(range(local).start);
        let new = self.site.of(self.given);
        let mut lines: Vec<&str> = between.iter().map(|one| self.site.of(one)).collect();
        let full = format!("let {now} = {now}.clone();");
        if self.is_full() {
            lines.insert(0, &full);
        }
        let work = if lines.is_empty() { new.to_owned() } else { block(&lines, new) };
        let call = placed(&format!("{}.rcu(|{now}| {work})", self.swap), indent);
        // What was replaced is what was read.
        let kept = if again || rest.contains(&now) {
            format!("let {now} = {}", if self.is_full() { "" } else { "&" })
        } else {
            String::new()
        };
        let mut edits = vec![Edit { range: range(local), text: format!("{kept}{call};") }];
        if !again {
            edits.extend(between.iter().map(|one| self.site.without(one)));
        }
        edits.push(self.site.without(writing));
        Some(self.site.fix(FORM, edits))
    }

    /// The call that stores where a condition on what is there holds, or does not.
    fn stores(&self, condition: &Expr, holds: bool) -> Option<String> {
        let now = self.site.fresh("now");
        let asked = self.is_simple_with(condition, &now)?;
        let new = (is_simple(self.given) && !mentions(self.given, &now)).then(|| self.site.of(self.given))?;
        let kept = format!("{now}.clone()");
        let (yes, no) = if holds { (new, kept.as_str()) } else { (kept.as_str(), new) };
        Some(format!("{}.rcu(|{now}| if {asked} {{ {yes} }} else {{ {no} }})", self.swap))
    }

    /// The condition, of what was there before.
    fn asked(&self, condition: &Expr, call: &str) -> Option<String> {
        self.with(condition, &if self.is_full() { call.to_owned() } else { format!("(&{call})") })
    }

    /// `if swap.load().is_none() { swap.store(Some(new)); … }`
    fn conditional(&self, one: &ExprIf) -> Option<Fix> {
        let writing = one.then_branch.stmts.first().filter(|first| is_alone(first, self.second))?;
        let call = self.stores(&one.cond, true)?;
        let edits = if one.then_branch.stmts.len() == 1 && one.else_branch.is_none() {
            vec![Edit { range: range(one), text: format!("{call};") }]
        } else {
            let condition = self.asked(&one.cond, &call)?;
            vec![Edit { range: range(&*one.cond), text: condition }, self.site.without(writing)]
        };
        Some(self.site.fix(FORM, edits))
    }

    /// `if swap.load().is_some() { return …; } swap.store(Some(new)); …`
    fn early(&self, one: &ExprIf) -> Option<Fix> {
        returned(&one.then_branch).filter(|_| one.else_branch.is_none() && self.to == self.from + 1)?;
        let writing = Some(&self.block.stmts[self.to]).filter(|one| is_alone(one, self.second))?;
        let call = self.stores(&one.cond, false)?;
        let condition = self.asked(&one.cond, &call)?;
        let edits = vec![Edit { range: range(&*one.cond), text: condition }, self.site.without(writing)];
        Some(self.site.fix(FORM, edits))
    }
}

/// A block with these lines, the last without a semicolon.
fn block(lines: &[&str], last: &str) -> String {
    let lines: String = lines.iter().map(|line| format!("    {line}\n")).collect();
    format!("{{\n{lines}    {last}\n}}")
}

fn named(statement: &Stmt) -> Option<String> {
    match statement {
        Stmt::Local(local) => bound(&local.pat).map(ToString::to_string),
        _ => None,
    }
}

/// Statements that have effects on nothing but values that they made: each runs as often as one likes.
fn is_work(statements: &[Stmt]) -> bool {
    let mut own = BTreeSet::new();
    statements.iter().all(|statement| match statement {
        Stmt::Local(local) => match simple_let(statement) {
            Some((name, _)) => {
                // What is not mutable is perhaps a reference to something that others see.
                let is_own = matches!(&local.pat, syn::Pat::Ident(one) if one.mutability.is_some());
                own.extend(is_own.then(|| name.to_string()));
                true
            }
            None => false,
        },
        Stmt::Expr(Expr::MethodCall(one), Some(_)) => is_part(&one.receiver, &own) && one.args.iter().all(is_simple),
        Stmt::Expr(Expr::Assign(one), Some(_)) => is_part(&one.left, &own) && is_simple(&one.right),
        Stmt::Expr(Expr::Binary(one), Some(_)) => assigns(&one.op) && is_part(&one.left, &own) && is_simple(&one.right),
        _ => false,
    })
}

/// Whether an expression is one of the variables, or a part of its value.
fn is_part(expr: &Expr, own: &BTreeSet<String>) -> bool {
    match expr {
        Expr::Field(one) => is_part(&one.base, own),
        Expr::Index(one) => is_part(&one.expr, own) && is_simple(&one.index),
        Expr::Paren(one) => is_part(&one.expr, own),
        other => super::code::name(other).is_some_and(|name| own.contains(&name.to_string())),
    }
}
