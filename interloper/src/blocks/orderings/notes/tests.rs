use super::*;

fn note(finding: Option<NotedFinding>) -> Note {
    let executed = |times, site: &str| Executed { times, executions: times / 2, site: site.parse().unwrap() };
    let orderings = vec![executed(3, "a file.rs:1:2 load Acquire"), executed(0, "a file.rs:1:2 update AcqRel")];
    Note { program: "two words".to_owned(), executions: 7, steps: 90, orderings, finding }
}

#[test]
fn notes_are_read_back() {
    let path = std::env::temp_dir().join(format!("interloper-notes-{}", std::process::id()));
    let found =
        |unrelated| NotedFinding { finding: "panic: a\\nb\\tc".to_owned(), decisions: "T1/2".to_owned(), unrelated };
    let all = [note(None), note(Some(found(false))), note(Some(found(true))), Note::default()];
    assert_eq!(read(&path).unwrap(), []);
    all.iter().for_each(|note| note.append(&path).unwrap());
    let again = read(&path);
    fs::write(&path, "check\t1\t2\tx\nfinding\n").unwrap();
    let damaged = read(&path).unwrap_err().to_string();
    fs::remove_file(&path).unwrap();
    assert_eq!(again.unwrap(), all);
    assert_eq!(damaged, "it has the line \"finding\"");
}

#[test]
fn a_change_that_is_none_is_one_clear_error() {
    assert_eq!(read_change("a:1:2 load SeqCst Acquire").unwrap().to_string(), "a:1:2 load SeqCst Acquire");
    let error = read_change("here").unwrap_err();
    assert!(error.starts_with("the environment variable INTERLOPER_ORDERING is \"here\": "), "{error}");
}
