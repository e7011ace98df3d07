//! A file that grows: what is in it, then whatever is added, through truncation and rotation.

pub(super) mod gap;

use super::inbox::{ARRIVAL_BYTES, Arrival, Sender};
use history_core::cast::Cast as _;
use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Between two looks at a file that has just grown, and at one that has not for a while.
const PAUSES: [Duration; 2] = [Duration::from_millis(1), Duration::from_millis(50)];

/// Looks that show nothing before a file that is over counts as read.
const LOOKS_AT_END: u32 = 3;

/// Bytes before what is read next, which tell a file that has grown from one that was written anew.
const TAIL_BYTES: usize = 1024;

/// A file that is followed by its name.
pub(super) struct Follow {
    path: PathBuf,
    /// Absent as long as there is none of that name.
    file: Option<Followed>,
    /// Where the first file is read from.
    offset: u64,
    /// Set before text of another file comes, or of the same one after it was emptied.
    is_replaced: Arc<AtomicBool>,
}

struct Followed {
    file: File,
    /// How much of it was read.
    offset: u64,
    /// The last bytes that were read.
    tail: Vec<u8>,
}

impl Follow {
    /// Follows what is at the path, now or later.
    pub(super) fn new(path: PathBuf) -> Follow {
        Follow { path, file: None, offset: 0, is_replaced: Arc::default() }
    }

    /// The same from a byte of the file on, with a flag to be set before text of another file comes.
    pub(super) fn from(self, offset: u64, is_replaced: Arc<AtomicBool>) -> Follow {
        Follow { offset, is_replaced, ..self }
    }

    /// Reads what there is, and then more, until the receiver is gone, or the history `is_over`: then all is brought
    /// that is in the file by then.
    pub(super) fn run(mut self, sender: &Sender<Vec<u8>>, is_over: &Arc<AtomicBool>) {
        let (mut pause, mut looks, mut until) = (PAUSES[0], 0, None);
        loop {
            if is_over.load(Ordering::SeqCst) {
                // A file that continues growing ends where it did when this was seen.
                let until = until.get_or_insert_with(|| std::fs::metadata(&self.path).ok());
                let is_read = self.file.as_mut().zip(until.as_ref()).is_some_and(|(file, until)| file.is_read(until));
                // To open a file is a look that shows nothing, and so is to come to the end of one that was replaced.
                if is_read || looks > LOOKS_AT_END {
                    let _ = sender.send(Arrival::Cut);
                    return;
                }
            }
            match self.more() {
                Ok(text) if text.is_empty() && until.is_some() => looks += 1,
                Ok(text) if text.is_empty() => {
                    std::thread::sleep(pause);
                    pause = (2 * pause).min(PAUSES[1]);
                }
                Ok(text) => {
                    (pause, looks) = (PAUSES[0], 0);
                    if sender.send(Arrival::Some(text)).is_err() {
                        return;
                    }
                }
                Err(error) => {
                    let _ = sender.send(Arrival::Failed(error));
                    return;
                }
            }
        }
    }

    /// What has been added; empty if nothing was.
    fn more(&mut self) -> io::Result<Vec<u8>> {
        let Some(followed) = &mut self.file else {
            self.open()?;
            return Ok(Vec::new());
        };
        let text = match followed.read()? {
            Some(text) if text.is_empty() => text,
            Some(text) => return Ok(text),
            None => {
                // It was emptied, and what is in it now is new.
                self.is_replaced.store(true, Ordering::SeqCst);
                followed.offset = 0;
                return Ok(followed.end_line());
            }
        };
        if is_replaced(&followed.file, &self.path)? {
            // What was written between the last read and the change of names is still in the old file.
            if let Some(text) = followed.read()?.filter(|text| !text.is_empty()) {
                return Ok(text);
            }
            let end = followed.end_line();
            self.is_replaced.store(true, Ordering::SeqCst);
            self.open()?;
            return Ok(end);
        }
        Ok(text)
    }

    fn open(&mut self) -> io::Result<()> {
        // A pipe would be opened only when someone opens it to write.
        if found(std::fs::metadata(&self.path))?.is_some_and(|found| !found.is_file()) {
            return Err(io::Error::other("it is not a regular file; to watch a pipe, create it first"));
        }
        if let Some(file) = found(File::open(&self.path))? {
            self.file = Some(Followed { file, offset: std::mem::take(&mut self.offset), tail: Vec::new() });
        }
        Ok(())
    }
}

impl Followed {
    /// Whether it is this very file, and was read at least so far. One that is shorter than what was read of it, or has
    /// other text there, was emptied since.
    fn is_read(&mut self, until: &Metadata) -> bool {
        let now = self.file.metadata();
        let is_at_end = now.is_ok_and(|now| is_same(&now, until) && (until.len()..=now.len()).contains(&self.offset));
        is_at_end && self.text(0).is_ok_and(|text| text == self.tail)
    }

    /// The last bytes that were read, as they are in the file now, and so many behind them.
    fn text(&mut self, more: usize) -> io::Result<Vec<u8>> {
        let bytes = self.tail.len() + more;
        let mut text = Vec::with_capacity(bytes);
        self.file.seek(SeekFrom::Start(self.offset - self.tail.len().to_u64()))?;
        (&mut self.file).take(bytes.to_u64()).read_to_end(&mut text)?;
        Ok(text)
    }

    /// What was added; nothing if what was read is not in the file any more.
    fn read(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut text = self.text(ARRIVAL_BYTES)?;
        if !text.starts_with(&self.tail) {
            return Ok(None);
        }
        let before = self.tail.len();
        self.offset += (text.len() - before).to_u64();
        self.tail.clear();
        self.tail.extend(&text[text.len().saturating_sub(TAIL_BYTES)..]);
        text.drain(..before);
        Ok(Some(text))
    }

