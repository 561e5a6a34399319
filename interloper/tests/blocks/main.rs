//! Programs with atomic blocks.

mod attributes;
mod collections;
mod coverage;
mod ends;
mod explored;
mod freedoms;
mod grades;
mod inferred;
mod limits;
mod orderings;
mod paper;
mod programs;
mod searches;
mod sections;
mod support;
mod weak_memory;
