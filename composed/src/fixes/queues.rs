//! Queues: a question about how much is in it, and then an insertion or a removal.

use syn::{BinOp, Expr, ExprMethodCall, Pat, Stmt, UnOp};

use super::code::{bound, is_simple, rebinds, returned, tokens, variables};
use super::maps::as_if;
use super::site::{Site, is_alone, is_sure, range};
use super::{Edit, Made};

pub(super) fn fixes(site: &Site<'_>) -> Made {
    let (first, second) = site.two()?;
    let kind = first.kind.as_str();
    let elsewhere = || "its calls are in different functions".to_owned();
    let (asks, acts) = (site.call(first).ok_or_else(elsewhere)?, site.call(second).ok_or_else(elsewhere)?);
    let (block, from, to) = site.around(&range(asks), &range(acts)).ok_or("its calls are in no common block")?;
    let queue = site.of(&*asks.receiver);
    if tokens(&asks.receiver) != tokens(&acts.receiver) || !is_simple(&asks.receiver) {
        return Err("its queue is not a plain name".to_owned());
    }
    if rebinds(&block.stmts[from..=to], &variables(&asks.receiver)) {
        return Err("the queue is another one at the second call".to_owned());
    }
    let method = acts.method.to_string();
    let unknown = || "its text has no form that is known".to_owned();
    let one = as_if(&block.stmts[from]).ok_or_else(unknown)?;
    let asked = asked(&one.cond, asks).ok_or_else(unknown)?;
    match (kind, method.as_str(), asked) {
        ("SegQueue", "push", _) => {
            Err("a `SegQueue` has no capacity, so that no call pushes within a limit: an `ArrayQueue` does".to_owned())
        }
        ("ArrayQueue", "push", Asked::Limit) => {
            Err("`push` refuses at the capacity of the queue, and the limit here is another number".to_owned())
        }
        ("ArrayQueue", "push", Asked::Full(full)) => {
            let given = acts.args.first().filter(|given| is_simple(given)).ok_or_else(unknown)?;
            let call = format!("{queue}.push({})", site.of(given));
            let statement = if from == to { one.then_branch.stmts.first() } else { block.stmts.get(to) };
            let pushes = statement.filter(|one| pushes(one, acts)).ok_or_else(unknown)?;
            let after = if from == to && !full {
                "is_ok"
            } else if from + 1 == to && full && one.else_branch.is_none() && returned(&one.then_branch).is_some() {
                "is_err"
            } else {
                return Err(unknown());
            };
            let alone = from == to && one.then_branch.stmts.len() == 1 && one.else_branch.is_none();
            let edits = if alone {
                vec![Edit { range: range(one), text: format!("let _ = {call};") }]
            } else {
                vec![Edit { range: range(&*one.cond), text: format!("{call}.{after}()") }, site.without(pushes)]
            };
            Ok(vec![site.fix("the result of `push`", edits)])
        }
        (_, "pop", Asked::Empty(empty)) => {
            let statement = if from == to { one.then_branch.stmts.first() } else { block.stmts.get(to) };
            let statement = statement.ok_or_else(unknown)?;
            let Stmt::Local(local) = statement else { return Err(unknown()) };
            let init = local.init.as_ref().filter(|init| init.diverge.is_none()).ok_or_else(unknown)?;
            let name = named(&local.pat).filter(|_| is_taken(&init.expr, acts)).ok_or_else(unknown)?;
            let form = "the result of `pop`";
            if from == to && !empty {
                let edits = vec![
                    Edit { range: range(&*one.cond), text: format!("let Some({name}) = {queue}.pop()") },
                    site.without(statement),
                ];
                return Ok(vec![site.fix(form, edits)]);
            }
            let is_early = from + 1 == to && empty && one.else_branch.is_none();
            returned(&one.then_branch).filter(|_| is_early).ok_or_else(unknown)?;
            let then = site.of(&one.then_branch);
            let text = format!("let Some({name}) = {queue}.pop() else {then};");
            Ok(vec![site.fix(form, vec![Edit { range: range(one).start..range(statement).end, text }])])
        }
        _ => Err(unknown()),
    }
}

/// What is asked of a queue; whether it is so.
enum Asked {
    Full(bool),
    Empty(bool),
    /// Whether its length is below a number.
    Limit,
}

fn asked(condition: &Expr, asks: &ExprMethodCall) -> Option<Asked> {
    let is_it = |expr: &Expr| matches!(expr, Expr::MethodCall(one) if std::ptr::eq(one, asks));
    match condition {
        Expr::Paren(one) => asked(&one.expr, asks),
        Expr::Unary(one) if matches!(one.op, UnOp::Not(_)) => match asked(&one.expr, asks)? {
            Asked::Full(full) => Some(Asked::Full(!full)),
            Asked::Empty(empty) => Some(Asked::Empty(!empty)),
            Asked::Limit => None,
        },
        Expr::MethodCall(one) if is_it(condition) => match one.method.to_string().as_str() {
            "is_full" => Some(Asked::Full(true)),
            "is_empty" => Some(Asked::Empty(true)),
            _ => None,
        },
        Expr::Binary(one) if is_it(&one.left) && asks.method == "len" => {
            let capacity = matches!(&*one.right, Expr::MethodCall(other)
                if other.method == "capacity" && tokens(&other.receiver) == tokens(&asks.receiver));
            match one.op {
                BinOp::Lt(_) | BinOp::Ne(_) if capacity => Some(Asked::Full(false)),
                BinOp::Ge(_) | BinOp::Eq(_) if capacity => Some(Asked::Full(true)),
                _ => Some(Asked::Limit),
            }
        }
        _ => None,
    }
}

/// A statement that pushes and leaves the result, or is sure of it.
fn pushes(statement: &Stmt, call: &ExprMethodCall) -> bool {
    is_alone(statement, call) || is_sure(statement, call)
}

/// `queue.pop().unwrap()`.
fn is_taken(expr: &Expr, call: &ExprMethodCall) -> bool {
    match expr {
        Expr::MethodCall(one) if one.method == "unwrap" || one.method == "expect" => {
            matches!(&*one.receiver, Expr::MethodCall(inner) if std::ptr::eq(inner, call))
        }
        _ => false,
    }
}

fn named(pattern: &Pat) -> Option<String> {
    let name = bound(pattern)?;
    let mutable = matches!(pattern, Pat::Ident(one) if one.mutability.is_some());
    Some(if mutable { format!("mut {name}") } else { name.to_string() })
}
