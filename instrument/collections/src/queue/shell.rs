//! What the two queues have in common.

/// The methods of both queues; `$methods` are their calls of the abstract type.
macro_rules! queue {
    ($(#[$doc:meta])* $queue:ident, $methods:ident) => {
        $(#[$doc])*
        pub struct $queue<T> {
            inner: real::$queue<T>,
            handle: Handle,
        }

        impl<T: ToValue> $queue<T> {
            /// Removes the front and returns it. One step.
            #[inline]
            #[track_caller]
            pub fn pop(&self) -> Option<T> {
                let Some(site) = self.handle.site() else { return self.inner.pop() };
                site.step($methods::POP, &[], || {
                    let front = self.inner.pop();
                    let form = front.to_value();
                    (front, form)
                })
            }

            /// Whether there is no element. One step.
            #[inline]
            #[track_caller]
            pub fn is_empty(&self) -> bool {
                let Some(site) = self.handle.reader() else { return self.inner.is_empty() };
                site.step($methods::IS_EMPTY, &[], || {
                    let empty = self.inner.is_empty();
                    (empty, Value::Bool(empty))
                })
            }

            /// How many elements there are. One step.
            #[inline]
            #[track_caller]
            pub fn len(&self) -> usize {
                let Some(site) = self.handle.reader() else { return self.inner.len() };
                site.step($methods::LEN, &[], || {
                    let length = self.inner.len();
                    (length, length.to_value())
                })
            }
        }

        impl<T> fmt::Debug for $queue<T> {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.inner.fmt(out)
            }
        }

        /// No step: the queue is owned.
        impl<T> IntoIterator for $queue<T> {
            type Item = T;
            type IntoIter = <real::$queue<T> as IntoIterator>::IntoIter;

            fn into_iter(self) -> Self::IntoIter {
                self.inner.into_iter()
            }
        }
    };
}
