//! Expressions, in the order in which they are evaluated.

use std::rc::Rc;

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{BinOp, Expr, ExprBinary, ExprIf, ExprMatch, ExprPath, Member, Pat, UnOp};

use crate::body::Body;
use crate::collections::{Effect, Family};
use crate::flow::Flow;
use crate::names::{Target, Want, segments};
use crate::sections::What;
use crate::types::Ty;
use crate::values::{Root, Val};

impl Body<'_, '_> {
    /// Walks through an expression.
    pub(crate) fn expression(&mut self, expression: &Expr) -> Val {
        match expression {
            Expr::Path(path) => self.path(path),
            Expr::Field(field) => {
                let base = self.expression(&field.base);
                self.field(&base, &field.member)
            }
            Expr::MethodCall(call) => self.method_call(call),
            Expr::Call(call) => self.call(call),
            Expr::Macro(one) => self.macro_call(&one.mac, one.mac.path.span()),
            Expr::Reference(inner) => self.expression(&inner.expr),
            Expr::Unary(unary) => {
                let val = self.expression(&unary.expr);
                if matches!(unary.op, UnOp::Deref(_)) { val } else { Val::nothing() }
            }
            Expr::Paren(inner) => self.expression(&inner.expr),
            Expr::Group(inner) => self.expression(&inner.expr),
            Expr::Cast(inner) => self.expression(&inner.expr),
            Expr::Block(inner) => self.labelled(inner.label.is_some(), &inner.block),
            Expr::Unsafe(inner) => {
                self.is_unsafe = true;
                self.block(&inner.block)
            }
            Expr::Const(inner) => self.block(&inner.block),
            Expr::Async(inner) => {
                let (flow, val) = self.apart(|body| body.block(&inner.block));
                self.emit(Flow::Frame(Box::new(flow)));
                val
            }
            Expr::Await(inner) => self.awaited(&inner.base),
            Expr::Try(inner) => {
                let val = self.expression(&inner.expr);
                self.emit(Flow::Either(vec![Flow::Return, Flow::Seq(Vec::new())]));
                val
            }
            Expr::Let(one) => {
                let val = self.expression(&one.expr);
                self.bind(&one.pat, val);
                Val::nothing()
            }
            Expr::If(one) => self.branch(one),
            Expr::Match(one) => self.choose(one),
            Expr::Binary(binary) => self.binary(binary),
            Expr::Assign(assign) => {
                self.expression(&assign.right);
                self.assigned(&assign.left, Effect::Insert);
                Val::nothing()
            }
            _ => self.jump_or_loop(expression),
        }
    }

    /// What an async function of the workspace or an async block does is known. Any other future may wait.
    fn awaited(&mut self, base: &Expr) -> Val {
        self.last_called = None;
        let val = self.expression(base);
        let is_async = |function: usize| self.index.functions[function].signature.asyncness.is_some();
        let is_known = match base {
            Expr::Async(_) => true,
            Expr::Call(_) | Expr::MethodCall(_) => self.last_called.is_some_and(is_async),
            _ => false,
        };
        if !is_known {
            self.refuse("it waits: `.await`");
        }
        val
    }

    /// A loop that changes an atomic tries again: what hints at waiting in it does not wait.
    fn tried_again(&mut self, flow: &Flow, spins: usize) {
        let tries = |call: usize| {
            let made = &self.made[call];
            made.family == Family::Atomic && matches!(made.effect, Effect::Exchange | Effect::Change)
        };
        if flow.any(&tries) {
            self.spins.truncate(spins);
        }
    }

