//! JSON inside of a page.

/// JSON as the content of a `<script>` element of another type than script.
///
/// The content of such an element ends at `</script`, and `<!--` changes how its end is found; so no `<` may stand in it.
/// `>` and `&` need no escape, but readers of XML trip over them. U+2028 and U+2029 end a line for scripts older than 2019. In
/// JSON all of them stand in texts only, where an escape means the same.
pub(super) fn json_in_page(json: &str) -> String {
    let mut out = String::with_capacity(json.len() + json.len() / 16);
    for c in json.chars() {
        match c {
            '<' => out.push_str("\\u003c"),
            '>' => out.push_str("\\u003e"),
            '&' => out.push_str("\\u0026"),
            '\u{2028}' => out.push_str("\\u2028"),
            '\u{2029}' => out.push_str("\\u2029"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn no_text_ends_its_element() {
        let text = serde_json::to_string("</script><!--<script>&amp;\u{2028}\u{2029}").expect("JSON");
        assert_eq!(json_in_page(&text), r#""\u003c/script\u003e\u003c!--\u003cscript\u003e\u0026amp;\u2028\u2029""#);
        assert_eq!(json_in_page(r#"{"a":["plain \" é →"]}"#), r#"{"a":["plain \" é →"]}"#);
    }

    proptest! {
        #[test]
        fn what_is_escaped_means_the_same(text in "\\PC*|[<>&\u{2028}/a-z!-]*") {
            let json = serde_json::to_string(&text).expect("JSON");
            let escaped = json_in_page(&json);
            let forbidden = ['<', '>', '&', '\u{2028}', '\u{2029}'];
            prop_assert!(!escaped.contains(forbidden));
            prop_assert_eq!(serde_json::from_str::<String>(&escaped).expect("JSON"), text);
        }
    }
}
