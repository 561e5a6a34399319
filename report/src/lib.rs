//! A counterexample as text, as JSON and as one self-contained HTML page.
//!
//! A [`Counterexample`] is plain data: every value in it is text already, so this crate knows nothing of models, histories
//! or drivers. Each rendering depends on this data and on nothing else. The JSON document has all the data; text and page
//! [shorten] parts that are too long to read, and say so:
//!
//! - [`text::render`]: the interleaving as a table for a terminal, wrapped to its width, coloured on request;
//! - [`json::render`]: one document with a version field, read back by [`json::parse`];
//! - [`html::render`]: one page without scripts or external resources.
//!
//! [`Counterexample::with_source`] reads the source line at each place, so that a report shows the code of each step.
//!
//! [`timeline`] draws a concurrent history on a page of the same kind, with a row for each process.
//!
//! [`replay_file`] is the file that a finding leaves behind, and that replays it.
//!
//! [`orderings`] shows what each memory ordering of a program is for, as text, JSON and SARIF.
//!
//! [`plain`] makes foreign text safe to print.
//!
//! [`table`] prints lists of results (a suite, a comparison, a commutativity specification) in the same plain style.
//!
//! # Limits
//!
//! Column positions follow the Unicode width of each character; a terminal that draws emoji sequences or ambiguous
//! characters at another width shows columns shifted by the difference, with no text lost.

mod counterexample;
pub mod file;
pub mod html;
pub mod explorer;
pub mod json;
pub mod orderings;
pub mod plain;
pub mod replay_file;
pub mod sarif;
pub mod shorten;
mod source;
pub mod table;
pub mod text;
pub mod timeline;

pub use counterexample::{Column, Counterexample, Deadlock, Event, Lane, Order, Place, Row};
