//! Nothing: what is tested is parking_lot itself, under control. See `tests/`.
