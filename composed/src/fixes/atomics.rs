//! Atomics: a reading, and then a writing.

use syn::{BinOp, Block, Expr, ExprIf, ExprMethodCall, Ident, Stmt, UnOp};

use super::code::{bare, bound, find, is_it, is_simple, mentions, name, rebinds, returned, simple_let, strip};
use super::maps::as_if;
use super::site::{Pair, Site, is_alone, range};
use super::{Edit, Fix, Made};

/// The two calls of an operation on an atomic.
struct Acts<'s, 'a> {
    site: &'s Site<'a>,
    first: &'a ExprMethodCall,
    second: &'a ExprMethodCall,
    atomic: &'a str,
    block: &'a Block,
    from: usize,
    to: usize,
}

pub(super) fn fixes(site: &Site<'_>) -> Made {
    let Pair { first, second, block, from, to } = site.pair("atomic")?;
    let acts = Acts { site, first, second, atomic: site.of(&*first.receiver), block, from, to };
    let all = match (first.method.to_string().as_str(), second.method.to_string().as_str()) {
        ("load", _) => acts.read_then_written(),
        ("fetch_add" | "fetch_sub", "load") => acts.written_then_read().into_iter().collect(),
        (one, other) => return Err(format!("a call of `{other}` after `{one}` has no form that is known")),
    };
    if all.is_empty() { Err("its text has no form that is known".to_owned()) } else { Ok(all) }
}

/// What is written, as text, where the number that was read has a name.
struct New {
    text: String,
    /// `fetch_add` and what is added, where that is all.
    simply: Option<(&'static str, String)>,
}

impl<'a> Acts<'_, 'a> {
    fn read_then_written(&self) -> Vec<Fix> {
        let statement = &self.block.stmts[self.from];
        let mut all = Vec::new();
        if self.from == self.to {
            all.extend(self.nested());
            all.extend(as_if(statement).and_then(|one| self.conditional(one)));
        }
        all.extend(self.straight());
        all.extend(as_if(statement).and_then(|one| self.early(one)));
        all.extend(self.named_condition());
        all
    }

    /// What the second call writes if the first has read `now`. `read` is the first call, where the second has it inside.
    fn written(&self, now: &str, read: Option<&Expr>) -> Option<New> {
        let given = self.second.args.first()?;
        let given_text = self.site.of(given);
        let is_now = |expr: &Expr| match read {
            Some(read) => std::ptr::eq(strip(expr), read),
            None => name(strip(expr)).is_some_and(|name| name == now),
        };
        match self.second.method.to_string().as_str() {
            "store" => {
                let simply = match strip(given) {
                    Expr::Binary(one) if is_now(&one.left) && is_simple(&one.right) && !mentions(&one.right, now) => {
                        let by = self.site.of(&*one.right).to_owned();
                        match one.op {
                            BinOp::Add(_) => Some(("fetch_add", by)),
                            BinOp::Sub(_) => Some(("fetch_sub", by)),
                            BinOp::BitOr(_) => Some(("fetch_or", by)),
                            BinOp::BitAnd(_) => Some(("fetch_and", by)),
                            BinOp::BitXor(_) => Some(("fetch_xor", by)),
                            _ => None,
                        }
                    }
                    Expr::MethodCall(one)
                        if is_now(&one.receiver)
                            && one.args.len() == 1
                            && is_simple(&one.args[0])
                            && !mentions(&one.args[0], now) =>
                    {
                        let by = self.site.of(&one.args[0]).to_owned();
                        match one.method.to_string().as_str() {
                            "wrapping_add" => Some(("fetch_add", by)),
                            "wrapping_sub" => Some(("fetch_sub", by)),
                            "max" => Some(("fetch_max", by)),
                            "min" => Some(("fetch_min", by)),
                            _ => None,
                        }
                    }
                    Expr::Unary(one) if matches!(one.op, UnOp::Not(_)) && is_now(&one.expr) => {
                        Some(("fetch_xor", "true".to_owned()))
                    }
                    _ => None,
                };
                // What is written may contain the reading itself.
                let text = match read {
                    Some(read) => {
                        let (outer, inner) = (range(given), range(read));
                        let (start, end) = (inner.start - outer.start, inner.end - outer.start);
                        format!("{}{now}{}", &given_text[..start], &given_text[end..])
                    }
                    None => given_text.to_owned(),
                };
                let is_pure = match read {
                    Some(_) => syn::parse_str::<Expr>(&text).is_ok_and(|text| is_simple(&text)),
                    None => is_simple(given),
                };
                is_pure.then_some(New { text, simply })
            }
            "fetch_add" if is_simple(given) => {
                Some(New { text: format!("{now}.wrapping_add({given_text})"), simply: None })
            }
            "fetch_sub" if is_simple(given) => {
                Some(New { text: format!("{now}.wrapping_sub({given_text})"), simply: None })
            }
            _ => None,
        }
    }

