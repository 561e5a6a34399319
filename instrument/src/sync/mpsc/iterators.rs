//! The iterators over received messages.

use super::ends::Receiver;

/// Mirrors [`std::sync::mpsc::Iter`].
#[derive(Debug)]
pub struct Iter<'a, T: 'a>(&'a Receiver<T>);

/// Mirrors [`std::sync::mpsc::TryIter`].
#[derive(Debug)]
pub struct TryIter<'a, T: 'a>(&'a Receiver<T>);

/// Mirrors [`std::sync::mpsc::IntoIter`].
#[derive(Debug)]
pub struct IntoIter<T>(Receiver<T>);

impl<T> Receiver<T> {
    /// As [`std::sync::mpsc::Receiver::iter`].
    pub fn iter(&self) -> Iter<'_, T> {
        Iter(self)
    }

    /// As [`std::sync::mpsc::Receiver::try_iter`].
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
