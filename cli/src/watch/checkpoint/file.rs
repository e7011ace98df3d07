//! The file of a checkpoint: it has a version and a checksum, and is complete at any moment.

use super::Checkpoint;
use super::build::Build;
use flate2::Crc;
use history_core::cast::Cast as _;
use history_core::state::{In, Out, State as _};
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

/// The bytes at the beginning of every checkpoint.
const MAGIC: &[u8] = b"histcheck checkpoint\n";

/// The version of the format, which increases with each change.
const VERSION: u64 = 2;

/// Encodes a checkpoint; `None` if it takes more bytes than `bytes_max`.
pub(super) fn encode(checkpoint: &Checkpoint, build: &Build, bytes_max: usize) -> Option<Vec<u8>> {
    let mut out = Out::new(bytes_max);
    out.push(MAGIC);
    VERSION.save(&mut out);
    build.save(&mut out);
    checkpoint.save(&mut out);
    let mut bytes = out.into_bytes()?;
    let sum = sum(&bytes);
    bytes.extend(sum);
    Some(bytes)
}

/// # Errors
///
/// If the bytes are not a checkpoint, or another build wrote it, as a clause.
pub(super) fn decode(bytes: &[u8], build: &Build) -> Result<Checkpoint, String> {
    let rest = bytes.strip_prefix(MAGIC).ok_or("it is not a checkpoint of histcheck")?;
    let damaged = |_| "it is damaged".to_owned();
    let mut from = In::new(rest);
    let version = u64::load(&mut from).map_err(damaged)?;
    let (content, stored) = bytes.split_last_chunk::<4>().ok_or("it is damaged")?;
    if sum(content) != *stored {
        return Err("it is damaged: its checksum is wrong".to_owned());
    }
    if version != VERSION {
        return Err(format!("its format has version {version}; expected version {VERSION}"));
    }
    let maker = Build::load(&mut from).map_err(damaged)?;
    if maker != *build {
        let (made, this) = (&maker.version, &build.version);
        return Err(if made == this {
            format!("it was written by another build of histcheck {this}")
        } else {
            format!("it was written by histcheck {made}, and this is histcheck {this}")
        });
    }
    let checkpoint = Checkpoint::load(&mut from).map_err(damaged)?;
    if from.take(stored.len()).is_err() || from.end().is_err() {
        return Err("it is damaged".to_owned());
    }
    Ok(checkpoint)
}

fn sum(bytes: &[u8]) -> [u8; 4] {
    let mut sum = Crc::new();
    sum.update(bytes);
    sum.sum().to_le_bytes()
}

/// The path of the next checkpoint while it is written.
fn next(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".new");
    name.into()
}

/// All paths that are created or replaced when a checkpoint is written.
pub(crate) fn written(path: &Path) -> [PathBuf; 3] {
    [path.to_owned(), next(path), super::lock::path(path)]
}

/// Verifies that a checkpoint is a regular file, if it exists: reading a pipe could wait without end.
///
/// # Errors
///
/// If it is not, as a predicate.
pub(super) fn verify_kind(path: &Path) -> Result<(), &'static str> {
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => Err("is a directory; expected a file"),
        Ok(found) if !found.is_file() => Err("is not a regular file, so it cannot hold a checkpoint"),
        _ => Ok(()),
    }
}

/// Verifies that a checkpoint can be written.
pub(super) fn try_out(path: &Path) -> io::Result<()> {
    let next = next(path);
    create(&next)?;
    fs::remove_file(next)
}

/// Creates the file. Replaces the remains of a watch that was killed; any other file is kept, because it belongs to
/// another program.
fn create(next: &Path) -> io::Result<File> {
    match fs::symlink_metadata(next) {
        Ok(found) if found.is_file() && is_left_behind(next)? => fs::remove_file(next)?,
        Ok(_) => {
            let why = format!("{} exists and is not a checkpoint; remove it, or choose another name", next.display());
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, why));
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    // `create_new` follows no link.
    File::create_new(next)
}

/// Returns true if a file is the beginning of a checkpoint. After a crash of the machine, it may consist of zeros.
fn is_left_behind(next: &Path) -> io::Result<bool> {
    let mut begin = Vec::new();
    File::open(next)?.take(MAGIC.len().to_u64()).read_to_end(&mut begin)?;
    Ok(MAGIC.starts_with(&begin) || begin.iter().all(|byte| *byte == 0))
}

/// Replaces the last checkpoint. If the machine stops meanwhile, either the old or the new one exists.
pub(super) fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let next = next(path);
    let mut file = create(&next)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&next, path)?;
    sync_directory(path)
}

#[cfg(unix)]
fn sync_directory(path: &Path) -> io::Result<()> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(directory)?.sync_all()
}

