//! The iterators over received messages.

use std::fmt;
use std::iter::FusedIterator;

use crate::receiver::Receiver;

/// Mirrors [`crossbeam_channel::Iter`].
pub struct Iter<'a, T: 'a>(&'a Receiver<T>);

/// Mirrors [`crossbeam_channel::TryIter`].
pub struct TryIter<'a, T: 'a>(&'a Receiver<T>);

/// Mirrors [`crossbeam_channel::IntoIter`].
pub struct IntoIter<T>(Receiver<T>);

impl<T> Receiver<T> {
    /// As [`crossbeam_channel::Receiver::iter`].
    pub fn iter(&self) -> Iter<'_, T> {
        Iter(self)
    }

    /// As [`crossbeam_channel::Receiver::try_iter`].
    pub fn try_iter(&self) -> TryIter<'_, T> {
        TryIter(self)
    }
}

impl<T> Iterator for Iter<'_, T> {
    type Item = T;

    #[track_caller]
    fn next(&mut self) -> Option<T> {
        self.0.recv().ok()
    }
}

impl<T> Iterator for TryIter<'_, T> {
    type Item = T;

    #[track_caller]
    fn next(&mut self) -> Option<T> {
        self.0.try_recv().ok()
    }
}

impl<T> Iterator for IntoIter<T> {
    type Item = T;

    #[track_caller]
    fn next(&mut self) -> Option<T> {
        self.0.recv().ok()
    }
}

impl<'a, T> IntoIterator for &'a Receiver<T> {
    type Item = T;
    type IntoIter = Iter<'a, T>;

    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

impl<T> IntoIterator for Receiver<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;

    fn into_iter(self) -> IntoIter<T> {
        IntoIter(self)
    }
}

impl<T> FusedIterator for Iter<'_, T> {}

impl<T> FusedIterator for IntoIter<T> {}

impl<T> fmt::Debug for Iter<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("Iter { .. }")
    }
}

impl<T> fmt::Debug for TryIter<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("TryIter { .. }")
    }
}

impl<T> fmt::Debug for IntoIter<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("IntoIter { .. }")
    }
}
