//! Files that hold a report: written whole, or not at all.
//!
//! A replay file or a page often replaces the one of the last run. [`write()`] puts the new text into a temporary file
//! of the same folder and renames it. A reader sees the old text or the new text, never a part. A full disk leaves the
//! old text and no temporary file. [`read()`] refuses what is too large to be such a file.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// How many names are tried for the temporary file. A name is taken only when an earlier process of the same number was
/// killed while it wrote.
const NAMES: u32 = 1000;

/// Writes `text` into the file at `path`. The folder must exist.
///
/// The old file keeps its permissions. A device or a pipe has no old text to keep, so it is written to directly.
///
/// # Errors
/// When `path` is a symbolic link, a folder or a file that is read-only, when the folder cannot be written to, or when
/// the disk is full. The old file is then unchanged.
pub fn write(path: &Path, text: &[u8]) -> io::Result<()> {
    match Destination::of(path)? {
        Destination::Stream => OpenOptions::new().write(true).open(path)?.write_all(text),
        Destination::File(old) => {
            let (temporary, mut file) = Temporary::beside(path)?;
            if let Some(old) = old {
                file.set_permissions(old.permissions())?;
            }
            file.write_all(text)?;
            // Some file systems report a full disk only here.
            file.sync_all()?;
            drop(file);
            temporary.rename(path)
        }
    }
}

/// Whether [`write()`] could write to `path` now. Ask before a long search, so that its result has a place to go to.
///
/// # Errors As for [`write()`], apart from a full disk.
pub fn check(path: &Path) -> io::Result<()> {
    match Destination::of(path)? {
        // To open a pipe would wait for its reader, and to close it would tell the reader that this is all.
        Destination::Stream => Ok(()),
        Destination::File(_) => Temporary::beside(path).map(drop),
    }
}

/// The bytes of a file that has at most `limit` of them.
///
/// # Errors
/// When `path` is no file, when the file is longer, and when it cannot be read.
pub fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let refused = |reason: String| Err(io::Error::new(ErrorKind::InvalidInput, reason));
    let metadata = fs::metadata(path)?;
    match metadata.len() {
        _ if !metadata.is_file() => refused("it is not a file".to_owned()),
        bytes if bytes > limit => refused(format!("it has {bytes} bytes, and the limit is {limit}")),
        _ => fs::read(path),
    }
}

/// Where the text with this number goes, from 1: the first where it was asked for, each further one beside it: `hunt.html`,
/// `hunt-2.html`.
pub fn numbered(path: &Path, number: usize) -> PathBuf {
    if number <= 1 {
        return path.to_owned();
    }
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push(format!("-{number}"));
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}

/// Whether two paths lead to one file, which need not exist yet: by another way to its folder, by a symbolic or by a hard
/// link.
pub fn same(one: &Path, other: &Path) -> bool {
    if let (Ok(first), Ok(second)) = (fs::metadata(one), fs::metadata(other))
        && let Some(same) = is_same(&first, &second)
    {
        return same;
    }
    let resolved = |path: &Path| {
        fs::canonicalize(path).ok().or_else(|| {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
            Some(fs::canonicalize(folder).ok()?.join(path.file_name()?))
        })
    };
    resolved(one).is_some_and(|one| resolved(other) == Some(one))
}

/// Whether two descriptions are of one file. None where the system does not tell.
#[cfg(unix)]
pub fn is_same(one: &Metadata, other: &Metadata) -> Option<bool> {
    use std::os::unix::fs::MetadataExt;
    Some((one.dev(), one.ino()) == (other.dev(), other.ino()))
}

/// Whether two descriptions are of one file. None where the system does not tell.
#[cfg(not(unix))]
pub fn is_same(_: &Metadata, _: &Metadata) -> Option<bool> {
    None
}

#[cfg(unix)]
fn is_disk(kind: fs::FileType) -> bool {
    std::os::unix::fs::FileTypeExt::is_block_device(&kind)
}

#[cfg(not(unix))]
fn is_disk(_: fs::FileType) -> bool {
    false
}

/// What there is at a path.
enum Destination {
    /// A file that is replaced, or no file yet.
    File(Option<Metadata>),
    /// A device or a pipe: to replace it would be to destroy it.
    Stream,
}

impl Destination {
    fn of(path: &Path) -> io::Result<Destination> {
        let refused = |reason: &str| Err(io::Error::new(ErrorKind::InvalidInput, reason));
        let there = match fs::symlink_metadata(path) {
            Ok(there) => there,
            Err(error) if error.kind() == ErrorKind::NotFound && path.file_name().is_some() => {
                return Ok(Destination::File(None));
            }
            Err(error) => return Err(error),
        };
        match there.file_type() {
            kind if kind.is_symlink() => refused("it is a symbolic link; name the file that it points to"),
            kind if kind.is_dir() => refused("it is a folder"),
            kind if is_disk(kind) => refused("it is a disk"),
            kind if !kind.is_file() => Ok(Destination::Stream),
            _ if there.permissions().readonly() => refused("it is read-only"),
            _ => Ok(Destination::File(Some(there))),
        }
    }
}

/// A file that is removed unless it is renamed.
struct Temporary(PathBuf);

