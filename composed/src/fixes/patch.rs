//! Edits as text: the text that they make, and the difference in the form of `diff -u`.

use std::fmt::Write;

use super::Edit;

/// So many lines around a change are shown.
const CONTEXT: usize = 3;

/// The text with the edits.
pub fn patched(text: &str, edits: &[Edit]) -> String {
    let mut edits: Vec<&Edit> = edits.iter().collect();
    edits.sort_by_key(|edit| edit.range.start);
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for edit in edits {
        out.push_str(&text[at..edit.range.start]);
        out.push_str(&edit.text);
        at = edit.range.end;
    }
    out.push_str(&text[at..]);
    out
}

/// A part of a file that is replaced: lines and columns are counted from 1, columns in characters, and the end is after the part.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Replacement {
    /// Its first line and column.
    pub from: (u32, u32),
    /// The line and column after it.
    pub to: (u32, u32),
    /// What is there then.
    pub text: String,
}

/// The edits by lines and columns.
pub fn replacements(text: &str, edits: &[Edit]) -> Vec<Replacement> {
    let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    let place = |at: usize| {
        let before = &text[..at];
        let line = before.rfind('\n').map_or(0, |end| end + 1);
        (number(before.matches('\n').count() + 1), number(before[line..].chars().count() + 1))
    };
    let one =
        |edit: &Edit| Replacement { from: place(edit.range.start), to: place(edit.range.end), text: edit.text.clone() };
    edits.iter().map(one).collect()
}

/// The difference that the edits make to a file, as `diff -u` writes it.
pub fn diff(file: &str, text: &str, edits: &[Edit]) -> String {
    let after = patched(text, edits);
    let (old, new): (Vec<&str>, Vec<&str>) =
        (text.split_inclusive('\n').collect(), after.split_inclusive('\n').collect());
    let mut out = format!("--- a/{file}\n+++ b/{file}\n");
    let same = old.iter().zip(&new).take_while(|(one, other)| one == other).count();
    let rest = old.len().min(new.len()) - same;
    let end = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(one, other)| one == other).count();
    let lines = compared(&old[same..old.len() - end], &new[same..new.len() - end]);
    let before = same.saturating_sub(CONTEXT);
    let behind = end.min(CONTEXT);
    let (kept, _) = lines.iter().fold((0, 0), |(kept, all), (mark, _)| (kept + usize::from(*mark != '+'), all + 1));
    let (left, right) = (same - before, behind);
    let removed = left + kept + right;
    let added = left + lines.iter().filter(|(mark, _)| *mark != '-').count() + right;
    let _ = writeln!(out, "@@ -{},{removed} +{},{added} @@", before + 1, before + 1);
    let around = |line: &&'_ str| (' ', (*line).to_owned());
    let all = old[before..same].iter().map(around).collect::<Vec<_>>();
    let after = old[old.len() - end..old.len() - end + behind].iter().map(around);
    let middle = lines.into_iter().map(|(mark, line)| (mark, line.to_owned()));
    for (mark, line) in all.into_iter().chain(middle).chain(after) {
        out.push(mark);
        out.push_str(&line);
        if !line.ends_with('\n') {
            out.push_str("\n\\ No newline at end of file\n");
        }
    }
    out
}

/// The lines of both, each with `-`, `+` or a space: a longest common subsequence keeps its place.
fn compared<'t>(old: &[&'t str], new: &[&'t str]) -> Vec<(char, &'t str)> {
    let mut longest = vec![vec![0_usize; new.len() + 1]; old.len() + 1];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            longest[i][j] =
                if old[i] == new[j] { longest[i + 1][j + 1] + 1 } else { longest[i + 1][j].max(longest[i][j + 1]) };
        }
    }
    let (mut i, mut j, mut all) = (0, 0, Vec::new());
    while i < old.len() || j < new.len() {
        match (old.get(i), new.get(j)) {
            (Some(one), Some(other)) if one == other => {
                all.push((' ', *one));
                (i, j) = (i + 1, j + 1);
            }
            (Some(one), other) if other.is_none() || longest[i + 1][j] >= longest[i][j + 1] => {
                all.push(('-', *one));
                i += 1;
            }
            (_, Some(other)) => {
                all.push(('+', *other));
                j += 1;
            }
            _ => break,
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_has_the_form_of_diff() {
        let text = "a\nb\nc\nd\ne\nf\ng\nh\n";
        let edits = [Edit { range: 8..9, text: "E1\nE2".to_owned() }, Edit { range: 12..14, text: String::new() }];
        assert_eq!(patched(text, &edits), "a\nb\nc\nd\nE1\nE2\nf\nh\n");
        let expected = "--- a/src/lib.rs\n+++ b/src/lib.rs\n@@ -2,7 +2,7 @@\n b\n c\n d\n-e\n+E1\n+E2\n f\n-g\n h\n";
        assert_eq!(diff("src/lib.rs", text, &edits), expected);
        let last = [Edit { range: 2..3, text: "B".to_owned() }];
        let expected = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+B\n\\ No newline at end of file\n";
        assert_eq!(diff("x", "a\nb", &last), expected);
    }

    #[test]
    fn a_replacement_counts_characters() {
        let edits = [Edit { range: 5..6, text: "x".to_owned() }];
        let expected = Replacement { from: (2, 3), to: (2, 4), text: "x".to_owned() };
        assert_eq!(replacements("a\nää b", &edits[..0]), []);
        assert_eq!(replacements("a\nä bc", &edits), [expected]);
    }
}
