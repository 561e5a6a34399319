//! Methods under test over collections as they were published: their calls are heard, each is one turn.
//!
//! `Table` stands for a type of a crate that `cargo interloper` has put under control: it is made of the mirror of std, and
//! its methods are marked as the command marks them.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use interloper::collections::session::{DomainKind, Handle, Instrumented, Maker, Needs, Outcome};
use interloper::commutativity::models::{MapModel, map};
use interloper::commutativity::{Invocation, Model};
use interloper::sync::{Arc, Mutex, MutexGuard};
use interloper::{Adversary, Datum, Decisions, MethodUnderTest, Misuse, Report, ToValue, Value, Verdict};
use interloper_std::runtime::calls::{enter, enter_drop};

/// A map behind a lock.
#[derive(Default)]
struct Table {
    entries: Mutex<BTreeMap<i64, i64>>,
    touched: Mutex<u32>,
    /// Whether it says what is locked, so that the environment need not try.
    tells: bool,
}

impl Table {
    fn new() -> Table {
        Table::default()
    }

    fn entries(&self) -> MutexGuard<'_, BTreeMap<i64, i64>> {
        self.entries.lock().unwrap()
    }

    fn get(&self, key: &i64) -> Option<i64> {
        let _call = enter("get");
        self.entries().get(key).copied()
    }

    fn insert(&self, key: i64, value: i64) -> Option<i64> {
        let _call = enter("insert");
        self.entries().insert(key, value)
    }

    fn insert_if_absent(&self, key: i64, value: i64) -> Option<i64> {
        let _call = enter("insert_if_absent");
        let mut entries = self.entries();
        let before = entries.get(&key).copied();
        entries.entry(key).or_insert(value);
        before
    }

    fn remove(&self, key: &i64) -> Option<i64> {
        let _call = enter("remove");
        self.entries().remove(key)
    }

    /// Two critical sections, one call.
    fn get_twice(&self, key: &i64) -> (Option<i64>, Option<i64>) {
        let _call = enter("get_twice");
        (self.get(key), self.get(key))
    }

    /// Keeps the table locked.
    fn lock(&self) -> Kept<'_> {
        let _call = enter("lock");
        Kept { entries: Some(self.entries()), touched: &self.touched }
    }

    /// As [`Table::insert`], by a method that the command has not marked.
    fn insert_unmarked(&self, key: i64, value: i64) -> Option<i64> {
        self.entries().insert(key, value)
    }
}

struct Kept<'a> {
    entries: Option<MutexGuard<'a, BTreeMap<i64, i64>>>,
    touched: &'a Mutex<u32>,
}

impl Kept<'_> {
    /// Makes no step.
    fn len(&self) -> usize {
        let _call = enter("len");
        self.entries.as_ref().map_or(0, |entries| entries.len())
    }
}

impl Kept<'_> {
    /// Makes a step.
    fn touch(&self) {
        let _call = enter("touch");
        *self.touched.lock().unwrap() += 1;
    }
}

impl Drop for Kept<'_> {
    fn drop(&mut self) {
        let _call = enter_drop();
        self.entries = None;
    }
}

impl Instrumented for Table {
    fn handle(&self) -> &Handle {
        unreachable!("a published collection is tied to no run")
    }