    fn jump_or_loop(&mut self, expression: &Expr) -> Val {
        let spins = self.spins.len();
        match expression {
            Expr::Loop(one) => {
                let (flow, _) = self.apart(|body| body.block(&one.body));
                self.tried_again(&flow, spins);
                self.emit(Flow::Loop(Box::new(flow)));
            }
            Expr::While(one) => {
                let (flow, ()) = self.apart(|body| {
                    body.in_scope(|body| {
                        let held = body.held.len();
                        body.expression(&one.cond);
                        // `while let` keeps its temporaries, a plain condition does not.
                        if !has_let(&one.cond) {
                            body.release(held, None);
                        }
                        body.emit(Flow::Either(vec![Flow::Break, Flow::Seq(Vec::new())]));
                        body.block(&one.body);
                    });
                });
                self.tried_again(&flow, spins);
                self.emit(Flow::Loop(Box::new(flow)));
            }
            Expr::ForLoop(one) => {
                let over = self.iterated(&one.expr);
                let (flow, ()) = self.apart(|body| {
                    body.in_scope(|body| {
                        body.bind(&one.pat, over);
                        body.block(&one.body);
                    });
                });
                self.emit(Flow::Loop(Box::new(flow)));
            }
            Expr::Return(one) => {
                if let Some(value) = &one.expr {
                    let val = self.expression(value);
                    if val.place.is_some() {
                        self.returned = Some(val);
                    }
                }
                self.emit(Flow::Return);
            }
            Expr::Break(one) => {
                if let Some(value) = &one.expr {
                    self.expression(value);
                }
                self.emit(Flow::Break);
            }
            Expr::Continue(_) => self.emit(Flow::Continue),
            _ => return self.plain(expression),
        }
        Val::nothing()
    }

    fn plain(&mut self, expression: &Expr) -> Val {
        match expression {
            Expr::Closure(closure) => Val { closure: Some(Rc::new(closure.clone())), ..Val::nothing() },
            Expr::Tuple(tuple) => {
                let parts: Vec<Val> = tuple.elems.iter().map(|element| self.expression(element)).collect();
                Val::of(Ty::Tuple(parts.into_iter().map(|part| part.ty).collect()))
            }
            Expr::Array(array) => {
                array.elems.iter().for_each(|element| drop(self.expression(element)));
                Val::nothing()
            }
            Expr::Struct(literal) => {
                literal.fields.iter().for_each(|field| drop(self.argument(&field.expr)));
                literal.rest.iter().for_each(|rest| drop(self.expression(rest)));
                match self.index.path_type(self.scope, &literal.path) {
                    Ty::Opaque => Val::nothing(),
                    ty => Val::at(ty, Root::Fresh),
                }
            }
            Expr::Index(index) => {
                let base = self.expression(&index.expr);
                self.expression(&index.index);
                let base = base.peeled();
                base.part(base.ty.element(), "[]")
            }
            Expr::Range(range) => {
                range.start.iter().chain(&range.end).for_each(|end| drop(self.expression(end)));
                Val::nothing()
            }
            Expr::Repeat(repeat) => {
                self.expression(&repeat.expr);
                Val::nothing()
            }
            Expr::RawAddr(inner) => self.expression(&inner.expr),
            _ => Val::nothing(),
        }
    }

    fn path(&mut self, path: &ExprPath) -> Val {
        let names = segments(&path.path);
        if let [name] = &names[..]
            && let Some(val) = self.variable(name)
        {
            return val.clone();
        }
        match self.index.resolve(self.scope.module, &names, Want::Value) {
            Some(Target::Static(number)) => {
                let one = &self.index.statics[number];
                Val::at(one.ty.borrow().clone(), Root::Static(one.name.as_str().into()))
            }
            _ => Val::nothing(),
        }
    }

    pub(crate) fn field(&mut self, base: &Val, member: &Member) -> Val {
        let base = base.clone().peeled();
        let name = match member {
            Member::Named(name) => name.to_string(),
            Member::Unnamed(index) => index.index.to_string(),
        };
        let ty = match &base.ty {
            Ty::Struct(number) => {
                let fields = self.index.structs[*number].fields.borrow();
                let found = fields.iter().find(|(own, _)| *own == name).map(|(_, ty)| ty.clone());
                drop(fields);
                match found {
                    Some(ty) => ty,
                    None => match self.dereferenced(&base) {
                        Some(inner) => return self.field(&inner, member),
                        None => Ty::Opaque,
                    },
                }
            }
            Ty::Tuple(types) => name.parse().ok().and_then(|at: usize| types.get(at)).cloned().unwrap_or(Ty::Opaque),
            Ty::Lazy(inner) => return self.field(&base.part((**inner).clone(), ""), member),
            _ => Ty::Opaque,
        };
        base.part(ty, &format!(".{name}"))
    }

    fn labelled(&mut self, label: bool, block: &syn::Block) -> Val {
        if !label {
            return self.block(block);
        }
        let (flow, val) = self.apart(|body| body.block(block));
        self.emit(Flow::Loop(Box::new(Flow::Seq(vec![flow, Flow::Break]))));
        val
    }

