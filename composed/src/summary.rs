//! What a local function does, and what it does where it is called.

use std::collections::BTreeSet;
use std::rc::Rc;

use syn::{FnArg, Pat, Type};

use crate::body::Body;
use crate::flow::Flow;
use crate::index::{Function, Index};
use crate::names::Scope;
use crate::sections::{Entered, Key};
use crate::types::Ty;
use crate::values::{Made, Root, Val};

/// Calls are followed through so many local functions.
pub const DEPTH: usize = 4;

/// A function with more calls than this is not followed.
const LARGEST: usize = 300;

/// What a function does, by its parameters.
pub(crate) struct Summary {
    pub(crate) flow: Flow,
    pub(crate) made: Vec<Made>,
    /// What it gives, without closures.
    pub(crate) result: Val,
    /// Where it calls closures that are its parameters.
    pub(crate) applied: Vec<Applied>,
    /// What it calls in critical sections of locks beside what they lock.
    pub(crate) inside: BTreeSet<Key>,
    /// What it calls outside of critical sections.
    pub(crate) open: BTreeSet<Key>,
    /// The local functions that it calls.
    pub(crate) callees: BTreeSet<usize>,
    /// Why it cannot be run as it is.
    pub(crate) refusals: Vec<String>,
    /// What macros hide in it.
    pub(crate) spawned: Vec<Spawned>,
    /// Whether it, or a local function that it calls, has an unsafe block.
    pub(crate) is_unsafe: bool,
}

/// A call of a closure that is a parameter.
pub(crate) struct Applied {
    /// Which parameter.
    pub(crate) parameter: usize,
    /// What the closure is given.
    pub(crate) arguments: Vec<Val>,
    /// The critical sections that go on meanwhile.
    pub(crate) held: Vec<usize>,
}

/// A closure that runs on a thread of its own.
#[derive(Debug)]
pub(crate) struct Spawned {
    pub(crate) flow: Flow,
    pub(crate) made: Vec<Made>,
    pub(crate) line: usize,
    pub(crate) column: usize,
    pub(crate) end: u32,
}

impl Summary {
    fn empty() -> Summary {
        let flow = Flow::NOTHING;
        let (made, applied, refusals, spawned) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (inside, open, callees) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        Summary {
            flow,
            made,
            result: Val::nothing(),
            applied,
            inside,
            open,
            callees,
            refusals,
            spawned,
            is_unsafe: false,
        }
    }
}

impl<'a> Index<'a> {
    /// What a function does. A function that is being looked at does nothing more.
    pub(crate) fn summary(&self, number: usize) -> Rc<Summary> {
        if let Some(known) = self.summaries.borrow().get(&number) {
            return Rc::clone(known);
        }
        self.summaries.borrow_mut().insert(number, Rc::new(Summary::empty()));
        let summary = Rc::new(self.look_at(&self.functions[number]));
        self.summaries.borrow_mut().insert(number, Rc::clone(&summary));
        summary
    }

    fn look_at(&self, function: &Function<'a>) -> Summary {
        let scope = Scope { module: function.module, own: function.own };
        let mut body = Body::new(self, scope);
        for (number, parameter) in function.signature.inputs.iter().enumerate() {
            match parameter {
                FnArg::Receiver(receiver) => {
                    let written = receiver.colon_token.is_some().then_some(&*receiver.ty);
                    let mut own = Val::at(function.own.map_or(Ty::Opaque, Ty::Struct), root(number, "self"));
                    match written {
                        Some(written) => own = self.parameter(scope, written, number, "self"),
                        None => own.exclusive = receiver.mutability.is_some() || receiver.reference.is_none(),
                    }
                    body.bind_name("self", own);
                }
                FnArg::Typed(typed) => {
                    let name = match &*typed.pat {
                        Pat::Ident(name) => name.ident.to_string(),
                        _ => format!("argument {}", number + 1),
                    };
                    let val = self.parameter(scope, &typed.ty, number, &name);
                    body.bind(&typed.pat, val);
                }
            }
        }
        body.function(function.body, self.returned(scope, &function.signature.output))
    }

    fn parameter(&self, scope: Scope, written: &Type, number: usize, name: &str) -> Val {
        let ty = self.ty(scope, written);
        let borrowed = matches!(written, Type::Reference(reference) if reference.mutability.is_none());
        // A reference leads to what the caller has. A pointer to what several have is another matter.
        let ty = match ty {
            Ty::Shared(inner) if borrowed => (*inner).clone(),
            ty => ty,
        };
        Val { exclusive: !borrowed, ..Val::at(ty, root(number, name)) }
    }
}

fn root(number: usize, name: &str) -> Root {
    Root::Parameter(number, name.into())
}

