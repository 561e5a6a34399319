//! Sites and changes as text: `src/lib.rs:12:9 store SeqCst`, `src/lib.rs:12:9 store SeqCst Release`.

use std::fmt;
use std::str::FromStr;

use super::{Argument, Change, Rank, Site};
use crate::execution::SourcePlace;

/// A text that is not a [`Site`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiteError {
    /// The text.
    pub text: String,
}

/// A text that is not a [`Change`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeError {
    /// The text.
    pub text: String,
}

impl fmt::Display for SiteError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:?} is not a site: expected `FILE:LINE:COLUMN ARGUMENT ORDERING`, such as ", self.text)?;
        out.write_str("`src/lib.rs:12:9 store SeqCst`")
    }
}

impl fmt::Display for ChangeError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:?} is not a change: expected `FILE:LINE:COLUMN ARGUMENT FROM TO`, such as ", self.text)?;
        out.write_str("`src/lib.rs:12:9 store SeqCst Release`")
    }
}

impl std::error::Error for SiteError {}
impl std::error::Error for ChangeError {}

impl fmt::Display for Site {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {} {}", self.place, self.argument.name(), self.order.name())
    }
}

impl fmt::Display for Change {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {}", self.site, self.to.name())
    }
}

impl FromStr for Site {
    type Err = SiteError;

    fn from_str(text: &str) -> Result<Site, SiteError> {
        parsed(text).ok_or_else(|| SiteError { text: text.to_owned() })
    }
}

impl FromStr for Change {
    type Err = ChangeError;

    fn from_str(text: &str) -> Result<Change, ChangeError> {
        let change = || {
            let (site, to) = text.rsplit_once(' ')?;
            Change::new(parsed(site)?, rank(to)?.ordering())
        };
        change().ok_or_else(|| ChangeError { text: text.to_owned() })
    }
}

/// The name of a file may have spaces and colons, so the text is read from its end.
fn parsed(text: &str) -> Option<Site> {
    let (rest, order) = text.rsplit_once(' ')?;
    let (place, argument) = rest.rsplit_once(' ')?;
    let argument = Argument::ALL.into_iter().find(|known| known.name() == argument)?;
    let (rest, column) = place.rsplit_once(':')?;
    let (file, line) = rest.rsplit_once(':')?;
    let place = SourcePlace { file: file.to_owned(), line: line.parse().ok()?, column: column.parse().ok()? };
    Site::new(place, argument, rank(order)?.ordering()).filter(|_| !file.is_empty())
}

fn rank(name: &str) -> Option<Rank> {
    Rank::ALL.into_iter().find(|rank| rank.name() == name)
}
