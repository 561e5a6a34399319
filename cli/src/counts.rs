//! Numbers as the commands print them.

pub use interloper_report::shorten::{grouped, plural};
use serde::{Deserialize, Serialize};

/// What random executions say about the traces or histories that they have not shown.
#[derive(Serialize, Deserialize)]
#[serde(from = "Counted")]
pub struct Unseen {
    executions: u64,
    once: u64,
    /// How likely a further execution is to show a new one.
    probability: f64,
}

/// What an [`Unseen`] is read from: the probability follows.
#[derive(Deserialize)]
struct Counted {
    executions: u64,
    once: u64,
}

impl From<Counted> for Unseen {
    fn from(Counted { executions, once }: Counted) -> Unseen {
        Unseen::from(interloper::Unseen { executions, once })
    }
}

impl From<interloper::Unseen> for Unseen {
    fn from(unseen: interloper::Unseen) -> Unseen {
        Unseen { executions: unseen.executions, once: unseen.once, probability: unseen.probability() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_by_three() {
        let check = |number, expected| assert_eq!(grouped(number), expected);
        check(0, "0");
        check(999, "999");
        check(1_000, "1,000");
        check(1_234_567, "1,234,567");
        assert_eq!(plural(1, "case"), "1 case");
        assert_eq!(plural(1_000, "case"), "1,000 cases");
    }
}
