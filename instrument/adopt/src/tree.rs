//! Folders that stand for others.
//!
//! A tree mirrors the file system below a folder of its own: what is at `/a/b` is at `<tree>/a/b`. So relative paths
//! between packages stay as they are, and the compiler can name the original of each file.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use crate::refusal::Refusal;

/// A tree.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    base: PathBuf,
}

/// What is at a path of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Node {
    /// A folder in which other things may be, too.
    Folder,
    /// A folder in which nothing else is.
    Exactly,
    /// A link to the original.
    Link,
    /// A copy of the original.
    Copy,
    /// A file with this text.
    Text(String),
}

/// What is in a tree, by the path of the original.
pub(crate) type Nodes = BTreeMap<PathBuf, Node>;

impl Tree {
    pub(crate) fn new(base: PathBuf) -> Tree {
        Tree { base }
    }

    pub(crate) fn base(&self) -> &Path {
        &self.base
    }

    /// Where the stand-in of `original`, an absolute path, is.
    pub(crate) fn of(&self, original: &Path) -> PathBuf {
        let mut path = self.base.clone();
        for component in original.components() {
            match component {
                Component::Prefix(prefix) => path.push(prefix.as_os_str().to_string_lossy().replace([':', '\\'], "")),
                Component::RootDir | Component::CurDir => {}
                Component::ParentDir => {
                    path.pop();
                }
                Component::Normal(name) => path.push(name),
            }
        }
        path
    }

    /// What `path` stands for; `path` itself where it is not in the tree.
    pub(crate) fn original(&self, path: &Path) -> PathBuf {
        path.strip_prefix(&self.base).map_or_else(|_| path.to_owned(), |rest| Path::new("/").join(rest))
    }

    /// Makes the tree what `nodes` say. What is so already is not touched, so that it keeps its time.
    ///
    /// # Errors
    /// When a file cannot be read or written. The next call makes the rest.
    pub(crate) fn make(&self, mut nodes: Nodes) -> Result<(), Refusal> {
        self.open_links(&mut nodes)?;
        let nodes = &nodes;
        for (original, node) in nodes {
            let path = self.of(original);
            make(&path, original, node).map_err(|error| Refusal::file("write", &path, &error))?;
        }
        for (original, node) in nodes {
            if matches!(node, Node::Folder | Node::Exactly) {
                let path = self.of(original);
                let strays = remove_strays(&path, original, node, nodes);
                strays.map_err(|error| Refusal::file("clean", &path, &error))?;
            }
        }
        let record = self.base.with_extension("texts");
        self.remove_texts(nodes, &record).map_err(|error| Refusal::file("write", &record, &error))
    }

    /// Removes the texts of earlier calls whose originals are gone: cargo would take one in `tests` for a test. Other files, such as those that
    /// tests leave, stay, and so do those that never had an original. `record` lists the originals of the texts, a line for each.
    fn remove_texts(&self, nodes: &Nodes, record: &Path) -> io::Result<()> {
        let before = fs::read_to_string(record).unwrap_or_default();
        let has_original = |(original, node): &(&PathBuf, &Node)| matches!(node, Node::Text(_)) && original.exists();
        let mut texts: BTreeSet<&str> =
            nodes.iter().filter(has_original).filter_map(|(original, _)| original.to_str()).collect();
        for line in before.lines() {
            let original = Path::new(line);
            if original.exists() {
                texts.insert(line);
            } else if !nodes.contains_key(original) && self.of(original).is_file() {
                remove(&self.of(original))?;
            }
        }
        let after: String = texts.iter().flat_map(|line| [line, "\n"]).collect();
        if after == before { Ok(()) } else { fs::write(record, after) }
    }

    /// The folder of a package of which most is as it is: `changed` has the files that are not.
    ///
    /// # Errors
    /// When a folder cannot be read.
    pub(crate) fn linked(
        &self,
        folder: &Path,
        changed: &BTreeMap<PathBuf, String>,
        nodes: &mut Nodes,
    ) -> Result<(), Refusal> {
        nodes.insert(folder.to_owned(), Node::Folder);
        for entry in self.entries(folder)? {
            nodes.entry(entry).or_insert(Node::Link);
        }
        nodes.extend(changed.iter().map(|(file, text)| (file.clone(), Node::Text(text.clone()))));
        Ok(())
    }

