use proptest::prelude::*;

use super::*;

fn moment(by: u32, action: &str, says: &str) -> Moment {
    Moment::new(Some(by), action, says)
}

fn case() -> About {
    About::Case {
        name: "memoize".to_owned(),
        adversary: "preceding".to_owned(),
        environment: "open".to_owned(),
        bound: 3,
    }
}

fn abouts() -> Vec<About> {
    let strategy = || "atomfuzzer:0.5+pct:3".to_owned();
    vec![
        case(),
        About::Program { name: "figure-1".to_owned(), strategy: strategy() },
        About::Test { name: "suite::transfers".to_owned(), strategy: strategy(), critical_sections: true },
        About::Schema {
            object: "striped-map".to_owned(),
            method: "size".to_owned(),
            schema: "{ insert(1, 0) } || { size() }".to_owned(),
            unlock_is_a_step: false,
            hasher_seed: 0,
        },
        About::Pair { name: "Stock".to_owned(), methods: ["add".to_owned(), "both".to_owned()], shape: 1 },
    ]
}

fn example(about: About) -> ReplayFile {
    let history = vec![
        Moment { by: None, action: "start".to_owned(), says: "start".to_owned(), ..Moment::default() }.and_state("{}"),
        moment(0, "get", "memoize(7): get(7) → none").with(7).with("none").and_state("{7: 14}"),
        Moment { object: Some(3), ..moment(0, "returned", "memoize(7): returned none").with("none") },
    ];
    ReplayFile::new(about, 42, 3, "not-linearizable", "A0.I0.E0".to_owned(), history)
}

#[test]
fn a_file_of_each_kind_round_trips() {
    for about in abouts() {
        let bytes = serde_json::to_vec(&example(about.clone())).expect("JSON");
        assert_eq!(ReplayFile::parse(&bytes), Ok(example(about.clone())));
        let arguments = vec!["composed".to_owned(), "--run".to_owned()];
        let origin = Some(Origin { arguments, package: "stock".to_owned() });
        let elsewhere = ReplayFile { origin, ..example(about) };
        let bytes = serde_json::to_vec(&elsewhere).expect("JSON");
        assert_eq!(ReplayFile::parse(&bytes), Ok(elsewhere));
    }
}

#[test]
fn a_file_is_written_and_read_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = example(case());
    let path = file.path(&folder.path().join("new"));
    file.write(&path).expect("it is written");
    assert_eq!(path.file_name().and_then(|name| name.to_str()), Some("memoize-42.json"));
    assert_eq!(ReplayFile::read(&path), Ok(file));
    assert!(
        matches!(ReplayFile::read(folder.path()), Err(Unusable::Unreadable(reason)) if reason == "it is not a file")
    );
    assert!(matches!(ReplayFile::read(Path::new("/nowhere/x.json")), Err(Unusable::Unreadable(_))));
}

#[test]
fn every_prefix_of_a_file_is_damaged() {
    let bytes = serde_json::to_vec(&example(case())).expect("JSON");
    for length in 0..bytes.len() {
        let reason = ReplayFile::parse(&bytes[..length]).expect_err("cut short").to_string();
        assert!(reason.starts_with("damaged: "), "{length}: {reason}");
        assert!(!reason.contains('\n'), "{reason}");
    }
}

#[test]
fn versions_and_fields_are_checked() {
    let check = |file: &str, expected: &str| {
        let reason = ReplayFile::parse(file.as_bytes()).expect_err(file).to_string();
        assert!(reason.starts_with(expected), "{file}: {reason}");
    };
    check("{\"version\": 4, \"shape\": 1}", "written by a newer interloper (version 4, this one reads version 3)");
    check("{\"version\": 2}", "written by an older interloper (version 2, this one reads version 3)");
    check("{\"version\": 0}", "damaged: no format has version 0");
    check("{\"version\": \"1\"}", "damaged: invalid type");
    check("[]", "damaged: ");
    check("{\"version\": 3}", "damaged: missing field `about`");
    check("{\"version\": 3, \"about\": {\"kind\": \"song\"}}", "damaged: unknown variant `song`");
    check("\u{0}\u{1}", "damaged: expected value at line 1 column 1");
    let mut short = example(case());
    short.history_hash = "+0c0ffee00c0ffee".into();
    check(&serde_json::to_string(&short).expect("JSON"), "damaged: '+0c0ffee00c0ffee' is not a history hash");
    for about in abouts() {
        let mut value = serde_json::to_value(example(about)).expect("JSON");
        value["about"]["more"] = 1.into();
        check(&value.to_string(), "damaged: unknown field `more`");
    }
}