/// On other systems, a directory cannot be opened.
#[cfg(not(unix))]
fn sync_directory(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::fingerprint::Fingerprint;
    use super::super::{Checkpoint, Printed};
    use super::*;

    fn checkpoint(dir: &Path) -> Checkpoint {
        let history = dir.join("history");
        fs::write(&history, "{}").unwrap();
        let read = Fingerprint::of(&File::open(&history).unwrap(), 2).unwrap();
        let (settings, reader, state) = ("-m x".to_owned(), vec![1, 2], Some((vec![3; 300], 4)));
        Checkpoint { settings, read, ops: 7, reader, state, printed: Printed::default() }
    }

    #[test]
    fn a_checkpoint_is_read_as_it_was_written_and_damage_is_seen() {
        let dir = tempfile::tempdir().unwrap();
        let checkpoint = checkpoint(dir.path());
        let build = Build::this().unwrap();
        let bytes = encode(&checkpoint, &build, 1000).unwrap();
        let decode = |bytes: &[u8]| decode(bytes, &build);
        assert_eq!(decode(&bytes), Ok(checkpoint.clone()));
        assert_eq!(encode(&checkpoint, &build, 200), None);
        for end in 0..bytes.len() {
            assert!(decode(&bytes[..end]).is_err(), "{end} bytes");
        }
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            assert!(decode(&damaged).is_err(), "byte {at}");
        }
        assert_eq!(decode(b"").unwrap_err(), "it is not a checkpoint of histcheck");
    }

    #[test]
    fn what_another_build_made_is_refused_by_name() {
        let dir = tempfile::tempdir().unwrap();
        let checkpoint = checkpoint(dir.path());
        let this = Build::this().unwrap();
        let refused = |version: &str, sum: u32| {
            let maker = Build { version: version.to_owned(), sum, ..this.clone() };
            decode(&encode(&checkpoint, &maker, 1000).unwrap(), &this).unwrap_err()
        };
        let version = &this.version;
        assert_eq!(
            refused("0.0.1", this.sum),
            format!("it was written by histcheck 0.0.1, and this is histcheck {version}")
        );
        assert_eq!(refused(version, !this.sum), format!("it was written by another build of histcheck {version}"));
        let mut out = Out::new(1000);
        out.push(MAGIC);
        (VERSION + 1).save(&mut out);
        let mut bytes = out.into_bytes().unwrap();
        bytes.extend(sum(&bytes));
        assert!(decode(&bytes, &this).unwrap_err().starts_with("its format has version 3"));
    }

    #[test]
    fn the_last_checkpoint_stays_until_the_next_is_whole() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run.checkpoint");
        try_out(&path).unwrap();
        assert!(!path.exists());
        write(&path, b"one").unwrap();
        // A kill or a crash leaves such files.
        let long = [MAGIC, b"and more"].concat();
        for (left, new) in [(&MAGIC[..7], b"two"), (b"", b"3rd"), (&long, b"4th"), (&[0; 99], b"5th")] {
            fs::write(next(&path), left).unwrap();
            try_out(&path).unwrap();
            fs::write(next(&path), left).unwrap();
            write(&path, new).unwrap();
            assert_eq!(fs::read(&path).unwrap(), new);
            assert!(!next(&path).exists());
        }
    }

    #[test]
    fn a_checkpoint_is_a_regular_file() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(verify_kind(&dir.path().join("run.checkpoint")), Ok(()), "it need not exist");
        assert_eq!(verify_kind(dir.path()), Err("is a directory; expected a file"));
        #[cfg(unix)]
        assert!(verify_kind(Path::new("/dev/null")).unwrap_err().contains("is not a regular file"));
    }

    #[test]
    fn what_is_not_a_checkpoint_is_neither_overwritten_nor_removed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run");
        let stays = |bytes: &[u8]| {
            for error in [try_out(&path).unwrap_err(), write(&path, b"one").unwrap_err()] {
                assert!(error.to_string().contains("run.new exists and is not a checkpoint"), "{error}");
            }
            assert_eq!(fs::read(next(&path)).unwrap(), bytes);
            assert!(!path.exists());
        };
        fs::write(next(&path), "{:process 0}").unwrap();
        stays(b"{:process 0}");
        fs::remove_file(next(&path)).unwrap();
        #[cfg(unix)]
        for target in ["{:process 0}", ""] {
            let other = dir.path().join("other");
            fs::write(&other, target).unwrap();
            std::os::unix::fs::symlink(&other, next(&path)).unwrap();
            stays(target.as_bytes());
            fs::remove_file(next(&path)).unwrap();
        }
        fs::create_dir(next(&path)).unwrap();
        assert!(try_out(&path).unwrap_err().to_string().contains("run.new exists"));
    }
}
