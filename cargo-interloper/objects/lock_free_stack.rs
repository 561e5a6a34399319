//! A stack that is emptied as a whole.

use interloper::objects::Object;

/// All of them.
pub fn all() -> Vec<Object> {
    vec![stack()]
}

fn stack() -> Object {
    use ::lock_free_stack::lock_free_stack::Stack;
    Object::describe("lock_free_stack::Stack", Stack::<i64>::new)
        .method("add", |stack, (value,): (i64,)| stack.add(value) as i64)
        .method("remove_all", |stack, ()| stack.remove_all().collect::<Vec<i64>>())
        .method("size", |stack, ()| stack.size() as i64)
        .build()
}
