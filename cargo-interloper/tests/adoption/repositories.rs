//! A dependency from a repository.

use super::*;

/// Runs git, which must be there.
#[track_caller]
fn git(folder: &Path, arguments: &[&str]) {
    let settings = ["user.name=a", "user.email=a@b", "commit.gpgsign=false", "init.defaultBranch=main"];
    let mut command = Command::new("git");
    command.current_dir(folder).args(settings.iter().flat_map(|setting| ["-c", *setting])).args(arguments);
    let output = command.output().expect("git is needed");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Its manifest inherits keys from one above it in the repository, which is copied, too. Neither the project nor what cargo
/// has checked out changes.
#[test]
fn a_dependency_from_a_repository_is_copied_with_what_it_inherits() {
    let repository = TempDir::new().expect("a folder");
    let put = |name: &str, text: &str| {
        let path = repository.path().join(name);
        fs::create_dir_all(path.parent().expect("it is below the folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    };
    let inherited = "[workspace]\nmembers = [\"fork\", \"spoon\"]\n\n[workspace.package]\nversion = \"1.2.3\"\nedition = \"2021\"\n";
    put("Cargo.toml", inherited);
    for name in ["fork", "spoon"] {
        let manifest = format!("[package]\nname = \"{name}\"\nversion.workspace = true\nedition.workspace = true\n");
        put(&format!("{name}/Cargo.toml"), &manifest);
    }
    put("spoon/src/lib.rs", "pub type Lock = std::sync::Mutex<u8>;\n");
    put("fork/src/lib.rs", "use std::sync::Once;\npub fn bits(a: Once) -> u32 { unsafe { std::mem::transmute(a) } }\n");
    git(repository.path(), &["init", "--quiet"]);
    git(repository.path(), &["add", "."]);
    git(repository.path(), &["commit", "--quiet", "--message", "all"]);

    let source = format!("git = \"file://{}\"", repository.path().display());
    let project = Project::new(&format!("[dependencies]\nfork = {{ {source} }}\nspoon = {{ {source} }}\n"));
    project.put(
        "src/lib.rs",
        "#[cfg(interloper)]\n#[test]\nfn the_lock_is_the_mirrors() {\n    \
         let lock: interloper_std::sync::Mutex<u8> = spoon::Lock::new(1);\n    \
         assert_eq!(*lock.lock().unwrap(), 1);\n    fork::bits(std::sync::Once::new());\n}\n",
    );
    // Nothing of the repository is to stay in the cache of whoever runs this.
    let home = TempDir::new().expect("a folder");
    let run = |arguments: &[&str]| ran(command(project.folder(), arguments).env("CARGO_HOME", home.path()));

    let plan = run(&["plan"]).expect(0).out;
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let lines: Vec<String> = plan.lines().map(words).collect();
    assert!(lines.contains(&"instrument spoon 1.2.3 std::sync::Mutex at src/lib.rs:1".to_owned()), "{plan}");
    let (before, checked_out) = (files(project.folder()), files(&home.path().join("git/checkouts")));
    let first = run(&["test", "--instrument", "spoon"]).expect(0);
    assert!(first.err.starts_with("under control: spoon 1.2.3\n"), "{}", first.err);
    assert!(first.out.contains("test the_lock_is_the_mirrors ... ok\n"), "{}", first.out);
    again(|| run(&["test", "--instrument", "spoon"]).expect(0));

    let refused = run(&["test", "--instrument", "fork"]).expect(2);
    let of_the_original = ["/git/checkouts/", "/fork/src/lib.rs:2:40\n"];
    assert!(of_the_original.iter().all(|text| refused.err.contains(text)), "{}", refused.err);
    assert!(refused.err.contains("fork 1.2.3 at src/lib.rs:1: put in: "), "{}", refused.err);
    assert!(files(project.folder()) == before && files(&home.path().join("git/checkouts")) == checked_out);
}
