//! Calls of methods and functions.

use syn::spanned::Spanned;
use syn::{Expr, ExprCall, ExprMethodCall};

use crate::body::Body;
use crate::collections::{self, Effect, Family};
use crate::flow::Flow;
use crate::names::{Target, Want, segments};
use crate::sections::What;
use crate::types::{Collection, Ty};
use crate::values::{Root, Val};

impl Body<'_, '_> {
    pub(crate) fn method_call(&mut self, call: &ExprMethodCall) -> Val {
        let on = self.expression(&call.receiver);
        let method = call.method.to_string();
        self.suspicious_method(&method, &on);
        if is_spawn(&method) && on.ty.is_opaque() {
            return self.spawns(call.args.iter());
        }
        let arguments: Vec<Val> = call.args.iter().map(|argument| self.expression(argument)).collect();
        self.last_called = None;
        let peeled = on.clone().peeled();
        match peeled.ty.clone() {
            Ty::Collection(collection) => {
                let given = self.collection_call(&peeled, &collection, &method, call);
                let given = given.unwrap_or_else(|| Val { guard: on.guard, ..on });
                self.run_closures(&method, &given, &arguments);
                given
            }
            Ty::Lock(kind, inner) => self.lock_call(on, &peeled, (&kind, &inner), &method, (call, &arguments)),
            Ty::Struct(number) => {
                if let Some(function) = self.index.methods.get(&(number, method.clone())).copied() {
                    return self.own_method(&peeled, function, arguments);
                }
                if let Some(inner) = self.dereferenced(&peeled)
                    && !collections::gives_itself(&method)
                {
                    return self.on_value(inner, &method, call, &arguments);
                }
                self.other_call(on, &method, &arguments)
            }
            Ty::Lazy(inner) => self.on_value(peeled.part((*inner).clone(), ""), &method, call, &arguments),
            Ty::Many(element) => {
                self.note_inside(&peeled, &method);
                let element = peeled.part((*element).clone(), "[]");
                self.run_closures(&method, &element, &arguments);
                if collections::gives_itself(&method) { on } else { element }
            }
            _ => {
                self.note_inside(&peeled, &method);
                self.other_call(on, &method, &arguments)
            }
        }
    }

    /// A call on the value that a pointer of the workspace, or a lazy value, leads to.
    fn on_value(&mut self, on: Val, method: &str, call: &ExprMethodCall, arguments: &[Val]) -> Val {
        const ITSELF: [&str; 7] = ["get", "get_or_init", "get_or_try_init", "set", "wait", "force", "initialized"];
        let on = on.peeled();
        match on.ty.clone() {
            Ty::Collection(collection) if !ITSELF.contains(&method) => {
                let given = self.collection_call(&on, &collection, method, call).unwrap_or(on);
                self.run_closures(method, &given, arguments);
                given
            }
            Ty::Lock(kind, inner) => self.lock_call(on.clone(), &on, (&kind, &inner), method, (call, arguments)),
            Ty::Struct(number) => match self.index.methods.get(&(number, method.to_owned())).copied() {
                Some(function) => self.own_method(&on, function, arguments.to_vec()),
                None => on,
            },
            _ => on,
        }
    }

    fn own_method(&mut self, on: &Val, function: usize, arguments: Vec<Val>) -> Val {
        let signature = self.index.functions[function].signature;
        if let Some(section) = on.section {
            let writes = signature.receiver().is_some_and(|own| own.mutability.is_some());
            self.note(section, &signature.ident.to_string(), if writes { Effect::Change } else { Effect::Get });
        }
        let all: Vec<Val> = std::iter::once(on.clone()).chain(arguments).collect();
        self.call_function(function, &all)
    }

