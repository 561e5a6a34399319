//! What the tables look like.

use interloper_commutativity::models::{map, model_named};
use interloper_commutativity::{MethodId, Table};

fn table(name: &str, methods: &[MethodId]) -> Table {
    let model = model_named(name).expect("a model of that name");
    let table = model.specification().expect("a table");
    if methods.is_empty() { table.table() } else { table.table_of(methods) }
}

/// Figure 5 of the paper, cell by cell: `null` is `none` here, and `putIfAbsent` is `insert_if_absent`.
#[test]
fn figure_5() {
    let ours = table("map", &[map::REMOVE, map::GET, map::INSERT_IF_ABSENT]);
    assert_eq!(ours.header, ["Operation", "remove(k)", "get(k)", "insert_if_absent(k, v₂)"]);
    assert_eq!(
        ours.rows,
        [
            ["remove(k)", "get(k) ≠ none", "get(k) ≠ none", "true"],
            ["get(k)", "get(k) ≠ none", "false", "get(k) = none"],
            ["insert_if_absent(k, v₁)", "true", "get(k) = none", "get(k) = none"],
        ]
    );
}

#[test]
fn figure_5_as_text() {
    insta::assert_snapshot!(table("map", &[map::REMOVE, map::GET, map::INSERT_IF_ABSENT]).to_string());
}

#[test]
fn the_whole_table_of_a_map() {
    insta::assert_snapshot!(table("map", &[]).to_string());
}

#[test]
fn the_whole_table_of_a_bounded_queue() {
    insta::assert_snapshot!(table("bounded-queue", &[]).to_string());
}

#[test]
fn the_whole_table_of_a_sorted_set() {
    insta::assert_snapshot!(table("sorted-set", &[]).to_string());
}

#[test]
fn the_whole_table_of_a_register() {
    insta::assert_snapshot!(table("register", &[]).to_string());
}

/// A table is complete and as wide as it is high; no line of the rendering is wider than a page of 120.
#[test]
fn every_table_is_a_square() {
    for model in interloper_commutativity::models::models() {
        let table = model.specification().expect("a table").table();
        let methods = model.methods().len();
        assert_eq!(table.name, model.name());
        assert_eq!((table.header.len(), table.rows.len()), (methods + 1, methods));
        assert!(table.rows.iter().all(|row| row.len() == methods + 1));
        let widest = table.to_string().lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(120), "{} is {widest:?} wide", table.name);
    }
}
