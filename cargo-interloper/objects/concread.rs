//! Cells and a map whose readers see a version.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![cow_cell(), ebr_cell(), map()]
}

fn cow_cell() -> Object {
    use ::concread::CowCell;
    Object::describe("concread::CowCell", || CowCell::new(0_i64))
        .method("add", |cell, (value,): (i64,)| {
            let mut write = cell.write();
            *write.get_mut() += value;
            let new = *write;
            write.commit();
            new
        })
        .method("read", |cell, ()| *cell.read())
        .build()
}

fn ebr_cell() -> Object {
    use ::concread::EbrCell;
    Object::describe("concread::EbrCell", || EbrCell::new(0_i64))
        .method("add", |cell, (value,): (i64,)| {
            let mut write = cell.write();
            *write.get_mut() += value;
            let new = *write;
            write.commit();
            new
        })
        .method("read", |cell, ()| *cell.read())
        .build()
}

fn map() -> Object {
    use ::concread::bptree::BptreeMap;
    Object::describe("concread::bptree::BptreeMap", BptreeMap::<i64, i64>::new)
        .core("insert", |map, (key, value): (i64, i64)| {
            let mut write = map.write();
            let old = write.insert(key, value);
            write.commit();
            old
        })
        .core("get", |map, (key,): (i64,)| map.read().get(&key).copied())
        .core("remove", |map, (key,): (i64,)| {
            let mut write = map.write();
            let old = write.remove(&key);
            write.commit();
            old
        })
        .method("len", |map, ()| map.read().len() as i64)
        .method("clear", |map, ()| {
            let mut write = map.write();
            write.clear();
            write.commit();
        })
        .build()
}
