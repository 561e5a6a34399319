//! Walks through the body of a function and writes down its calls and its control flow.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use syn::spanned::Spanned;
use syn::{Block, Expr, ExprClosure, Local, Stmt};

use crate::flow::Flow;
use crate::index::{Index, last_line};
use crate::names::Scope;
use crate::sections::Key;
use crate::summary::{Applied, Spawned, Summary};
use crate::types::Ty;
use crate::values::{Made, Root, Val};

/// A walk through the body of a function.
pub(crate) struct Body<'i, 'a> {
    pub(crate) index: &'i Index<'a>,
    pub(crate) scope: Scope,
    pub(crate) file: Rc<str>,
    /// The variables, the innermost block last.
    scopes: Vec<HashMap<String, Val>>,
    pub(crate) made: Vec<Made>,
    /// What is being written down, the innermost piece last.
    flows: Vec<Vec<Flow>>,
    /// The critical sections that go on.
    pub(crate) held: Vec<Held>,
    /// Where it calls closures that are its parameters.
    pub(crate) applied: Vec<Applied>,
    /// What it calls in critical sections of locks beside what they lock.
    pub(crate) inside: BTreeSet<Key>,
    /// What it calls outside of critical sections.
    pub(crate) open: BTreeSet<Key>,
    /// The local functions that it calls.
    pub(crate) callees: BTreeSet<usize>,
    /// The local function whose result was the last expression.
    pub(crate) last_called: Option<usize>,
    /// Hints that a loop waits, in no loop that changes an atomic.
    pub(crate) spins: Vec<String>,
    pub(crate) refusals: Vec<String>,
    pub(crate) spawned: Vec<Spawned>,
    /// Whether it, or a local function that it calls, has an unsafe block.
    pub(crate) is_unsafe: bool,
    /// What `return` gives, where a place is known.
    pub(crate) returned: Option<Val>,
    /// Closures that are being walked through: one that calls itself is not entered again.
    pub(crate) closures: usize,
}

/// A critical section that goes on.
#[derive(Clone, Debug)]
pub(crate) struct Held {
    pub(crate) section: usize,
    /// Whether it keeps all others out.
    pub(crate) exclusive: bool,
    /// The variable with its guard; `None` for a temporary.
    pub(crate) variable: Option<String>,
}

impl<'i, 'a> Body<'i, 'a> {
    pub(crate) fn new(index: &'i Index<'a>, scope: Scope) -> Body<'i, 'a> {
        Body {
            index,
            scope,
            file: Rc::clone(&index.modules[scope.module].file),
            scopes: vec![HashMap::new()],
            made: Vec::new(),
            flows: vec![Vec::new()],
            held: Vec::new(),
            applied: Vec::new(),
            inside: BTreeSet::new(),
            open: BTreeSet::new(),
            callees: BTreeSet::new(),
            last_called: None,
            spins: Vec::new(),
            refusals: Vec::new(),
            spawned: Vec::new(),
            is_unsafe: false,
            returned: None,
            closures: 0,
        }
    }

    /// Walks through the body of a function that returns a type.
    pub(crate) fn function(mut self, block: &Block, returns: Ty) -> Summary {
        let result = self.block(block);
        let result = if result.place.is_none() { self.returned.take().unwrap_or(result) } else { result };
        // What the signature says of the type is sure.
        let ty = if returns.is_opaque() { result.ty } else { returns };
        let result = Val {
            ty,
            place: result.place,
            exclusive: result.exclusive,
            section: result.section,
            guard: result.guard,
            closure: None,
        };
        self.finish(result)
    }

    fn finish(mut self, result: Val) -> Summary {
        let flow = Flow::Seq(self.flows.pop().unwrap_or_default()).simplified();
        let spins = std::mem::take(&mut self.spins);
        self.refusals.extend(spins.into_iter().map(|path| format!("it waits: `{path}`")));
        self.refusals.sort();
        self.refusals.dedup();
        let Body { made, applied, inside, open, callees, refusals, spawned, is_unsafe, .. } = self;
        Summary { flow, made, result, applied, inside, open, callees, refusals, spawned, is_unsafe }
    }

    pub(crate) fn refuse(&mut self, reason: impl Into<String>) {
        self.refusals.push(reason.into());
    }

    pub(crate) fn emit(&mut self, flow: Flow) {
        if flow != Flow::NOTHING {
            self.flows.last_mut().expect("something is written down").push(flow);
        }
    }

    /// What is met in a piece of code. Guards that it takes do not outlive it.
    pub(crate) fn apart<T>(&mut self, walk: impl FnOnce(&mut Self) -> T) -> (Flow, T) {
        self.flows.push(Vec::new());
        let held = self.held.clone();
        let given = walk(self);
        self.held = held;
        (Flow::Seq(self.flows.pop().unwrap_or_default()), given)
    }

    pub(crate) fn in_scope<T>(&mut self, walk: impl FnOnce(&mut Self) -> T) -> T {
        self.scopes.push(HashMap::new());
        let given = walk(self);
        self.scopes.pop();
        given
    }

    pub(crate) fn bind_name(&mut self, name: &str, val: Val) {
        self.scopes.last_mut().expect("a block").insert(name.to_owned(), val);
    }

