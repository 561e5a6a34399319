//! The folder of `--state`, in which hunts keep their progress.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use interloper::Shard;
use interloper_adopt::Refusal;

/// A folder that no other hunt uses, as long as this value or a process that it was given to lives. The parts of a hunt can share one:
/// each has files of its own.
pub struct State {
    folder: PathBuf,
    /// What comes after the names of its files.
    part: String,
    locked: File,
}

impl State {
    /// Locks the folder for this part of a hunt, and makes it where it is missing.
    ///
    /// # Errors
    /// When another hunt uses the folder, and when it cannot be written to.
    pub fn open(folder: &Path, shard: Option<Shard>) -> Result<State, Refusal> {
        let part = shard.map(Shard::suffix).unwrap_or_default();
        let path = folder.join(format!("lock{part}"));
        let wrong = |error: std::io::Error| Refusal::Request(format!("cannot write {}: {error}", path.display()));
        fs::create_dir_all(folder).map_err(wrong)?;
        let locked = File::options().create(true).read(true).append(true).open(&path).map_err(wrong)?;
        match fs4::FileExt::try_lock(&locked) {
            Ok(()) => Ok(State { folder: folder.canonicalize().map_err(wrong)?, part, locked }),
            Err(fs4::TryLockError::WouldBlock) => Err(Refusal::Request(format!(
                "{} is in use by another process; wait for its end, or name another folder",
                folder.display()
            ))),
            Err(fs4::TryLockError::Error(error)) => Err(wrong(error)),
        }
    }

    /// The file with the progress of an object.
    pub fn path(&self, of: &str) -> PathBuf {
        let plain = |letter: char| if letter.is_ascii_alphanumeric() || letter == '_' { letter } else { '-' };
        self.folder.join(format!("hunt-{}{}.jsonl", of.chars().map(plain).collect::<String>(), self.part))
    }

    /// The standard input of a process that writes there: it holds the lock, too, in case this process is killed before it.
    ///
    /// # Errors
    /// When the system has no more descriptors.
    pub fn held(&self) -> std::io::Result<Stdio> {
        self.locked.try_clone().map(Stdio::from)
    }
}