    fn as_published(&self) -> Option<&'static str> {
        Some("Table")
    }

    fn is_free(&self, _call: &Invocation) -> bool {
        !self.tells || self.entries.try_lock().is_ok()
    }

    fn model(&self) -> Arc<dyn Model> {
        Arc::new(MapModel)
    }

    fn snapshot(&self) -> Value {
        self.snapshot_beside_guards(&Value::None)
    }

    fn snapshot_beside_guards(&self, known: &Value) -> Value {
        let Ok(entries) = self.entries.try_lock() else { return known.clone() };
        Value::map(entries.iter().map(|(key, value)| (key.to_value(), value.to_value())))
    }

    fn restore(&self, state: &Value) -> Result<(), Value> {
        let Value::Map(wanted) = state else { return Err(state.clone()) };
        let number = |form: &Value| i64::from_value(form).ok_or(form.clone());
        let wanted: Result<_, Value> = wanted.iter().map(|(key, value)| Ok((number(key)?, number(value)?))).collect();
        *self.entries() = wanted?;
        Ok(())
    }

    fn apply(&self, call: &Invocation) -> Result<Outcome, Value> {
        let number = |index: usize| i64::from_value(&call.arguments[index]).ok_or(Value::None);
        let result = match call.method {
            map::GET => self.get(&number(0)?),
            map::INSERT => self.insert(number(0)?, number(1)?),
            map::INSERT_IF_ABSENT => self.insert_if_absent(number(0)?, number(1)?),
            map::REMOVE => self.remove(&number(0)?),
            _ => return Err(Value::None),
        };
        Ok(Outcome::fixed(Value::option(result.map(|value| value.to_value()))))
    }

    fn needs(&self, _call: &Invocation) -> Needs {
        Needs::Nothing
    }

    fn domain(&self) -> DomainKind {
        DomainKind { key: Maker::of::<i64>(), value: Maker::of::<i64>(), interior: false }
    }
}

fn put_if_absent(table: &Table, (key, value): (i64, i64)) -> Option<i64> {
    let before = table.get(&key);
    if before.is_none() {
        table.insert(key, value);
    }
    before
}

fn atomically(table: &Table, (key, value): (i64, i64)) -> Option<i64> {
    table.insert_if_absent(key, value)
}

fn telling() -> Table {
    Table { tells: true, ..Table::default() }
}

type Over<R> = MethodUnderTest<Table, (i64, i64), R>;

fn method<R: ToValue + 'static>(name: &str, method: fn(&Table, (i64, i64)) -> R) -> Over<R> {
    MethodUnderTest::new(name, Table::new, method).arguments([(7, 1)]).keys([7]).values([1, 2])
}

#[track_caller]
fn check(method: &Over<impl ToValue>) -> Report {
    method.check().unwrap_or_else(|misuse| panic!("{misuse}"))
}

#[test]
fn a_gap_between_two_calls_is_found_and_replays() {
    let line = line!();
    let lookup = |table: &Table, (key, value): (i64, i64)| {
        let before = table.get(&key);
        if before.is_none() {
            table.insert(key, value);
        }
        before
    };
    let method = MethodUnderTest::new("put_if_absent", Table::new, lookup).arguments([(7, 1)]).keys([7]).values([1, 2]);
    let report = check(&method);
    assert_eq!(report.verdict, Verdict::NotLinearizable);
    let violation = report.violation.as_ref().unwrap();
    assert_eq!(violation.environment_operations, 1);
    let rows: Vec<String> = violation.counterexample.rows.iter().map(|row| row.event.to_string()).collect();
    assert_eq!(rows, ["get", "insert(7, 1) → none", "insert", "returned none"]);
    // Calls have the places of the user's own code, and the states that they left.
    let rows = &violation.counterexample.rows;
    assert!(rows[0].location.as_ref().unwrap().ends_with(&format!("published.rs:{}:28", line + 2)), "{report}");
    assert!(rows[2].location.as_ref().unwrap().ends_with(&format!("published.rs:{}:19", line + 4)), "{report}");
    let again = method.replay(violation.decisions.to_string());
    let again = check(&again).violation.unwrap();
    assert_eq!(again.counterexample.rows, violation.counterexample.rows);
    assert_eq!(again.history, violation.history);
}