    /// A call of a collection; `None` if it gives the collection itself.
    fn collection_call(
        &mut self,
        on: &Val,
        collection: &Collection,
        method: &str,
        call: &ExprMethodCall,
    ) -> Option<Val> {
        let Some(effect) = collections::effect(collection.family, method) else {
            return collections::gives_itself(method).then_some(()).map_or(Some(Val::nothing()), |()| None);
        };
        let (library, kind, family) = (&*collection.library, &*collection.kind, collection.family);
        let what = What { library, kind, family, method, effect, counts: true };
        let mut target = on.clone();
        target.exclusive &= !collection.handle;
        self.record(&target, what, call.method.span());
        let value =
            if collections::gives_value(collection.family, effect) { collection.value.clone() } else { Ty::Opaque };
        let mut given = target.part(value, "[]");
        given.exclusive = false;
        given.section = None;
        Some(given)
    }

    fn lock_call(
        &mut self,
        on: Val,
        peeled: &Val,
        (kind, inner): (&str, &Ty),
        method: &str,
        (call, arguments): (&ExprMethodCall, &[Val]),
    ) -> Val {
        let Some(exclusive) = collections::section(method) else {
            self.maybe_closures(arguments);
            return match method {
                "get_mut" | "into_inner" => peeled.part(inner.clone(), ""),
                _ if collections::gives_itself(method) => on,
                _ => Val::nothing(),
            };
        };
        let effect = if exclusive { Effect::Other } else { Effect::Get };
        let counts = self.index.is_locked_collection(inner);
        let section = self.record(
            peeled,
            What { library: "", kind, family: Family::Lock, method, effect, counts },
            call.method.span(),
        );
        if let Some(section) = section {
            self.hold(section);
        }
        let mut inside = peeled.part(inner.clone(), "");
        inside.exclusive = section.is_none();
        inside.section = section;
        inside.guard = section.is_some();
        inside
    }

    /// What is done to the contents of a lock.
    fn note_inside(&mut self, on: &Val, method: &str) {
        if let Some(section) = on.section
            && !collections::gives_itself(method)
        {
            self.note(section, method, collections::effect_inside(method));
        }
    }

    /// A method that nothing is known of.
    fn other_call(&mut self, on: Val, method: &str, arguments: &[Val]) -> Val {
        self.run_closures(method, &on, arguments);
        if collections::gives_itself(method) {
            return on;
        }
        // The value in a guard stays inside of its section.
        Val { section: on.section, ..Val::nothing() }
    }

    /// Closures that a method of an iterator or an option is given: called for each element, or perhaps.
    fn run_closures(&mut self, method: &str, on: &Val, arguments: &[Val]) {
        const EACH: [&str; 9] = [
            "for_each",
            "try_for_each",
            "retain",
            "scan",
            "flat_map",
            "try_fold",
            "fold",
            "for_each_concurrent",
            "alter_all",
        ];
        for closure in arguments.iter().filter_map(|argument| argument.closure.as_ref()) {
            let given = vec![Val { closure: None, ..on.clone() }; closure.inputs.len()];
            let flow = self.closure(closure, &given);
            self.emit(if EACH.contains(&method) {
                Flow::Loop(Box::new(flow))
            } else {
                Flow::Either(vec![flow, Flow::Seq(Vec::new())])
            });
        }
    }

    pub(crate) fn maybe_closures(&mut self, arguments: &[Val]) {
        self.run_closures("", &Val::nothing(), arguments);
    }

    /// What `Deref` of a type of the workspace leads to.
    pub(crate) fn dereferenced(&mut self, on: &Val) -> Option<Val> {
        let Ty::Struct(number) = on.ty else { return None };
        let function = *self.index.methods.get(&(number, "deref".to_owned()))?;
        let given = self.call_function(function, std::slice::from_ref(on));
        (!given.ty.is_opaque()).then_some(given)
    }