    /// The folder of a package that is copied: `changed` has the files that are not as they were.
    ///
    /// # Errors
    /// When a folder cannot be read.
    pub(crate) fn copied(
        &self,
        folder: &Path,
        changed: &BTreeMap<PathBuf, String>,
        nodes: &mut Nodes,
    ) -> Result<(), Refusal> {
        nodes.insert(folder.to_owned(), Node::Exactly);
        for entry in self.entries(folder)? {
            if entry.is_dir() {
                self.copied(&entry, changed, nodes)?;
            } else {
                let node = changed.get(&entry).map_or(Node::Copy, |text| Node::Text(text.clone()));
                nodes.insert(entry, node);
            }
        }
        Ok(())
    }

    /// A folder that is linked cannot have something of its own in it: its entries are linked instead. Otherwise a file
    /// that is meant for the tree would be written through the link, to the original.
    fn open_links(&self, nodes: &mut Nodes) -> Result<(), Refusal> {
        let paths: Vec<PathBuf> = nodes.keys().cloned().collect();
        for path in paths {
            let mut above: Vec<&Path> = path.ancestors().skip(1).collect();
            // From the outermost on: the entries of one may be the links that are opened next.
            above.reverse();
            for folder in above {
                if nodes.get(folder) == Some(&Node::Link) {
                    self.linked(folder, &BTreeMap::new(), nodes)?;
                }
            }
        }
        Ok(())
    }

    /// What is in a folder, without what cargo and git keep there, and without this tree.
    fn entries(&self, folder: &Path) -> Result<Vec<PathBuf>, Refusal> {
        let wrong = |error: io::Error| Refusal::file("read", folder, &error);
        let mut all = Vec::new();
        for entry in fs::read_dir(folder).map_err(wrong)? {
            let path = entry.map_err(wrong)?.path();
            if !is_left_out(&path) && !self.base.starts_with(&path) {
                all.push(path);
            }
        }
        Ok(all)
    }
}

/// The files below a folder, without what cargo and git keep there.
///
/// # Errors
/// When a folder cannot be read.
pub(crate) fn files(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), Refusal> {
    let wrong = |error: io::Error| Refusal::file("read", folder, &error);
    for entry in fs::read_dir(folder).map_err(wrong)? {
        let path = entry.map_err(wrong)?.path();
        if is_left_out(&path) {
            continue;
        }
        if path.is_dir() { self::files(&path, files)? } else { files.push(path) }
    }
    Ok(())
}

fn make(path: &Path, original: &Path, node: &Node) -> io::Result<()> {
    let there = fs::symlink_metadata(path).ok();
    let is_folder = there.as_ref().is_some_and(fs::Metadata::is_dir);
    if matches!(node, Node::Folder | Node::Exactly) {
        if !is_folder {
            remove(path)?;
            fs::create_dir_all(path)?;
        }
        return Ok(());
    }
    if is_folder && !(*node == Node::Link && original.is_dir()) {
        fs::remove_dir_all(path)?;
    }
    match node {
        Node::Link if fs::read_link(path).is_ok_and(|target| target == original) => Ok(()),
        // Where a text was, a link to a file that has not changed for long would look to cargo as if it had been built already.
        Node::Link if there.as_ref().is_some_and(fs::Metadata::is_file) && original.is_file() => {
            write(path, there.as_ref(), &fs::read(original)?)
        }
        Node::Link if is_folder && original.is_dir() => make_entries(path, original),
        Node::Link => {
            remove(path)?;
            fs::create_dir_all(path.parent().unwrap_or(path))?;
            link(original, path)
        }
        Node::Text(text) => write(path, there.as_ref(), text.as_bytes()),
        _ => write(path, there.as_ref(), &fs::read(original)?),
    }
}

/// A folder with texts of its own becomes what the original is.
fn make_entries(path: &Path, original: &Path) -> io::Result<()> {
    for entry in fs::read_dir(original)? {
        let original = entry?.path();
        if !is_left_out(&original) {
            make(&path.join(original.file_name().unwrap_or_default()), &original, &Node::Link)?;
        }
    }
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        if entry.file_type()?.is_symlink() && fs::metadata(entry.path()).is_err() {
            remove(&entry.path())?;
        }
    }
    Ok(())
}

