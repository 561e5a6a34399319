//! Programs with atomic blocks.

mod attributes;
mod grades;
mod paper;
mod programs;
mod support;
