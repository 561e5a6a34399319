//! The parts of a page that are printed, between `<!-- proof: NAME -->` and `<!-- end -->`.

/// The end of a part.
const END: &str = "<!-- end -->";

/// The text of a part. None when the page has no such part.
pub fn part<'p>(page: &'p str, name: &str) -> Option<&'p str> {
    let begin = format!("<!-- proof: {name} -->\n");
    let start = page.find(&begin)? + begin.len();
    Some(&page[start..start + page[start..].find(END)?])
}

/// The page with another text in a part.
pub fn with_part(page: &str, name: &str, text: &str) -> Option<String> {
    let old = part(page, name)?;
    let start = old.as_ptr() as usize - page.as_ptr() as usize;
    Some(format!("{}{text}{}", &page[..start], &page[start + old.len()..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_between_its_markers() {
        let page = "a\n<!-- proof: x -->\nold\n<!-- end -->\nb\n<!-- proof: y -->\n<!-- end -->\n";
        assert_eq!((part(page, "x"), part(page, "y"), part(page, "z")), (Some("old\n"), Some(""), None));
        let changed = with_part(page, "x", "new\nlines\n").expect("there is an x");
        assert_eq!(changed, "a\n<!-- proof: x -->\nnew\nlines\n<!-- end -->\nb\n<!-- proof: y -->\n<!-- end -->\n");
        assert_eq!(with_part(page, "z", "new"), None);
    }
}
