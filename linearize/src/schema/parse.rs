//! The reader of schemas: one function for each thing that can be written.

use std::ops::Range;

use interloper_commutativity::Value;

use super::{Inconsistent, Invocation, Mistake, Schema, Source};

/// How deep lists and maps may be nested.
const DEPTH: usize = 32;

pub(super) fn schema(text: &str) -> Result<Schema, Mistake> {
    let mut reader = Reader { text, at: 0, spans: Vec::new() };
    let mut sequences = vec![reader.sequence()?];
    let mut before = Vec::new();
    loop {
        reader.skip_space();
        if reader.at == text.len() {
            break;
        }
        let is_bar = reader.rest().starts_with("||");
        if !is_bar && reader.peek() != Some(',') {
            return Err(reader.expected("`||`, `,` or the end"));
        }
        reader.at += if is_bar { 2 } else { 1 };
        if !is_bar && reader.is_at_constraints() {
            before = reader.constraints(sequences.len())?;
            reader.skip_space();
            if reader.at < text.len() {
                return Err(reader.expected("the end"));
            }
            break;
        }
        sequences.push(reader.sequence()?);
    }
    let pairs = before.iter().map(|(pair, _)| *pair).collect();
    let mistake = |reason: Inconsistent| {
        let named = |number: usize| before.iter().find(|((first, second), _)| *first == number || *second == number);
        let at = match reason {
            Inconsistent::NoSuchSequence { number, .. } | Inconsistent::Cycle(number) => named(number),
        };
        Mistake { text: text.into(), at: at.map_or(0, |(_, span)| span.start), reason: reason.to_string() }
    };
    let mut schema = Schema::new(sequences, pairs).map_err(mistake)?;
    schema.source = Some(Source { text: text.into(), spans: reader.spans });
    Ok(schema)
}

/// A constraint and where it stands.
type Constraint = ((usize, usize), Range<usize>);

struct Reader<'t> {
    text: &'t str,
    at: usize,
    spans: Vec<Range<usize>>,
}

impl<'t> Reader<'t> {
    /// `{ … }` or `[ … ]`.
    fn sequence(&mut self) -> Result<Vec<Invocation>, Mistake> {
        self.skip_space();
        let close = match self.peek() {
            Some('{') => '}',
            Some('[') => ']',
            _ => return Err(self.expected("a sequence: `{` or `[`")),
        };
        self.at += 1;
        let mut sequence = vec![self.invocation()?];
        loop {
            self.skip_space();
            match self.peek() {
                Some(';') => {
                    self.at += 1;
                    self.skip_space();
                    // A semicolon may also end the last invocation.
                    if self.peek() == Some(close) {
                        break;
                    }
                    sequence.push(self.invocation()?);
                }
                Some(found) if found == close => break,
                _ => return Err(self.expected(&format!("`;` or `{close}`"))),
            }
        }
        self.at += 1;
        Ok(sequence)
    }

    /// `name(argument, …)`.
    fn invocation(&mut self) -> Result<Invocation, Mistake> {
        self.skip_space();
        let start = self.at;
        let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
        if !self.peek().is_some_and(|first| first.is_alphabetic() || first == '_') {
            return Err(self.expected("the name of a method"));
        }
        let length = self.rest().find(|letter| !is_part(letter)).unwrap_or(self.rest().len());
        let method = &self.rest()[..length];
        self.at += length;
        self.skip_space();
        if self.peek() != Some('(') {
            return Err(self.expected("`(`"));
        }
        self.at += 1;
        let arguments = self.listed(')', |reader| reader.value(0))?;
        self.spans.push(start..self.at);
        Ok(Invocation::new(method, arguments))
    }

    /// Items between commas, up to a closing bracket, which is read too.
    fn listed<T>(
        &mut self,
        close: char,
        mut item: impl FnMut(&mut Self) -> Result<T, Mistake>,
    ) -> Result<Vec<T>, Mistake> {
        let mut items = Vec::new();
        self.skip_space();
        if self.peek() != Some(close) {
            loop {
                items.push(item(self)?);
                self.skip_space();
                match self.peek() {
                    Some(',') => self.at += 1,
                    Some(found) if found == close => break,
                    _ => return Err(self.expected(&format!("`,` or `{close}`"))),
                }
            }
        }
        self.at += close.len_utf8();
        Ok(items)
    }

    fn value(&mut self, depth: usize) -> Result<Value, Mistake> {
        self.skip_space();
        if depth > DEPTH {
            return Err(self.wrong(self.at, format!("lists and maps are nested more than {DEPTH} deep")));
        }
        match self.peek() {
            Some('[') => {
                self.at += 1;
                Ok(Value::list(self.listed(']', |reader| reader.value(depth + 1))?))
            }
            Some('{') => self.braced(depth),
            Some('"') => self.quoted(),
            Some(first) if first == '-' || first.is_ascii_digit() => self.integer(),
            Some(first) if first.is_alphabetic() => self.word(),
            _ => Err(self.expected("a value")),
        }
    }

