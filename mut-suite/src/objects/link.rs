//! Links between nodes: the volatile fields of a linked structure in a language with a garbage collector.

use interloper::sync::{Arc, RwLock};

/// A reference to a node, or none, that is read, written and compared-and-exchanged in one step each.
pub(super) struct Link<T>(RwLock<Option<Arc<T>>>);

impl<T> Default for Link<T> {
    fn default() -> Link<T> {
        Link::new(None)
    }
}

impl<T> Link<T> {
    pub(super) fn new(node: Option<Arc<T>>) -> Link<T> {
        Link(RwLock::new(node))
    }

    pub(super) fn get(&self) -> Option<Arc<T>> {
        self.0.read().expect("no panic inside of a step").clone()
    }

    pub(super) fn set(&self, node: Option<Arc<T>>) {
        *self.0.write().expect("no panic inside of a step") = node;
    }

    /// Puts a node into an empty link; otherwise returns the node that is there.
    pub(super) fn append(&self, node: Arc<T>) -> Result<(), Arc<T>> {
        let mut place = self.0.write().expect("no panic inside of a step");
        match &*place {
            Some(there) => Err(there.clone()),
            None => {
                *place = Some(node);
                Ok(())
            }
        }
    }

    /// Replaces a node by another one, if it is still there.
    pub(super) fn exchange(&self, old: &Option<Arc<T>>, new: Arc<T>) -> bool {
        let mut place = self.0.write().expect("no panic inside of a step");
        let same = match (&*place, old) {
            (Some(there), Some(old)) => Arc::ptr_eq(there, old),
            (None, None) => true,
            _ => false,
        };
        if same {
            *place = Some(new);
        }
        same
    }
}
