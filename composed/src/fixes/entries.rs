//! Insertions into a map where a look has found nothing: `entry`, `get_or_insert`.

use std::collections::BTreeSet;

use syn::{Block, Expr, ExprIf, Ident, Stmt};

use super::code::{bare, callables, calls_back, idents, is_simple, leaves, name, rebinds, returned, simple_let};
use super::maps::{Acts, Look, Out, Presence, Through, as_if, is_value, out_of, span_of};
use super::site::{is_alone, range};
use super::{Edit, Fix};

const ENTRY: &str = "dashmap::mapref::entry::Entry";

pub(super) fn fixes(acts: &Acts<'_, '_>) -> Vec<Fix> {
    let mut all = Vec::new();
    let statement = &acts.block.stmts[acts.from];
    if let Some(one) = as_if(statement) {
        if acts.from == acts.to {
            all.extend(Inside::of(acts, one).and_then(|inside| inside.fix()));
        } else if let Some(early) = Early::of(acts, one) {
            all.extend([early.whole(), early.kept()].into_iter().flatten());
        }
    }
    all.extend(changed(acts));
    all
}

impl Acts<'_, '_> {
    /// The value that is inserted.
    fn value(&self) -> Option<&Expr> {
        self.second.args.iter().nth(1).filter(|_| self.second.args.len() == 2)
    }

    fn key_text(&self) -> &str {
        self.site.of(self.key)
    }

    /// The call that inserts unless the key is there, with the value as an expression, or as the body of a closure.
    fn inserts(&self, value: &str, lazily: bool) -> String {
        let (map, key) = (self.map, self.key_text());
        match (self.is_dash, lazily) {
            (true, false) => format!("{map}.entry({key}).or_insert({value})"),
            (true, true) => format!("{map}.entry({key}).or_insert_with(|| {value})"),
            (false, false) => format!("{map}.get_or_insert({key}, {value})"),
            (false, true) => format!("{map}.get_or_insert_with({key}, || {value})"),
        }
    }

    /// The value of the entry that such a call gives.
    fn out(&self, entry: &str, out: Out) -> String {
        match (self.is_dash, out) {
            (true, Out::Deref) => format!("*{entry}"),
            (true, Out::Clone) => format!("{entry}.clone()"),
            (false, Out::Deref) => format!("*{entry}.value()"),
            (false, Out::Clone) => format!("{entry}.value().clone()"),
        }
    }

    /// A statement that inserts. A value that may do something is made before the map is locked.
    fn inserts_alone(&self, value: &Expr) -> String {
        if is_simple(value) {
            return format!("{};", self.inserts(self.site.of(value), false));
        }
        let name = self.site.fresh("value");
        let indent = self.site.indent(range(self.second).start);
        format!("let {name} = {};\n{indent}{};", self.site.of(value), self.inserts(&name, false))
    }

    fn form(&self) -> &'static str {
        if self.is_dash { "`entry(key).or_insert(…)`" } else { "`get_or_insert`" }
    }

    /// The name of the entry where its key is there, as the first call has it: `let known = slot.into_ref();`.
    fn entry_named(&self, look: &Look<'_>, value: Option<&Ident>, slot: &str) -> Option<String> {
        let Some(value) = value else { return Some(String::new()) };
        match &look.through[..] {
            [] => Some(format!("let {value} = {slot}.into_ref();\n")),
            [Through::Map(closure)] if !look.helped && is_simple(&closure.body) => {
                let inner = super::code::bound(&closure.inputs[0])?;
                let body = self.site.of(&*closure.body);
                Some(format!("let {inner} = {slot}.into_ref();\nlet {value} = {body};\n"))
            }
            _ => None,
        }
    }
}

/// `if let Some(known) = map.get(&key) { return …; } … map.insert(key, value); …`
struct Early<'s, 'a> {
    acts: &'s Acts<'s, 'a>,
    presence: Presence<'a>,
    then: &'a Block,
    hit: Option<&'a Expr>,
    value: &'s Expr,
}

impl<'s, 'a> Early<'s, 'a> {
    fn of(acts: &'s Acts<'s, 'a>, one: &'a ExprIf) -> Option<Early<'s, 'a>> {
        let presence = acts.presence(&one.cond).filter(|presence| presence.there)?;
        let hit = returned(&one.then_branch).filter(|_| one.else_branch.is_none())?;
        let insertion = &acts.block.stmts[acts.to];
        let alone = is_alone(insertion, acts.second);
        let value = acts.value().filter(|_| alone && !leaves(acts.between()))?;
        Some(Early { acts, presence, then: &one.then_branch, hit, value })
    }

    fn calls_back(&self) -> bool {
        let statement = std::slice::from_ref(&self.acts.block.stmts[self.acts.from]);
        calls_back(statement, &callables(self.acts.site.signature))
    }

    /// Whether the end of the block is the end of the function, as a `return` is.
    fn ends(&self) -> bool {
        std::ptr::eq(self.acts.block, self.acts.site.block)
    }

