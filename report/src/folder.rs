//! Folders in which searches keep how far they are, so that another process can continue them.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// A folder that no other process uses as long as this value or a process that has its lock lives. The parts of a search can share one:
/// each has files of its own, and a lock of its own.
pub struct Folder {
    path: PathBuf,
    /// What comes after the names of the files: nothing, or which part of a search they are of.
    suffix: String,
    lock: File,
}

impl Folder {
    /// Locks the folder for the files with this suffix, and makes it where it is missing.
    ///
    /// # Errors
    /// In one line, when another process uses the folder, and when it cannot be written to.
    pub fn open(path: &Path, suffix: String) -> Result<Folder, String> {
        let failed = |path: &Path, error: io::Error| format!("cannot write {}: {error}", path.display());
        fs::create_dir_all(path).map_err(|error| failed(path, error))?;
        let of_lock = path.join(format!("lock{suffix}"));
        let lock = File::options().create(true).read(true).append(true).open(&of_lock);
        let lock = lock.map_err(|error| failed(&of_lock, error))?;
        match fs4::FileExt::try_lock(&lock) {
            Ok(()) => Ok(Folder { path: path.to_owned(), suffix, lock }),
            Err(fs4::TryLockError::WouldBlock) => {
                let part = if suffix.is_empty() { "" } else { " for this part" };
                let used = format!("{} is in use by another process{part}", path.display());
                Err(format!("{used}; wait for its end, or name another folder"))
            }
            Err(fs4::TryLockError::Error(error)) => Err(failed(&of_lock, error)),
        }
    }

    /// The folder itself, for what all parts share.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A file of this part.
    pub fn file(&self, name: &str, extension: &str) -> PathBuf {
        self.path.join(format!("{name}{}.{extension}", self.suffix))
    }

    /// The lock, for a process that writes into the folder: the folder stays in use if this process is killed before that one.
    ///
    /// # Errors
    /// When the system has no more descriptors.
    pub fn lock(&self) -> io::Result<File> {
        self.lock.try_clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_in_use_as_long_as_its_lock_is_held() {
        let within = tempfile::tempdir().expect("a folder");
        let path = within.path().join("kept");
        let open = |suffix: &str| Folder::open(&path, suffix.to_owned());
        let refused = |suffix: &str, part: &str| {
            let said = format!(
                "{} is in use by another process{part}; wait for its end, or name another folder",
                path.display()
            );
            assert_eq!(open(suffix).err(), Some(said));
        };
        let whole = open("").expect("nobody uses it");
        assert_eq!(whole.file("hunt", "jsonl"), path.join("hunt.jsonl"));
        refused("", "");
        // A part has files of its own.
        let part = open(".1-of-2").expect("nobody uses it");
        assert_eq!(part.file("hunt", "jsonl"), path.join("hunt.1-of-2.jsonl"));
        refused(".1-of-2", " for this part");
        let lock = whole.lock().expect("a descriptor");
        drop(whole);
        refused("", "");
        drop(lock);
        assert!(open("").is_ok());
    }
}
