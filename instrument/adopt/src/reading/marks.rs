//! Where a file marks atomic blocks: `atomic("name", || …)`, `atomic_returning("name", || …)` and `#[interloper::atomic]`.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use super::condition;

/// The name of the block if a call at `tokens[at]` runs one.
pub(crate) fn of_call(tokens: &[TokenTree], at: usize) -> Option<String> {
    let (TokenTree::Ident(function), TokenTree::Group(arguments)) = (tokens.get(at)?, tokens.get(at + 1)?) else {
        return None;
    };
    let is_method = at > 0 && matches!(&tokens[at - 1], TokenTree::Punct(punct) if punct.as_char() == '.');
    let marks = ["atomic", "atomic_returning"].iter().any(|name| function == name);
    if !marks || is_method || arguments.delimiter() != Delimiter::Parenthesis {
        return None;
    }
    text(&arguments.stream().into_iter().next()?)
}

/// What an attribute says of the function that follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// Its body is a block that has the name of the function.
    Named,
    /// Its body is a block with this name.
    As(String),
}

/// Whether an attribute marks a function.
pub(crate) fn of_attribute(attribute: &[TokenTree]) -> Option<Mark> {
    let is_options = |token: &TokenTree| matches!(token, TokenTree::Group(_));
    let end = attribute.iter().position(is_options).unwrap_or(attribute.len());
    let path: String = attribute[..end].iter().map(TokenTree::to_string).collect();
    if path.trim_start_matches("::") != "interloper::atomic" && path != "atomic" {
        return None;
    }
    let options = match attribute.get(end) {
        Some(TokenTree::Group(options)) => options.stream(),
        _ => TokenStream::new(),
    };
    let name = condition::parts(options).into_iter().find_map(|option| {
        let option: Vec<TokenTree> = option.into_iter().collect();
        match &option[..] {
            [TokenTree::Ident(key), TokenTree::Punct(_), value] if key == "name" => text(value),
            _ => None,
        }
    });
    Some(name.map_or(Mark::Named, Mark::As))
}

/// The name of the block that the function at `tokens[at]` is, if attributes marked it, and where the function has its name.
pub(crate) fn of_function(mark: &Mark, tokens: &[TokenTree], at: usize) -> Option<(String, usize)> {
    // `pub(crate) unsafe extern "C" fn name`: few tokens stand before the name.
    let words = tokens.get(at..)?.iter().take(8);
    let position = words.clone().position(|token| matches!(token, TokenTree::Ident(word) if word == "fn"))?;
    let TokenTree::Ident(name) = tokens.get(at + position + 1)? else { return None };
    let line = name.span().start().line;
    let name = match mark {
        Mark::Named => name.to_string(),
        Mark::As(name) => name.clone(),
    };
    Some((name, line))
}

/// The content of a literal that is a text without escapes.
fn text(token: &TokenTree) -> Option<String> {
    let TokenTree::Literal(literal) = token else { return None };
    let literal = literal.to_string();
    let text = literal.strip_prefix('"')?.strip_suffix('"')?;
    (!text.contains('\\')).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(source: &str) -> Vec<TokenTree> {
        crate::text::tokens(source).expect("tokens")
    }

    #[test]
    fn calls_and_attributes_that_mark_a_block() {
        let call = |source: &str| of_call(&tokens(source), 0);
        assert_eq!(call("atomic(\"add\", || 1)"), Some("add".to_owned()));
        assert_eq!(call("atomic_returning(\"add\", move || 1)"), Some("add".to_owned()));
        for other in ["atomic(name, || 1)", "atomic!(\"add\")", "other(\"add\", || 1)", "atomic(\"a\\n\", || 1)"] {
            assert_eq!(call(other), None, "{other}");
        }
        assert_eq!(of_call(&tokens("x.atomic(\"add\", || 1)"), 2), None, "a method of something else");

        let attribute = |source: &str| of_attribute(&tokens(source));
        assert_eq!(attribute("interloper::atomic"), Some(Mark::Named));
        assert_eq!(attribute("::interloper::atomic(ignore_result)"), Some(Mark::Named));
        assert_eq!(attribute("atomic(ignore_result, name = \"put\")"), Some(Mark::As("put".to_owned())));
        for other in ["inline", "interloper::test", "other::atomic", "atomic::name"] {
            assert_eq!(attribute(other), None, "{other}");
        }

        let function = |mark, source: &str| of_function(&mark, &tokens(source), 0);
        assert_eq!(function(Mark::Named, "unsafe extern \"C\" fn add(x: u32) {}"), Some(("add".to_owned(), 1)));
        assert_eq!(function(Mark::As("put".to_owned()), "fn\nadd() {}"), Some(("put".to_owned(), 2)));
        assert_eq!(function(Mark::Named, "struct Fn;"), None);
    }
}