/// Whether a file or folder is cargo's or git's own.
fn is_left_out(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    path.join("CACHEDIR.TAG").exists() || name == ".git" || name == ".cargo-ok"
}

/// Writes a file, unless it has these bytes.
fn write(path: &Path, there: Option<&fs::Metadata>, bytes: &[u8]) -> io::Result<()> {
    // A link is replaced, not followed: what it leads to is the user's.
    if there.is_some_and(fs::Metadata::is_file) && fs::read(path)? == bytes {
        return Ok(());
    }
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let unfinished = folder.join(format!(".{name}.{}.tmp", std::process::id()));
    fs::write(&unfinished, bytes)?;
    fs::rename(&unfinished, path)
}

/// Writes a file, unless it has these bytes.
///
/// # Errors
/// When it cannot be written.
pub(crate) fn write_file(path: &Path, bytes: &[u8]) -> Result<(), Refusal> {
    let there = fs::symlink_metadata(path).ok();
    write(path, there.as_ref(), bytes).map_err(|error| Refusal::file("write", path, &error))
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(there) if there.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(_) => Ok(()),
    }
}

fn remove_strays(path: &Path, original: &Path, node: &Node, nodes: &Nodes) -> io::Result<()> {
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        let known = nodes.contains_key(&original.join(entry.file_name()));
        if !known && (*node == Node::Exactly || entry.file_type()?.is_symlink()) {
            remove(&entry.path())?;
        }
    }
    Ok(())
}

#[cfg(unix)]
fn link(original: &Path, path: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(original, path)
}

