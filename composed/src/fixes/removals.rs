//! Removals from a map after a look: the call that removes decides.

use syn::{BinOp, Expr, ExprClosure, ExprIf, Stmt};

use super::code::{bound, is_simple, placed, tokens};
use super::maps::{Acts, Out, Through, is_value};
use super::site::{is_alone, range};
use super::table::Removal;
use super::{Edit, Fix};

pub(super) fn fixes(acts: &Acts<'_, '_>) -> Vec<Fix> {
    conditional(acts).into_iter().chain(of_a_value(acts)).collect()
}

/// `if map.contains_key(&key) { map.remove(&key); … }`, or with a condition on the value.
fn conditional(acts: &Acts<'_, '_>) -> Option<Fix> {
    let Stmt::Expr(Expr::If(one), _) = &acts.block.stmts[acts.from] else { return None };
    let begins = one.then_branch.stmts.first().filter(|first| is_alone(first, acts.second))?;
    if acts.from != acts.to {
        return None;
    }
    let Some(presence) = acts.presence(&one.cond) else {
        let removal = acts.forms.remove_if?;
        let condition = condition(acts, &one.cond)?;
        return Some(removed(acts, one, begins, removal, condition));
    };
    if !presence.there || presence.look.helped {
        return None;
    }
    let Some(value) = presence.value else {
        return Some(removed(acts, one, begins, acts.forms.remove?, Condition::default()));
    };
    // The name is that of the value itself, as `remove` gives it.
    let out = if acts.forms.owned && presence.look.through.is_empty() {
        Out::Itself
    } else {
        is_value(&presence.look.through)?
    };
    let condition = format!("let Some({value}) = {}", taken(acts, out)?);
    let edits = vec![Edit { range: range(&*one.cond), text: condition }, acts.site.without(begins)];
    Some(acts.site.fix("`remove`, which gives the value", edits))
}

/// What is asked of a value, and the name of the value there.
#[derive(Default)]
struct Condition {
    name: String,
    text: String,
}

/// The statement with a call that removes in the place of the condition.
fn removed(acts: &Acts<'_, '_>, one: &ExprIf, begins: &Stmt, removal: Removal, condition: Condition) -> Fix {
    let gone = acts.site.fresh("gone");
    let given = [("it", condition.name.as_str()), ("condition", &condition.text), ("gone", &gone)];
    let (before, call) = (acts.filled(removal.before, &given), acts.filled(removal.call, &given));
    let indent = acts.site.indent(range(one).start);
    let call = placed(&call, indent);
    if one.then_branch.stmts.len() == 1 && one.else_branch.is_none() {
        let result = if removal.result { "let _ = " } else { "" };
        let text = if before.is_empty() { String::new() } else { format!("{before}\n{indent}") };
        return acts.site.fix(removal.words, vec![Edit { range: range(one), text: format!("{text}{result}{call};") }]);
    }
    let mut edits = vec![acts.site.without(begins)];
    let said = acts.filled(removal.said, &[("call", &call), ("gone", &gone)]);
    if before.is_empty() {
        edits.push(Edit { range: range(&*one.cond), text: said });
    } else {
        let at = range(one).start..range(&*one.cond).end;
        edits.push(Edit { range: at, text: format!("{before}\n{indent}{call};\n{indent}if {said}") });
    }
    acts.site.fix(removal.words, edits)
}

/// What is asked of the value, as the body of a closure.
fn condition(acts: &Acts<'_, '_>, condition: &Expr) -> Option<Condition> {
    let of = |closure: &ExprClosure, compared: Option<String>| {
        let name = bound(closure.inputs.last()?)?.to_string();
        let body = is_simple(&closure.body).then(|| acts.site.of(&*closure.body))?;
        let compared = compared.map_or(String::new(), |value| format!(" == {value}"));
        Some(Condition { name, text: format!("{body}{compared}") })
    };
    match condition {
        Expr::Paren(one) => self::condition(acts, &one.expr),
        Expr::MethodCall(one) if one.method == "is_some_and" || one.method == "map_or" => {
            let look = acts.look(&one.receiver)?;
            let begins = one.method == "is_some_and" || matches!(&one.args[0], Expr::Lit(no) if tokens(no) == "false");
            match one.args.last()? {
                Expr::Closure(closure) if look.through.is_empty() && begins && closure.inputs.len() == 1 => {
                    of(closure, None)
                }
                _ => None,
            }
        }
        Expr::Binary(one) if matches!(one.op, BinOp::Eq(_)) => {
            let look = acts.look(&one.left)?;
            let Expr::Call(some) = &*one.right else { return None };
            let value = some.args.first().filter(|_| tokens(&some.func) == "Some" && some.args.len() == 1)?;
            let compared = acts.site.of(value).to_owned();
            match &look.through[..] {
                _ if !is_simple(value) || look.helped => None,
                [] if acts.forms.owned => {
                    let name = acts.site.fresh("value");
                    Some(Condition { text: format!("{name} == {compared}"), name })
                }
                [Through::Map(closure)] => of(closure, Some(compared)),
                [Through::Copied | Through::Cloned] => {
                    let name = acts.site.fresh("value");
                    Some(Condition { text: format!("*{name} == {compared}"), name })
                }
                _ => None,
            }
        }
        _ => None,
    }
}

/// `let value = map.get(&key).map(|value| *value); map.remove(&key);`.
fn of_a_value(acts: &Acts<'_, '_>) -> Option<Fix> {
    let Stmt::Local(local) = &acts.block.stmts[acts.from] else { return None };
    let init = local.init.as_ref().filter(|init| init.diverge.is_none())?;
    let look = acts.look(&init.expr)?;
    let removal = &acts.block.stmts[acts.to];
    if acts.to != acts.from + 1 || !is_alone(removal, acts.second) || look.helped {
        return None;
    }
    let out = if acts.forms.owned && look.through.is_empty() { Out::Itself } else { is_value(&look.through)? };
    let edits = vec![Edit { range: range(&*init.expr), text: taken(acts, out)? }, acts.site.without(removal)];
    Some(acts.site.fix("`remove`, which gives the value", edits))
}

/// The call that removes and gives the value.
fn taken(acts: &Acts<'_, '_>, out: Out) -> Option<String> {
    let value = acts.site.fresh("value");
    let (copied, cloned) = acts.forms.out;
    let read = acts.filled(if out == Out::Clone { cloned } else { copied }, &[("it", &value)]);
    Some(acts.filled(acts.forms.take?, &[("it", &value), ("read", &read)]))
}
