//! The last run, as its judge sees it.

use interloper_commutativity::Value;
use interloper_linearize::composed::{self, Judgement, Mode, Observation, Observed, Points};

use super::{Ended, Runner};
use crate::composed::misuse::Misuse;
use crate::composed::run::{Actor, Did};
use crate::composed::world::{CallId, ResultId, StateId};

impl Runner<'_> {
    /// Whether no sequential order explains the last run.
    pub fn refuted(&mut self, argument: usize, initial: StateId, ended: Ended) -> Result<bool, Misuse> {
        let points = self.observe();
        let environment = std::mem::take(&mut self.environment);
        let (initial, returned, end) = (initial, self.abstract_result(ended.returned), ended.end);
        let mode = self.settings.mode;
        let mut orders = Orders { runner: self, argument, misuse: None };
        let observation = Observation { initial, environment: &environment, returned, end };
        let judgement = composed::judge(&mut orders, &observation, mode, &points);
        let misuse = orders.misuse;
        self.environment = environment;
        match misuse {
            Some(misuse) => Err(misuse),
            None if judgement == Judgement::NoPoint => {
                Err(Misuse::NoLinearizationPoint { call: self.call_text(0, argument) })
            }
            None => Ok(judgement == Judgement::Refuted),
        }
    }

    /// Every sequential order of the last run, with its first disagreement.
    pub fn explain(
        &mut self,
        argument: usize,
        initial: StateId,
        ended: Ended,
    ) -> Result<Vec<composed::Order<StateId, ResultId>>, Misuse> {
        self.observe();
        let environment = std::mem::take(&mut self.environment);
        let returned = self.abstract_result(ended.returned);
        let mut orders = Orders { runner: self, argument, misuse: None };
        let observation = Observation { initial, environment: &environment, returned, end: ended.end };
        let explained = composed::explain(&mut orders, &observation);
        let misuse = orders.misuse;
        self.environment = environment;
        misuse.map_or(Ok(explained), Err)
    }

    /// Reads from the log what the environment saw, and where linearization points can be.
    fn observe(&mut self) -> Points {
        self.environment.clear();
        if self.settings.mode == Mode::Linearizations && self.description.abstraction.is_none() {
            // The exact judge needs nothing else.
            let environment = self.log.events.iter().filter_map(|event| match (event.actor, event.did) {
                (Actor::Environment, Did::Call(call, result)) => Some(Observed { call, result, after: 0 }),
                _ => None,
            });
            self.environment.extend(environment);
            return Points::default();
        }
        let mut points = Points::default();
        let mut before = None;
        for index in 0..self.log.events.len() {
            let event = self.log.events[index];
            match (event.actor, event.did) {
                (Actor::Environment, Did::Call(call, result)) => {
                    let result = self.observed_result(index, result);
                    self.environment.push(Observed { call, result, after: points.steps });
                }
                (Actor::Environment, _) => {}
                (Actor::Method(_), _) => {
                    if before.is_some_and(|before| before != event.state) {
                        points.last_change = Some(points.steps);
                    }
                    if event.marked {
                        points.marked = Some(points.steps);
                    }
                    points.steps += 1;
                }
            }
            before = Some(event.state);
        }
        points
    }

    /// The result of the environment operation at `index` of the log: as it reads now, if it can still change.
    pub fn observed_result(&mut self, index: usize, result: ResultId) -> ResultId {
        if self.description.abstraction.is_none() {
            return result;
        }
        let later = self.log.later.iter().find(|(at, _)| *at == index).map(|(_, read)| read());
        let result = later.map_or(result, |value| self.world.result(&value));
        self.abstract_result(result)
    }

    pub fn abstract_result(&mut self, result: ResultId) -> ResultId {
        match self.description.abstraction {
            None => result,
            Some(abstraction) => {
                let value = abstraction(self.world.value(result)).unwrap_or(Value::None);
                self.world.result(&value)
            }
        }
    }

    /// Whether two states are the same under the abstraction.
    pub fn same_state(&self, expected: StateId, observed: StateId) -> bool {
        expected == observed
            || self.description.abstraction.is_some() && self.abstract_state(expected) == self.abstract_state(observed)
    }

    /// A state under the abstraction.
    pub fn abstract_state(&self, state: StateId) -> Vec<Value> {
        let values = self.world.values(state).iter();
        match self.description.abstraction {
            None => values.cloned().collect(),
            Some(abstraction) => values.map(|value| abstract_container(value, abstraction)).collect(),
        }
    }
}

/// Applies an abstraction to the content of a container, without elements and map entries that count as missing.
fn abstract_container(container: &Value, abstraction: fn(&Value) -> Option<Value>) -> Value {
    match container {
        Value::Map(entries) => {
            Value::map(entries.iter().filter_map(|(key, value)| abstraction(value).map(|value| (key.clone(), value))))
        }
        Value::List(items) => Value::list(items.iter().filter_map(abstraction)),
        Value::Set(items) => Value::set(items.iter().filter_map(abstraction)),
        other => abstraction(other).unwrap_or(Value::None),
    }
}

/// The sequential orders of a run, for the judge.
struct Orders<'a, 'm> {
    runner: &'a mut Runner<'m>,
    argument: usize,
    misuse: Option<Misuse>,
}

impl composed::Reference for Orders<'_, '_> {
    type State = StateId;
    type Call = CallId;
    type Result = ResultId;

    fn method(&mut self, state: StateId) -> (StateId, ResultId) {
        match self.runner.reference(0, self.argument, state) {
            Ok(ended) => (ended.end, self.runner.abstract_result(ended.returned)),
            Err(misuse) => {
                let none = self.runner.world.result(&Value::None);
                self.misuse.get_or_insert(misuse);
                (state, none)
            }
        }
    }

    fn environment(&mut self, state: StateId, call: CallId) -> (StateId, ResultId) {
        let (state, result) = self.runner.world.step(state, call);
        (state, self.runner.abstract_result(result))
    }

    fn same_state(&self, expected: StateId, observed: StateId) -> bool {
        self.runner.same_state(expected, observed)
    }
}