    /// What keeps a line that never ended apart from what comes next.
    fn end_line(&mut self) -> Vec<u8> {
        let tail = std::mem::take(&mut self.tail);
        if tail.last().is_none_or(|last| *last == b'\n') { Vec::new() } else { b"\n".to_vec() }
    }
}

/// Whether another file has the name by now. As long as there is none, the old one may still grow.
fn is_replaced(file: &File, path: &Path) -> io::Result<bool> {
    let Some(named) = found(std::fs::metadata(path))? else { return Ok(false) };
    Ok(!is_same(&file.metadata()?, &named))
}

/// Nothing if there is no such file.
fn found<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(unix)]
fn is_same(a: &Metadata, b: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

/// Elsewhere files are distinguished by when they were made.
#[cfg(not(unix))]
fn is_same(a: &Metadata, b: &Metadata) -> bool {
    a.created().ok() == b.created().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::inbox::Text;
    use std::fs;
    use std::io::Write;

    /// All that the next looks bring.
    fn drain(follow: &mut Follow) -> String {
        let mut all = Vec::new();
        let mut idle = 0;
        // Opening a file takes a look of its own.
        while idle < 3 {
            let text = follow.more().unwrap();
            idle = if text.is_empty() { idle + 1 } else { 0 };
            all.extend(text);
        }
        String::from_utf8(all).unwrap()
    }

    fn append(path: &Path, text: &str) {
        let mut file = fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }

    #[test]
    fn a_file_is_followed_as_it_comes_grows_and_is_emptied() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("history.jsonl");
        let mut follow = Follow::new(path.clone());
        assert_eq!(drain(&mut follow), "");
        append(&path, "one\n");
        assert_eq!(drain(&mut follow), "one\n");
        append(&path, "two\nth");
        assert_eq!(drain(&mut follow), "two\nth");
        append(&path, "ree\n");
        assert_eq!(drain(&mut follow), "ree\n");
        fs::write(&path, "four\n").unwrap();
        assert_eq!(drain(&mut follow), "four\n");
        assert!(follow.is_replaced.swap(false, Ordering::SeqCst));
        // Written anew, and longer than what was read; the last line is the same.
        fs::write(&path, "5678\nfour\n").unwrap();
        assert_eq!(drain(&mut follow), "5678\nfour\n");
        assert!(follow.is_replaced.swap(false, Ordering::SeqCst));
        append(&path, &"more ".repeat(1000));
        assert_eq!(drain(&mut follow), "more ".repeat(1000));
        assert!(!follow.is_replaced.load(Ordering::SeqCst));
    }

    #[test]
    fn what_was_written_before_a_rotation_is_not_lost() {
        let dir = tempfile::tempdir().unwrap();
        let (path, old) = (dir.path().join("log"), dir.path().join("log.1"));
        append(&path, "one\n");
        let mut follow = Follow::new(path.clone());
        assert_eq!(drain(&mut follow), "one\n");
        fs::rename(&path, &old).unwrap();
        append(&old, "two");
        assert_eq!(drain(&mut follow), "two", "as long as there is no new file, the old one may grow");
        append(&old, "!");
        append(&path, "three\n");
        assert_eq!(drain(&mut follow), "!\nthree\n", "a line that never ended is kept apart");
    }

    #[test]
    fn a_file_is_followed_from_a_byte_on_and_another_one_from_its_beginning() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        append(&path, "one\ntwo\n");
        let is_replaced = Arc::new(AtomicBool::new(false));
        let mut follow = Follow::new(path.clone()).from(4, Arc::clone(&is_replaced));
        assert_eq!(drain(&mut follow), "two\n");
        assert!(!is_replaced.load(Ordering::SeqCst));
        fs::rename(&path, dir.path().join("log.1")).unwrap();
        append(&path, "three\n");
        assert_eq!(drain(&mut follow), "three\n");
        assert!(is_replaced.swap(false, Ordering::SeqCst));
        fs::write(&path, "4\n").unwrap();
        assert_eq!(drain(&mut follow), "4\n");
        assert!(is_replaced.load(Ordering::SeqCst));
    }

    /// What is brought if the history is over now.
    fn rest(follow: Follow) -> String {
        let (sender, inbox) = crate::watch::inbox::inbox();
        follow.run(&sender, &Arc::new(AtomicBool::new(true)));
        let mut rest = String::new();
        Text::new(inbox).read_to_string(&mut rest).unwrap();
        rest
    }

    #[test]
    fn a_history_that_is_over_ends_where_its_file_does() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("history.jsonl");
        append(&path, "one\n");
        assert_eq!(rest(Follow::new(path.clone())), "one\n", "nobody has looked yet");
        let mut follow = Follow::new(path.clone());
        assert_eq!(drain(&mut follow), "one\n");
        append(&path, "two\n");
        assert_eq!(rest(follow), "two\n", "nobody has looked since");
        assert_eq!(rest(Follow::new(dir.path().join("none"))), "");
    }

    /// The new one is shorter than what was read of the old one, or as long.
    #[test]
    fn a_file_that_took_the_place_of_another_is_read_before_the_history_is_over() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        for (rotate, new) in [(true, "new\n"), (false, "new\n"), (true, "other line\n"), (false, "other line\n")] {
            append(&path, "first line\n");
            let mut follow = Follow::new(path.clone());
            assert_eq!(drain(&mut follow), "first line\n");
            if rotate {
                fs::rename(&path, dir.path().join("log.1")).unwrap();
            }
            fs::write(&path, new).unwrap();
            assert_eq!(rest(follow), new, "rotated: {rotate}");
            fs::remove_file(&path).unwrap();
        }
    }
}
