//! The text form of a list of decisions.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use super::{Decision, Decisions, Question};

impl fmt::Display for Decisions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("-");
        }
        for (index, decision) in self.0.iter().enumerate() {
            let dot = if index == 0 { "" } else { "." };
            write!(f, "{dot}{}{}", decision.question.letter(), decision.answer)?;
            if let (true, Some(options)) = (f.alternate(), decision.options) {
                write!(f, "/{options}")?;
            }
        }
        Ok(())
    }
}

/// Why a text is not a list of decisions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecisionsError {
    /// Which decision, counted from 1.
    pub number: usize,
    /// The text of the decision.
    pub text: String,
    /// What is wrong with it.
    pub reason: &'static str,
}

impl fmt::Display for DecisionsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "decision {} is {:?}: {}", self.number, self.text, self.reason)
    }
}

impl std::error::Error for DecisionsError {}

impl FromStr for Decisions {
    type Err = DecisionsError;

    fn from_str(text: &str) -> Result<Decisions, DecisionsError> {
        if text == "-" {
            return Ok(Decisions::default());
        }
        let parse = |(index, part): (usize, &str)| {
            decision(part).map_err(|reason| DecisionsError { number: index + 1, text: part.to_owned(), reason })
        };
        text.split('.').enumerate().map(parse).collect::<Result<_, _>>().map(Decisions)
    }
}

fn decision(text: &str) -> Result<Decision, &'static str> {
    let letter = text.chars().next().ok_or("expected a letter and a number")?;
    let question = Question::ALL.into_iter().find(|question| question.letter() == letter);
    let question = question.ok_or("the letter is one of A, I, E, T, O, F, S")?;
    let (answer, options) = match text[1..].split_once('/') {
        Some((answer, options)) => (answer, Some(options)),
        None => (&text[1..], None),
    };
    let answer = number(answer)?;
    let options = match options {
        Some(options) => Some(NonZeroU32::new(number(options)?).ok_or("the number of options must be at least 1")?),
        None => None,
    };
    match options {
        Some(options) if answer >= options.get() => Err("the answer must be below the number of options"),
        _ => Ok(Decision { question, options, answer }),
    }
}

fn number(text: &str) -> Result<u32, &'static str> {
    // `parse` would take a sign.
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        text.parse().map_err(|_| "the number is missing or above 4294967295")
    } else {
        Err("expected a decimal number after the letter")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn both_forms() {
        let decisions = Decisions(vec![
            Decision::new(Question::Argument, 2, 0),
            Decision::new(Question::InitialState, 3, 2),
            Decision::new(Question::Environment, 9, 3),
            Decision::new(Question::Task, 2, 1),
            Decision::new(Question::Other, 1, 0),
        ]);
        assert_eq!(decisions.to_string(), "A0.I2.E3.T1.O0");
        assert_eq!(format!("{decisions:#}"), "A0/2.I2/3.E3/9.T1/2.O0/1");
        assert_eq!(format!("{decisions:#}").parse(), Ok(decisions));
        assert_eq!(Decisions::default().to_string(), "-");
        assert_eq!("-".parse(), Ok(Decisions::default()));
    }

    #[test]
    fn damage_is_named() {
        #[track_caller]
        fn check(text: &str, number: usize, reason: &str) {
            let error = text.parse::<Decisions>().unwrap_err();
            assert_eq!((error.number, error.reason), (number, reason));
        }
        check("", 1, "expected a letter and a number");
        check("A0.", 2, "expected a letter and a number");
        check("A0.X1", 2, "the letter is one of A, I, E, T, O, F, S");
        check("A0.é", 2, "the letter is one of A, I, E, T, O, F, S");
        check("A", 1, "the number is missing or above 4294967295");
        check("A4294967296", 1, "the number is missing or above 4294967295");
        check("A+1", 1, "expected a decimal number after the letter");
        check("A1/0", 1, "the number of options must be at least 1");
        check("E3/3", 1, "the answer must be below the number of options");
    }

    fn any_decisions() -> impl Strategy<Value = Decisions> {
        let one = (0..Question::ALL.len(), proptest::option::of(1..=u32::MAX), any::<u32>()).prop_map(
            |(question, options, answer)| {
                let answer = options.map_or(answer, |options| answer % options);
                Decision { question: Question::ALL[question], options: options.and_then(NonZeroU32::new), answer }
            },
        );
        proptest::collection::vec(one, 0..20).prop_map(Decisions)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_000))]

        /// A damaged text that parses means what it says, and one that does not parse gets a place and a reason.
        #[test]
        fn damaged_texts(
            decisions in any_decisions(),
            changes in proptest::collection::vec((any::<proptest::sample::Index>(), "[AIETO0-9./+é-]{0,3}", 0..3usize), 1..4),
        ) {
            let mut letters: Vec<char> = format!("{decisions:#}").chars().collect();
            for (at, new, removed) in changes {
                let at = at.index(letters.len() + 1);
                let end = (at + removed).min(letters.len());
                letters.splice(at..end, new.chars());
            }
            let text: String = letters.into_iter().collect();
            match text.parse::<Decisions>() {
                Ok(read) => prop_assert_eq!(format!("{read:#}").parse(), Ok(read)),
                Err(error) => {
                    let part = text.split('.').nth(error.number - 1);
                    prop_assert_eq!(part, Some(error.text.as_str()));
                }
            }
        }
    }

    proptest! {
        #[test]
        fn the_full_form_round_trips(decisions in any_decisions()) {
            prop_assert_eq!(format!("{decisions:#}").parse(), Ok(decisions));
        }

        #[test]
        fn the_short_form_loses_the_options_alone(decisions in any_decisions()) {
            let short = Decisions(decisions.0.iter().map(|d| Decision { options: None, ..*d }).collect());
            prop_assert_eq!(decisions.to_string().parse(), Ok(short));
        }

        #[test]
        fn hostile_text_gives_an_error_or_a_list(text in ".{0,12}") {
            if let Ok(decisions) = text.parse::<Decisions>() {
                prop_assert_eq!(format!("{decisions:#}").parse(), Ok(decisions));
            }
        }
    }
}
