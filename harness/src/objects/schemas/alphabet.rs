//! The calls that schemas are made of.

use interloper_commutativity::Value;
use interloper_linearize::schema::Invocation;
use rand::RngExt;

use crate::object::{Generator, MethodId, Object};

/// A call whose arguments are made of atoms.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Call {
    pub(super) method: MethodId,
    pub(super) arguments: Vec<Literal>,
}

impl Call {
    /// Every call of a method with arguments over this many atoms.
    pub(super) fn all(object: &Object, method: MethodId, values: u8) -> Vec<Call> {
        let mut calls = vec![vec![]];
        for generator in &object.method(method).parameters {
            let literals = Literal::all(generator, values);
            let longer = |arguments: Vec<Literal>| {
                literals.iter().map(move |literal| [&arguments[..], std::slice::from_ref(literal)].concat())
            };
            calls = calls.into_iter().flat_map(longer).collect();
        }
        calls.into_iter().map(|arguments| Call { method, arguments }).collect()
    }

    /// A call with arguments chosen at random.
    pub(super) fn random(object: &Object, method: MethodId, values: u8, random: &mut impl RngExt) -> Call {
        let parameters = &object.method(method).parameters;
        let arguments = parameters.iter().map(|generator| Literal::random(generator, values, random)).collect();
        Call { method, arguments }
    }

    /// The call as schemas have it.
    pub(super) fn invocation(&self, object: &Object) -> Invocation {
        let method = object.method(self.method);
        let arguments = method.parameters.iter().zip(&self.arguments);
        Invocation::new(method.name.clone(), arguments.map(|(generator, literal)| literal.value(generator)))
    }

    /// The same call about other atoms: each is replaced by the one with its number in `renaming`.
    pub(super) fn renamed(&self, renaming: &[u8]) -> Call {
        let arguments = self.arguments.iter().map(|literal| literal.renamed(renaming)).collect();
        Call { method: self.method, arguments }
    }

    /// The atoms that it is about, as a set of bits.
    pub(super) fn atoms(&self) -> u64 {
        self.arguments.iter().flat_map(Literal::atoms).fold(0, |set, atom| set | 1 << atom)
    }
}

/// An argument made of atoms, before they have a form.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Literal {
    Atom(u8),
    List(Vec<u8>),
    /// Ascending.
    Set(Vec<u8>),
    /// Ascending by key.
    Map(Vec<(u8, u8)>),
    /// One of a [`Generator::Choice`].
    Choice(usize),
}

impl Literal {
    /// Every literal of a generator over this many atoms.
    fn all(generator: &Generator, values: u8) -> Vec<Literal> {
        let lists = |most: usize| (0..=most).flat_map(|length| words(length, values));
        let sets = |most: usize| lists(most).filter(|atoms| atoms.is_sorted_by(|one, next| one < next));
        match generator {
            Generator::Atom(_) => (0..values).map(Literal::Atom).collect(),
            Generator::List(_, most) => lists(*most).map(Literal::List).collect(),
            Generator::Set(_, most) => sets(*most).map(Literal::Set).collect(),
            Generator::Map(_, _, most) => {
                let maps = |keys: Vec<u8>| {
                    let contents = words(keys.len(), values);
                    contents.into_iter().map(move |contents| Literal::Map(keys.iter().copied().zip(contents).collect()))
                };
                sets(*most).flat_map(maps).collect()
            }
            Generator::Choice(values) => (0..values.len()).map(Literal::Choice).collect(),
        }
    }

    /// A literal at random: first the size of a collection, then each of its atoms (Violat, section 3).
    fn random(generator: &Generator, values: u8, random: &mut impl RngExt) -> Literal {
        let mut atoms = |most: usize| -> Vec<u8> {
            let length = random.random_range(0..=most);
            (0..length).map(|_| random.random_range(0..values)).collect()
        };
        match generator {
            Generator::Atom(_) => Literal::Atom(random.random_range(0..values)),
            Generator::List(_, most) => Literal::List(atoms(*most)),
            Generator::Set(_, most) => Literal::Set(ascending(atoms(*most))),
            Generator::Map(_, _, most) => {
                let keys = ascending(atoms(*most));
                Literal::Map(keys.into_iter().map(|key| (key, random.random_range(0..values))).collect())
            }
            Generator::Choice(values) => Literal::Choice(random.random_range(0..values.len())),
        }
    }

    fn renamed(&self, renaming: &[u8]) -> Literal {
        let rename = |atom: &u8| renaming[usize::from(*atom)];
        match self {
            Literal::Atom(atom) => Literal::Atom(rename(atom)),
            Literal::List(atoms) => Literal::List(atoms.iter().map(rename).collect()),
            Literal::Set(atoms) => Literal::Set(ascending(atoms.iter().map(rename).collect())),
            Literal::Map(entries) => {
                let mut entries: Vec<(u8, u8)> =
                    entries.iter().map(|(key, content)| (rename(key), rename(content))).collect();
                entries.sort_unstable();
                Literal::Map(entries)
            }
            Literal::Choice(choice) => Literal::Choice(*choice),
        }
    }