    fn branch(&mut self, one: &ExprIf) -> Val {
        let held = self.held.clone();
        let (then, val) = self.in_scope(|body| {
            body.expression(&one.cond);
            let before = body.held.clone();
            if !has_let(&one.cond) {
                body.held = held.clone();
            }
            let done = body.apart(|body| body.block(&one.then_branch));
            body.held = before;
            done
        });
        // What a condition locked is not locked in the other branch: code that relied on the opposite would wait for itself.
        let keeps = std::mem::replace(&mut self.held, held.clone());
        let (other, other_val) = match &one.else_branch {
            Some((_, other)) => self.apart(|body| body.expression(other)),
            None => (Flow::Seq(Vec::new()), Val::nothing()),
        };
        self.held = if has_let(&one.cond) { keeps } else { held };
        self.emit(Flow::Either(vec![then, other]));
        if val.ty.is_opaque() { other_val } else { val }
    }

    fn choose(&mut self, one: &ExprMatch) -> Val {
        let on = self.expression(&one.expr);
        let mut given = Val::nothing();
        let mut branches = Vec::new();
        for arm in &one.arms {
            let (flow, val) = self.apart(|body| {
                body.in_scope(|body| {
                    body.bind(&arm.pat, on.clone());
                    if let Some((_, guard)) = &arm.guard {
                        body.expression(guard);
                    }
                    body.expression(&arm.body)
                })
            });
            branches.push(flow);
            if given.ty.is_opaque() {
                given = val;
            }
        }
        self.emit(Flow::Either(branches));
        given
    }

    fn binary(&mut self, binary: &ExprBinary) -> Val {
        match binary.op {
            BinOp::And(_) | BinOp::Or(_) => {
                self.expression(&binary.left);
                // Names that a condition binds reach what follows it.
                if has_let(&binary.right) {
                    self.expression(&binary.right);
                } else {
                    let (flow, _) = self.apart(|body| body.expression(&binary.right));
                    self.emit(Flow::Either(vec![flow, Flow::Seq(Vec::new())]));
                }
            }
            op if is_assignment(op) => {
                self.expression(&binary.right);
                self.assigned(&binary.left, Effect::Change);
            }
            _ => {
                self.expression(&binary.left);
                self.expression(&binary.right);
            }
        }
        Val::nothing()
    }

    /// Something is assigned to a place: a write, inside of a critical section.
    fn assigned(&mut self, to: &Expr, effect: Effect) {
        let val = self.expression(to);
        if let Some(section) = val.section {
            self.note(section, "=", effect);
        }
    }

    /// What a loop goes over: its elements.
    fn iterated(&mut self, over: &Expr) -> Val {
        let val = self.expression(over).peeled();
        match &val.ty {
            Ty::Collection(collection) if matches!(collection.family, Family::Map | Family::Queue) => {
                let collection = collection.clone();
                let (library, kind, family) = (&*collection.library, &*collection.kind, collection.family);
                let what = What { library, kind, family, method: "into_iter", effect: Effect::Iterate, counts: true };
                self.record(&val, what, span_of(over));
                Val::nothing()
            }
            Ty::Many(element) => {
                if let Some(section) = val.section {
                    self.note(section, "into_iter", Effect::Iterate);
                }
                val.part((**element).clone(), "[]")
            }
            _ => val,
        }
    }
}

pub(crate) fn span_of(expression: &Expr) -> Span {
    expression.span()
}

/// Whether a condition binds names.
fn has_let(condition: &Expr) -> bool {
    match condition {
        Expr::Let(one) => !matches!(*one.pat, Pat::Wild(_)),
        Expr::Binary(binary) => has_let(&binary.left) || has_let(&binary.right),
        Expr::Paren(inner) => has_let(&inner.expr),
        _ => false,
    }
}

fn is_assignment(op: BinOp) -> bool {
    use BinOp::{
        AddAssign, BitAndAssign, BitOrAssign, BitXorAssign, DivAssign, MulAssign, RemAssign, ShlAssign, ShrAssign,
        SubAssign,
    };
    matches!(
        op,
        AddAssign(_)
            | SubAssign(_)
            | MulAssign(_)
            | DivAssign(_)
            | RemAssign(_)
            | BitXorAssign(_)
            | BitAndAssign(_)
            | BitOrAssign(_)
            | ShlAssign(_)
            | ShrAssign(_)
    )
}