#[test]
fn a_history_of_another_hash_is_refused() {
    let check = |change: fn(&mut ReplayFile)| {
        let mut file = example(case());
        change(&mut file);
        let bytes = serde_json::to_vec(&file).expect("JSON");
        let reason = ReplayFile::parse(&bytes).expect_err("it was edited").to_string();
        assert!(reason.starts_with("damaged: its history has the hash "), "{reason}");
    };
    check(|file| file.history_hash = "00c0ffee00c0ffee".into());
    check(|file| file.history[1].action.push('!'));
    check(|file| file.history[1].by = None);
    check(|file| file.history[1].object = Some(0));
    check(|file| file.history[1].values.push(String::new()));
    check(|file| file.history[2].state = Some(String::new()));
    check(|file| file.history.clear());
    check(|file| file.history.push(file.history[0].clone()));
}

/// What a report calls a step may change: no saved file is refused, and no replay diverges for that.
#[test]
fn words_do_not_count() {
    let mut file = example(case());
    let history = file.history.clone();
    file.history.iter_mut().for_each(|moment| moment.says = "sings".to_owned());
    let bytes = serde_json::to_vec(&file).expect("JSON");
    let read = ReplayFile::parse(&bytes).expect("the words are not in the hash");
    assert_eq!(difference(&read.history, &history), None);
}

#[test]
fn digits_of_a_hash_may_be_capitals() {
    let mut file = example(case());
    file.history_hash.make_ascii_uppercase();
    let bytes = serde_json::to_vec(&file).expect("JSON");
    assert_eq!(ReplayFile::parse(&bytes), Ok(file));
}

#[test]
fn the_first_difference_is_named() {
    let recorded =
        [moment(0, "get", "a: get(1) → none").with("none").and_state("{}"), moment(0, "returned", "a: returned")];
    let other = [moment(0, "get", "a: get(1) → 2").with("2").and_state("{1: 2}"), recorded[1].clone()];
    let expected = "at event 1: recorded 'a: get(1) → none' giving {}, now 'a: get(1) → 2' giving {1: 2}";
    assert_eq!(difference(&recorded, &other).as_deref(), Some(expected));
    assert_eq!(
        difference(&recorded, &recorded[..1]).as_deref(),
        Some("at event 2: recorded 'a: returned', now the end")
    );
    let task = [recorded[0].clone(), Moment { by: Some(1), ..recorded[1].clone() }];
    let expected = "at event 2: recorded 'a: returned', now 'a: returned' (with other numbers or values)";
    assert_eq!(difference(&recorded, &task).as_deref(), Some(expected));
    assert_eq!(difference(&recorded, &recorded), None);
}

#[test]
fn a_long_text_is_kept_by_its_ends_and_its_hash() {
    assert_eq!(kept("get(7) → none"), "get(7) → none");
    let (one, other) = ("x".repeat(1 << 20), format!("{}y{}", "x".repeat(1 << 19), "x".repeat((1 << 19) - 1)));
    assert_eq!(one.len(), other.len());
    assert!(kept(&one).len() < 11_000);
    assert_ne!(kept(&one), kept(&other));
}

#[test]
fn a_path_stays_in_the_folder() {
    let path = |about: About| example(about).path(Path::new(FOLDER));
    let program = |name: &str| About::Program { name: name.to_owned(), strategy: String::new() };
    assert_eq!(path(program("memoize")), Path::new("interloper-failures/memoize-42.json"));
    assert_eq!(path(program("../etc/x y")), Path::new("interloper-failures/---etc-x-y-42.json"));
    assert_eq!(path(abouts().remove(2)), Path::new("interloper-failures/suite-transfers-42.json"));
    assert_eq!(path(abouts().remove(3)), Path::new("interloper-failures/striped-map-size-42.json"));
    assert_eq!(stem("../etc::x y"), "---etc-x-y-");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_files_are_read_or_refused_in_one_line(
        about in 0..4usize,
        edits in proptest::collection::vec((any::<usize>(), 0..40usize, any::<u8>()), 0..6),
    ) {
        let tokens = ["[", "\"", "18446744073709551616", "\u{1b}", "\n", "T1/2.", "-1", "null"];
        let mut text = serde_json::to_vec(&example(abouts().remove(about))).expect("JSON");
        for (at, length, how) in edits {
            let at = at % (text.len() + 1);
            let end = (at + length).min(text.len());
            let token = tokens[usize::from(how / 4) % tokens.len()];
            match how % 4 {
                0 => drop(text.drain(at..end)),
                1 => drop(text.splice(at..at, token.bytes())),
                2 => drop(text.splice(at..at, token.repeat(50 * length).bytes())),
                _ => text[at..end].iter_mut().take(1).for_each(|byte| *byte ^= how),
            }
        }
        if let Err(reason) = ReplayFile::parse(&text) {
            let reason = reason.to_string();
            prop_assert!(reason.lines().count() <= 1 && reason.chars().count() < 700, "{reason:?}");
        }
    }
}