    /// How the value that is found is returned, where nothing else is done.
    fn out(&self) -> Option<Out> {
        if !self.ends() {
            return None;
        }
        let (hit, value) = (self.hit?, self.presence.value?);
        let [_] = &self.then.stmts[..] else { return None };
        match &self.presence.look.through[..] {
            [] => out_of(hit, value),
            through => is_value(through).filter(|_| name(hit).is_some_and(|name| name == value)),
        }
    }

    /// The value that is returned after the insertion, where that is what was inserted.
    fn result(&self) -> Option<&'a Expr> {
        let [Stmt::Expr(result, None)] = self.acts.rest() else { return None };
        (bare(result) == bare(self.value) && is_simple(result)).then_some(result)
    }

    /// Without the first look: the call that inserts makes it.
    fn whole(&self) -> Option<Fix> {
        let acts = self.acts;
        let lets: Option<Vec<(&Ident, &Expr)>> = acts.between().iter().map(simple_let).collect();
        let lets = lets?;
        let begin = range(&acts.block.stmts[acts.from]).start;
        if let (Some(out), Some(result)) = (self.out(), self.result()) {
            let owned = match &lets[..] {
                [] if is_simple(self.value) && !matches!(self.value, Expr::MethodCall(_)) => acts.site.of(self.value),
                [(own, init)] if bare(self.value) == own.to_string() => acts.site.of(*init),
                _ => return None,
            };
            let text = acts.out(&acts.inserts(owned, true), out);
            return Some(acts.site.fix(
                if acts.is_dash { "`entry(key).or_insert_with(…)`" } else { "`get_or_insert_with`" },
                vec![Edit { range: begin..range(result).end, text }],
            ));
        }
        let end = range(&acts.block.stmts[acts.to]).end;
        let is_empty = self.hit.is_none() && self.then.stmts.len() == 1 && self.ends();
        if acts.rest().is_empty() && is_empty && lets.is_empty() && is_simple(self.value) {
            let text = format!("{};", acts.inserts(acts.site.of(self.value), false));
            return Some(acts.site.fix(acts.form(), vec![Edit { range: begin..end, text }]));
        }
        let names = lets.iter().map(|(name, _)| name.to_string()).collect::<BTreeSet<String>>();
        let later = !idents_of(acts.rest()).is_disjoint(&names);
        let lets: Vec<&str> = acts.between().iter().map(|one| acts.site.of(one)).collect();
        let text = self.matched(begin, &lets).filter(|_| !later)?;
        Some(acts.site.fix("`entry(key)`, matched", vec![Edit { range: begin..end, text }]))
    }

    /// With the first look, which is no longer what decides.
    fn kept(&self) -> Option<Fix> {
        let acts = self.acts;
        let insertion = &acts.block.stmts[acts.to];
        let begin = range(insertion).start;
        if let (Some(out), Some(result)) = (self.out(), self.result()) {
            // What is returned is owned; what is inserted may be a clone of it.
            let owned = if name(result).is_some() { acts.site.of(result) } else { acts.site.of(self.value) };
            let text = acts.out(&acts.inserts(owned, false), out);
            return Some(acts.site.fix(acts.form(), vec![Edit { range: begin..range(result).end, text }]));
        }
        if acts.rest().is_empty() && self.hit.is_none() && self.then.stmts.len() == 1 && self.ends() {
            let text = acts.inserts_alone(self.value);
            return Some(acts.site.fix(acts.form(), vec![Edit { range: range(insertion), text }]));
        }
        if acts.between().is_empty() {
            return None;
        }
        let text = self.matched(begin, &[])?;
        Some(acts.site.fix("`entry(key)`, matched", vec![Edit { range: range(insertion), text }]))
    }

    /// Both cases of an entry.
    fn matched(&self, at: usize, lets: &[&str]) -> Option<String> {
        let acts = self.acts;
        if !acts.is_dash || !is_simple(self.value) {
            return None;
        }
        // What is done where the key is there is done under the lock of the entry.
        if self.calls_back() {
            return None;
        }
        let slot = acts.site.fresh("slot");
        let named = acts.entry_named(&self.presence.look, self.presence.value, &slot)?;
        let hit = inner(acts, self.then)?;
        let occupied = if named.is_empty() { "_" } else { slot.as_str() };
        let found = indented(&format!("{named}{hit}"), "        ");
        let lets: String = lets.iter().map(|one| format!("        {one}\n")).collect();
        let (map, key, value) = (acts.map, acts.key_text(), acts.site.of(self.value));
        let text = format!(
            "match {map}.entry({key}) {{\n    {ENTRY}::Occupied({occupied}) => {{\n{found}    }}\n    {ENTRY}::Vacant({slot}) => {{\n{lets}        \
             {slot}.insert({value});\n    }}\n}}"
        );
        Some(placed(&text, acts.site.indent(at)))
    }
}

/// `if !map.contains_key(&key) { … map.insert(key, value); … }`
struct Inside<'s, 'a> {
    acts: &'s Acts<'s, 'a>,
    one: &'a ExprIf,
    before: &'a [Stmt],
    insertion: &'a Stmt,
    after: &'a [Stmt],
    value: &'s Expr,
}