    /// `{0=1, 1=0}` or `{0, 1}`.
    fn braced(&mut self, depth: usize) -> Result<Value, Mistake> {
        self.at += 1;
        let mut is_map = None;
        let entries = self.listed('}', |reader| {
            let key = reader.value(depth + 1)?;
            reader.skip_space();
            let has_value = reader.peek() == Some('=');
            if *is_map.get_or_insert(has_value) != has_value {
                return Err(reader.expected(if has_value { "`,` or `}`" } else { "`=`" }));
            }
            if !has_value {
                return Ok((key, Value::None));
            }
            reader.at += 1;
            Ok((key, reader.value(depth + 1)?))
        })?;
        Ok(match is_map {
            Some(false) => Value::list(entries.into_iter().map(|(item, _)| item)),
            _ => Value::map(entries),
        })
    }

    fn integer(&mut self) -> Result<Value, Mistake> {
        let start = self.at;
        let digits = self.rest()[1..].find(|digit: char| !digit.is_ascii_digit());
        self.at = digits.map_or(self.text.len(), |digits| start + 1 + digits);
        let text = &self.text[start..self.at];
        if text == "-" {
            return Err(self.expected("a digit"));
        }
        text.parse().map(Value::Int).map_err(|_| self.wrong(start, format!("{text} does not fit into 64 bits")))
    }

    fn word(&mut self) -> Result<Value, Mistake> {
        let words =
            [("true", Value::Bool(true)), ("false", Value::Bool(false)), ("null", Value::None), ("none", Value::None)];
        let length = self.rest().find(|letter: char| !letter.is_alphanumeric()).unwrap_or(self.rest().len());
        let word = &self.rest()[..length];
        match words.into_iter().find(|(known, _)| *known == word) {
            Some((_, value)) => {
                self.at += length;
                Ok(value)
            }
            None => Err(self.wrong(self.at, format!("{word} is not a value; a text needs quotes: \"{word}\""))),
        }
    }

    /// `"…"` with the escapes `\"`, `\\`, `\n`, `\r`, `\t`, `\0` and `\u{…}`.
    fn quoted(&mut self) -> Result<Value, Mistake> {
        let start = self.at;
        self.at += 1;
        let mut text = String::new();
        loop {
            let here = self.at;
            let Some(letter) = self.next() else { return Err(self.wrong(start, "this text has no end".to_owned())) };
            match letter {
                '"' => return Ok(Value::text(text)),
                '\\' => text.push(self.escape(here)?),
                _ => text.push(letter),
            }
        }
    }

    fn escape(&mut self, start: usize) -> Result<char, Mistake> {
        let escape = match self.next() {
            Some('n') => Some('\n'),
            Some('r') => Some('\r'),
            Some('t') => Some('\t'),
            Some('0') => Some('\0'),
            Some('u') => self.code_point(),
            Some(letter @ ('"' | '\\' | '\'')) => Some(letter),
            _ => None,
        };
        escape.ok_or_else(|| self.wrong(start, "this is not an escape sequence".to_owned()))
    }

    fn code_point(&mut self) -> Option<char> {
        let digits = self.rest().strip_prefix('{')?;
        let length = digits.find('}')?;
        let code = u32::from_str_radix(&digits[..length], 16).ok()?;
        self.at += length + 2;
        char::from_u32(code)
    }

    /// Whether `{` and a digit or `}` come next, which no sequence begins with.
    fn is_at_constraints(&self) -> bool {
        let inside = self.rest().trim_start().strip_prefix('{').map(str::trim_start);
        inside.is_some_and(|inside| inside.starts_with(|first: char| first.is_ascii_digit() || first == '}'))
    }

    /// `{0<2, 1<2}`, or `{}`.
    fn constraints(&mut self, sequences: usize) -> Result<Vec<Constraint>, Mistake> {
        self.skip_space();
        self.at += 1;
        self.listed('}', |reader| {
            reader.skip_space();
            let start = reader.at;
            let first = reader.number(sequences)?;
            reader.skip_space();
            if reader.peek() != Some('<') {
                return Err(reader.expected("`<`"));
            }
            reader.at += 1;
            let second = reader.number(sequences)?;
            Ok(((first, second), start..reader.at))
        })
    }

    /// The number of a sequence.
    fn number(&mut self, sequences: usize) -> Result<usize, Mistake> {
        self.skip_space();
        let start = self.at;
        if !self.peek().is_some_and(|first| first.is_ascii_digit()) {
            return Err(self.expected("the number of a sequence"));
        }
        match self.integer()? {
            Value::Int(number) if (number as usize) < sequences => Ok(number as usize),
            number => {
                let range = format!("the sequences are numbered from 0 to {}", sequences - 1);
                Err(self.wrong(start, format!("there is no sequence {number}: {range}")))
            }
        }
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let letter = self.peek()?;
        self.at += letter.len_utf8();
        Some(letter)
    }

    fn skip_space(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    fn expected(&self, what: &str) -> Mistake {
        let found = match self.peek() {
            None => "the end".to_owned(),
            Some(control) if control.is_control() => format!("`{}`", control.escape_debug()),
            Some(found) => format!("`{found}`"),
        };
        self.wrong(self.at, format!("expected {what}, found {found}"))
    }

    fn wrong(&self, at: usize, reason: String) -> Mistake {
        Mistake { text: self.text.into(), at, reason }
    }
}
