//! What a method does alone, compared with what another one does that is to take its place.

use std::collections::HashSet;

use interloper_commutativity::Value;

use crate::composed::check::Check;
use crate::composed::domain;
use crate::composed::method::Settings;
use crate::composed::misuse::Misuse;
use crate::composed::runner::Runner;
use crate::composed::world::StateId;

/// So many states are compared at most, those nearest to the new collections first.
const MOST_STATES: usize = 400;

/// One run of a method alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alone {
    /// What the collections held, a value for each.
    pub state: Vec<Value>,
    /// The call: `memoize(7)`.
    pub call: String,
    /// What the method returned.
    pub returned: Value,
    /// What it left in the collections.
    pub end: Vec<Value>,
}

/// How two methods compare that are each run alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Compared {
    /// All results and all states that are left are the same.
    Same {
        /// How many runs of each were compared.
        runs: usize,
    },
    /// They do something else.
    Differs {
        /// The run of the first method.
        one: Alone,
        /// The run of the second method from there.
        other: Alone,
    },
    /// The methods return something, but it is shown as nothing.
    NotShown,
}

/// Runs both methods alone with each argument, from all states of either search and from those that the environment reaches
/// from there. `gives` says whether the methods return something.
///
/// # Errors
/// When the description of one does not fit it, or time runs out.
pub fn compare(one: &dyn Check, other: &dyn Check, gives: bool) -> Result<Compared, Misuse> {
    let settings = one.settings();
    let mut known = HashSet::new();
    let mut states = one.alone_with(settings, None)?;
    states.extend(other.alone_with(settings, None)?);
    let mut states: Vec<Vec<Value>> = states.into_iter().map(|run| run.state).collect();
    states.retain(|state| known.insert(state.clone()));
    let (first, second) = (one.alone_with(settings, Some(&states))?, other.alone_with(settings, Some(&states))?);
    if gives && first.iter().chain(&second).all(|run| run.returned == Value::Unit) {
        return Ok(Compared::NotShown);
    }
    let runs = first.len();
    let differ = |(one, other): &(Alone, Alone)| (&one.returned, &one.end) != (&other.returned, &other.end);
    Ok(match first.into_iter().zip(second).find(differ) {
        Some((one, other)) => Compared::Differs { one, other },
        None => Compared::Same { runs },
    })
}

/// See [`Check::alone_with`].
pub(crate) fn alone(
    runner: &mut Runner<'_>,
    settings: &Settings,
    states: Option<&[Vec<Value>]>,
) -> Result<Vec<Alone>, Misuse> {
    let initial = domain::choose(runner)?;
    let states = match states {
        Some(states) => states.iter().map(|values| runner.world.state(values)).collect(),
        None => reached(runner, initial, settings.bound),
    };
    let mut runs = Vec::new();
    for argument in 0..runner.arguments.len() {
        for &state in &states {
            let ended = runner.look(0, argument, state)?;
            let values = |state| runner.world.values(state).to_vec();
            runs.push(Alone {
                state: values(state),
                call: runner.call_text(0, argument),
                returned: runner.world.value(ended.returned).clone(),
                end: values(ended.end),
            });
        }
    }
    Ok(runs)
}

/// The states that so many operations of the environment lead to.
fn reached(runner: &mut Runner<'_>, initial: Vec<StateId>, operations: u32) -> Vec<StateId> {
    let alphabet = runner.world.alphabet().to_vec();
    let mut states = initial;
    let mut known: HashSet<StateId> = states.iter().copied().collect();
    let mut from = 0;
    for _ in 0..operations {
        let to = states.len();
        for index in from..to {
            for &letter in &alphabet {
                let (next, _) = runner.world.step(states[index], letter);
                if states.len() < MOST_STATES && known.insert(next) {
                    states.push(next);
                }
            }
        }
        from = to;
    }
    states
}

#[cfg(test)]
mod tests {
    use interloper_collections::DashMap;

    use super::*;
    use crate::MethodUnderTest;

    fn method<R: crate::ToValue + 'static>(body: fn(&DashMap<u64, u64>, u64) -> R) -> impl Check {
        MethodUnderTest::new("method", DashMap::<u64, u64>::new, body).arguments([7])
    }

    fn memoize(map: &DashMap<u64, u64>, key: u64) -> u64 {
        if let Some(known) = map.get(&key) {
            return *known;
        }
        map.insert(key, 14);
        14
    }

    #[track_caller]
    fn check(body: fn(&DashMap<u64, u64>, u64) -> u64) -> Compared {
        compare(&method(memoize), &method(body), true).expect("both fit")
    }

    #[test]
    fn a_method_does_what_its_atomic_form_does() {
        let Compared::Same { runs } = check(|map, key| *map.entry(key).or_insert(14)) else { panic!("the same") };
        // At least the empty map, and each of two keys with each of two values.
        assert!(runs > 2 * 2, "{runs}");
    }

    #[test]
    fn another_result_or_another_state_is_told() {
        let result = check(|map, key| {
            map.entry(key).or_insert(14);
            14
        });
        let Compared::Differs { one, other } = result else { panic!("another result: {result:?}") };
        assert_ne!(one.returned, other.returned);
        assert_eq!(one.state, other.state);
        let state = check(|map, key| {
            let known = map.get(&key).map(|known| *known);
            map.insert(key, 14);
            known.unwrap_or(14)
        });
        let Compared::Differs { one, other } = state else { panic!("another state: {state:?}") };
        assert_eq!(one.returned, other.returned);
        assert_ne!(one.end, other.end);
    }

    /// The search begins with one entry at most; its environment adds two.
    #[test]
    fn a_difference_in_states_that_only_the_environment_reaches_is_told() {
        let from_few = |body: fn(&DashMap<u64, u64>, u64) -> u64| {
            let method =
                MethodUnderTest::new("method", DashMap::<u64, u64>::new, body).arguments([7]).keys([7, 8, 9, 10_u64]);
            method.settings(|settings| (settings.initial_size, settings.bound) = (1, 2))
        };
        let entry = |map: &DashMap<u64, u64>, key| *map.entry(key).or_insert(14);
        let small = |map: &DashMap<u64, u64>, key| if map.len() > 2 { 0 } else { *map.entry(key).or_insert(14) };
        let smaller = |map: &DashMap<u64, u64>, key| if map.len() > 3 { 0 } else { *map.entry(key).or_insert(14) };
        let compared = |body| compare(&from_few(entry), &from_few(body), true).expect("both fit");
        assert!(matches!(compared(small), Compared::Differs { .. }));
        assert!(matches!(compared(smaller), Compared::Same { .. }), "no state has more than three entries");
    }

    #[test]
    fn what_is_not_shown_is_not_compared() {
        let touch = |map: &DashMap<u64, u64>, key: u64| {
            map.insert(key, 1);
        };
        let compared = |gives| compare(&method(touch), &method(touch), gives).expect("both fit");
        assert_eq!(compared(true), Compared::NotShown);
        assert!(matches!(compared(false), Compared::Same { .. }));
    }
}