impl<'s, 'a> Inside<'s, 'a> {
    fn of(acts: &'s Acts<'s, 'a>, one: &'a ExprIf) -> Option<Inside<'s, 'a>> {
        acts.presence(&one.cond).filter(|presence| !presence.there)?;
        let all = &one.then_branch.stmts;
        let at = all.iter().position(|one| is_alone(one, acts.second))?;
        let value = acts.value().filter(|_| !leaves(&all[..at]))?;
        Some(Inside { acts, one, before: &all[..at], insertion: &all[at], after: &all[at + 1..], value })
    }

    fn fix(&self) -> Option<Fix> {
        let Inside { acts, one, before, insertion, after, value } = self;
        let text = acts.site.of(*value);
        let alone = before.is_empty() && after.is_empty() && one.else_branch.is_none();
        if alone && is_simple(value) {
            let text = format!("{};", acts.inserts(text, false));
            return Some(acts.site.fix(acts.form(), vec![Edit { range: range(*one), text }]));
        }
        if after.is_empty() && one.else_branch.is_none() {
            let text = acts.inserts_alone(value);
            return Some(acts.site.fix(acts.form(), vec![Edit { range: range(*insertion), text }]));
        }
        let statement = std::slice::from_ref(&acts.block.stmts[acts.from]);
        let called = calls_back(statement, &callables(acts.site.signature));
        if !acts.is_dash || !is_simple(value) || called {
            return None;
        }
        let slot = acts.site.fresh("slot");
        let condition = format!("let {ENTRY}::Vacant({slot}) = {}.entry({})", acts.map, acts.key_text());
        let inserted = Edit { range: range(*insertion), text: format!("{slot}.insert({text});") };
        if before.iter().all(|one| simple_let(one).is_some()) {
            let edits = vec![Edit { range: range(&*one.cond), text: condition }, inserted];
            return Some(acts.site.fix("`entry(key)`, matched", edits));
        }
        None
    }
}

/// `let old = map.get(&key).map(|old| *old).unwrap_or(0); map.insert(key, old + 1);`
fn changed(acts: &Acts<'_, '_>) -> Option<Fix> {
    let Stmt::Local(local) = &acts.block.stmts[acts.from] else { return None };
    let init = local.init.as_ref().filter(|init| init.diverge.is_none())?;
    let old = super::code::bound(&local.pat)?;
    let Expr::MethodCall(last) = &*init.expr else { return None };
    let default = match (last.method.to_string().as_str(), last.args.first()) {
        ("unwrap_or", Some(default)) if is_simple(default) => acts.site.of(default),
        ("unwrap_or_default", None) => "Default::default()",
        _ => return None,
    };
    let look = acts.look(&last.receiver)?;
    let out = is_value(&look.through).filter(|_| acts.is_dash && !look.helped)?;
    let insertion = &acts.block.stmts[acts.to];
    let value = acts.value().filter(|value| is_alone(insertion, acts.second) && is_simple(value))?;
    let own = BTreeSet::from([old.to_string()]);
    let calls = callables(acts.site.signature);
    let quiet = acts.between().iter().all(|one| simple_let(one).is_some()) && !calls_back(acts.between(), &calls);
    if !quiet || rebinds(acts.between(), &own) {
        return None;
    }
    let slot = acts.site.fresh("slot");
    let indent = acts.site.indent(range(local).start);
    let entry = format!("let mut {slot} = {}.entry({}).or_insert({default});\n{indent}", acts.map, acts.key_text());
    let read = if out == Out::Deref { format!("*{slot}") } else { format!("{slot}.clone()") };
    let begin = range(local).start;
    let indent = acts.site.indent(range(insertion).start);
    let end = if acts.rest().is_empty() { String::new() } else { format!("\n{indent}drop({slot});") };
    let edits = vec![
        Edit { range: begin..begin, text: entry },
        Edit { range: range(&*init.expr), text: read },
        Edit { range: range(insertion), text: format!("*{slot} = {};{end}", acts.site.of(value)) },
    ];
    Some(acts.site.fix("`entry(key)`, kept from the reading to the writing", edits))
}

fn idents_of(statements: &[Stmt]) -> BTreeSet<String> {
    statements.iter().flat_map(idents).collect()
}

/// What is in a block, each line as it is.
fn inner(acts: &Acts<'_, '_>, block: &Block) -> Option<String> {
    let span = span_of(&block.stmts)?;
    let text = &acts.site.text[span.clone()];
    if text.contains('"') && text.contains('\n') {
        return None;
    }
    let indent = acts.site.indent(span.start);
    Some(text.lines().map(|line| format!("{}\n", line.strip_prefix(indent).unwrap_or(line))).collect())
}

fn indented(text: &str, by: &str) -> String {
    text.lines().map(|line| if line.is_empty() { "\n".to_owned() } else { format!("{by}{line}\n") }).collect()
}

/// A text whose lines but the first are indented.
fn placed(text: &str, indent: &str) -> String {
    text.replace('\n', &format!("\n{indent}"))
}
