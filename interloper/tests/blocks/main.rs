//! Programs with atomic blocks.

mod attributes;
mod coverage;
mod grades;
mod limits;
mod paper;
mod programs;
mod searches;
mod support;
