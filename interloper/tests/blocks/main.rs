//! Programs with atomic blocks.

mod attributes;
mod collections;
mod grades;
mod paper;
mod programs;
mod searches;
mod support;
