//! From what functions do to a list of operations.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use syn::spanned::Spanned;

use crate::files;
use crate::flow::{self, Flow, Pair, Pairs};
use crate::index::{Index, last_line};
use crate::operation::{Call, Found, Operation, Place, Unread};
use crate::pattern::{self, Pattern};
use crate::runnable::Runnable;
use crate::values::{Made, Root};

/// All operations of the index.
pub(crate) fn report(index: &Index<'_>, unread: Vec<Unread>, files: usize, lines: usize) -> Found {
    index.find_bare();
    let mut all: BTreeMap<(usize, Place, String), Operation> = BTreeMap::new();
    let mut methods = Vec::new();
    for number in 0..index.functions.len() {
        let package = index.modules[index.functions[number].module].package;
        for one in operations(index, number) {
            if one.owner == "self" && one.name == index.functions[number].name {
                methods.push(number);
            }
            // A file that belongs to several crates is read for each of them.
            all.entry((package, one.place.clone(), one.owner.clone())).or_insert(one);
        }
    }
    item_macros(index);
    let mut unread: Vec<Unread> = unread.into_iter().chain(index.unread.take()).collect();
    unread.sort_by(|a, b| (&a.place, &a.reason).cmp(&(&b.place, &b.reason)));
    unread.dedup();
    let together = index.together(&methods);
    Found { operations: all.into_values().collect(), together, unread, files, lines }
}

/// The operations in a function: its own, and those of the closures that it spawns.
fn operations(index: &Index<'_>, number: usize) -> Vec<Operation> {
    let function = &index.functions[number];
    let module = &index.modules[function.module];
    let summary = index.summary(number);
    let start = function.signature.ident.span().start();
    let at = |line, column| files::place(&module.file, line, column);
    let runnable = match summary.refusals.first() {
        Some(reason) => Runnable::Refused { reason: reason.clone() },
        None => index.runnable(function),
    };
    let blank = |name: String, place: Place, end: u32, runnable: Runnable| Operation {
        package: index.packages[module.package].name.clone(),
        name,
        place,
        end,
        owner: String::new(),
        calls: Vec::new(),
        pattern: Pattern::Loop,
        recipe: Err(runnable.to_string()),
        draft: None,
        runnable,
    };
    let own = blank(function.name.clone(), at(start.line, start.column + 1), last_line(function.body), runnable);
    let mut all = filled(&own, &summary.flow, &summary.made);
    for one in all.iter_mut().filter(|one| !matches!(one.runnable, Runnable::Refused { .. })) {
        one.recipe = index.recipe(number, &one.owner);
        one.draft = one.recipe.is_err().then(|| index.draft(number, &one.owner)).flatten();
        // What the list says is what a run will say.
        one.runnable = match &one.recipe {
            Ok(_) => Runnable::AsItIs,
            Err(reason) => Runnable::Hole { what: reason.strip_prefix("needs ").unwrap_or(reason).to_owned() },
        };
    }
    for spawned in &summary.spawned {
        let hole = Runnable::Hole { what: "the function around the closure".to_owned() };
        let name = format!("{}::{{closure}}", function.name);
        let closure = blank(name, at(spawned.line, spawned.column), spawned.end, hole);
        all.extend(filled(&closure, &spawned.flow, &spawned.made));
    }
    all
}

/// The operations of a piece of code, one for each owner.
fn filled(blank: &Operation, flow: &Flow, made: &[Made]) -> Vec<Operation> {
    let of_group = |(owner, calls, pairs): (String, Vec<usize>, Pairs)| Operation {
        pattern: pattern::of(made, &pairs),
        calls: calls.into_iter().map(|call| shown(&made[call])).collect(),
        owner,
        ..blank.clone()
    };
    groups(flow, made).into_iter().map(of_group).collect()
}

/// Macros in the place of items, and files that are included.
fn item_macros(index: &Index<'_>) {
    for (module, one) in &index.item_macros {
        let name = one.mac.path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default();
        let file = Rc::clone(&index.modules[*module].file);
        index.names_hidden(&name, &one.mac, &file, one.mac.path.span());
        if name == "include" {
            index.not_included(&one.mac, &file, one.mac.path.span());
        }
    }
}

/// The operations of a function: by owner, the calls and the pairs of them that are on one path.
fn groups(flow: &Flow, made: &[Made]) -> Vec<(String, Vec<usize>, Pairs)> {
    let owners: BTreeSet<Owner<'_>> =
        made.iter().filter(|one| one.counts).filter_map(|one| owner(&one.placed.root)).collect();
    if made.len() < 2 && !has_loop(flow) {
        return Vec::new();
    }
    let all = flow::pairs(flow);
    let mut groups = Vec::new();
    for of in owners {
        let is_of = |call: usize| made[call].counts && owner(&made[call].placed.root) == Some(of);
        let both = |&&(first, second): &&Pair| is_of(first) && is_of(second);
        let straight = all.straight.iter().filter(both).copied().collect();
        let around = all.around.iter().filter(both).copied().collect();
        let pairs = Pairs { straight, around };
        let calls: BTreeSet<usize> =
            pairs.straight.iter().chain(&pairs.around).flat_map(|&(first, second)| [first, second]).collect();
        // A cell that is settled again and again is settled once.
        let first = calls.iter().next().map(|&call| &made[call].placed);
        let settles = calls.iter().all(|&call| made[call].settles() && Some(&made[call].placed) == first);
        if !calls.is_empty() && !settles {
            let roots: BTreeSet<&Root> = calls.iter().map(|&call| &made[call].placed.root).collect();
            let names: Vec<String> = roots.into_iter().map(name_of).collect();
            groups.push((names.join(", "), calls.into_iter().collect(), pairs));
        }
    }
    groups
}

fn has_loop(flow: &Flow) -> bool {
    match flow {
        Flow::Loop(_) => true,
        Flow::Seq(inner) | Flow::Either(inner) => inner.iter().any(has_loop),
        Flow::Frame(inner) | Flow::Helper(inner) | Flow::Given(inner) => has_loop(inner),
        Flow::Call(_) | Flow::Apply(_) | Flow::Return | Flow::Break | Flow::Continue => false,
    }
}

/// What collections belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Owner<'m> {
    /// The caller, who passes them as arguments.
    Caller,
    /// Something with a name.
    Root(&'m Root),
}

/// Who owns what is behind a root; `None` if nobody else knows it.
fn owner(root: &Root) -> Option<Owner<'_>> {
    match root {
        Root::Fresh => None,
        Root::Parameter(_, name) if &**name != "self" => Some(Owner::Caller),
        root => Some(Owner::Root(root)),
    }
}

fn name_of(root: &Root) -> String {
    match root {
        Root::Parameter(_, name) | Root::Static(name) | Root::Captured(name) | Root::Elsewhere(name) => {
            name.to_string()
        }
        Root::Fresh => String::new(),
    }
}

fn shown(made: &Made) -> Call {
    let inside: Vec<String> = made.inside.iter().map(|(method, _)| method.clone()).collect();
    Call {
        place: made.place.clone(),
        collection: format!("{}{}", name_of(&made.placed.root), made.placed.path),
        library: made.library.to_string(),
        kind: made.kind.to_string(),
        method: made.method.clone(),
        inside,
        through: made.through.iter().map(ToString::to_string).collect(),
    }
}