    pub(crate) fn variable(&self, name: &str) -> Option<&Val> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name))
    }

    pub(crate) fn block(&mut self, block: &Block) -> Val {
        let held = self.held.len();
        let given = self.in_scope(|body| {
            let mut last = Val::nothing();
            for (at, statement) in block.stmts.iter().enumerate() {
                last = body.statement(statement, at + 1 == block.stmts.len());
            }
            last
        });
        // The guard that a block gives is still alive.
        let kept = given.section.filter(|_| given.guard).map(|section| (section, String::new()));
        self.release(held, kept);
        given
    }

    fn statement(&mut self, statement: &Stmt, is_last: bool) -> Val {
        let held = self.held.len();
        match statement {
            Stmt::Local(local) => {
                self.local(local, held);
                Val::nothing()
            }
            Stmt::Expr(expression, None) if is_last => self.expression(expression),
            // Also an `if let` without a semicolon drops at its end what its condition has locked.
            Stmt::Expr(expression, _) => {
                let before: Vec<usize> = self.held.iter().map(|held| held.section).collect();
                self.expression(expression);
                // `drop(guard);` may have ended a section from before.
                let still = self.held.iter().take_while(|held| before.contains(&held.section)).count();
                self.release(still, None);
                Val::nothing()
            }
            Stmt::Macro(one) => {
                let given = self.macro_call(&one.mac, one.mac.path.span());
                self.release(held, None);
                given
            }
            Stmt::Item(_) => Val::nothing(),
        }
    }

    fn local(&mut self, local: &Local, held: usize) {
        let Some(init) = &local.init else {
            let val = Val::of(self.annotated(local).unwrap_or(Ty::Opaque));
            return self.bind(&local.pat, val);
        };
        if let (syn::Pat::Tuple(patterns), Expr::Tuple(values)) = (&local.pat, &*init.expr) {
            for (pattern, value) in patterns.elems.iter().zip(&values.elems) {
                let held = self.held.len();
                let val = self.expression(value);
                self.keep(pattern, val, held);
            }
            return;
        }
        let mut val = self.expression(&init.expr);
        if let Some(ty) = self.annotated(local).filter(|ty| !ty.is_opaque() && val.ty.is_opaque()) {
            let elsewhere = Val::at(ty.clone(), Root::Elsewhere(name_of(&local.pat)));
            val.place = val.place.or(elsewhere.place);
            val.ty = ty;
        }
        if let Some((_, diverge)) = &init.diverge {
            let (flow, _) = self.apart(|body| body.expression(diverge));
            self.emit(Flow::Either(vec![flow, Flow::Seq(Vec::new())]));
        }
        self.keep(&local.pat, val, held);
    }

    /// Binds a value. Of the sections that began after a moment, the one whose guard it is goes on.
    fn keep(&mut self, pattern: &syn::Pat, mut val: Val, held: usize) {
        // `let _ = lock()` keeps nothing.
        let is_kept = val.guard && !matches!(pattern, syn::Pat::Wild(_));
        let kept = val.section.filter(|_| is_kept).map(|section| (section, name_of(pattern).to_string()));
        if kept.is_none() {
            val.section = None;
            val.guard = false;
        }
        self.release(held, kept);
        self.bind(pattern, val);
    }

    fn annotated(&self, local: &Local) -> Option<Ty> {
        match &local.pat {
            syn::Pat::Type(typed) => Some(self.index.ty(self.scope, &typed.ty)),
            _ => None,
        }
    }

    /// The body of a closure, with these arguments.
    pub(crate) fn closure(&mut self, closure: &ExprClosure, arguments: &[Val]) -> Flow {
        const DEEPEST: usize = 12;
        if self.closures >= DEEPEST {
            return Flow::Seq(Vec::new());
        }
        self.closures += 1;
        let (flow, _) = self.apart(|body| {
            body.in_scope(|body| {
                for (number, pattern) in closure.inputs.iter().enumerate() {
                    let val = match pattern {
                        syn::Pat::Type(typed) => {
                            let ty = body.index.ty(body.scope, &typed.ty);
                            let given = arguments.get(number).cloned();
                            given.filter(|given| !given.ty.is_opaque()).unwrap_or(Val::of(ty))
                        }
                        _ => arguments.get(number).cloned().unwrap_or_else(Val::nothing),
                    };
                    body.bind(pattern, val);
                }
                body.expression(&closure.body)
            })
        });
        self.closures -= 1;
        Flow::Frame(Box::new(flow))
    }

    /// A closure or an async block that runs beside this function: an operation of its own.
    pub(crate) fn spawn(&mut self, expression: &Expr) {
        let code = match expression {
            Expr::Closure(closure) => &*closure.body,
            other => other,
        };
        let mut other = Body::new(self.index, self.scope);
        other.closures = self.closures + 1;
        for scope in &self.scopes {
            for (name, val) in scope {
                let mut val = val.clone();
                val.section = None;
                val.guard = false;
                if let Some(place) = &mut val.place {
                    if place.root == Root::Fresh {
                        place.root = Root::Captured(name.as_str().into());
                    }
                    val.exclusive = false;
                }
                other.bind_name(name, val);
            }
        }
        let value = other.expression(code);
        drop(value);
        let summary = other.finish(Val::nothing());
        self.spawned.extend(summary.spawned);
        self.inside.extend(summary.inside);
        self.open.extend(summary.open);
        self.callees.extend(summary.callees);
        let start = expression.span().start();
        let (line, column, end) = (start.line, start.column + 1, last_line(expression));
        self.spawned.push(Spawned { flow: summary.flow, made: summary.made, line, column, end });
    }
}

/// The name that a pattern begins with.
pub(crate) fn name_of(pattern: &syn::Pat) -> Rc<str> {
    match pattern {
        syn::Pat::Ident(name) => name.ident.to_string().into(),
        syn::Pat::Type(typed) => name_of(&typed.pat),
        syn::Pat::TupleStruct(inner) => inner.elems.first().map_or_else(|| "_".into(), name_of),
        syn::Pat::Reference(inner) => name_of(&inner.pat),
        _ => "_".into(),
    }
}