    pub(crate) fn call(&mut self, call: &ExprCall) -> Val {
        let Expr::Path(path) = &*call.func else {
            self.expression(&call.func);
            call.args.iter().for_each(|argument| drop(self.argument(argument)));
            return Val::nothing();
        };
        let names = segments(&path.path);
        let last = names.last().cloned().unwrap_or_default();
        if let [name] = &names[..]
            && let Some(closure) = self.variable(name).and_then(|val| val.closure.clone())
        {
            let arguments: Vec<Val> = call.args.iter().map(|argument| self.expression(argument)).collect();
            let flow = self.closure(&closure, &arguments);
            self.emit(flow);
            self.last_called = None;
            return Val::nothing();
        }
        if let [name] = &names[..]
            && let Some(parameter) = self.variable(name).and_then(Val::parameter)
        {
            let arguments: Vec<Val> = call.args.iter().map(|argument| self.expression(argument)).collect();
            let flow = self.apply(parameter, arguments);
            self.emit(flow);
            self.last_called = None;
            return Val::nothing();
        }
        if let ("drop", Some(Expr::Path(one))) = (last.as_str(), call.args.first()) {
            if let Some(name) = one.path.get_ident() {
                self.dropped(&name.to_string());
            }
            return Val::nothing();
        }
        let target = match &*names {
            [own, name] if own == "Self" => {
                let function = self.scope.own.and_then(|own| self.index.methods.get(&(own, name.clone())));
                function.map(|function| Target::Function(*function))
            }
            _ => self.index.resolve(self.scope.module, &names, Want::Value),
        };
        if let Some(Target::External(names)) = &target {
            self.suspicious_function(names);
            if is_spawn(&last) {
                return self.spawns(call.args.iter());
            }
        }
        let arguments: Vec<Val> = call.args.iter().map(|argument| self.expression(argument)).collect();
        self.last_called = None;
        if let Some(Target::Function(function)) = target {
            return self.call_function(function, &arguments);
        }
        self.maybe_closures(&arguments);
        self.constructed(call, &names, arguments)
    }

    /// A call of a function of another crate: a wrapper around its argument, a constructor, or nothing known.
    fn constructed(&mut self, call: &ExprCall, names: &[String], mut arguments: Vec<Val>) -> Val {
        let last = names.last().map(String::as_str).unwrap_or_default();
        let before = names.len().checked_sub(2).map(|at| names[at].as_str()).unwrap_or_default();
        if matches!(before, "Arc" | "Rc") && last == "new" && !arguments.is_empty() {
            let mut inner = arguments.swap_remove(0);
            inner.ty = inner.ty.shared();
            return inner;
        }
        let wraps = matches!(
            last,
            "Some" | "Ok" | "Box" | "force" | "clone" | "identity" | "from" | "pin" | "as_ref" | "borrow"
        );
        let wraps = wraps || (matches!(before, "Box" | "Pin" | "CachePadded") && last == "new");
        if wraps && arguments.len() == 1 {
            return arguments.swap_remove(0);
        }
        // `DashMap::get(&map, key)`.
        if let [on, ..] = &arguments[..]
            && let Ty::Collection(collection) = on.clone().peeled().ty
            && collections::effect(collection.family, last).is_some()
            && *before == *collection.kind
        {
            let (on, effect) =
                (on.clone().peeled(), collections::effect(collection.family, last).unwrap_or(Effect::Other));
            let (library, kind, family) = (&*collection.library, &*collection.kind, collection.family);
            let what = What { library, kind, family, method: last, effect, counts: true };
            self.record(&on, what, call.span());
            return Val::nothing();
        }
        let Expr::Path(path) = &*call.func else { return Val::nothing() };
        let mut owner = path.path.clone();
        owner.segments.pop();
        owner.segments.pop_punct();
        if owner.segments.is_empty() {
            return Val::nothing();
        }
        match self.index.path_type(self.scope, &owner) {
            Ty::Opaque => Val::nothing(),
            ty => Val::at(ty, Root::Fresh),
        }
    }