    /// The orderings of both calls, for a call that does both: success, and reading alone.
    fn orderings(&self) -> Option<(String, &'a str, &'a str)> {
        let read = self.first.args.first()?;
        let write = self.second.args.last()?;
        let last = |expr: &Expr| match expr {
            Expr::Path(path) => path.path.segments.last().map(|last| last.ident.to_string()),
            _ => None,
        };
        let both = match (last(read)?.as_str(), last(write)?.as_str()) {
            ("Relaxed", other) => other.to_owned(),
            ("SeqCst", _) | (_, "SeqCst") => "SeqCst".to_owned(),
            ("Acquire", "Relaxed" | "Acquire") => "Acquire".to_owned(),
            ("Acquire", "Release" | "AcqRel") => "AcqRel".to_owned(),
            _ => return None,
        };
        let write = self.site.of(write);
        let prefix = write.rsplit_once("::").map_or(String::new(), |(prefix, _)| format!("{prefix}::"));
        Some((format!("{prefix}{both}"), write, self.site.of(read)))
    }

    /// `fetch_update` with the condition on which something is written, if there is one.
    fn update(&self, now: &str, condition: Option<&str>, new: &str) -> Option<String> {
        let (_, write, read) = self.orderings()?;
        let gives = match condition {
            None => format!("Some({new})"),
            Some(condition) => format!("({condition}).then(|| {new})"),
        };
        Some(format!("{}.fetch_update({write}, {read}, |{now}| {gives})", self.atomic))
    }

    fn swap(&self, from: &str, to: &str) -> Option<String> {
        let (both, _, read) = self.orderings()?;
        Some(format!("{}.compare_exchange({from}, {to}, {both}, {read})", self.atomic))
    }

    /// `n.store(n.load(…) + 1, …);`
    fn nested(&self) -> Option<Fix> {
        let statement = &self.block.stmts[self.from];
        if !is_alone(statement, self.second) || self.second.method != "store" {
            return None;
        }
        let given = self.second.args.first()?;
        let read = find(given, self.first)?;
        let now = self.site.fresh("now");
        let new = self.written(&now, Some(read))?;
        let (form, text) = match new.simply {
            Some((method, by)) => (spoken(method), format!("{}.{method}({by}, {})", self.atomic, self.orderings()?.0)),
            None => ("`fetch_update`", format!("let _ = {}", self.update(&now, None, &new.text)?)),
        };
        Some(self.site.fix(form, vec![Edit { range: range(statement), text: format!("{text};") }]))
    }

    /// `let now = n.load(…); … n.store(now + 1, …);`
    fn straight(&self) -> Option<Fix> {
        let Stmt::Local(local) = &self.block.stmts[self.from] else { return None };
        let init = local.init.as_ref().filter(|init| init.diverge.is_none())?;
        let now = bound(&local.pat)?;
        let writing = &self.block.stmts[self.to];
        if !is_it(&init.expr, self.first) || !is_alone(writing, self.second) || self.second.method != "store" {
            return None;
        }
        let between = &self.block.stmts[self.from + 1..self.to];
        let lets: Option<Vec<(&Ident, &Expr)>> = between.iter().map(simple_let).collect();
        let lets = lets?;
        if lets.iter().any(|(name, _)| *name == now) {
            return None;
        }
        let name_of_now = now.to_string();
        let mut new = self.written(&name_of_now, None)?;
        let given = self.second.args.first()?;
        let used: Vec<&(&Ident, &Expr)> = lets.iter().filter(|(name, _)| mentions(given, &name.to_string())).collect();
        match &used[..] {
            [] => {}
            [(one, init)]
                if bare(given) == one.to_string()
                    && lets.iter().all(|(other, _)| !mentions(*init, &other.to_string())) =>
            {
                new = New { text: self.site.of(*init).to_owned(), simply: simply(init, &name_of_now, self.site) };
            }
            _ => return None,
        }
        let (form, text) = match new.simply {
            Some((method, by)) => (spoken(method), format!("{}.{method}({by}, {})", self.atomic, self.orderings()?.0)),
            None => {
                let update = self.update(&name_of_now, None, &new.text)?;
                ("`fetch_update`", format!("{update}.unwrap_or_else(|{now}| {now})"))
            }
        };
        let edits = vec![Edit { range: range(&*init.expr), text }, self.site.without(writing)];
        Some(self.site.fix(form, edits))
    }

