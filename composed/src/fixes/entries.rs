//! Insertions into a map, or into a cell, where a look has found nothing: `entry`, `get_or_insert`, `get_or_init`.

use std::collections::BTreeSet;

use syn::{Block, Expr, ExprIf, Ident, Stmt};

use super::code::{
    bare, callables, calls_back, idents, is_simple, leaves, name, placed, rebinds, returned, simple_let,
};
use super::maps::{Acts, Look, Out, Presence, Through, as_if, is_value, out_of, plain, span_of};
use super::site::{is_alone, range};
use super::table::{Change, is_cell};
use super::{Edit, Fix};

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
        let (at, guarded) = if self.key.is_some() { (1, 3) } else { (0, 1) };
        let all = &self.second.args;
        all.iter().nth(at).filter(|_| all.len() == at + 1 || all.len() == guarded)
    }

    /// The value as text, which in a set is nothing.
    fn value_text(&self) -> Option<String> {
        match self.value() {
            Some(value) => is_simple(value).then(|| self.site.of(value).to_owned()),
            None => Some(String::new()),
        }
    }

    /// The expression that gives the value that is there, or inserts this one, and the value of what it gives.
    fn gives(&self, value: &str, lazily: bool, out: Out) -> Option<(&'static str, String)> {
        let (eager, lazy) = (self.forms.get_or_insert, self.forms.get_or_insert_with);
        let form = if lazily { lazy.or(eager) } else { eager.or(lazy) }?;
        let call = self.filled(form.text, &[("value", value), ("it", &self.site.fresh("known"))]);
        let (copied, cloned) = self.forms.out;
        Some((
            form.words,
            match out {
                _ if self.forms.owned => call,
                Out::Deref => self.filled(copied, &[("it", &call)]),
                Out::Clone => self.filled(cloned, &[("it", &call)]),
                Out::Itself => call,
            },
        ))
    }

    /// A statement that inserts unless something is there. A value that may do something is made before the map is locked.
    fn inserts_alone(&self) -> Option<(&'static str, String)> {
        let form = self.forms.unless?;
        let insertion = |value: &str| format!("{};", self.filled(form.text, &[("value", value)]));
        let text = match (self.value_text(), self.value()) {
            (Some(text), _) => insertion(&text),
            (None, value) => {
                let name = self.site.fresh("value");
                let indent = self.site.indent(range(self.second).start);
                format!("let {name} = {};\n{indent}{}", self.site.of(value?), insertion(&name))
            }
        };
        Some((form.words, text))
    }

    /// The name of the entry where its key is there, as the first call has it: `let known = slot.into_ref();`.
    fn entry_named(&self, look: &Look<'_>, value: Option<&Ident>, slot: &str) -> Option<String> {
        let Some(value) = value else { return Some(String::new()) };
        let found = self.filled(self.forms.entry?.found, &[("it", slot)]);
        match &look.through[..] {
            [] => Some(format!("let {value} = {found};\n")),
            [Through::Map(closure)] if !look.helped && is_simple(&closure.body) => {
                let inner = super::code::bound(closure.inputs.last()?)?;
                let body = self.site.of(&*closure.body);
                Some(format!("let {inner} = {found};\nlet {value} = {body};\n"))
            }
            _ => None,
        }
    }

    /// A condition on whether the call that inserts found something, and the statement before it.
    fn said(&self, there: bool, value: &str, indent: &str) -> Option<(&'static str, String, String)> {
        let said = self.forms.said?;
        let fresh = self.site.fresh("fresh");
        let given = [("value", value), ("fresh", fresh.as_str())];
        let before = self.filled(said.before, &given);
        let before = if before.is_empty() { before } else { format!("{}\n{indent}", placed(&before, indent)) };
        let condition = if there { said.refused } else { said.accepted };
        Some((said.words, before, self.filled(condition, &given)))
    }
}

