//! What a page shows, with the numbers that a command prints now: a changed search changes how many executions it takes.

/// The lines of a page with the numbers of the lines that were printed, if nothing else differs but the width of columns. `…` stays.
pub fn lines(shown: &[&str], printed: &[&str]) -> Option<Vec<String>> {
    let Some((first, rest)) = shown.split_first() else { return printed.is_empty().then(Vec::new) };
    let (first, rest) = match *first {
        "…" => ("…".to_owned(), (0..=printed.len()).find_map(|skipped| lines(rest, &printed[skipped..]))?),
        _ => {
            let (line, others) = printed.split_first()?;
            (self::line(first.trim_end(), line.trim_end())?, lines(rest, others)?)
        }
    };
    Some([first].into_iter().chain(rest).collect())
}

/// The same for one line.
fn line(shown: &str, printed: &str) -> Option<String> {
    let Some(first) = shown.chars().next() else { return printed.is_empty().then(String::new) };
    if first == '…' {
        let rest = &shown[first.len_utf8()..];
        let mut places = printed.char_indices().map(|(place, _)| place).chain([printed.len()]);
        return places.find_map(|place| line(rest, &printed[place..])).map(|rest| format!("…{rest}"));
    }
    // A number, blanks and a rule stand for others of their kind.
    let is_alike = |one: char| match first {
        '0'..='9' => one.is_ascii_digit() || one == ',',
        ' ' | '─' => one == first,
        _ => false,
    };
    let run = |text: &str| text.find(|one| !is_alike(one)).unwrap_or(text.len());
    let (of_shown, of_printed) = match (run(shown), run(printed)) {
        (0, _) if printed.starts_with(first) => (first.len_utf8(), first.len_utf8()),
        (0, _) | (_, 0) => return None,
        runs => runs,
    };
    let rest = line(&shown[of_shown..], &printed[of_printed..])?;
    Some(printed[..of_printed].to_owned() + &rest)
}

#[test]
fn only_numbers_and_widths_are_renewed() {
    let check = |shown: &str, printed: &str, renewed: Option<&str>| {
        let [shown, printed] = [shown, printed].map(|text| text.lines().collect::<Vec<&str>>());
        assert_eq!(lines(&shown, &printed).map(|lines| lines.join("\n")).as_deref(), renewed, "{shown:?}, {printed:?}");
    };
    check("a 1,234 b", "a 7 b", Some("a 7 b"));
    check("a 1 b", "a 1,234 c", None);
    check("a 1", "a", None);
    check("a", "a 1", None);
    check("(execution 2)\n…\nend", "(execution 31)\nx\ny\nend", Some("(execution 31)\n…\nend"));
    check("in … steps of 3", "in 17 steps of 4", Some("in … steps of 4"));
    check("name    12\n──────────\nx        1", "name  3\n───────\nx     9", Some("name  3\n───────\nx     9"));
    check("é 1 ✓", "é 22 ✓", Some("é 22 ✓"));
    check("é 1 ✓", "é 22 ✗", None);
}
