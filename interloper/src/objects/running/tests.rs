use std::cell::RefCell;
use std::fs;
use std::rc::Rc;

use tempfile::TempDir;

use super::*;
use crate::objects::journal;

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

/// The file of the schema that runs.
fn file(folder: &TempDir) -> PathBuf {
    folder.path().join("hunt.running.json")
}

fn running(schema: u64) -> Running {
    let partial = "\"unlock_is_a_step\":true,\"tried\":true,\"executions\":70,\"steps\":9,\"plain\":0,\"plain_steps\":0,\
        \"cut\":0,\"instrumented\":true,\"overlapped\":[[0,1]],\"outcomes\":[[[\"unit\",{\"int\":-3}],70]],\
        \"first_cut\":null,\"traces\":[[[18446744073709551615,70]],false],\"sample\":null,\"strategy\":[1,18446744073709551615]";
    let text = format!("{{\"method\":0,\"pass\":2,\"schema\":{schema},\"hash\":5,\"partial\":{{{partial}}}}}");
    serde_json::from_str(&text).expect("the fields of a schema that runs")
}

fn search() -> Search {
    Search::new("a hunt").expect("a program")
}

/// What a keeper has told.
type Heard = Rc<RefCell<Vec<String>>>;

/// A keeper of the files of a search.
fn keeper(folder: &TempDir) -> (Keeper<impl Fn(&str) + use<>>, Heard) {
    let (journal, _) = Journal::open(&folder.path().join("hunt.jsonl"), &search()).expect("a file");
    let told = Heard::default();
    let hears = Rc::clone(&told);
    (Keeper::new(journal, file(folder), search(), move |said: &str| hears.borrow_mut().push(said.to_owned())), told)
}

#[test]
fn the_schema_that_runs_is_read_as_it_was_kept() {
    let folder = folder();
    assert_eq!(read(&file(&folder), &search()), Ok(None));
    let (mut keeper, told) = keeper(&folder);
    for schema in [3, 4] {
        keeper.keep_running(Some(running(schema)));
        assert_eq!(read(&file(&folder), &search()), Ok(Some(running(schema))));
    }
    // Nothing is kept of what cannot be told, and the last schema stays.
    keeper.keep_running(None);
    assert_eq!(read(&file(&folder), &search()), Ok(Some(running(4))));
    assert_eq!(running(4).executions(), 70);
    assert!(!keeper.is_due() && told.borrow().is_empty());
    // Another process goes on within the schema, until its visit is made. One of another schema of that number is not its visit.
    let path = folder.path().join("hunt.jsonl");
    let executions = || journal::visits(&path, "a hunt", |_| ()).expect("its own files").executions();
    assert_eq!(executions(), 70);
    let visit = |hash| Visit { pass: 2, schema: 4, hash, executions: 90, ..Visit::default() };
    keeper.keep(&visit(6));
    assert_eq!(executions(), 160);
    keeper.keep(&visit(5));
    assert_eq!(executions(), 180);
}

#[test]
fn a_folder_that_cannot_be_written_to_is_told_of_once() {
    let folder = folder();
    let (mut keeper, told) = keeper(&folder);
    fs::create_dir(file(&folder)).expect("a folder in the place of the file");
    keeper.keep_running(Some(running(1)));
    keeper.keep_running(Some(running(2)));
    keeper.keep(&Visit::default());
    assert!(matches!(&told.borrow()[..], [said] if said.starts_with("cannot keep the progress: ")), "{told:?}");
}

/// Any change of a byte is noticed, and so is a file that is cut.
#[test]
fn what_is_damaged_or_something_else_is_refused_in_one_line() {
    let folder = folder();
    let path = file(&folder);
    let (mut keeper, _) = keeper(&folder);
    keeper.keep_running(Some(running(1)));
    let whole = fs::read(&path).expect("a file");
    let refused = |text: &[u8], reason: &str| {
        fs::write(&path, text).expect("a file");
        let error = read(&path, &search()).expect_err("it is something else");
        assert!(error.contains(reason) && error.lines().count() == 1, "{error}");
    };
    for at in 0..whole.len() {
        let mut flipped = whole.clone();
        flipped[at] ^= 1;
        refused(&flipped, "hunt.running.json: ");
        refused(&whole[..at], "delete it to begin its schema anew");
    }
    refused(b"{\"version\":1}", "written by another interloper (version 1, this one reads version 3)");
    refused(sealed::seal("{\"version\":3}").as_bytes(), "missing field `asked`");
    fs::write(&path, &whole).expect("a file");
    let other = Search { program: "q".to_owned(), ..search() };
    let build = read(&path, &other).expect_err("another program");
    assert!(
        build.ends_with(
            ": the progress of another build of the program, which may do something else; name another folder"
        )
    );
    let other = read(&path, &Search { asked: "b".to_owned(), ..search() }).expect_err("another search");
    assert!(other.ends_with("the progress of another search: a hunt, and b; name another folder"), "{other}");
    fs::remove_file(&path).expect("a file");
    fs::create_dir(&path).expect("a folder");
    assert!(read(&path, &search()).is_err_and(|error| error.contains("not a file")));
}
