//! Programs of futures on interloper's executor.

mod attributes;
mod ends;
mod orders;
mod outside;
mod reports;
mod searches;
mod support;
