//! A file that grows: what is in it, then whatever is added, through truncation and rotation.

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

/// Between two looks at a file that has just grown, and at one that has not for a while.
const PAUSES: [Duration; 2] = [Duration::from_millis(1), Duration::from_millis(50)];

/// Looks that show nothing before a file that is over counts as read.
const LOOKS_AT_END: u32 = 3;

/// A file that is followed by its name.
pub(super) struct Follow {
    path: PathBuf,
    shared: Arc<Shared>,
    /// Bytes of text that have come, with those before the place where this began.
    came: u64,
}

impl Follow {
    /// Follows what is at the path, now or later; a file that was opened before, from where it was read to.
    pub(super) fn new(path: PathBuf, shared: Arc<Shared>) -> Follow {
        let came = shared.lock().as_ref().map_or(0, Followed::offset);
        Follow { path, shared, came }
    }

    /// Reads what there is, and then more, until the receiver is gone, or the history `is_over`: then all is brought
    /// that is in the file by then.
    pub(super) fn run(mut self, sender: &Sender<Vec<u8>>, is_over: &Arc<AtomicBool>) {
        let (mut pause, mut looks, mut until) = (PAUSES[0], 0, None);
        loop {
            if is_over.load(Ordering::SeqCst) {
                // A file that continues growing ends where it did when this was seen.
                let until = until.get_or_insert_with(|| std::fs::metadata(&self.path).ok());
                let followed = self.shared.lock();
                let is_read = followed.as_ref().zip(until.as_ref()).is_some_and(|(file, until)| file.is_read(until));
                drop(followed);
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
                // It was emptied, and what is in it now is new.
                let end = self.replace(followed);
                followed.rewind();
                return Ok(end);
            }
        }
        if is_replaced(followed.file(), &self.path)? {
            // What was written between the last read and the change of names is still in the old file.
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

    /// Notes that what comes next is new text, and returns what goes between.
    fn replace(&self, old: &Followed) -> Vec<u8> {
        let end = old.end_of_line();
        self.shared.replace(self.came + end.len().to_u64());
        end
    }

    fn open(&self) -> io::Result<Option<Followed>> {
        // A pipe would be opened only when someone opens it to write.
        if found(std::fs::metadata(&self.path))?.is_some_and(|found| !found.is_file()) {
            return Err(io::Error::other("it is not a regular file; to watch a pipe, create it first"));
        }
        Ok(found(File::open(&self.path))?.map(Followed::new))
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

#[cfg(test)]
mod tests;
