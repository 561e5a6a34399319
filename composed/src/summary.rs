//! What a local function does, and what it does where it is called.

use std::rc::Rc;

use syn::{FnArg, Pat, Type};

use crate::body::Body;
use crate::flow::Flow;
use crate::index::{Function, Index};
use crate::names::Scope;
use crate::sections::Entered;
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
    /// Why it cannot be run as it is.
    pub(crate) refusals: Vec<String>,
    /// What macros hide in it.
    pub(crate) spawned: Vec<Spawned>,
    /// Whether it, or a local function that it calls, has an unsafe block.
    pub(crate) is_unsafe: bool,
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
        let (made, refusals, spawned) = (Vec::new(), Vec::new(), Vec::new());
        Summary { flow, made, result: Val::nothing(), refusals, spawned, is_unsafe: false }
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
        if function.signature.asyncness.is_some() {
            body.refuse("it waits: `async fn`");
        }
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
        let name: Rc<str> = self.index.functions[number].signature.ident.to_string().into();
        self.refusals.extend(summary.refusals.iter().cloned());
        self.is_unsafe |= summary.is_unsafe;
        if self.made.len() + summary.made.len() > LARGEST {
            return Val::nothing();
        }
        let numbers: Vec<Option<usize>> =
            summary.made.iter().map(|made| self.take_over(made, arguments, &name)).collect();
        let flow = renumbered(&summary.flow, &numbers);
        self.emit(Flow::Helper(Box::new(flow)).simplified());
        let mut result = summary.result.clone();
        result.section = result.section.and_then(|section| numbers[section]);
        if let (Some(section), true) = (result.section, result.guard) {
            self.hold(section);
        }
        self.placed_result(result, arguments)
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

/// A flow with other numbers, without the calls that have none.
fn renumbered(flow: &Flow, numbers: &[Option<usize>]) -> Flow {
    let all = |flows: &[Flow]| flows.iter().map(|flow| renumbered(flow, numbers)).collect();
    match flow {
        Flow::Call(call) => numbers[*call].map_or(Flow::NOTHING, Flow::Call),
        Flow::Seq(steps) => Flow::Seq(all(steps)),
        Flow::Either(branches) => Flow::Either(all(branches)),
        Flow::Loop(body) => Flow::Loop(Box::new(renumbered(body, numbers))),
        Flow::Frame(body) => Flow::Frame(Box::new(renumbered(body, numbers))),
        Flow::Helper(body) => Flow::Helper(Box::new(renumbered(body, numbers))),
        Flow::Return => Flow::Return,
        Flow::Break => Flow::Break,
        Flow::Continue => Flow::Continue,
    }
}