    /// A condition on the number that is read, as what it must be, or with a name for it.
    fn condition(&self, condition: &Expr) -> Option<(Option<String>, String, String)> {
        let read = find(condition, self.first)?;
        let now = self.site.fresh("now");
        let (outer, inner) = (range(condition), range(read));
        let text = self.site.of(condition);
        let named = format!("{}{now}{}", &text[..inner.start - outer.start], &text[inner.end - outer.start..]);
        if !syn::parse_str::<Expr>(&named).is_ok_and(|named| is_simple(&named)) {
            return None;
        }
        let exactly = match strip(condition) {
            expr if std::ptr::eq(expr, read) => Some("true".to_owned()),
            Expr::Unary(one) if matches!(one.op, UnOp::Not(_)) && std::ptr::eq(strip(&one.expr), read) => {
                Some("false".to_owned())
            }
            Expr::Binary(one) if matches!(one.op, BinOp::Eq(_)) => match (strip(&one.left), strip(&one.right)) {
                (left, right) if std::ptr::eq(left, read) => Some(self.site.of(right).to_owned()),
                (left, right) if std::ptr::eq(right, read) => Some(self.site.of(left).to_owned()),
                _ => None,
            },
            _ => None,
        };
        Some((exactly, now, named))
    }

    /// `if n.load(…) == 0 { n.store(1, …); … }`
    fn conditional(&self, one: &ExprIf) -> Option<Fix> {
        let (exactly, now, condition) = self.condition(&one.cond)?;
        let writing = one.then_branch.stmts.first().filter(|first| is_alone(first, self.second))?;
        let new = self.written(&now, None)?;
        let (form, call) = match exactly {
            Some(from) if self.second.method == "store" => ("`compare_exchange`", self.swap(&from, &new.text)?),
            _ => ("`fetch_update`", self.update(&now, Some(&condition), &new.text)?),
        };
        let alone = one.then_branch.stmts.len() == 1 && one.else_branch.is_none();
        let edits = if alone {
            vec![Edit { range: range(one), text: format!("let _ = {call};") }]
        } else {
            vec![Edit { range: range(&*one.cond), text: format!("{call}.is_ok()") }, self.site.without(writing)]
        };
        Some(self.site.fix(form, edits))
    }

    /// `if n.load(…) { return …; } n.store(true, …); …`
    fn early(&self, one: &ExprIf) -> Option<Fix> {
        returned(&one.then_branch).filter(|_| one.else_branch.is_none() && self.to == self.from + 1)?;
        let (_, now, condition) = self.condition(&one.cond)?;
        let writing = &self.block.stmts[self.to];
        let new = self.written(&now, None).filter(|_| is_alone(writing, self.second))?;
        let read = find(&one.cond, self.first)?;
        let from = match strip(&one.cond) {
            expr if std::ptr::eq(expr, read) => Some("false".to_owned()),
            Expr::Unary(not) if std::ptr::eq(strip(&not.expr), read) => Some("true".to_owned()),
            Expr::Binary(differs) if matches!(differs.op, BinOp::Ne(_)) && std::ptr::eq(strip(&differs.left), read) => {
                Some(self.site.of(&*differs.right).to_owned())
            }
            _ => None,
        };
        let (form, call) = match from {
            Some(from) if self.second.method == "store" => ("`compare_exchange`", self.swap(&from, &new.text)?),
            _ => ("`fetch_update`", self.update(&now, Some(&format!("!({condition})")), &new.text)?),
        };
        let edits =
            vec![Edit { range: range(&*one.cond), text: format!("{call}.is_err()") }, self.site.without(writing)];
        Some(self.site.fix(form, edits))
    }

