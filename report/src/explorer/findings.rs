//! Links between the pages of the findings of one run, which lie beside each other.
//!
//! A page is written when its finding is known, and the links when all findings are: [`linked`] puts them into the finished page. They
//! are plain links in a list, so they need no script, and the policy of the page stays as it is.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::io;
use std::path::PathBuf;

use maud::html;

use crate::file;
use crate::shorten::{LONGEST_TEXT, middle};

/// What comes before the links, and what comes after them. The page escapes its data, so they are not part of the data.
const BEFORE: &str = "</header>";
const AFTER: &str = r#"<main id="explorer">"#;

/// The list of more findings is closed until it is asked for.
const OPEN: usize = 10;

/// The page of the finding at the index `own`, with links to the pages of all findings: the files, with what each page shows. Links that
/// it has are replaced, and a single finding has none. `None` if the text is not that of a page.
#[must_use]
pub fn linked(page: &str, findings: &[(PathBuf, String)], own: usize) -> Option<String> {
    let (header, rest) = page.split_once(BEFORE)?;
    let (_, main) = rest.split_once(AFTER)?;
    let nav = html! {
        nav.findings aria-label="findings of this run" {
            details open[findings.len() <= OPEN] {
                summary { "Finding " (own + 1) " of " (findings.len()) " of this run" }
                ol {
                    @for (at, (path, shown)) in findings.iter().enumerate() {
                        li {
                            @if at == own { span aria-current="page" { (middle(shown, LONGEST_TEXT)) } }
                            @else { a href=(beside(path.file_name().unwrap_or_default())) { (middle(shown, LONGEST_TEXT)) } }
                        }
                    }
                }
            }
        }
    };
    let nav = if findings.len() > 1 { nav.into_string() } else { String::new() };
    Some(format!("{header}{BEFORE}{nav}{AFTER}{main}"))
}

/// Puts the links into the pages of these files.
///
/// # Errors
/// When a file cannot be read or written. Those before it have their links.
pub fn link(findings: &[(PathBuf, String)]) -> io::Result<()> {
    for (own, (path, _)) in findings.iter().enumerate() {
        let page = std::fs::read_to_string(path)?;
        if let Some(linked) = linked(&page, findings, own).filter(|linked| *linked != page) {
            file::write(path, linked.as_bytes())?;
        }
    }
    Ok(())
}

/// A link to a file of the same folder. The dot keeps a colon in the name from making a scheme of what comes before it.
fn beside(name: &OsStr) -> String {
    let mut link = "./".to_owned();
    for &byte in name.as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => link.push(byte.into()),
            _ => write!(link, "%{byte:02X}").expect("writing to a string never fails"),
        }
    }
    link
}

#[cfg(test)]
mod tests {
    use super::super::{Exploration, page};
    use super::*;

    fn rendered(name: &str) -> String {
        page::render(&Exploration { name: name.to_owned(), verdict: "not atomic".to_owned(), ..Exploration::default() })
    }

    fn findings(names: &[(&str, &str)]) -> Vec<(PathBuf, String)> {
        names.iter().map(|(file, shown)| (PathBuf::from("some/folder").join(file), (*shown).to_owned())).collect()
    }

    #[test]
    fn each_page_has_links_to_the_others() {
        let findings = findings(&[("a.html", "one, not atomic"), ("a-2.html", "two"), ("a-3.html", "three")]);
        let second = linked(&rendered("two"), &findings, 1).expect("a page");
        let nav = second.split_once("<nav").and_then(|(_, rest)| rest.split_once("</nav>")).expect("links").0;
        assert_eq!(
            nav,
            " class=\"findings\" aria-label=\"findings of this run\"><details open><summary>Finding 2 of 3 of this run</summary><ol>\
             <li><a href=\"./a.html\">one, not atomic</a></li><li><span aria-current=\"page\">two</span></li>\
             <li><a href=\"./a-3.html\">three</a></li></ol></details>"
        );
        // They are all that is added, and once.
        assert_eq!(second.replace(&format!("<nav{nav}</nav>"), ""), rendered("two"));
        assert_eq!(linked(&second, &findings, 1).as_ref(), Some(&second));
        let more = [&findings[..], &[("a-4.html".into(), "four".to_owned())]].concat();
        assert_eq!(linked(&second, &more, 1), linked(&rendered("two"), &more, 1));
        // Nor are there links where there is one finding.
        assert_eq!(linked(&second, &findings[1..2], 0), Some(rendered("two")));
        assert_eq!(linked("<html></html>", &findings, 0), None);
    }

    #[test]
    fn ten_findings_are_shown_and_more_are_folded() {
        let of = |count: usize| vec![(PathBuf::from("a.html"), "one".to_owned()); count];
        let is_open = |count| linked(&rendered("one"), &of(count), 0).expect("a page").contains("<details open>");
        assert_eq!([2, 10, 11].map(is_open), [true, true, false]);
    }

    /// The name of a page, what it shows and the names of files are data: none of them ends the header, begins an element or leads away.
    #[test]
    fn no_data_becomes_markup_or_another_address() {
        let hostile = "</header><main id=\"explorer\"><script>alert(1)</script>";
        let findings = findings(&[
            ("one.html", hostile),
            ("javascript:alert(1)#?%20\" onclick=\"x.html", "two"),
            ("über <b>.html", "three"),
        ]);
        let page = linked(&rendered(hostile), &findings, 0).expect("a page");
        assert_eq!((page.matches(BEFORE).count(), page.matches(AFTER).count()), (1, 1));
        assert_eq!(page.matches("<script").count(), rendered("").matches("<script").count());
        assert!(page.contains("<span aria-current=\"page\">&lt;/header&gt;&lt;main"), "{page}");
        assert!(page.contains("href=\"./javascript%3Aalert%281%29%23%3F%2520%22%20onclick%3D%22x.html\""), "{page}");
        assert!(page.contains("href=\"./%C3%BCber%20%3Cb%3E.html\""), "{page}");
    }
}