impl Body<'_, '_> {
    /// Takes over what a local function does with these arguments.
    pub(crate) fn call_function(&mut self, number: usize, arguments: &[Val]) -> Val {
        let summary = self.index.summary(number);
        self.callees.insert(number);
        *self.index.called.borrow_mut().entry(number).or_default() |= self.held.is_empty();
        let name: Rc<str> = self.index.functions[number].signature.ident.to_string().into();
        self.refusals.extend(summary.refusals.iter().cloned());
        self.is_unsafe |= summary.is_unsafe;
        // Closures of which it is not seen that they are called may be called.
        let is_applied = |at: usize| summary.applied.iter().any(|one| one.parameter == at);
        let others = arguments.iter().enumerate().filter(|(at, _)| !is_applied(*at));
        self.maybe_closures(&others.map(|(_, val)| val.clone()).collect::<Vec<_>>());
        if self.made.len() + summary.made.len() > LARGEST {
            return Val::nothing();
        }
        let numbers: Vec<Option<usize>> =
            summary.made.iter().map(|made| self.take_over(made, arguments, &name)).collect();
        let applied: Vec<Flow> = summary.applied.iter().map(|one| self.applied(one, arguments, &numbers)).collect();
        let flow = renumbered(&summary.flow, &numbers, &applied);
        self.emit(Flow::Helper(Box::new(flow)).simplified());
        let mut result = summary.result.clone();
        result.section = result.section.and_then(|section| numbers[section]);
        if let (Some(section), true) = (result.section, result.guard) {
            self.hold(section);
        }
        let given = self.placed_result(result, arguments);
        self.last_called = Some(number);
        given
    }

    /// What a closure does that a local function calls with these arguments.
    fn applied(&mut self, one: &Applied, arguments: &[Val], numbers: &[Option<usize>]) -> Flow {
        let Some(callee) = arguments.get(one.parameter) else { return Flow::NOTHING };
        let given = one.arguments.iter().map(|val| {
            let mut val = val.clone();
            val.section = val.section.and_then(|section| numbers[section]);
            self.placed_result(val, arguments)
        });
        let given: Vec<Val> = given.collect();
        let before = self.held.clone();
        one.held.iter().filter_map(|section| numbers[*section]).for_each(|section| self.hold(section));
        let flow = match (&callee.closure, callee.parameter()) {
            (Some(closure), _) => Flow::Given(Box::new(self.closure(closure, &given))),
            (None, Some(parameter)) => self.apply(parameter, given),
            (None, None) => Flow::NOTHING,
        };
        self.held = before;
        flow
    }

    /// A parameter is called. Whoever passes a closure for it sees what happens.
    pub(crate) fn apply(&mut self, parameter: usize, arguments: Vec<Val>) -> Flow {
        let held = self.held.iter().map(|held| held.section).collect();
        self.applied.push(Applied { parameter, arguments, held });
        Flow::Apply(self.applied.len() - 1)
    }

    fn placed_result(&self, mut result: Val, arguments: &[Val]) -> Val {
        if let Some(place) = result.place.take() {
            result.place = match &place.root {
                Root::Parameter(number, _) => arguments.get(*number).and_then(|given| {
                    let mut base = given.place.clone()?;
                    base.path.push_str(&place.path);
                    base.shared |= place.shared;
                    Some(base)
                }),
                _ => Some(place),
            };
        }
        let exclusive = match &result.place {
            Some(place) => result.exclusive && !place.shared,
            None => false,
        };
        Val {
            ty: result.ty,
            place: result.place,
            exclusive,
            section: result.section,
            guard: result.guard,
            closure: None,
        }
    }

    /// A call of a local function's, as a call of this one; `None` if nobody else can see it.
    fn take_over(&mut self, made: &Made, arguments: &[Val], name: &Rc<str>) -> Option<usize> {
        let mut made = made.clone();
        if let Root::Parameter(number, _) = &made.placed.root {
            let given = arguments.get(*number)?.clone().peeled();
            let base = given.place?;
            if given.exclusive && !made.placed.shared {
                return None;
            }
            made.placed.root = base.root;
            made.placed.path = base.path + &made.placed.path;
            made.placed.shared |= base.shared;
            if let Some(section) = given.section {
                self.note(section, &made.method, made.effect);
                return None;
            }
        }
        if made.through.len() >= DEPTH {
            return None;
        }
        made.through.insert(0, Rc::clone(name));
        match self.enter(made) {
            Entered::Call(number) => Some(number),
            Entered::Part(_) => None,
        }
    }
}

/// A flow with other numbers, without the calls that have none, and with what closures do where it calls them.
fn renumbered(flow: &Flow, numbers: &[Option<usize>], applied: &[Flow]) -> Flow {
    let one = |flow: &Flow| renumbered(flow, numbers, applied);
    let all = |flows: &[Flow]| flows.iter().map(one).collect();
    match flow {
        Flow::Call(call) => numbers[*call].map_or(Flow::NOTHING, Flow::Call),
        Flow::Seq(steps) => Flow::Seq(all(steps)),
        Flow::Either(branches) => Flow::Either(all(branches)),
        Flow::Loop(body) => Flow::Loop(Box::new(one(body))),
        Flow::Frame(body) => Flow::Frame(Box::new(one(body))),
        Flow::Helper(body) => Flow::Helper(Box::new(one(body))),
        // Its pairs are those of the function that gave the closure.
        Flow::Given(body) => one(body),
        Flow::Apply(number) => applied[*number].clone(),
        Flow::Return => Flow::Return,
        Flow::Break => Flow::Break,
        Flow::Continue => Flow::Continue,
    }
}
