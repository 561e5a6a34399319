//! Lists of results as plain tables.

use comfy_table::{CellAlignment, ContentArrangement, TableComponent};

/// Which edge of its column a cell keeps to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// A table: a heading, a rule below it, and rows. Columns are as wide as their widest cell, three spaces apart, and the
/// output is the same wherever it is printed.
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
    table: comfy_table::Table,
    columns: usize,
}

impl Table {
    /// A table with these headings and no rows.
    pub fn new<H: Into<String>>(columns: impl IntoIterator<Item = (H, Align)>) -> Self {
        let (headings, alignments): (Vec<String>, Vec<Align>) =
            columns.into_iter().map(|(heading, align)| (heading.into(), align)).unzip();
        let mut table = comfy_table::Table::new();
        table.load_preset(comfy_table::presets::NOTHING);
        table.set_style(TableComponent::HeaderLines, '─');
        table.set_content_arrangement(ContentArrangement::Disabled);
        let columns = headings.len();
        table.set_header(headings);
        for (at, align) in alignments.into_iter().enumerate() {
            let column = table.column_mut(at).expect("a column for each heading");
            column.set_cell_alignment(match align {
                Align::Left => CellAlignment::Left,
                Align::Right => CellAlignment::Right,
            });
            column.set_padding((0, if at + 1 == columns { 0 } else { 3 }));
        }
        Self { table, columns }
    }

    /// Adds a row.
    ///
    /// # Panics
    ///
    /// When the number of cells is not the number of headings.
    pub fn row<C: Into<String>>(&mut self, cells: impl IntoIterator<Item = C>) -> &mut Self {
        let cells: Vec<String> = cells.into_iter().map(Into::into).collect();
        assert_eq!(cells.len(), self.columns, "a cell for each heading");
        self.table.add_row(cells);
        self
    }
}

impl std::fmt::Display for Table {
    /// Every line ends with a newline and without trailing spaces.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.table.lines().try_for_each(|line| writeln!(f, "{}", line.trim_end()))
    }
}
