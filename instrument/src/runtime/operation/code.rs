//! Actions as codes for files.

use super::{Action, Count, Extent, Key, Mode, Verb};

impl Action {
    /// The action as a code for files. No report shows the code, and the code of an action never changes: replays are
    /// compared by it.
    pub fn code(self) -> String {
        let mode = |mode: Mode| match mode {
            Mode::Shared => "shared",
            Mode::Upgradable => "upgradable",
            Mode::Exclusive => "exclusive",
        };
        let plain = match self {
            Action::Start => "start",
            Action::Read => "read",
            Action::Write => "write",
            Action::ReadWrite => "read-write",
            Action::Fence => "fence",
            Action::LockRecursive => "lock-recursive",
            Action::Contend => "contend",
            Action::Wait(_) => "wait",
            Action::Notify(Count::One) => "notify-one",
            Action::Notify(Count::All) => "notify-all",
            Action::Park => "park",
            Action::Unpark => "unpark",
            Action::Spawn => "spawn",
            Action::Join => "join",
            Action::Exit => "exit",
            Action::End => "end",
            Action::Yield => "yield",
            Action::Sleep => "sleep",
            Action::Consult => "consult",
            Action::Affect => "affect",
            Action::BlockBegin(_) => "block-begin",
            Action::BlockEnd => "block-end",
            Action::Lock(how) => return format!("lock {}", mode(how)),
            Action::TryLock(how) => return format!("try-lock {}", mode(how)),
            Action::Unlock(how) => return format!("unlock {}", mode(how)),
            Action::Convert(from, to) => return format!("convert {} {}", mode(from), mode(to)),
            Action::TryConvert(from, to) => return format!("try-convert {} {}", mode(from), mode(to)),
            Action::Pass(how) => return format!("pass {}", mode(how)),
            Action::Peek(how) => return format!("peek {}", mode(how)),
            Action::Keep(how) => return format!("keep {}", mode(how)),
            Action::Free(how) => return format!("free {}", mode(how)),
            Action::Invoke(verb, extent, key) => return format!("invoke {}", called(verb, extent, key)),
            Action::Inspect(verb, extent, key) => return format!("inspect {}", called(verb, extent, key)),
        };
        plain.to_owned()
    }
}

/// The call of a method of a collection as a code for files.
fn called(verb: Verb, extent: Extent, key: Key) -> String {
    let verb = match verb {
        Verb::Get => "get",
        Verb::Contains => "contains",
        Verb::Insert => "insert",
        Verb::InsertIfAbsent => "insert-if-absent",
        Verb::Modify => "modify",
        Verb::Remove => "remove",
        Verb::Next => "next",
        Verb::Find => "find",
        Verb::Push => "push",
        Verb::Pop => "pop",
        Verb::Count => "count",
        Verb::Receive => "receive",
        Verb::Send => "send",
        Verb::Accept => "accept",
        Verb::Connect => "connect",
        Verb::Open => "open",
        Verb::Close => "close",
        Verb::Await => "await",
        Verb::Call => "call",
    };
    match extent {
        Extent::Entry => format!("{verb} {:016x}", key.hash()),
        Extent::Whole => verb.to_owned(),
    }
}
