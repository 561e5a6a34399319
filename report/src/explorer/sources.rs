//! The source files that the places of an exploration name, as far as they fit into a page.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Exploration;
use crate::source::{Sources, parts, workspace};

/// A source file of a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// The file, as places name it.
    pub file: String,
    /// Its parts, in order. A large file has only the lines around its places.
    pub parts: Vec<Stretch>,
}

/// Lines of a file without a gap.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stretch {
    /// The number of the first line, from 1.
    pub first: u32,
    /// The lines.
    pub lines: Vec<String>,
}

/// The line after which a file has only what `cargo interloper` has added to it. No page shows that.
pub const ADDED: &str = "// Added by cargo interloper.";

/// A file up to this size is shown as a whole.
const WHOLE: usize = 48 << 10;
/// Of a larger file, so many lines before and after each place.
const AROUND: usize = 40;
/// All sources of a page together. Files after that are left out.
const MOST: usize = 4 << 20;
/// A longer line is cut: nobody wrote it.
const LONGEST_LINE: usize = 1000;

impl Exploration {
    /// The exploration with the source of each place that can be read, from the workspace that was compiled: see
    /// [`Counterexample::with_source`](crate::Counterexample::with_source).
    #[must_use]
    pub fn with_sources(self) -> Exploration {
        self.with_sources_of(Sources::new(workspace()))
    }

    fn with_sources_of(mut self, mut sources: Sources) -> Exploration {
        // A file that the source of an earlier version of this exploration came with stays as it was.
        let mut places: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (file, line, _) in self.places.iter().filter_map(|place| parts(place)) {
            places.entry(file.to_owned()).or_default().push(line);
        }
        places.retain(|file, _| self.sources.iter().all(|source| source.file != *file));
        let mut left = MOST;
        for (file, mut marked) in places {
            let Some(lines) = sources.lines(&file) else { continue };
            marked.sort_unstable();
            let parts = stretches(written(lines), &marked);
            let size: usize = parts.iter().flat_map(|part| &part.lines).map(|line| line.len() + 4).sum();
            if parts.is_empty() || size > left {
                continue;
            }
            left -= size;
            self.sources.push(Source { file, parts });
        }
        self
    }
}

/// The lines of a file that its author has written.
fn written(lines: &[String]) -> &[String] {
    let end = lines.iter().position(|line| line == ADDED).unwrap_or(lines.len());
    &lines[..end]
}

/// The whole file if it is small, or else the lines around those that are `marked`, which are sorted and counted from 1.
fn stretches(lines: &[String], marked: &[usize]) -> Vec<Stretch> {
    let size: usize = lines.iter().map(|line| line.len() + 1).sum();
    let around = if size <= WHOLE { lines.len() } else { AROUND };
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    // In a file that was edited since it was compiled, a line may lie beyond the end.
    for &line in marked.iter().filter(|&&line| (1..=lines.len()).contains(&line)) {
        let (from, until) = (line.saturating_sub(around).max(1), (line + around).min(lines.len()));
        match ranges.last_mut() {
            Some((_, last)) if from <= *last + 1 => *last = until,
            _ => ranges.push((from, until)),
        }
    }
    let short = |line: &String| line.chars().take(LONGEST_LINE).collect();
    let stretch = |(from, until): (usize, usize)| Stretch {
        first: from as u32,
        lines: lines[from - 1..until].iter().map(short).collect(),
    };
    ranges.into_iter().map(stretch).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn lines(count: usize, text: &str) -> Vec<String> {
        (1..=count).map(|line| format!("{line}{text}")).collect()
    }

    fn ranges(lines: &[String], marked: &[usize]) -> Vec<(u32, usize)> {
        stretches(lines, marked).into_iter().map(|part| (part.first, part.lines.len())).collect()
    }

    #[test]
    fn a_small_file_is_whole_and_a_large_one_is_cut_around_its_places() {
        assert_eq!(ranges(&lines(500, ""), &[7, 400]), [(1, 500)]);
        // 1000 lines of about 100 letters.
        let large = lines(1000, &"x".repeat(100));
        assert_eq!(ranges(&large, &[100, 181, 990]), [(60, 162), (950, 51)]);
        assert_eq!(ranges(&large, &[100, 182]), [(60, 81), (142, 81)].map(|(first, length)| (first, length)));
    }

    #[test]
    fn what_was_added_is_not_shown() {
        let mut all = lines(10, "");
        assert_eq!(written(&all), &all[..]);
        all.insert(7, ADDED.to_owned());
        assert_eq!(ranges(written(&all), &[3, 9]), [(1, 7)]);
    }

    #[test]
    fn lines_that_are_not_there_are_left_out_and_long_ones_cut() {
        assert_eq!(ranges(&lines(10, ""), &[0, 11]), []);
        assert_eq!(stretches(&["é".repeat(2000)], &[1])[0].lines[0].chars().count(), LONGEST_LINE);
    }

    #[test]
    fn a_page_has_the_files_that_its_places_name() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let places = ["report/src/lib.rs:1:1", "report/src/no-such-file.rs:1:1", "nowhere"].map(str::to_owned);
        let exploration = Exploration { places: places.into(), ..Exploration::default() };
        let sources = exploration.with_sources_of(Sources::new(root)).sources;
        assert_eq!(sources.iter().map(|source| source.file.as_str()).collect::<Vec<_>>(), ["report/src/lib.rs"]);
        assert_eq!(sources[0].parts[0].lines[0], include_str!("../lib.rs").lines().next().expect("a line"));
    }
}
