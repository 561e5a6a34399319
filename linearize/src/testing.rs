//! What several tests share.

/// All words of length `n` over `alphabet`.
pub(crate) fn words<T: Copy>(alphabet: &[T], n: usize) -> Vec<Vec<T>> {
    words_that_pass(alphabet, n, |_| true)
}

/// All words of length `n` over `alphabet` each of whose beginnings passes.
pub(crate) fn words_that_pass<T: Copy>(alphabet: &[T], n: usize, passes: impl Fn(&[T]) -> bool) -> Vec<Vec<T>> {
    (0..n).fold(vec![Vec::new()], |shorter, _| {
        let longer = shorter.iter().flat_map(|word| {
            alphabet.iter().map(move |&letter| word.iter().copied().chain([letter]).collect::<Vec<T>>())
        });
        longer.filter(|word| passes(word)).collect()
    })
}
