//! Values as the user writes and reads them.

use std::fmt::Write;

use interloper_commutativity::Value;
use interloper_report::plain;
use serde_json::{Number, Value as Json};

pub use interloper::objects::findings::value as to_json;

/// The value that JSON stands for: what [`to_json`] gives, except that an array is a list and `"()"` a text.
pub fn from_json(json: &Json) -> Result<Value, String> {
    match json {
        Json::Null => Ok(Value::None),
        Json::Bool(flag) => Ok(Value::Bool(*flag)),
        Json::Number(number) => {
            integer(number).map(Value::Int).ok_or_else(|| format!("{number} is not a 64-bit integer"))
        }
        Json::String(text) => Ok(Value::text(text.as_str())),
        Json::Array(items) => Ok(Value::list(items.iter().map(from_json).collect::<Result<Vec<_>, _>>()?)),
        Json::Object(fields) => match fields.iter().next() {
            Some((name, Json::String(reason))) if name == "error" && fields.len() == 1 => {
                Ok(interloper_linearize::types::error(reason))
            }
            _ => Err("the only object that is a value is {\"error\": \"…\"}".to_owned()),
        },
    }
}

/// The integer of 64 bits that a number is. The reader of JSON takes `-0` for a fraction, since it keeps the sign.
pub fn integer(number: &Number) -> Option<i64> {
    number.as_i64().or_else(|| (number.as_f64() == Some(0.0)).then_some(0))
}

/// A value as the papers write it: `null`, `()`, `true`, `1=0` for an entry, `[0, 1]`, and a text in quotes.
pub fn shown(value: &Value) -> String {
    let mut text = String::new();
    show(value, &mut text);
    text
}

fn show(value: &Value, out: &mut String) {
    match value {
        Value::None => out.push_str("null"),
        Value::Tuple(pair) if pair.len() == 2 => entry(&pair[0], &pair[1], out),
        Value::List(items) | Value::Tuple(items) => listed(('[', ']'), items.iter(), show, out),
        Value::Set(items) => listed(('[', ']'), items.iter(), show, out),
        Value::Map(entries) => listed(('{', '}'), entries.iter(), |(key, value), out| entry(key, value, out), out),
        Value::Variant(variant) if &*variant.name == "error" => match variant.fields.as_slice() {
            [Value::Text(reason)] => write!(out, "error({})", plain::line(reason)).expect("writing to a string"),
            _ => write!(out, "{value}").expect("writing to a string"),
        },
        other => write!(out, "{other}").expect("writing to a string"),
    }
}

fn entry(key: &Value, value: &Value, out: &mut String) {
    show(key, out);
    out.push('=');
    show(value, out);
}

fn listed<T>(
    (open, close): (char, char),
    items: impl Iterator<Item = T>,
    one: impl Fn(T, &mut String),
    out: &mut String,
) {
    out.push(open);
    for (index, item) in items.enumerate() {
        out.push_str(if index == 0 { "" } else { ", " });
        one(item, out);
    }
    out.push(close);
}

#[cfg(test)]
mod tests {
    use interloper_linearize::types::error;

    use super::*;

    fn int(number: i64) -> Value {
        Value::Int(number)
    }

    #[test]
    fn values_as_json_and_as_text() {
        let check = |value: &Value, json: &str, text: &str| {
            assert_eq!(to_json(value).to_string(), json);
            assert_eq!(shown(value), text);
        };
        check(&Value::None, "null", "null");
        check(&Value::Unit, "\"()\"", "()");
        check(&Value::Bool(true), "true", "true");
        check(&int(i64::MIN), "-9223372036854775808", "-9223372036854775808");
        check(&Value::text("a\"b"), "\"a\\\"b\"", "\"a\\\"b\"");
        check(&error("\u{1b}[2J\n"), "{\"error\":\"\\u001b[2J\\n\"}", "error(\\u{1b}[2J\\n)");
        check(&Value::text("\u{202e}\u{9b}"), "\"\u{202e}\u{9b}\"", "\"\\u{202e}\\u{9b}\"");
        check(&error("empty"), "{\"error\":\"empty\"}", "error(empty)");
        check(&Value::tuple([int(1), Value::None]), "[1,null]", "1=null");
        check(&Value::list([Value::tuple([int(1), int(0)]), int(2)]), "[[1,0],2]", "[1=0, 2]");
        check(&Value::set([int(2), int(1)]), "[1,2]", "[1, 2]");
        check(&Value::map([(int(1), int(0))]), "[[1,0]]", "{1=0}");
        check(&Value::list([]), "[]", "[]");
    }

    #[test]
    fn json_as_values() {
        let check = |json: &str, expected: Result<Value, &str>| {
            let json: Json = serde_json::from_str(json).expect("JSON");
            assert_eq!(from_json(&json), expected.map_err(str::to_owned));
        };
        for value in [Value::None, Value::Bool(false), int(-7), Value::text("x"), Value::list([int(1)]), error("empty")]
        {
            check(&to_json(&value).to_string(), Ok(value));
        }
        check("-0", Ok(int(0)));
        check("[-0, -1]", Ok(Value::list([int(0), int(-1)])));
        check("1e-5", Err("0.00001 is not a 64-bit integer"));
        check("1.5", Err("1.5 is not a 64-bit integer"));
        check("9223372036854775808", Err("9223372036854775808 is not a 64-bit integer"));
        check("[1, {\"a\": 1}]", Err("the only object that is a value is {\"error\": \"…\"}"));
        check("{\"error\": 1}", Err("the only object that is a value is {\"error\": \"…\"}"));
        check("{}", Err("the only object that is a value is {\"error\": \"…\"}"));
    }
}
