//! Locks: several critical sections become one.

use syn::{Expr, ExprMethodCall, Pat, Stmt};

use super::code::{bound, callables, calls_back, is_simple, mentions, name, tokens};
use super::site::{Site, range};
use super::{Edit, Made};
use crate::collections::effect_inside;

pub(super) fn fixes(site: &Site<'_>) -> Made {
    let first = site.operation.calls.first().ok_or("it has no call")?;
    if site.operation.calls.iter().any(|call| call.collection != first.collection) {
        return Err("nothing but one lock around both makes calls of several collections one step".to_owned());
    }
    let calls: Option<Vec<&ExprMethodCall>> = site.operation.calls.iter().map(|call| site.call(call)).collect();
    let calls = calls.ok_or("one of its critical sections is in another function")?;
    if calls.len() < 2 {
        return Err("its critical section is in a loop".to_owned());
    }
    let own = calls[0];
    if !is_simple(&own.receiver) || calls.iter().any(|call| tokens(&call.receiver) != tokens(&own.receiver)) {
        return Err("its lock is not a plain name".to_owned());
    }
    let guards: Vec<&ExprMethodCall> = calls.iter().map(|call| guard(site, call)).collect();
    let last = guards.iter().max_by_key(|guard| range(**guard).end).ok_or("it has no call")?;
    let begin = guards.iter().min_by_key(|guard| range(**guard).start).ok_or("it has no call")?;
    let (block, from, to) = site.around(&range(*begin), &range(*last)).ok_or("its calls are in no common block")?;
    let statements = &block.stmts[from..=to];
    if calls_back(statements, &callables(site.signature)) {
        return Err("it calls what it was given, and that must not happen under a lock".to_owned());
    }
    let inside = |call: &&&ExprMethodCall| {
        let place = range(**call);
        range(&statements[0]).start <= place.start && place.end <= range(&statements[statements.len() - 1]).end
    };
    let locks = |call: &&&ExprMethodCall| {
        const NAMES: [&str; 7] = ["lock", "read", "write", "try_lock", "try_read", "try_write", "upgradable_read"];
        call.args.is_empty() && NAMES.contains(&call.method.to_string().as_str())
    };
    let mut taken = site.calls.iter().filter(inside).filter(locks);
    if taken.any(|call| !calls.iter().any(|own| std::ptr::eq(*own, *call))) {
        return Err("it takes another lock in between, and the order of locks would change".to_owned());
    }
    if from == to {
        return Err("its critical sections are in one statement".to_owned());
    }
    // The strongest of them.
    let writes = guards.iter().zip(&calls).find(|(_, call)| call.method == "write");
    let taken = writes.map_or(*begin, |(guard, _)| *guard);
    let name = site.fresh("guard");
    let mut edits = Vec::new();
    let mut borrowed = Vec::new();
    for guard in &guards {
        let named = statements.iter().find_map(|one| named_guard(one, guard));
        match named.or_else(|| inner_named(site, guard)) {
            Some(local) => {
                if let Pat::Ident(one) = &local.pat {
                    if let Some(mutable) = one.mutability {
                        let start = range(&mutable).start;
                        edits.push(Edit { range: start..range(&one.ident).start, text: String::new() });
                    }
                    borrowed.push(one.ident.to_string());
                }
                edits.push(Edit { range: range(*guard), text: format!("&mut *{name}") });
            }
            None => edits.push(Edit { range: range(*guard), text: name.clone() }),
        }
    }
    for dropped in dropped(site, &borrowed) {
        edits.push(site.without(dropped));
    }
    let is_read = |call: &crate::operation::Call| {
        !call.inside.is_empty() && call.inside.iter().all(|method| effect_inside(method).reads_only())
    };
    let mutable = !borrowed.is_empty() || !site.operation.calls.iter().all(is_read);
    let start = range(&statements[0]).start;
    let indent = site.indent(start);
    let mutable = if mutable { "mut " } else { "" };
    let text = format!("let {mutable}{name} = {};\n{indent}", site.of(taken));
    edits.push(Edit { range: start..start, text });
    let rest = &block.stmts[to + 1..];
    let needed = borrowed.iter().any(|name| rest.iter().any(|one| mentions(one, name)));
    if !rest.is_empty() && !needed {
        let end = range(&statements[statements.len() - 1]).end;
        edits.push(Edit { range: end..end, text: format!("\n{indent}drop({name});") });
    }
    Ok(vec![site.fix("one critical section", edits)])
}

/// The expression that gives the guard: the call with `unwrap` or `expect` after it.
fn guard<'a>(site: &Site<'a>, call: &'a ExprMethodCall) -> &'a ExprMethodCall {
    let is_around = |one: &&&'a ExprMethodCall| {
        let unwraps = ["unwrap", "expect", "unwrap_or_else"].contains(&one.method.to_string().as_str());
        unwraps && matches!(&*one.receiver, Expr::MethodCall(inner) if std::ptr::eq(inner, call))
    };
    site.calls.iter().find(is_around).map_or(call, |around| around)
}

/// The `let` that gives a guard a name.
fn named_guard<'s>(statement: &'s Stmt, guard: &ExprMethodCall) -> Option<&'s syn::Local> {
    let Stmt::Local(local) = statement else { return None };
    let init = local.init.as_ref().filter(|init| init.diverge.is_none())?;
    let is_it = matches!(&*init.expr, Expr::MethodCall(one) if std::ptr::eq(one, guard));
    (is_it && bound(&local.pat).is_some()).then_some(local)
}

/// The same, in an inner block.
fn inner_named<'a>(site: &Site<'a>, guard: &ExprMethodCall) -> Option<&'a syn::Local> {
    let (block, from, _) = site.around(&range(guard), &range(guard))?;
    named_guard(&block.stmts[from], guard)
}

/// The statements `drop(guard);` of these guards.
fn dropped<'a>(site: &Site<'a>, guards: &[String]) -> Vec<&'a Stmt> {
    struct Drops<'a, 'g>(&'g [String], Vec<&'a Stmt>);
    impl<'a> syn::visit::Visit<'a> for Drops<'a, '_> {
        fn visit_stmt(&mut self, statement: &'a Stmt) {
            if let Stmt::Expr(Expr::Call(call), Some(_)) = statement
                && tokens(&call.func).ends_with("drop")
                && let Some(one) = call.args.first().and_then(name)
                && self.0.contains(&one.to_string())
            {
                self.1.push(statement);
            }
            syn::visit::visit_stmt(self, statement);
        }
    }
    let mut drops = Drops(guards, Vec::new());
    syn::visit::Visit::visit_block(&mut drops, site.block);
    drops.1
}
