//! Programs with atomic blocks.

mod attributes;
mod coverage;
mod grades;
mod paper;
mod programs;
mod searches;
mod support;