#[test]
fn a_call_is_one_turn_and_all_executions_are_counted() {
    let count = |called: fn(&Table, (i64, i64)) -> Option<i64>, adversary, bound| {
        let method = method("method", called);
        let report = check(&method.settings(|settings| (settings.adversary, settings.bound) = (adversary, bound)));
        assert_eq!((report.verdict, report.coverage[0].complete), (Verdict::Linearizable, true));
        report.executions()
    };
    // From {}, {7: 1} or {7: 2}. One call: the environment may act before it and before the return, with get(7), two
    // inserts, two of insert_if_absent and remove(7).
    assert_eq!(count(atomically, Adversary::Unfiltered, 1), 3 * (1 + 2 * 6));
    // Two operations: both in one gap, or one in each.
    assert_eq!(count(atomically, Adversary::Unfiltered, 2), 3 * (1 + 2 * 6 + 3 * 36));
    // What is before or after the only call makes a sequential run. With one operation more, another gap might follow.
    assert_eq!(count(atomically, Adversary::Preceding, 1), 3);
    assert_eq!(count(atomically, Adversary::Preceding, 2), 3 * (1 + 6));
    // Two calls: an operation between them, and a second one before, beside or after it.
    let twice: fn(&Table, (i64, i64)) -> Option<i64> = |table, (key, value)| {
        table.get(&key);
        table.insert_if_absent(key, value)
    };
    assert_eq!(count(twice, Adversary::Preceding, 1), 3 * (1 + 6));
    assert_eq!(count(twice, Adversary::Preceding, 2), 3 * (1 + 2 * 6 + 3 * 36));
    // Its two critical sections lie in one call.
    let report = check(&method("get_twice", |table, (key, _)| table.get_twice(&key)));
    assert_eq!(report.verdict, Verdict::Linearizable);
    // They do not here.
    let report = check(&method("get twice", |table, (key, _)| (table.get(&key), table.get(&key))));
    assert_eq!(report.verdict, Verdict::NotLinearizable);
}

/// The environment calls methods, too, and methods call each other: neither counts.
#[test]
fn a_report_names_the_methods_that_were_called() {
    let called = |called: fn(&Table, (i64, i64))| -> Vec<&'static str> {
        check(&method("method", called)).called.expect("the table is published").into_iter().collect()
    };
    fn unless<const VALUE: i64>(table: &Table, (key, value): (i64, i64)) {
        if table.get_twice(&key).0 == Some(VALUE) {
            table.remove(&key);
        }
        table.insert_if_absent(key, value);
    }
    assert_eq!(called(unless::<2>), ["get_twice", "insert_if_absent", "remove"]);
    assert_eq!(called(unless::<3>), ["get_twice", "insert_if_absent"]);
}

#[test]
fn a_check_that_sees_no_call_says_so() {
    let unmarked = method("unmarked", |table, (key, value)| table.insert_unmarked(key, value));
    let misuse = unmarked.check().unwrap_err();
    let Misuse::CallsNotSeen { collection, place: Some(place) } = &misuse else { panic!("{misuse}") };
    assert_eq!(collection, "Table");
    assert!(place.contains("published.rs"), "{place}");
    assert!(misuse.to_string().starts_with("nothing was explored: no call of Table was seen"), "{misuse}");
    // The real map is not under control in this test.
    let map = MethodUnderTest::new("real", dashmap::DashMap::new, |map: &dashmap::DashMap<i64, i64>, key: i64| {
        map.insert(key, 1)
    });
    let misuse = map.arguments([7]).check().unwrap_err();
    assert_eq!(
        misuse,
        Misuse::CallsNotSeen {
            collection: std::any::type_name::<dashmap::DashMap<i64, i64>>().to_owned(),
            place: None
        }
    );
    let mixed = MethodUnderTest::new(
        "mixed",
        || (interloper::collections::SegQueue::new(), Table::new()),
        |(queue, table): &(interloper::collections::SegQueue<i64>, Table), key: i64| {
            queue.push(key);
            table.insert(key, 1)
        },
    );
    assert_eq!(mixed.arguments([7]).check().unwrap_err(), Misuse::MixedSubject);
}

