//! Hands an object, whose type is known here, to the engines.

use std::sync::Arc;

use interloper_commutativity::Value;

use crate::next::Next;
use crate::object::sequential::{Calls, Run};
use crate::object::{Erased, MethodId, Program, Typed, WrongArguments};
use crate::stress;
use crate::stress::observed::Observed;
use crate::stress::settings::Settings;
use crate::systematic::control::Controlled;
use crate::systematic::controlled::ControlledProgram;

impl<T: Send + Sync + 'static> Erased for Arc<Typed<T>> {
    fn check(&self, method: MethodId, arguments: &[Value]) -> Result<(), WrongArguments> {
        self.methods[method.0].bind(arguments).map(drop)
    }

    fn sequential(&self, calls: &[(MethodId, Vec<Value>)]) -> Box<dyn Run> {
        Box::new(Calls { typed: self.clone(), calls: self.bind(calls) })
    }

    fn stress(&self, program: &Program, settings: &Settings, look: &mut dyn FnMut(&[Value]) -> Next) -> Observed {
        stress::run_typed(self, program, settings, look)
    }

    fn controlled(&self, program: &Program) -> Box<dyn Controlled> {
        Box::new(ControlledProgram::new(self.clone(), program))
    }
}
