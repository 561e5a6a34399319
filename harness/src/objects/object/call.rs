//! Calls with their arguments made ready, and results as small numbers.
//!
//! A stress run makes millions of calls a second and sees the same few results again and again. So a call keeps the
//! results it has seen, as values of the method's own type, and answers with the number of the current result: a
//! comparison or two, no conversion, no hashing. The text of each number is read once, at the end.
//!
//! Results that come after the first [`COMPARED`] different ones are converted and hashed, and so are panics. However many there
//! are, different results have different numbers.

use std::any::Any;
use std::sync::Arc;

use indexmap::IndexMap;
use interloper_commutativity::{ToValue, Value};
use rustc_hash::FxBuildHasher;

use super::argument::{Arguments, WrongArguments};

/// So many different results of a call are found by comparing: beyond, it takes less time to convert and hash them.
const COMPARED: usize = 64;

/// A call of a method with its arguments, for many objects.
pub(crate) trait Call<T>: Send {
    /// Makes the call; the number of its result.
    fn call(&mut self, object: &T) -> u32;

    /// The number of the result "panicked with this message".
    fn panicked(&mut self, message: &str) -> u32;

    /// The result with this number.
    fn result(&self, number: u32) -> Value;
}

/// A [`Call`] on objects whose type is not known.
pub(crate) trait AnyCall: Send {
    /// As [`Call::call`].
    ///
    /// # Panics
    /// If the object is not of the type that the call was made for.
    fn call(&mut self, object: &dyn Any) -> u32;

    /// As [`Call::panicked`].
    fn panicked(&mut self, message: &str) -> u32;

    /// As [`Call::result`].
    fn result(&self, number: u32) -> Value;
}

/// A call that asks each object whether it is of type `T`.
pub(crate) struct OfType<T>(pub(crate) Box<dyn Call<T>>);

impl<T: 'static> AnyCall for OfType<T> {
    fn call(&mut self, object: &dyn Any) -> u32 {
        self.0.call(object.downcast_ref().expect("internal error: an object of another type"))
    }

    fn panicked(&mut self, message: &str) -> u32 {
        self.0.panicked(message)
    }

    fn result(&self, number: u32) -> Value {
        self.0.result(number)
    }
}

/// A method of objects of type `T`, whatever its arguments and results.
pub(crate) trait Bind<T>: Send + Sync {
    /// The call of this method with these arguments.
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
        Ok(Box::new(Bound {
            function: self.function.clone(),
            arguments: A::read(arguments)?,
            seen: Vec::new(),
            numbers: Numbers::default(),
        }))
    }
}

struct Bound<F, A, R> {
    function: Arc<F>,
    arguments: A,
    /// Its first different results, each with its number.
    seen: Vec<(u32, R)>,
    numbers: Numbers,
}

/// The numbers of results, whatever their type: this is compiled once, and a [`Bound`] for each method.
#[derive(Default)]
struct Numbers {
    /// How many there are.
    given: u32,
    /// The results that are kept as values, with increasing numbers.
    values: IndexMap<Value, u32, FxBuildHasher>,
}

impl Numbers {
    /// A number that no result has yet.
    fn fresh(&mut self) -> u32 {
        let number = self.given;
        self.given = number.checked_add(1).expect("less than 2^32 different results fit into memory");
        number
    }

    /// The number of a result that is kept as a value.
    fn of(&mut self, value: Value) -> u32 {
        if let Some(number) = self.values.get(&value) {
            return *number;
        }
        let number = self.fresh();
        self.values.insert(value, number);
        number
    }

    fn value(&self, number: u32) -> Value {
        let index = self.values.binary_search_by_key(&number, |_, number| *number);
        self.values.get_index(index.expect("numbers of results are given here")).expect("it was found").0.clone()
    }
}

impl<F, A, R: ToValue> Bound<F, A, R> {
    /// The number of a result that is not among those seen.
    #[cold]
    fn add(&mut self, result: R) -> u32 {
        if self.seen.len() == COMPARED {
            return self.numbers.of(result.to_value());
        }
        let number = self.numbers.fresh();
        self.seen.push((number, result));
        number
    }
}

impl<T, F, A, R> Call<T> for Bound<F, A, R>
where
    F: Fn(&T, A) -> R + Send + Sync + 'static,
    A: Arguments,
    R: ToValue + PartialEq + Send + 'static,
{
    fn call(&mut self, object: &T) -> u32 {
        // The program's code is kept out of this function. Where the compiler makes one instruction of two of that code, it gives
        // the instruction the function in which both were, without a line, and what that does would count as done by the checker.
        let function: &dyn Fn(&T, A) -> R = std::hint::black_box(&*self.function);
        let result = function(object, self.arguments.clone());
        for (number, seen) in &self.seen {
            if *seen == result {
                return *number;
            }
        }
        self.add(result)
    }

    fn panicked(&mut self, message: &str) -> u32 {
        self.numbers.of(panicked(message))
    }

    fn result(&self, number: u32) -> Value {
        for (seen, result) in &self.seen {
            if *seen == number {
                return result.to_value();
            }
        }
        self.numbers.value(number)
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
    fn different_results_are_never_one() {
        let mut call = bound(|object, _| *object, 0);
        let many = 10_000;
        let numbers: Vec<u32> = (0..many).map(|object| call.call(&object)).collect();
        assert_eq!(numbers, (0..many as u32).collect::<Vec<u32>>());
        let panics: Vec<u32> = (0..many).map(|message| call.panicked(&message.to_string())).collect();
        assert_eq!(panics, (many as u32..2 * many as u32).collect::<Vec<u32>>());
        for object in (0..many).rev() {
            let number = object as usize;
            assert_eq!((call.call(&object), call.panicked(&object.to_string())), (numbers[number], panics[number]));
            assert_eq!(call.result(numbers[number]), Value::Int(object));
            assert_eq!(call.result(panics[number]), panicked(&object.to_string()));
        }
    }
}
