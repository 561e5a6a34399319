//! Calls with their arguments made ready, and results as small numbers.
//!
//! A stress run makes millions of calls a second and sees the same few results again and again. So a call keeps the
//! results it has seen, as values of the method's own type, and answers with the number of the one that it sees now:
//! a comparison or two, no conversion, no hashing. What a number stands for is asked once, in the end.

use std::sync::Arc;

use interloper_commutativity::{ToValue, Value};

use super::argument::{Arguments, WrongArguments};

/// After so many distinct results of one call all others count as one, since finding the number of a result takes time
/// in proportion to how many there are.
pub const RESULTS_LIMIT: usize = 1024;

/// A call of a method with its arguments, to be made on many objects.
pub(crate) trait Call<T>: Send {
    /// Makes the call; the number of its result.
    fn call(&mut self, object: &T) -> u32;

    /// The number of the result "panicked with this message".
    fn panicked(&mut self, message: &str) -> u32;

    /// The result with this number.
    fn result(&self, number: u32) -> Value;
}

/// A method of objects of type `T`, whatever its arguments and results.
pub(crate) trait Bind<T>: Send + Sync {
    /// The call of it with these arguments.
    fn bind(&self, arguments: &[Value]) -> Result<Box<dyn Call<T>>, WrongArguments>;
}

/// A method as its description gives it.
pub(super) struct Function<F, A, R> {
    function: Arc<F>,
    types: std::marker::PhantomData<fn(A) -> R>,
}

impl<F, A, R> Function<F, A, R> {
    pub(super) fn new(function: F) -> Function<F, A, R> {
        Function { function: Arc::new(function), types: std::marker::PhantomData }
    }
}

impl<T, F, A, R> Bind<T> for Function<F, A, R>
where
    F: Fn(&T, A) -> R + Send + Sync + 'static,
    A: Arguments,
    R: ToValue + PartialEq + Send + 'static,
{
    fn bind(&self, arguments: &[Value]) -> Result<Box<dyn Call<T>>, WrongArguments> {
        Ok(Box::new(Bound { function: self.function.clone(), arguments: A::read(arguments)?, seen: Vec::new() }))
    }
}

struct Bound<F, A, R> {
    function: Arc<F>,
    arguments: A,
    /// What came of it so far: results, and messages of panics.
    seen: Vec<Result<R, Box<str>>>,
}

impl<F, A, R> Bound<F, A, R> {
    /// The number of a result that is not among those seen.
    #[cold]
    fn add(&mut self, result: Result<R, Box<str>>) -> u32 {
        if self.seen.len() < RESULTS_LIMIT {
            self.seen.push(result);
            self.seen.len() as u32 - 1
        } else {
            RESULTS_LIMIT as u32
        }
    }
}

impl<T, F, A, R> Call<T> for Bound<F, A, R>
where
    F: Fn(&T, A) -> R + Send + Sync + 'static,
    A: Arguments,
    R: ToValue + PartialEq + Send + 'static,
{
    fn call(&mut self, object: &T) -> u32 {
        let result = (self.function)(object, self.arguments.clone());
        match self.seen.iter().position(|seen| matches!(seen, Ok(seen) if *seen == result)) {
            Some(number) => number as u32,
            None => self.add(Ok(result)),
        }
    }

    fn panicked(&mut self, message: &str) -> u32 {
        match self.seen.iter().position(|seen| matches!(seen, Err(seen) if **seen == *message)) {
            Some(number) => number as u32,
            None => self.add(Err(message.into())),
        }
    }

    fn result(&self, number: u32) -> Value {
        match self.seen.get(number as usize) {
            Some(Ok(result)) => result.to_value(),
            Some(Err(message)) => panicked(message),
            None => Value::variant("another", []),
        }
    }
}

/// The result of a call that panicked: `panicked("message")`.
pub fn panicked(message: &str) -> Value {
    Value::variant("panicked", [Value::text(message)])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bound<R: ToValue + PartialEq + Send + 'static>(
        function: impl Fn(&i64, (i64,)) -> R + Send + Sync + 'static,
        argument: i64,
    ) -> Box<dyn Call<i64>> {
        Function::new(function).bind(&[Value::Int(argument)]).expect("an integer")
    }

    #[test]
    fn equal_results_have_one_number() {
        let mut call = bound(|object, (argument,)| (object + argument) % 3, 1);
        let numbers: Vec<u32> = [0, 1, 2, 3, 4].iter().map(|object| call.call(object)).collect();
        assert_eq!(numbers, [0, 1, 2, 0, 1]);
        assert_eq!((call.result(0), call.result(2)), (Value::Int(1), Value::Int(0)));
    }

    #[test]
    fn panics_are_results() {
        let mut call = bound(|object, _| *object, 0);
        assert_eq!((call.panicked("full"), call.call(&7), call.panicked("full"), call.panicked("")), (0, 1, 0, 2));
        assert_eq!(call.result(0), panicked("full"));
        assert_eq!(call.result(0).to_string(), "panicked(\"full\")");
    }

    #[test]
    fn results_without_end_become_one() {
        let mut call = bound(|object, _| *object, 0);
        let limit = RESULTS_LIMIT as i64;
        assert_eq!(call.call(&0), 0);
        let last = (1..limit + 5).map(|object| call.call(&object)).last();
        assert_eq!(last, Some(RESULTS_LIMIT as u32));
        assert_eq!(call.result(RESULTS_LIMIT as u32).to_string(), "another");
    }
}
