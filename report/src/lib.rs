//! A counterexample as text and as JSON, and an execution as one self-contained page.
//!
//! A [`Counterexample`] is plain data: every value in it is text already, so this crate knows nothing of models, histories
//! or drivers. Each rendering depends on this data and on nothing else. The JSON document has all the data; the text
//! [shortens](shorten) parts that are too long to read, and says so:
//!
//! - [`text::render`]: the interleaving as a table for a terminal, wrapped to its width, coloured on request;
//! - [`json::render`]: one document with a version field, read back by [`json::parse`];
//! - [`explorer`]: the execution as a page, with everything that is known of each step.
//!
//! [`Counterexample::with_source`] reads the source line at each place, so that a report shows the code of each step.
//!
//! [`replay_file`] is the file that a finding leaves behind, and that replays it.
//!
//! [`annotation`] has findings as annotations of a change on GitHub, [`junit`] results as JUnit XML.
//!
//! [`events`] has the progress of a command, for programs.
//!
//! [`orderings`] shows what each memory ordering of a program is for, as text, JSON, JUnit XML and SARIF.
//!
//! [`plain`] makes foreign text safe to print.
//!
//! [`sealed`] puts a checksum into texts that are read again.
//!
//! `folder`, with the feature `folders`, locks the folder in which a search keeps how far it is.
//!
//! [`table`] prints lists of results (a suite, a comparison, a commutativity specification) in the same plain style.
//!
//! # Limits
//!
//! Column positions follow the Unicode width of each character; a terminal that draws emoji sequences or ambiguous
//! characters at another width shows columns shifted by the difference, with no text lost.

pub mod annotation;
mod counterexample;
pub mod events;
pub mod explorer;
pub mod file;
#[cfg(feature = "folders")]
pub mod folder;
pub mod json;
pub mod junit;
pub mod orderings;
pub mod plain;
pub mod replay_file;
pub mod sarif;
pub mod sealed;
pub mod shorten;
mod source;
pub mod table;
pub mod text;
pub mod time;

pub use counterexample::{Column, Counterexample, Deadlock, Event, Lane, Order, Place, Row};
pub use source::{also_in, parts, workspace};