#[cfg(windows)]
fn link(original: &Path, path: &Path) -> io::Result<()> {
    if original.is_dir() {
        std::os::windows::fs::symlink_dir(original, path)
    } else {
        std::os::windows::fs::symlink_file(original, path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn time(path: &Path) -> std::time::SystemTime {
        fs::symlink_metadata(path).unwrap().modified().unwrap()
    }

    #[test]
    fn a_path_and_its_original_are_inverse() {
        let tree = Tree::new("/t/tree".into());
        assert_eq!(tree.of(Path::new("/a/b")), Path::new("/t/tree/a/b"));
        assert_eq!(tree.original(Path::new("/t/tree/a/b")), Path::new("/a/b"));
        assert_eq!(tree.original(Path::new("/a/b")), Path::new("/a/b"));
    }

    #[cfg(unix)]
    #[test]
    fn what_is_changed_is_a_file_and_the_rest_is_linked() {
        let folder = tempfile::tempdir().unwrap();
        let (package, tree) = (folder.path().join("p"), Tree::new(folder.path().join("tree")));
        let root = package.join("src/lib.rs");
        put(&root, "old");
        put(&package.join("src/a.rs"), "a");
        put(&package.join("tests/t.rs"), "t");
        put(&package.join("out/CACHEDIR.TAG"), "");
        put(&package.join(".git/config"), "");
        let make = |changed: &[(&Path, &str)]| {
            let changed = changed.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
            let mut nodes = Nodes::new();
            tree.linked(&package, &changed, &mut nodes).unwrap();
            tree.make(nodes).unwrap();
        };
        let at = |path: &str| tree.of(&package).join(path);
        let is_link = |path: &str| fs::symlink_metadata(at(path)).unwrap().is_symlink();

        make(&[]);
        assert!(is_link("src") && is_link("tests") && !at("out").exists() && !at(".git").exists());

        make(&[(&root, "new")]);
        assert!(!is_link("src") && is_link("src/a.rs") && is_link("tests") && !is_link("src/lib.rs"));
        assert_eq!(fs::read_to_string(at("src/lib.rs")).unwrap(), "new");
        assert_eq!(fs::read_to_string(&root).unwrap(), "old", "the user's file is as it was");

        let before = time(&at("src/lib.rs"));
        fs::remove_file(package.join("src/a.rs")).unwrap();
        put(&at("left-by-a-test"), "");
        make(&[(&root, "new")]);
        assert_eq!(time(&at("src/lib.rs")), before);
        assert!(fs::symlink_metadata(at("src/a.rs")).is_err(), "a link to what is gone goes, too");
        assert!(at("left-by-a-test").exists());

        // What was changed is new to cargo when it is as it was, so it stays a file.
        let changed = time(&at("src/lib.rs"));
        std::thread::sleep(std::time::Duration::from_millis(20));
        put(&package.join("src/a.rs"), "a");
        make(&[]);
        assert!(!is_link("src") && !is_link("src/lib.rs") && is_link("src/a.rs") && is_link("tests"));
        assert_eq!(fs::read_to_string(at("src/lib.rs")).unwrap(), "old");
        let again = time(&at("src/lib.rs"));
        assert!(again > changed);
        fs::remove_file(package.join("src/a.rs")).unwrap();
        make(&[]);
        assert_eq!(time(&at("src/lib.rs")), again);
        assert!(fs::symlink_metadata(at("src/a.rs")).is_err());
        // So is a changed file whose original is gone, and what a test has left stays.
        let test = package.join("tests/t.rs");
        make(&[(&test, "new")]);
        assert!(at("tests/t.rs").exists() && !is_link("tests"));
        fs::remove_file(&test).unwrap();
        put(&at("tests/left.rs"), "");
        make(&[]);
        assert!(!at("tests/t.rs").exists() && at("tests/left.rs").exists());
        // So does what we have written beside the originals, for another project, say.
        let own = package.join("tests/own.rs");
        make(&[(&own, "new")]);
        make(&[]);
        assert!(at("tests/own.rs").exists());
        put(&root, "newer");
        make(&[]);
        assert_eq!(fs::read_to_string(at("src/lib.rs")).unwrap(), "newer");
        assert_eq!(fs::read_to_string(&root).unwrap(), "newer");
    }

    #[cfg(unix)]
    #[test]
    fn a_package_inside_a_package_is_not_written_through_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let (outer, tree) = (folder.path().join("p"), Tree::new(folder.path().join("p/target/tree")));
        let inner = outer.join("crates/deep/inner");
        put(&inner.join("Cargo.toml"), "old");
        put(&outer.join("crates/beside/a.rs"), "a");
        let mut nodes = Nodes::new();
        tree.linked(&outer, &BTreeMap::new(), &mut nodes).unwrap();
        let changed = BTreeMap::from([(inner.join("Cargo.toml"), "new".to_owned())]);
        tree.linked(&inner, &changed, &mut nodes).unwrap();
        tree.make(nodes).unwrap();
        assert_eq!(fs::read_to_string(inner.join("Cargo.toml")).unwrap(), "old");
        assert_eq!(fs::read_to_string(tree.of(&inner.join("Cargo.toml"))).unwrap(), "new");
        assert!(fs::symlink_metadata(tree.of(&outer.join("crates/beside"))).unwrap().is_symlink());
        assert!(!tree.of(&outer.join("target")).exists(), "the tree is not in itself");
    }

    #[test]
    fn a_copy_has_what_the_original_has() {
        let folder = tempfile::tempdir().unwrap();
        let (package, tree) = (folder.path().join("p"), Tree::new(folder.path().join("tree")));
        put(&package.join("src/lib.rs"), "old");
        put(&package.join("src/a.rs"), "a");
        let make = || {
            let mut nodes = Nodes::new();
            tree.copied(&package, &BTreeMap::from([(package.join("src/lib.rs"), "new".to_owned())]), &mut nodes)
                .unwrap();
            tree.make(nodes).unwrap();
        };
        make();
        let at = |path: &str| tree.of(&package).join(path);
        assert_eq!(fs::read_to_string(at("src/lib.rs")).unwrap(), "new");
        assert_eq!(fs::read_to_string(at("src/a.rs")).unwrap(), "a");

        let before = time(&at("src/a.rs"));
        put(&at("src/stray.rs"), "");
        fs::remove_file(at("src/lib.rs")).unwrap();
        make();
        assert_eq!(time(&at("src/a.rs")), before, "what is unchanged keeps its time");
        assert!(at("src/lib.rs").exists() && !at("src/stray.rs").exists());
    }
}
