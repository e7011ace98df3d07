//! Follows a file that grows: reads its content and then added text, and handles truncation and rotation.

mod file;
pub(super) mod gap;
mod shared;

pub(super) use file::{TextFrom, text_at};
pub(super) use shared::Shared;

use super::inbox::{Arrival, Sender};
use file::{Followed, is_same};
use history_core::cast::Cast as _;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The pause between two reads of a file that has just grown, and of one that has not grown for a while.
const PAUSES: [Duration; 2] = [Duration::from_millis(1), Duration::from_millis(50)];

/// The number of reads without new text after which a file is complete, if the history is over.
const LOOKS_AT_END: u32 = 3;

/// A file that is followed by its name.
pub(super) struct Follow {
    path: PathBuf,
    shared: Arc<Shared>,
    /// The number of bytes of text received, including those before the position at which this began.
    came: u64,
}

impl Follow {
    /// Follows the file at the path, which may not exist yet. A file that was opened before is read from its position
    /// on.
    pub(super) fn new(path: PathBuf, shared: Arc<Shared>) -> Follow {
        let came = shared.lock().as_ref().map_or(0, Followed::offset);
        Follow { path, shared, came }
    }

    /// Reads the existing text, and then added text, until the receiver is dropped, or the history `is_over`: then
    /// reads all text that is in the file at that time.
    pub(super) fn run(mut self, sender: &Sender<Vec<u8>>, is_over: &Arc<AtomicBool>) {
        let (mut pause, mut looks, mut until) = (PAUSES[0], 0, None);
        loop {
            if is_over.load(Ordering::SeqCst) {
                // If the file continues to grow, it is read up to its current length.
                let until = until.get_or_insert_with(|| std::fs::metadata(&self.path).ok());
                let followed = self.shared.lock();
                let is_read = followed.as_ref().zip(until.as_ref()).is_some_and(|(file, until)| file.is_read(until));
                drop(followed);
                // Opening a file, and reaching the end of a file that was replaced, are reads without new text.
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

    /// The text that was added; empty if there is none.
    fn more(&mut self) -> io::Result<Vec<u8>> {
        let text = self.look()?;
        self.came += text.len().to_u64();
        Ok(text)
    }

    fn look(&self) -> io::Result<Vec<u8>> {
        let mut file = self.shared.lock();
        let Some(followed) = file.as_mut() else {
            *file = self.open()?;
            return Ok(Vec::new());
        };
        match followed.read()? {
            Some(text) if text.is_empty() => {}
            Some(text) => return Ok(text),
            None => {
                // The file was emptied, and its current content is new.
                let end = self.replace(followed);
                followed.rewind();
                return Ok(end);
            }
        }
        if is_replaced(followed.file(), &self.path)? {
            // Text that was written between the last read and the change of names is still in the old file.
            if let Some(text) = followed.read()?.filter(|text| !text.is_empty()) {
                return Ok(text);
            }
            if let Some(next) = self.open()? {
                let end = self.replace(followed);
                *followed = next;
                return Ok(end);
            }
        }
        Ok(Vec::new())
    }

    /// Records that the following text is new, and returns the separator before it.
    fn replace(&self, old: &Followed) -> Vec<u8> {
        let end = old.end_of_line();
        self.shared.replace(self.came + end.len().to_u64());
        end
    }

    fn open(&self) -> io::Result<Option<Followed>> {
        // Opening a pipe would block until another process opens it for writing.
        if found(std::fs::metadata(&self.path))?.is_some_and(|found| !found.is_file()) {
            return Err(io::Error::other("it is not a regular file; to watch a pipe, create it first"));
        }
        Ok(found(File::open(&self.path))?.map(Followed::new))
    }
}

/// Returns true if another file has the name by now. If no file has it, the old one may still grow.
fn is_replaced(file: &File, path: &Path) -> io::Result<bool> {
    let Some(named) = found(std::fs::metadata(path))? else { return Ok(false) };
    Ok(!is_same(&file.metadata()?, &named))
}

/// Returns `None` if the file does not exist.
fn found<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests;