    fn atoms(&self) -> Vec<u8> {
        match self {
            Literal::Atom(atom) => vec![*atom],
            Literal::List(atoms) | Literal::Set(atoms) => atoms.clone(),
            Literal::Map(entries) => entries.iter().flat_map(|&(key, content)| [key, content]).collect(),
            Literal::Choice(_) => vec![],
        }
    }

    /// The argument that it stands for.
    pub(super) fn value(&self, generator: &Generator) -> Value {
        match (self, generator) {
            (Literal::Atom(number), Generator::Atom(atom)) => (atom.0)(*number),
            (Literal::List(atoms), Generator::List(atom, _)) => {
                Value::list(atoms.iter().map(|&number| (atom.0)(number)))
            }
            // Schemas write sets as lists.
            (Literal::Set(atoms), Generator::Set(atom, _)) => Value::list(atoms.iter().map(|&number| (atom.0)(number))),
            (Literal::Map(entries), Generator::Map(key, content, _)) => {
                Value::map(entries.iter().map(|&(one, other)| ((key.0)(one), (content.0)(other))))
            }
            (Literal::Choice(choice), Generator::Choice(values)) => values[*choice].clone(),
            _ => panic!("internal error: {self:?} is not of {generator:?}"),
        }
    }
}

/// All words of this length, in lexicographic order.
fn words(length: usize, values: u8) -> Vec<Vec<u8>> {
    let mut words = vec![vec![]];
    for _ in 0..length {
        words = words.iter().flat_map(|word| (0..values).map(move |atom| [&word[..], &[atom]].concat())).collect();
    }
    words
}

fn ascending(mut atoms: Vec<u8>) -> Vec<u8> {
    atoms.sort_unstable();
    atoms.dedup();
    atoms
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::Atom;

    fn texts(generator: &Generator, values: u8) -> String {
        let text = |literal: &Literal| literal.value(generator).to_string();
        Literal::all(generator, values).iter().map(text).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn arguments_of_each_kind() {
        let check = |generator: Generator, values: u8, expected: &str| assert_eq!(texts(&generator, values), expected);
        check(Generator::Atom(Atom::INTEGER), 3, "0 1 2");
        check(Generator::Atom(Atom::TEXT), 2, r#""a" "b""#);
        check(Generator::List(Atom::INTEGER, 2), 2, "[] [0] [1] [0, 0] [0, 1] [1, 0] [1, 1]");
        check(Generator::Set(Atom::INTEGER, 2), 3, "[] [0] [1] [2] [0, 1] [0, 2] [1, 2]");
        let maps = "{} {0: 0} {0: 1} {1: 0} {1: 1} {0: 0, 1: 0} {0: 0, 1: 1} {0: 1, 1: 0} {0: 1, 1: 1}";
        check(Generator::Map(Atom::INTEGER, Atom::INTEGER, 2), 2, maps);
        check(Generator::Choice([Value::Bool(true), Value::None].into()), 5, "true none");
    }

    #[test]
    fn renaming_permutes_the_literals() {
        for generator in [
            Generator::Atom(Atom::INTEGER),
            Generator::List(Atom::INTEGER, 2),
            Generator::Set(Atom::INTEGER, 3),
            Generator::Map(Atom::INTEGER, Atom::INTEGER, 2),
        ] {
            let all = Literal::all(&generator, 3);
            let mut renamed: Vec<Literal> = all.iter().map(|literal| literal.renamed(&[2, 0, 1])).collect();
            renamed.sort();
            let mut sorted = all.clone();
            sorted.sort();
            assert_eq!(renamed, sorted, "{generator:?}");
            let back = |literal: &Literal| literal.renamed(&[2, 0, 1]).renamed(&[1, 2, 0]);
            assert!(all.iter().all(|literal| back(literal) == *literal));
        }
    }

    #[test]
    fn random_literals_are_among_all() {
        let mut random = interloper_random::Stream::new(7, interloper_random::Purpose::Schemas, 0);
        for generator in [
            Generator::List(Atom::INTEGER, 2),
            Generator::Set(Atom::INTEGER, 2),
            Generator::Map(Atom::INTEGER, Atom::INTEGER, 2),
            Generator::Choice([Value::None, Value::Unit].into()),
        ] {
            let all = Literal::all(&generator, 2);
            // The rarest literal, a list of two, has a chance of 1 in 12, so 600 draws miss it with odds of 10^-22.
            let mut seen: Vec<Literal> = (0..600).map(|_| Literal::random(&generator, 2, &mut random)).collect();
            seen.sort();
            seen.dedup();
            let mut sorted = all;
            sorted.sort();
            assert_eq!(seen, sorted, "{generator:?}");
        }
    }
}