/// `if let Some(known) = map.get(&key) { return …; } … map.insert(key, value); …`
struct Early<'s, 'a> {
    acts: &'s Acts<'s, 'a>,
    presence: Presence<'a>,
    then: &'a Block,
    hit: Option<&'a Expr>,
    /// A set has none.
    value: Option<&'s Expr>,
}

impl<'s, 'a> Early<'s, 'a> {
    fn of(acts: &'s Acts<'s, 'a>, one: &'a ExprIf) -> Option<Early<'s, 'a>> {
        let presence = acts.presence(&one.cond).filter(|presence| presence.there)?;
        let hit = returned(&one.then_branch).filter(|_| one.else_branch.is_none())?;
        let alone = acts.is_second(&acts.block.stmts[acts.to]) && !leaves(acts.between());
        alone.then(|| Early { acts, presence, then: &one.then_branch, hit, value: acts.value() })
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
        let is_it = name(hit).is_some_and(|name| name == value);
        match &self.presence.look.through[..] {
            [] if is_it && (self.acts.forms.owned || is_cell(&self.acts.first.kind)) => Some(Out::Itself),
            [] => out_of(hit, value),
            through => is_value(through).filter(|_| is_it),
        }
    }

    /// The value that is returned after the insertion, where that is what was inserted.
    fn result(&self) -> Option<&'a Expr> {
        let [Stmt::Expr(result, None)] = self.acts.rest() else { return None };
        if self.acts.looks_again() {
            return self.acts.is_again(result).then_some(result);
        }
        (bare(result) == bare(self.value?) && is_simple(result)).then_some(result)
    }

    /// Without the first look: the call that inserts makes it.
    fn whole(&self) -> Option<Fix> {
        let acts = self.acts;
        let lets: Option<Vec<(&Ident, &Expr)>> = acts.between().iter().map(simple_let).collect();
        let lets = lets?;
        let begin = range(&acts.block.stmts[acts.from]).start;
        if let (Some(out), Some(result), Some(value)) = (self.out(), self.result(), self.value) {
            let owned = match &lets[..] {
                [] if is_simple(value) && !matches!(value, Expr::MethodCall(_)) => acts.site.of(value),
                [(own, init)] if bare(value) == own.to_string() => acts.site.of(*init),
                _ => return None,
            };
            // A closure for what is at hand would be one too many.
            let at_hand = lets.is_empty() && matches!(value, Expr::Lit(_) | Expr::Path(_));
            let (words, text) = acts.gives(owned, !at_hand, out)?;
            return Some(acts.site.fix(words, vec![Edit { range: begin..range(result).end, text }]));
        }
        if acts.looks_again() {
            return None;
        }
        let end = range(&acts.block.stmts[acts.to]).end;
        let is_empty = self.hit.is_none() && self.then.stmts.len() == 1 && self.ends();
        if acts.rest().is_empty() && is_empty && lets.is_empty() && acts.value_text().is_some() {
            let (words, text) = acts.inserts_alone()?;
            return Some(acts.site.fix(words, vec![Edit { range: begin..end, text }]));
        }
        let names = lets.iter().map(|(name, _)| name.to_string()).collect::<BTreeSet<String>>();
        if let Some(fix) = self.told(&names) {
            return Some(fix);
        }
        let later = !idents_of(acts.rest()).is_disjoint(&names);
        let lets: Vec<&str> = acts.between().iter().map(|one| acts.site.of(one)).collect();
        let text = self.matched(begin, &lets).filter(|_| !later)?;
        Some(acts.site.fix("`entry(key)`, matched", vec![Edit { range: begin..end, text }]))
    }

    /// The result of the call that inserts in the place of the first look.
    fn told(&self, names: &BTreeSet<String>) -> Option<Fix> {
        let acts = self.acts;
        let value = acts.value_text()?;
        let statement = &acts.block.stmts[acts.from];
        let one = as_if(statement)?;
        let indent = acts.site.indent(range(one).start);
        let condition = match self.presence.value {
            None => acts.said(true, &value, indent),
            Some(name) if self.presence.look.through.is_empty() && !self.presence.look.helped => {
                let said = acts.forms.said?;
                let named = acts.filled(said.named?, &[("value", &value), ("name", &name.to_string())]);
                Some((said.words, String::new(), named))
            }
            Some(_) => None,
        };
        let (words, before, condition) = condition?;
        // What is between comes first: it has no effect, and the value may need it.
        if !names.is_disjoint(&idents_of(std::slice::from_ref(statement))) {
            return None;
        }
        let lets: String = acts.between().iter().map(|one| format!("{}\n{indent}", acts.site.of(one))).collect();
        let at = range(one).start..range(&*one.cond).end;
        let mut edits = vec![Edit { range: at, text: format!("{lets}{before}if {condition}") }];
        edits.extend(acts.between().iter().map(|one| acts.site.without(one)));
        edits.push(acts.site.without(&acts.block.stmts[acts.to]));
        Some(acts.site.fix(words, edits))
    }

    /// With the first look, which is no longer what decides.
    fn kept(&self) -> Option<Fix> {
        let acts = self.acts;
        let insertion = &acts.block.stmts[acts.to];
        let begin = range(insertion).start;
        if let (Some(out), Some(result), Some(value)) = (self.out(), self.result(), self.value) {
            // What is returned is owned; what is inserted may be a clone of it.
            let is_own = name(result).is_some() && !acts.looks_again();
            let owned = if is_own { acts.site.of(result) } else { acts.site.of(value) };
            let (words, text) = acts.gives(owned, false, out)?;
            return Some(acts.site.fix(words, vec![Edit { range: begin..range(result).end, text }]));
        }
        if acts.looks_again() {
            return None;
        }
        if acts.rest().is_empty() && self.hit.is_none() && self.then.stmts.len() == 1 && self.ends() {
            let (words, text) = acts.inserts_alone()?;
            return Some(acts.site.fix(words, vec![Edit { range: range(insertion), text }]));
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
        let (entry, value) = (acts.forms.entry?, self.value.filter(|value| is_simple(value))?);
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
        let map = acts.filled("{map}.entry{sync}({key})", &[]);
        let fill = acts.filled(entry.fill, &[("it", &slot), ("value", acts.site.of(value))]);
        let path = entry.path;
        let text = format!(
            "match {map} {{\n    {path}::Occupied({occupied}) => {{\n{found}    }}\n    {path}::Vacant({slot}) => {{\n{lets}        \
             {fill};\n    }}\n}}"
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
}

impl<'s, 'a> Inside<'s, 'a> {
    fn of(acts: &'s Acts<'s, 'a>, one: &'a ExprIf) -> Option<Inside<'s, 'a>> {
        acts.presence(&one.cond).filter(|presence| !presence.there)?;
        let all = &one.then_branch.stmts;
        let at = all.iter().position(|one| acts.is_second(one))?;
        let fits = !leaves(&all[..at]) && !acts.looks_again();
        fits.then(|| Inside { acts, one, before: &all[..at], insertion: &all[at], after: &all[at + 1..] })
    }

    fn fix(&self) -> Option<Fix> {
        let Inside { acts, one, before, insertion, after } = self;
        let alone = before.is_empty() && after.is_empty() && one.else_branch.is_none();
        if alone && acts.value_text().is_some() {
            let (words, text) = acts.inserts_alone()?;
            return Some(acts.site.fix(words, vec![Edit { range: range(*one), text }]));
        }
        if after.is_empty() && one.else_branch.is_none() {
            let (words, text) = acts.inserts_alone()?;
            return Some(acts.site.fix(words, vec![Edit { range: range(*insertion), text }]));
        }
        let value = acts.value_text()?;
        let indent = acts.site.indent(range(*one).start);
        if before.is_empty()
            && let Some((words, before, condition)) = acts.said(false, &value, indent)
        {
            let at = range(*one).start..range(&*one.cond).end;
            let edits = vec![Edit { range: at, text: format!("{before}if {condition}") }, acts.site.without(insertion)];
            return Some(acts.site.fix(words, edits));
        }
        let statement = std::slice::from_ref(&acts.block.stmts[acts.from]);
        let entry = acts.forms.entry.filter(|_| !calls_back(statement, &callables(acts.site.signature)))?;
        if !before.iter().all(|one| simple_let(one).is_some()) {
            return None;
        }
        let slot = acts.site.fresh("slot");
        let condition =
            format!("let {}::Vacant({slot}) = {}", entry.path, acts.filled("{map}.entry{sync}({key})", &[]));
        let filled = format!("{};", acts.filled(entry.fill, &[("it", &slot), ("value", &value)]));
        let edits =
            vec![Edit { range: range(&*one.cond), text: condition }, Edit { range: range(*insertion), text: filled }];
        Some(acts.site.fix("`entry(key)`, matched", edits))
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
    let look = acts.look(&last.receiver).filter(|look| !look.helped && !acts.looks_again())?;
    let out = if acts.forms.owned && look.through.is_empty() { Out::Itself } else { is_value(&look.through)? };
    let insertion = &acts.block.stmts[acts.to];
    let value = acts.value().filter(|value| is_alone(insertion, acts.second) && is_simple(value))?;
    let own = BTreeSet::from([old.to_string()]);
    let calls = callables(acts.site.signature);
    let quiet = acts.between().iter().all(|one| simple_let(one).is_some()) && !calls_back(acts.between(), &calls);
    if !quiet || rebinds(acts.between(), &own) {
        return None;
    }
    // `insert` of scc leaves what is there.
    if acts.first.library == "scc" && plain(&acts.second.method.to_string()) != "upsert" {
        return None;
    }
    let indent = acts.site.indent(range(local).start);
    match acts.forms.change? {
        Change::Slot { open, read, write } => {
            let slot = acts.site.fresh("slot");
            let given = [("it", slot.as_str()), ("default", default), ("value", acts.site.of(value))];
            let entry = format!("{}\n{indent}", acts.filled(open, &given));
            let read = acts.filled(if out == Out::Clone { read.1 } else { read.0 }, &given);
            let begin = range(local).start;
            let indent = acts.site.indent(range(insertion).start);
            let end = if acts.rest().is_empty() { String::new() } else { format!("\n{indent}drop({slot});") };
            let edits = vec![
                Edit { range: begin..begin, text: entry },
                Edit { range: range(&*init.expr), text: read },
                Edit { range: range(insertion), text: format!("{}{end}", acts.filled(write, &given)) },
            ];
            Some(acts.site.fix("`entry(key)`, kept from the reading to the writing", edits))
        }
        Change::Closure { words, before, text, read } => {
            let (it, old) = (acts.site.fresh("known"), old.to_string());
            let read = acts.filled(if out == Out::Clone { read.1 } else { read.0 }, &[("it", &it)]);
            let lets: String = acts.between().iter().map(|one| format!("    {}\n", acts.site.of(one))).collect();
            let value = acts.site.of(value);
            let given = [
                ("it", it.as_str()),
                ("old", &old),
                ("default", default),
                ("read", &read),
                ("lets", &lets),
                ("value", value),
            ];
            let text = format!("{}\n{}", acts.filled(before, &given), acts.filled(text, &given));
            let mut edits = vec![Edit { range: range(local), text: placed(&text, indent) }];
            // The closure computes these values. The function computes those again that it uses after the call.
            let later = idents_of(acts.rest());
            let unused = acts
                .between()
                .iter()
                .filter(|one| simple_let(one).is_some_and(|(name, _)| !later.contains(&name.to_string())));
            edits.extend(unused.map(|one| acts.site.without(one)));
            edits.push(acts.site.without(insertion));
            Some(acts.site.fix(words, edits))
        }
    }
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
