//! What the names of symbols say: the crate of a static, and its name for a reader.

/// The crate of a mangled name; `None` where the name does not come from Rust, or does not say.
pub(super) fn crate_of(symbol: &str) -> Option<&str> {
    match symbol.strip_prefix("_ZN") {
        Some(path) => legacy_crate(Parser::of(path).legacy_part()?),
        None => Parser::of(symbol.strip_prefix("_R")?).crate_root(0),
    }
}

/// The path of a static as a programmer writes it, as far as the name tells it.
pub(super) fn readable(symbol: &str) -> String {
    let path = match symbol.strip_prefix("_ZN") {
        Some(path) => Parser::of(path).legacy_path(),
        None => symbol.strip_prefix("_R").and_then(|path| Parser::of(path).path(0)),
    };
    path.unwrap_or_else(|| symbol.to_owned())
}

/// The first part of a path is the crate, or `<Type as Trait>` or `<impl ...>`.
fn legacy_crate(first: &str) -> Option<&str> {
    let is_name =
        |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let Some(inside) = first.strip_prefix("_$LT$") else {
        return Some(first).filter(|first| is_name(first));
    };
    // An implementation is in the crate of the type, in the usual case.
    let inside = inside.strip_prefix("impl$u20$").unwrap_or(inside);
    inside.split("..").next().filter(|name| is_name(name))
}

/// Deeper than any path in a program.
const DEEPEST: u32 = 64;

struct Parser<'a> {
    all: &'a str,
    at: usize,
}

impl<'a> Parser<'a> {
    fn of(all: &'a str) -> Parser<'a> {
        Parser { all, at: 0 }
    }

    fn peek(&self) -> Option<u8> {
        self.all.as_bytes().get(self.at).copied()
    }

    fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    fn number(&mut self) -> Option<usize> {
        let rest = self.all.get(self.at..)?;
        // Only 0 itself begins with a 0.
        let digits = if rest.starts_with('0') { 1 } else { rest.bytes().take_while(u8::is_ascii_digit).count() };
        self.at += digits;
        rest.get(..digits)?.parse().ok()
    }

    fn take(&mut self, length: usize) -> Option<&'a str> {
        let taken = self.all.get(self.at..self.at.checked_add(length)?)?;
        self.at += length;
        Some(taken)
    }

    // The older names: `_ZN`, parts with their lengths, `E`.