    /// `let now = n.load(…); if now == 0 { return …; } n.store(now - 1, …); …`, and `if now > 0 { n.store(now - 1, …); … }`
    fn named_condition(&self) -> Option<Fix> {
        let Stmt::Local(local) = &self.block.stmts[self.from] else { return None };
        let init = local.init.as_ref().filter(|init| init.diverge.is_none() && is_it(&init.expr, self.first))?;
        let begin = range(&*init.expr).start;
        let now = bound(&local.pat)?.to_string();
        let one = self.block.stmts.get(self.from + 1).and_then(as_if)?;
        let condition = is_simple(&one.cond).then(|| self.site.of(&*one.cond))?;
        let new = self.written(&now, None)?;
        if self.to == self.from + 2 && is_alone(&self.block.stmts[self.to], self.second) && one.else_branch.is_none() {
            returned(&one.then_branch)?;
            let update = self.update(&now, Some(&format!("!({condition})")), &new.text)?;
            let writing = self.site.without(&self.block.stmts[self.to]);
            let used = |statements: &[Stmt]| statements.iter().any(|one| mentions(one, &now));
            let later = used(&self.block.stmts[self.to + 1..]);
            if !later && !used(&one.then_branch.stmts) {
                let condition =
                    Edit { range: range(local).start..range(&*one.cond).end, text: format!("if {update}.is_err()") };
                return Some(self.site.fix("`fetch_update`", vec![condition, writing]));
            }
            let then = self.site.of(&one.then_branch);
            if then.contains('"') && then.contains('\n') {
                return None;
            }
            let (indent, then) = (self.site.indent(range(local).start), then.replace('\n', "\n    "));
            let text = format!(
                "match {update} {{\n{indent}    Ok({now}) => {now},\n{indent}    Err({now}) => {then}\n{indent}}};"
            );
            let edits = vec![Edit { range: begin..range(one).end, text }, writing];
            return Some(self.site.fix("`fetch_update`", edits));
        }
        let writing = one.then_branch.stmts.first().filter(|first| is_alone(first, self.second))?;
        if self.to != self.from + 1 || rebinds(&one.then_branch.stmts, &[now.clone()].into()) {
            return None;
        }
        let update = self.update(&now, Some(condition), &new.text)?;
        let used = one.then_branch.stmts[1..].iter().any(|one| mentions(one, &now));
        let pattern = if used { now.as_str() } else { "_" };
        let text = format!("if let Ok({pattern}) = {update}");
        let edits = vec![Edit { range: range(local).start..range(&*one.cond).end, text }, self.site.without(writing)];
        Some(self.site.fix("`fetch_update`", edits))
    }

    /// `n.fetch_add(1, …); n.load(…)`
    fn written_then_read(&self) -> Option<Fix> {
        let writing = &self.block.stmts[self.from];
        let by = self.first.args.first().filter(|by| is_simple(by))?;
        let reading = match &self.block.stmts[self.to] {
            Stmt::Local(local) => &*local.init.as_ref()?.expr,
            Stmt::Expr(expr, _) => expr,
            _ => return None,
        };
        if self.to != self.from + 1 || !is_alone(writing, self.first) || !is_it(reading, self.second) {
            return None;
        }
        let method = self.first.method.to_string();
        let again = if method == "fetch_add" { "wrapping_add" } else { "wrapping_sub" };
        let by = self.site.of(by);
        let text = format!("{}.{again}({by})", self.site.of(self.first));
        let edits = vec![self.site.without(writing), Edit { range: range(reading), text }];
        Some(self.site.fix("the result of the call that writes", edits))
    }
}

/// `fetch_add` and what is added, where an expression does just that to a name.
fn simply(expr: &Expr, now: &str, site: &Site<'_>) -> Option<(&'static str, String)> {
    let Expr::Binary(one) = strip(expr) else { return None };
    let is_now = name(strip(&one.left)).is_some_and(|name| name == now);
    let by =
        (is_now && is_simple(&one.right) && !mentions(&one.right, now)).then(|| site.of(&*one.right).to_owned())?;
    match one.op {
        BinOp::Add(_) => Some(("fetch_add", by)),
        BinOp::Sub(_) => Some(("fetch_sub", by)),
        _ => None,
    }
}

fn spoken(method: &str) -> &'static str {
    match method {
        "fetch_add" => "`fetch_add`, which wraps around where an addition overflows",
        "fetch_sub" => "`fetch_sub`, which wraps around where a subtraction overflows",
        "fetch_max" => "`fetch_max`",
        "fetch_min" => "`fetch_min`",
        "fetch_or" => "`fetch_or`",
        "fetch_and" => "`fetch_and`",
        _ => "`fetch_xor`",
    }
}