#[test]
fn a_lock_that_the_call_itself_keeps_is_a_deadlock_of_both_places() {
    let line = line!();
    let under_own_guard = |table: &Table, key: i64| {
        let kept = table.lock();
        let before = table.insert(key, 1);
        drop(kept);
        before
    };
    let report = MethodUnderTest::new("under_own_guard", telling, under_own_guard).arguments([7]).check().unwrap();
    let violation = report.violation.unwrap();
    let deadlock = violation.counterexample.deadlock.expect("a deadlock");
    assert_eq!(
        (&*deadlock.held.operation, &*deadlock.wanted.operation),
        ("lock holds a lock of the map", "insert needs a lock of the map")
    );
    assert!(deadlock.held.location.ends_with(&format!("published.rs:{}:26", line + 2)), "{}", deadlock.held.location);
    assert!(
        deadlock.wanted.location.ends_with(&format!("published.rs:{}:28", line + 3)),
        "{}",
        deadlock.wanted.location
    );
}

#[test]
fn the_environment_does_not_act_while_it_would_have_to_wait() {
    // The environment has 6 operations and acts before `lock` or before the return, in 3 states. `len` makes no step, so
    // there is no gap before it. Nothing of the environment is enabled before `touch`, whether the table says so or not.
    let locked = |table: &Table, _: i64| {
        let kept = table.lock();
        kept.touch();
        (kept.len(), kept.len())
    };
    for make in [Table::new, telling] {
        let count = |adversary| {
            let method = MethodUnderTest::new("locked", make, locked).arguments([7]).keys([7]).values([1, 2]);
            let method = method.settings(|settings| (settings.adversary, settings.bound) = (adversary, 1));
            let report = method.check().unwrap();
            assert_eq!(report.verdict, Verdict::Linearizable);
            report.executions()
        };
        assert_eq!(count(Adversary::Unfiltered), 3 * (1 + 2 * 6));
        // Between its calls nothing is enabled.
        assert_eq!(count(Adversary::Preceding), 3);
    }
    // Two calls beside each other: the environment waits for one of them while the other goes on.
    for make in [Table::new, telling] {
        let method = MethodUnderTest::new("locked", make, locked).arguments([7]).keys([7]).values([1]);
        let report = method.concurrent(2).bound(NonZeroU32::new(1).unwrap()).check().unwrap();
        assert_eq!(report.verdict, Verdict::Linearizable, "{report}");
    }
}

#[test]
fn calls_beside_each_other_are_turns_too() {
    let closed = |first: fn(&Table, (i64, i64)) -> Option<i64>| {
        let method = method("first", first).settings(|settings| settings.environment = interloper::Environment::Closed);
        check(&method.beside("remove", |table, (key, _)| table.remove(&key)))
    };
    assert_eq!(closed(atomically).verdict, Verdict::Linearizable);
    let report = closed(put_if_absent);
    assert_eq!(report.verdict, Verdict::NotLinearizable, "{report}");
    let decisions: Decisions = report.violation.unwrap().decisions;
    assert!(decisions.to_string().len() > 2);
    // Several calls at once, in an open environment.
    let twice = |first: fn(&Table, (i64, i64)) -> Option<i64>| {
        check(&method("first", first).concurrent(2).bound(NonZeroU32::new(1).unwrap())).verdict
    };
    assert_eq!((twice(atomically), twice(put_if_absent)), (Verdict::Linearizable, Verdict::NotLinearizable));
}

#[test]
fn a_panic_of_the_method_is_a_result() {
    let report = check(&method("get_or_panic", |table, (key, _)| {
        if table.get(&key).is_some() {
            return table.get(&key).expect("it was there a moment ago");
        }
        0
    }));
    assert_eq!(report.verdict, Verdict::NotLinearizable);
    let rows = report.violation.unwrap().counterexample.rows;
    assert!(rows.last().unwrap().event.to_string().contains("it was there a moment ago"));
}

/// An account of the user's own, made of the mirror of std.
struct Account {
    balance: Mutex<i64>,
}