    /// An argument that may be a closure, of a call that nothing is known of.
    pub(crate) fn argument(&mut self, argument: &Expr) -> Val {
        let val = self.expression(argument);
        self.maybe_closures(std::slice::from_ref(&val));
        val
    }

    fn spawns<'e>(&mut self, arguments: impl Iterator<Item = &'e Expr>) -> Val {
        self.refuse("it spawns");
        for argument in arguments {
            match argument {
                Expr::Closure(_) | Expr::Async(_) => self.spawn(argument),
                other => drop(self.expression(other)),
            }
        }
        Val::nothing()
    }

    fn suspicious_method(&mut self, method: &str, on: &Val) {
        if !on.ty.is_opaque() {
            return;
        }
        match method {
            "spawn" | "spawn_blocking" | "spawn_local" => self.refuse("it spawns"),
            "recv" | "recv_timeout" | "blocking_recv" | "block_on" | "wait" | "wait_while" | "wait_timeout"
            | "notified" => {
                self.refuse(format!("it waits: `{method}`"));
            }
            "read_to_string" | "read_to_end" | "write_all" | "read_exact" | "read_line" => {
                self.refuse(format!("it does I/O: `{method}`"));
            }
            "gen_range" | "random_range" | "gen_bool" | "random_bool" | "shuffle" => {
                self.refuse(format!("it is random: `{method}`"));
            }
            _ => {}
        }
    }

    fn suspicious_function(&mut self, names: &[String]) {
        let has = |wanted: &[&str]| names.iter().any(|name| wanted.contains(&name.as_str()));
        let path = || names.join("::");
        let last = names.last().map(String::as_str).unwrap_or_default();
        match () {
            () if does_io(names) => self.refuse(format!("it does I/O: `{}`", path())),
            () if is_spawn(last) => self.refuse(format!("it spawns: `{}`", path())),
            () if matches!(last, "sleep" | "park" | "park_timeout" | "yield_now" | "timeout" | "block_on") => {
                self.refuse(format!("it waits: `{}`", path()));
            }
            () if last == "spin_loop" => self.spins.push(path()),
            // The clocks of std, and what is made of them, stand still while an operation runs. Others are not under control.
            () if last == "now" && has(&CLOCKS) => self.refuse(format!("it reads a clock: `{}`", path())),
            () if has(&["rand", "fastrand", "getrandom"])
                || matches!(last, "thread_rng" | "new_v4" | "new_v7" | "random") =>
            {
                self.refuse(format!("it is random: `{}`", path()));
            }
            () => {}
        }
    }
}

/// Crates whose clocks read a register of the processor, or a variable that a thread of their own writes.
const CLOCKS: [&str; 4] = ["coarsetime", "fastant", "minstant", "quanta"];

/// Whether a function of another crate reads or writes what lies outside of the process. An address or a number of a process is no
/// such thing, nor is a variant that is called `Command`.
fn does_io(names: &[String]) -> bool {
    const MODULES: [&str; 3] = ["fs", "net", "process"];
    const TYPES: [&str; 6] = ["File", "TcpStream", "UdpSocket", "TcpListener", "OpenOptions", "Command"];
    const DATA: [&str; 9] =
        ["IpAddr", "Ipv4Addr", "Ipv6Addr", "SocketAddr", "SocketAddrV4", "SocketAddrV6", "ExitCode", "id", "abort"];
    let Some((last, before)) = names.split_last() else { return false };
    let has = |wanted: &[&str]| before.iter().any(|name| wanted.contains(&name.as_str()));
    let is_data = names.iter().any(|name| DATA.contains(&name.as_str()));
    (has(&MODULES) && !is_data) || has(&TYPES) || matches!(last.as_str(), "stdin" | "stdout" | "stderr")
}

fn is_spawn(name: &str) -> bool {
    matches!(name, "spawn" | "spawn_blocking" | "spawn_local" | "spawn_scoped" | "spawn_on")
}
