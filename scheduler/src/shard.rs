//! One of the parts into which work is split, so that several machines can share it.

use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

/// One of the parts into which a search, or a list of checks, is split: `2/4` is the second of four.
///
/// Work comes in numbered units (an entry of a suite, a row of executions), which are dealt like cards: the first shard
/// has the units 0, N, 2 N, …, the second one 1, N + 1, 2 N + 1, …. So each unit belongs to exactly one shard, and shards have
/// equally many units, or one more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Shard {
    of: NonZeroU32,
    /// From 1 to `of`.
    number: NonZeroU32,
}

impl Shard {
    /// The most parts of one piece of work.
    pub const MOST: u32 = 65_536;

    /// All of it: `1/1`.
    pub const WHOLE: Shard = Shard { of: NonZeroU32::MIN, number: NonZeroU32::MIN };

    /// The part of this number, counted from 1, of so many. `None` unless 1 ≤ `number` ≤ `of` ≤ [`Shard::MOST`].
    pub fn new(number: u32, of: u32) -> Option<Shard> {
        let shard = Shard { of: NonZeroU32::new(of)?, number: NonZeroU32::new(number)? };
        (number <= of && of <= Shard::MOST).then_some(shard)
    }

    /// Which part it is, counted from 1.
    pub fn number(self) -> u32 {
        self.number.get()
    }

    /// How many parts there are.
    pub fn of(self) -> u32 {
        self.of.get()
    }

    /// What comes after the names of its files: `.2-of-4`.
    pub fn suffix(self) -> String {
        format!(".{}-of-{}", self.number, self.of)
    }

    /// Whether it is all of the work.
    pub fn is_whole(self) -> bool {
        self == Shard::WHOLE
    }

    /// Whether a unit, counted from 0, belongs to this part.
    pub fn has(self, unit: u64) -> bool {
        unit % u64::from(self.of.get()) == u64::from(self.number.get()) - 1
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}/{}", self.number, self.of)
    }
}

/// Why a text is not a shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShardError;

impl fmt::Display for ShardError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "a shard is written I/N, as in 2/4, with I from 1 to N and N from 1 to {}", Shard::MOST)
    }
}

impl std::error::Error for ShardError {}

impl FromStr for Shard {
    type Err = ShardError;

    fn from_str(text: &str) -> Result<Shard, ShardError> {
        // `parse` would accept a sign.
        let number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten();
        let (part, of) = text.split_once('/').ok_or(ShardError)?;
        let shard = number(part).zip(number(of)).and_then(|(number, of)| Shard::new(number, of));
        shard.ok_or(ShardError)
    }
}

/// What a shard gave, as it was read from a file.
#[derive(Debug)]
pub struct OfShard<D> {
    /// The name of the file.
    pub name: String,
    /// What is in the file.
    pub text: String,
    /// Which shard it is.
    pub shard: Shard,
    /// What the text says.
    pub document: D,
}

/// What the shards of one search gave.
#[derive(Debug)]
pub struct Shards<D>(BTreeMap<u32, OfShard<D>>);

impl<D> Shards<D> {
    /// The shards of `files`, each as `read` reads it. A shard that is given twice counts once. `difference` says how the searches of two
    /// documents differ.
    ///
    /// # Errors
    /// When there is no file, when one cannot be read, when files belong to different searches, and when they differ and are one shard.
    pub fn read<F>(
        files: impl IntoIterator<Item = F>,
        read: impl Fn(F) -> Result<OfShard<D>, String>,
        difference: impl Fn(&D, &D) -> Option<String>,
    ) -> Result<Shards<D>, String> {
        let mut shards: BTreeMap<u32, OfShard<D>> = BTreeMap::new();
        for file in files {
            let new = read(file)?;
            let (name, shard) = (&new.name, new.shard);
            if let Some(first) = shards.values().next() {
                let parts = || (first.shard.of != shard.of).then(|| format!("shard {}, and {shard}", first.shard));
                if let Some(difference) = difference(&first.document, &new.document).or_else(parts) {
                    return Err(format!("{} and {name} belong to different searches: {difference}", first.name));
                }
            }
            if let Some(same) = shards.get(&shard.number()).filter(|same| same.text != new.text) {
                let (one, another) = (&same.name, name);
                return Err(format!("{one} and {another} are both shard {shard}, and have different results"));
            }
            shards.insert(shard.number(), new);
        }
        if shards.is_empty() { Err("no shard is given".to_owned()) } else { Ok(Shards(shards)) }
    }

    /// The first of them.
    pub fn first(&self) -> &OfShard<D> {
        self.0.values().next().expect("at least one was read")
    }

    /// All of them, in their order.
    ///
    /// # Errors
    /// When some are missing.
    pub fn all(self) -> Result<Vec<OfShard<D>>, String> {
        let of = self.first().shard.of();
        let missing: Vec<u32> = (1..=of).filter(|number| !self.0.contains_key(number)).collect();
        match &missing[..] {
            [] => Ok(self.0.into_values().collect()),
            [number] => Err(format!("shard {number} of {of} is missing")),
            _ => Err(format!("shards {} of {of} are missing", listed(&missing))),
        }
    }
}

/// Says that these shards had nothing to do. `None` for no shards.
pub fn idle(shards: &[Shard]) -> Option<String> {
    let (of, numbers) = (shards.first()?.of, shards.iter().map(|shard| shard.number()).collect::<Vec<_>>());
    let shards = if numbers.len() == 1 { "shard" } else { "shards" };
    Some(format!("{shards} {} of {of} had nothing to do", listed(&numbers)))
}

fn listed(numbers: &[u32]) -> String {
    numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
}

/// What the parts of a search tell each other while they run, if they can: where each has found something. A part that knows what
/// others have found need not search beyond that place. What all parts show together is the same without it.
pub trait Notices: fmt::Debug + Send + Sync {
    /// The first place where some part has found something, as far as it is known, in this one of the searches: a check has one or two,
    /// a hunt has one for each method. They are counted from 0.
    fn earliest(&self, search: usize) -> Option<u64>;

    /// This part has found something there.
    fn post(&self, search: usize, place: u64);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_unit_belongs_to_one_shard() {
        for of in 1..=7 {
            let shards: Vec<Shard> = (1..=of).map(|number| Shard::new(number, of).unwrap()).collect();
            for unit in 0..30 {
                assert_eq!(shards.iter().filter(|shard| shard.has(unit)).count(), 1, "{unit} of {of}");
            }
            let units = |shard: &Shard| (0..30).filter(|unit| shard.has(*unit)).count();
            let counts: Vec<usize> = shards.iter().map(units).collect();
            assert!(counts.iter().max().unwrap() - counts.iter().min().unwrap() <= 1, "{counts:?}");
        }
        assert!((0..5).all(|unit| Shard::WHOLE.has(unit)) && Shard::WHOLE.is_whole());
    }

    #[test]
    fn a_shard_is_read_as_it_is_written() {
        for (number, of) in [(1, 1), (2, 4), (65_536, 65_536)] {
            let shard = Shard::new(number, of).unwrap();
            assert_eq!(shard.to_string().parse(), Ok(shard));
            assert_eq!((shard.number(), shard.of()), (number, of));
        }
        for wrong in ["", "/", "1", "0/4", "5/4", "1/0", "-1/4", "+1/4", "1/65537", "1/4/2", " 1/4", "1/99999999999"] {
            assert_eq!(wrong.parse::<Shard>(), Err(ShardError), "{wrong}");
        }
    }
}