#[interloper::object(name = "account")]
impl Account {
    #[constructor]
    fn new() -> Account {
        Account { balance: Mutex::new(0) }
    }

    #[core]
    fn balance(&self) -> i64 {
        *self.balance.lock().unwrap()
    }

    #[core]
    fn add(&self, amount: i64) {
        *self.balance.lock().unwrap() += amount;
    }

    #[core]
    fn take_up_to(&self, amount: i64) -> i64 {
        let mut balance = self.balance.lock().unwrap();
        let taken = amount.min(*balance);
        *balance -= taken;
        taken
    }
}

impl Account {
    /// No method of the description, so its calls are not heard.
    fn empty(&self) {
        *self.balance.lock().unwrap() = 0;
    }
}

fn over_account<R>(method: fn(&Account, i64) -> R) -> MethodUnderTest<interloper::Described<Account>, i64, R>
where
    R: ToValue + 'static,
{
    let set = |account: &Account, balance: i64| *account.balance.lock().unwrap() = balance;
    let account = Account::object_description().state(Account::balance, set);
    MethodUnderTest::over("withdraw", account, method).arguments([1]).keys([1])
}

#[test]
fn an_object_of_the_users_is_a_subject_by_its_description() {
    let broken = over_account(|account, amount| {
        let enough = account.balance() >= amount;
        if enough {
            account.add(-amount);
        }
        enough
    });
    let report = broken.check().unwrap();
    assert_eq!(report.verdict, Verdict::NotLinearizable);
    let rows: Vec<String> =
        report.violation.unwrap().counterexample.rows.iter().map(|row| row.event.to_string()).collect();
    assert_eq!(rows, ["balance", "take_up_to(1) → 1", "add", "returned true"]);
    let one = NonZeroU32::new(1).unwrap();
    let method = over_account(|account, amount| account.take_up_to(amount) == amount).bound(one);
    let report = method.settings(|settings| settings.adversary = Adversary::Unfiltered).check().unwrap();
    // Balances 0, 1 and 2; balance(), add(1) or take_up_to(1) before the call or before the return.
    assert_eq!((report.verdict, report.executions()), (Verdict::Linearizable, 3 * (1 + 2 * 3)));
    let misuse = over_account(|account, _| account.empty()).check().unwrap_err();
    assert!(matches!(misuse, Misuse::CallsNotSeen { place: Some(_), .. }), "{misuse}");
}

#[test]
fn a_state_that_cannot_be_read_is_said_to_be_so() {
    let table = interloper::objects::Object::describe("table", Table::new)
        .core("insert", |table: &Table, (key, value): (i64, i64)| table.insert(key, value))
        .state(|table| table.entries().clone(), |table, state: BTreeMap<i64, i64>| *table.entries() = state);
    let locked = |table: &Table, _: i64| {
        let kept = table.lock();
        kept.touch();
        kept.len()
    };
    let misuse = MethodUnderTest::over("locked", table, locked).arguments([7]).check().unwrap_err();
    assert!(matches!(misuse, Misuse::StateNotReadable { .. }), "{misuse}");
}

#[test]
fn keys_that_a_method_only_reads_must_be_named() {
    let twice = |table: &Table, _: i64| table.get(&12) == table.get(&12);
    let method = || MethodUnderTest::new("twice", Table::new, twice).arguments([7]);
    let misuse = method().check().unwrap_err();
    assert!(matches!(misuse, Misuse::KeysNotKnown { .. }), "{misuse}");
    assert!(misuse.to_string().starts_with("nothing was explored: "), "{misuse}");
    assert_eq!(method().keys([12]).check().unwrap().verdict, Verdict::NotLinearizable);
    // It shows the key that it writes.
    let count = |table: &Table, _: i64| table.insert(12, table.get(&12).unwrap_or(0) + 1).is_none();
    let report = MethodUnderTest::new("count", Table::new, count).arguments([7]).check().unwrap();
    assert_eq!(report.verdict, Verdict::NotLinearizable);
}