    fn legacy_part(&mut self) -> Option<&'a str> {
        let length = self.number()?;
        self.take(length)
    }

    fn legacy_path(&mut self) -> Option<String> {
        let mut parts = Vec::new();
        while self.peek()? != b'E' {
            parts.push(self.legacy_part()?);
        }
        let is_hash = |part: &&str| part.len() == 17 && part.starts_with('h');
        parts.pop_if(|part| is_hash(&&**part));
        let written = |part: &str| {
            let mut part = part.strip_prefix("_$").map_or_else(|| part.to_owned(), |part| format!("${part}"));
            for (code, text) in [
                ("$LT$", "<"),
                ("$GT$", ">"),
                ("$u20$", " "),
                ("$u7b$", "{"),
                ("$u7d$", "}"),
                ("$RF$", "&"),
                ("$C$", ","),
                ("..", "::"),
            ] {
                part = part.replace(code, text);
            }
            part
        };
        Some(parts.into_iter().map(written).collect::<Vec<String>>().join("::"))
    }

    // The newer names (RFC 2603).

    /// The crate of the path that begins here.
    fn crate_root(&mut self, depth: u32) -> Option<&'a str> {
        if depth > DEEPEST {
            return None;
        }
        match self.next()? {
            b'C' => self.identifier(),
            b'N' => {
                self.next()?;
                self.crate_root(depth + 1)
            }
            b'M' | b'X' => {
                self.disambiguator()?;
                self.crate_root(depth + 1)
            }
            b'I' => self.crate_root(depth + 1),
            b'B' => {
                self.at = self.reference()?;
                self.crate_root(depth + 1)
            }
            _ => None,
        }
    }

    /// A path of names only.
    fn path(&mut self, depth: u32) -> Option<String> {
        if depth > DEEPEST {
            return None;
        }
        match self.next()? {
            b'C' => self.identifier().map(str::to_owned),
            b'N' => {
                let space = self.next()?;
                let outer = self.path(depth + 1)?;
                let name = self.identifier()?;
                let name = match space {
                    b'C' => "{closure}",
                    b'K' => "{constant}",
                    _ => name,
                };
                Some(format!("{outer}::{name}"))
            }
            _ => None,
        }
    }

    fn identifier(&mut self) -> Option<&'a str> {
        self.disambiguator()?;
        if self.peek()? == b'u' {
            self.at += 1;
        }
        let length = self.number()?;
        if self.peek() == Some(b'_') {
            self.at += 1;
        }
        self.take(length)
    }

    fn disambiguator(&mut self) -> Option<()> {
        if self.peek()? == b's' {
            self.at += 1;
            self.base_62()?;
        }
        Some(())
    }

    /// The place of a part that is repeated. It comes earlier.
    fn reference(&mut self) -> Option<usize> {
        let here = self.at;
        self.base_62().filter(|at| *at < here)
    }

    fn base_62(&mut self) -> Option<usize> {
        let mut value: Option<usize> = None;
        loop {
            let digit = match self.next()? {
                b'_' => return value.map_or(Some(0), |value| value.checked_add(1)),
                digit @ b'0'..=b'9' => digit - b'0',
                digit @ b'a'..=b'z' => digit - b'a' + 10,
                digit @ b'A'..=b'Z' => digit - b'A' + 36,
                _ => return None,
            };
            value = Some(value.unwrap_or(0).checked_mul(62)?.checked_add(usize::from(digit))?);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(symbol: &str, crate_name: Option<&str>, name: &str) {
        assert_eq!((crate_of(symbol), readable(symbol).as_str()), (crate_name, name));
    }

    #[test]
    fn the_crate_is_the_root_of_the_path() {
        check("_ZN6mirror7statics4FLAG17h469ea30e447d092dE", Some("mirror"), "mirror::statics::FLAG");
        check("_ZN4mine3FOO17h469ea30e447d092dE.llvm.123", Some("mine"), "mine::FOO");
        check("_ZN4mine3FOO17h469ea30e447d092dE.0", Some("mine"), "mine::FOO");
        check(
            "_ZN52_$LT$mine..Foo$u20$as$u20$core..default..Default$GT$7default4SEEN17h469ea30e447d092dE",
            Some("mine"),
            "<mine::Foo as core::default::Default>::default::SEEN",
        );
        check("_RNvNtCsjrHSEGnQ3l9_3std5alloc4HOOK", Some("std"), "std::alloc::HOOK");
        check("_RNvNtNtCs1_4mine1a1b3FOO", Some("mine"), "mine::a::b::FOO");
        let method = "_RNvNvMNtNtCsjrHSEGnQ3l9_3std6thread2idNtB4_8ThreadId3new7COUNTER";
        check(method, Some("std"), method);
        check("_RNvNCNvNtCsjrHSEGnQ3l9_3std9panicking12default_hook011FIRST_PANIC", Some("std"), {
            "std::panicking::default_hook::{closure}::FIRST_PANIC"
        });
    }

    #[test]
    fn what_is_not_of_rust_has_no_crate() {
        for symbol in
            ["", "environ", "_ZN", "_R", "_ZN9mine", "_ZN99999999999999999999mine", "_RNvCs_9mine", "_RB_", "_RNvB0_1a"]
        {
            assert_eq!(crate_of(symbol), None, "{symbol}");
            assert_eq!(readable(symbol), symbol);
        }
        let deep = format!("_R{}C1a", "Nv".repeat(100_000));
        assert_eq!((crate_of(&deep), readable(&deep)), (None, deep.clone()));
    }
}