impl Temporary {
    /// An empty file in the folder of `path`.
    fn beside(path: &Path) -> io::Result<(Temporary, File)> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let mut taken = None;
        for _ in 0..NAMES {
            // The name of the file is not part of this name, since it may be as long as a name can be.
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let own = path.with_file_name(format!(".interloper-{}-{number}.tmp", std::process::id()));
            // Only a new file: never the target of a link with that name.
            match OpenOptions::new().write(true).create_new(true).open(&own) {
                Ok(file) => return Ok((Temporary(own), file)),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => taken = Some(error),
                Err(error) => return Err(error),
            }
        }
        Err(taken.expect("at least one name was tried"))
    }

    fn rename(mut self, path: &Path) -> io::Result<()> {
        fs::rename(&self.0, path)?;
        self.0.clear();
        Ok(())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.0.as_os_str().is_empty() {
            // A folder that has become read-only keeps the file; the error of writing is the one to report.
            let _ = fs::remove_file(&self.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names in a folder, hidden ones included.
    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("a folder of one's own");
        let mut names: Vec<String> =
            entries.map(|entry| entry.expect("its entries").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    fn text(path: &Path) -> String {
        fs::read_to_string(path).expect("a file that was written before")
    }

    #[test]
    fn a_file_is_written_and_replaced() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("page.html");
        for new in ["first", "second, and longer", "third"] {
            check(&path).expect("it can be written");
            write(&path, new.as_bytes()).expect("it is written");
            assert_eq!(text(&path), new);
        }
        assert_eq!(names(folder.path()), ["page.html"]);
    }

    #[test]
    fn a_name_that_is_as_long_as_names_can_be() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x".repeat(255));
        write(&path, b"text").expect("it is written");
        assert_eq!(text(&path), "text");
    }

    #[test]
    fn what_asks_first_leaves_nothing_behind() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("page.html");
        check(&path).expect("it can be written");
        assert_eq!(names(folder.path()), [""; 0]);
        let missing = folder.path().join("missing").join("page.html");
        assert_eq!(check(&missing).map_err(|error| error.kind()), Err(ErrorKind::NotFound));
        assert_eq!(write(&missing, b"").map_err(|error| error.kind()), Err(ErrorKind::NotFound));
    }

    #[test]
    fn what_is_not_a_file_to_write_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let refused = |path: &Path, reason: &str| {
            for result in [check(path), write(path, b"new")] {
                assert_eq!(result.expect_err("refused").to_string(), reason);
            }
        };
        refused(folder.path(), "it is a folder");
        let protected = folder.path().join("protected");
        write(&protected, b"old").expect("it is written");
        let mut permissions = fs::metadata(&protected).expect("it is there").permissions();
        permissions.set_readonly(true);
        fs::set_permissions(&protected, permissions).expect("it is one's own");
        refused(&protected, "it is read-only");
        assert_eq!(text(&protected), "old");
        assert_eq!(names(folder.path()), ["protected"]);
    }

    #[test]
    fn what_is_too_large_is_not_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("page.html");
        write(&path, b"text").expect("it is written");
        assert_eq!(read(&path, 4).expect("it is read"), b"text");
        let refused = |path: &Path| read(path, 3).expect_err("refused").to_string();
        assert_eq!(refused(&path), "it has 4 bytes, and the limit is 3");
        assert_eq!(refused(folder.path()), "it is not a file");
        assert_eq!(read(&folder.path().join("missing"), 3).expect_err("refused").kind(), ErrorKind::NotFound);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_refused_and_where_it_leads_stays_as_it_is() {
        let folder = tempfile::tempdir().expect("a folder");
        let (file, link, lost) = (folder.path().join("file"), folder.path().join("link"), folder.path().join("lost"));
        write(&file, b"old").expect("it is written");
        std::os::unix::fs::symlink(&file, &link).expect("a link");
        std::os::unix::fs::symlink(folder.path().join("nowhere"), &lost).expect("a link");
        for link in [&link, &lost] {
            let error = write(link, b"new").expect_err("refused");
            assert_eq!(error.to_string(), "it is a symbolic link; name the file that it points to");
        }
        assert_eq!(text(&file), "old");
        assert_eq!(names(folder.path()), ["file", "link", "lost"]);
    }

    #[cfg(unix)]
    #[test]
    fn permissions_stay_and_a_device_is_written_to() {
        use std::os::unix::fs::PermissionsExt;

        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("page.html");
        write(&path, b"old").expect("it is written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("it is one's own");
        write(&path, b"new").expect("it is written");
        assert_eq!(fs::metadata(&path).expect("it is there").permissions().mode() & 0o777, 0o640);
        check(Path::new("/dev/null")).expect("it can be written");
        write(Path::new("/dev/null"), b"text").expect("it is written");
        assert!(!fs::metadata("/dev/null").expect("it is there").is_file(), "it was replaced");
    }

    #[test]
    fn further_files_have_numbers() {
        let names = |path: &str| [1, 2, 11].map(|number| numbered(Path::new(path), number).display().to_string());
        assert_eq!(names("a/hunt.html"), ["a/hunt.html", "a/hunt-2.html", "a/hunt-11.html"]);
        assert_eq!(names("page"), ["page", "page-2", "page-11"]);
        assert_eq!(names("a.b/v1.2.html"), ["a.b/v1.2.html", "a.b/v1.2-2.html", "a.b/v1.2-11.html"]);
    }

    #[test]
    fn a_file_has_several_paths() {
        let folder = tempfile::tempdir().expect("a folder");
        let (file, other) = (folder.path().join("file"), folder.path().join("other"));
        write(&file, b"").expect("it is written");
        write(&other, b"").expect("it is written");
        assert!(same(&file, &folder.path().join(".").join("file")));
        assert!(!same(&file, &other));
        let missing = folder.path().join("missing");
        assert!(!same(&file, &missing));
        assert!(same(&missing, &folder.path().join(".").join("missing")));
        assert!(!same(&missing, &folder.path().join("absent")));
        let hard = folder.path().join("hard");
        fs::hard_link(&file, &hard).expect("a link");
        assert_eq!(same(&file, &hard), cfg!(unix));
    }
}
