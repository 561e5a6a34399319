//! A table, as text and as JSON.

use std::fmt;

use comfy_table::presets::ASCII_MARKDOWN;
use serde::Serialize;

/// A table with a title.
#[derive(Debug, Serialize)]
pub struct Table {
    pub title: String,
    /// What one must know to read it.
    pub notes: Vec<String>,
    pub columns: Vec<String>,
    pub rows: Vec<Vec<Cell>>,
}

/// What is in a field.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Cell {
    Text(String),
    Count(u64),
    /// Shown with this many decimals.
    Number {
        value: f64,
        #[serde(skip)]
        decimals: usize,
    },
    Spread(Spread),
    Mean(Mean),
    Yes(bool),
    Nothing,
}

/// How many executions it took, over several seeds; `None`: more than were made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Spread {
    pub median: Option<u64>,
    pub least: Option<u64>,
    pub most: Option<u64>,
    /// How many were made at most.
    pub limit: u64,
}

impl Spread {
    /// Of an odd number of seeds the median is one of them; of an even one, the lower of the two in the middle.
    ///
    /// # Panics
    /// When `needed` is empty.
    pub fn of(mut needed: Vec<Option<u64>>, limit: u64) -> Spread {
        needed.sort_by_key(|needed| needed.unwrap_or(u64::MAX));
        let (least, most) = (needed[0], needed[needed.len() - 1]);
        Spread { median: needed[(needed.len() - 1) / 2], least, most, limit }
    }
}

/// How many executions it took on average, over several seeds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Mean {
    /// Over the seeds that found something; none if no seed did.
    pub mean: Option<f64>,
    /// How many seeds found something.
    pub found: u64,
    /// How many seeds there were.
    pub seeds: u64,
}

impl Mean {
    pub fn of(needed: impl Iterator<Item = Option<u64>>) -> Mean {
        let (mut sum, mut found, mut seeds) = (0, 0, 0);
        for needed in needed {
            seeds += 1;
            if let Some(needed) = needed {
                (sum, found) = (sum + needed, found + 1);
            }
        }
        Mean { mean: (found > 0).then(|| sum as f64 / found as f64), found, seeds }
    }
}

impl Table {
    pub fn new(title: &str, notes: &[&str], columns: &[&str]) -> Table {
        let own = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
        Table { title: title.to_owned(), notes: own(notes), columns: own(columns), rows: Vec::new() }
    }

    /// Adds a row.
    ///
    /// # Panics
    /// When it has not as many fields as there are columns.
    pub fn row(&mut self, cells: Vec<Cell>) {
        assert_eq!(cells.len(), self.columns.len(), "a row has a field for each column");
        self.rows.push(cells);
    }
}

impl Cell {
    pub fn text(text: impl Into<String>) -> Cell {
        Cell::Text(text.into())
    }

    pub fn number(value: f64, decimals: usize) -> Cell {
        Cell::Number { value, decimals }
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "## {}\n", self.title)?;
        for note in &self.notes {
            writeln!(f, "{note}\n")?;
        }
        let mut grid = comfy_table::Table::new();
        grid.load_preset(ASCII_MARKDOWN).set_header(&self.columns);
        grid.add_rows(self.rows.iter().map(|row| row.iter().map(Cell::to_string)));
        writeln!(f, "{grid}")
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cell::Text(text) => f.write_str(text),
            Cell::Count(count) => write!(f, "{count}"),
            Cell::Number { value, decimals } => write!(f, "{value:.decimals$}"),
            Cell::Spread(spread) => spread.fmt(f),
            Cell::Mean(mean) => mean.fmt(f),
            Cell::Yes(yes) => f.write_str(if *yes { "yes" } else { "NO" }),
            Cell::Nothing => f.write_str("–"),
        }
    }
}

impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let one = |needed: Option<u64>| needed.map_or(format!("> {}", self.limit), |needed| needed.to_string());
        if self.least == self.most {
            return f.write_str(&one(self.median));
        }
        write!(f, "{} ({} to {})", one(self.median), one(self.least), one(self.most))
    }
}

impl fmt::Display for Mean {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(mean) = self.mean else { return f.write_str("none") };
        write!(f, "{mean:.*}", if mean < 10.0 { 1 } else { 0 })?;
        if self.found < self.seeds { write!(f, " ({} of {})", self.found, self.seeds) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spreads() {
        let shown = |needed: &[u64]| {
            let needed = needed.iter().map(|&needed| (needed < 100).then_some(needed)).collect();
            Spread::of(needed, 99).to_string()
        };
        assert_eq!(shown(&[3, 1, 2]), "2 (1 to 3)");
        assert_eq!(shown(&[1, 100, 2, 3]), "2 (1 to > 99)");
        assert_eq!(shown(&[100, 100]), "> 99");
        assert_eq!(shown(&[4]), "4");
    }

    #[test]
    fn means() {
        let shown =
            |needed: &[u64]| Mean::of(needed.iter().map(|&needed| (needed < 100).then_some(needed))).to_string();
        assert_eq!(shown(&[1, 2, 2]), "1.7");
        assert_eq!(shown(&[20, 31]), "26");
        assert_eq!(shown(&[20, 100]), "20 (1 of 2)");
        assert_eq!(shown(&[100]), "none");
    }

    #[test]
    fn a_table_is_markdown() {
        let mut table = Table::new("Title", &["A note."], &["name", "number"]);
        table.row(vec![Cell::text("a"), Cell::number(1.25, 1)]);
        table.row(vec![Cell::Nothing, Cell::Yes(false)]);
        let expected =
            "## Title\n\nA note.\n\n| name | number |\n|------|--------|\n| a    | 1.2    |\n| –    | NO     |\n";
        assert_eq!(table.to_string(), expected);
    }
}
