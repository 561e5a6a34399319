//! Lists of results as plain tables.

use comfy_table::{CellAlignment, ContentArrangement, TableComponent};

use crate::plain;

/// Which edge of its column a cell keeps to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// A table: a heading, a rule below it, and rows. Columns are as wide as their widest cell and three spaces apart. The
/// output does not depend on the terminal.
///
/// ```
/// use interloper_report::table::{Align, Table};
///
/// let mut table = Table::new([("case", Align::Left), ("executions", Align::Right)]);
/// table.row(["memoize", "17"]);
/// table.row(["bounded_insert", "3"]);
/// assert_eq!(
///     table.to_string(),
///     "case             executions\n\
///      ───────────────────────────\n\
///      memoize                  17\n\
///      bounded_insert            3\n"
/// );
/// ```
#[derive(Clone, Debug)]
pub struct Table {
    headings: Vec<(String, Align)>,
    rows: Vec<Vec<String>>,
}

/// Between two columns.
const GAP: u16 = 3;

impl Table {
    /// A table with these headings and no rows.
    pub fn new<H: Into<String>>(columns: impl IntoIterator<Item = (H, Align)>) -> Self {
        let headings = columns.into_iter().map(|(heading, align)| (heading.into(), align)).collect();
        Self { headings, rows: Vec::new() }
    }

    /// Adds a row. What would have an effect on a terminal is escaped, see [`plain::text`].
    ///
    /// # Panics
    ///
    /// When the number of cells is not the number of headings.
    pub fn row<C: Into<String>>(&mut self, cells: impl IntoIterator<Item = C>) -> &mut Self {
        let cells: Vec<String> = cells.into_iter().map(|cell| plain::text(&cell.into()).into_owned()).collect();
        assert_eq!(cells.len(), self.headings.len(), "a cell for each heading");
        self.rows.push(cells);
        self
    }

    /// The table split into several, one below the other. Each has the first column and as many other columns as fit
    /// into `width`, but at least one.
    ///
    /// ```
    /// use interloper_report::table::{Align, Table};
    ///
    /// let mut table = Table::new([("", Align::Left), ("one", Align::Left), ("two", Align::Left), ("three", Align::Left)]);
    /// table.row(["a", "1", "2", "3"]);
    /// assert_eq!(
    ///     table.panels(14),
    ///     "    one   two\n\
    ///      ─────────────\n\
    ///      a   1     2\n\
    ///      \n\
    ///      \u{20}   three\n\
    ///      ─────────\n\
    ///      a   3\n"
    /// );
    /// ```
    #[must_use]
    pub fn panels(&self, width: usize) -> String {
        let widths = self.drawn(&self.all()).column_max_content_widths();
        let [first, others @ ..] = &widths[..] else { return String::new() };
        let mut panels: Vec<Vec<usize>> = Vec::new();
        let mut used = usize::MAX;
        for (column, content) in (1..).zip(others) {
            used = used.saturating_add(usize::from(GAP + content));
            match panels.last_mut() {
                Some(panel) if used <= width => panel.push(column),
                _ => {
                    panels.push(vec![0, column]);
                    used = usize::from(first + GAP + content);
                }
            }
        }
        if panels.is_empty() {
            panels.push(vec![0]);
        }
        let texts: Vec<String> = panels.iter().map(|columns| text(&self.drawn(columns))).collect();
        texts.join("\n")
    }

    /// The table as Markdown. A bar or the end of a line within a cell does not end the cell.
    ///
    /// ```
    /// use interloper_report::table::{Align, Table};
    ///
    /// let mut table = Table::new([("schema", Align::Left), ("executions", Align::Right)]);
    /// table.row(["`{ get() } || { set(1) }`", "17"]);
    /// assert_eq!(
    ///     table.markdown(),
    ///     "| schema | executions |\n\
    ///      |---|---:|\n\
    ///      | `{ get() } \\|\\| { set(1) }` | 17 |\n"
    /// );
    /// ```
    #[must_use]
    pub fn markdown(&self) -> String {
        let rule: String = self
            .headings
            .iter()
            .map(|(_, align)| match align {
                Align::Left => "---|",
                Align::Right => "---:|",
            })
            .collect();
        let rows: String = self.rows.iter().map(markdown_row).collect();
        format!("{}|{rule}\n{rows}", markdown_row(self.headings.iter().map(|(heading, _)| heading)))
    }

    fn all(&self) -> Vec<usize> {
        (0..self.headings.len()).collect()
    }

    /// These columns as a table of the library that knows how wide text is.
    fn drawn(&self, columns: &[usize]) -> comfy_table::Table {
        let mut table = comfy_table::Table::new();
        table.load_preset(comfy_table::presets::NOTHING);
        table.set_style(TableComponent::HeaderLines, '─');
        table.set_content_arrangement(ContentArrangement::Disabled);
        table.set_header(columns.iter().map(|&column| &self.headings[column].0));
        table.add_rows(self.rows.iter().map(|row| columns.iter().map(|&column| &row[column])));
        for (at, &column) in columns.iter().enumerate() {
            let drawn = table.column_mut(at).expect("a column for each heading");
            drawn.set_cell_alignment(match self.headings[column].1 {
                Align::Left => CellAlignment::Left,
                Align::Right => CellAlignment::Right,
            });
            drawn.set_padding((0, if at + 1 == columns.len() { 0 } else { GAP }));
        }
        table
    }
}

fn markdown_row<'c>(cells: impl IntoIterator<Item = &'c String>) -> String {
    let cell = |cell: &String| match cell.is_empty() {
        true => " |".to_owned(),
        false => format!(" {} |", cell.replace('|', "\\|").replace('\n', " ")),
    };
    format!("|{}\n", cells.into_iter().map(cell).collect::<String>())
}

/// Every line ended with a newline and without trailing spaces.
fn text(table: &comfy_table::Table) -> String {
    table.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

impl std::fmt::Display for Table {
    /// Every line ends with a newline and without trailing spaces.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&text(&self.drawn(&self.all())))
    }
}
