//! Programs with atomic blocks.

mod attributes;
mod freedoms;
mod grades;
mod paper;
mod programs;
mod searches;
mod support;
