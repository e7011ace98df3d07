//! The files of a run as a ZIP archive, created while it is sent.
//!
//! Files are stored without compression, each followed by its checksum, with the 64-bit form of the format throughout,
//! so that neither files nor archives have a size limit (PKWARE, APPNOTE.TXT 6.3.10, sections 4.3 and 4.5.3).

use super::place::Entry;
use super::source::FileSource;
use crate::http::stream::Source;
use flate2::Crc;
use history_core::cast::Cast as _;
use hyper::body::Bytes;
use std::io;
use std::path::PathBuf;

/// The version of the format with 64-bit sizes.
const VERSION: u16 = 45;
/// The checksum follows the file; names are UTF-8.
const FLAGS: u16 = 1 << 3 | 1 << 11;
/// The first of January 1980, the earliest date of the format: equal files give equal archives.
const DATE: u16 = 0x21;
const IN_EXTRA: u32 = u32::MAX;

/// An archive under construction.
pub(crate) struct Archive {
    root: PathBuf,
    /// The path of the run, and the folder of its files in the archive.
    run: String,
    folder: String,
    waiting: std::vec::IntoIter<Entry>,
    current: Option<Current>,
    done: Vec<Done>,
    /// The number of bytes sent so far.
    offset: u64,
    is_over: bool,
}

struct Current {
    file: FileSource,
    crc: Crc,
    done: Done,
}

struct Done {
    name: String,
    bytes: u64,
    crc: u32,
    offset: u64,
}

impl Archive {
    /// An archive of these files of a run.
    pub(crate) fn new(root: PathBuf, run: &str, files: Vec<Entry>) -> Archive {
        let folder = if run == "." { "runs" } else { run.rsplit('/').next().unwrap_or(run) };
        Archive {
            root,
            run: run.to_owned(),
            folder: safe(folder),
            waiting: files.into_iter(),
            current: None,
            done: Vec::new(),
            offset: 0,
            is_over: false,
        }
    }

    /// Begins the next file. A file that was removed in the meantime is omitted.
    fn begin(&mut self) -> Option<Bytes> {
        for entry in self.waiting.by_ref() {
            let path = if self.run == "." { entry.path.clone() } else { format!("{}/{}", self.run, entry.path) };
            let Ok((file, bytes)) = FileSource::open(&self.root, &path) else { continue };
            let name = format!("{}/{}", self.folder, safe(&entry.path));
            let mut out = Record::new(0x0403_4b50);
            out.u16s(&[VERSION, FLAGS, 0, 0, DATE]).u32s(&[0, IN_EXTRA, IN_EXTRA]);
            out.u16s(&[length(&name), 20]).bytes(name.as_bytes());
            out.u16s(&[1, 16]).u64s(&[bytes, bytes]);
            let done = Done { name, bytes, crc: 0, offset: self.offset };
            self.current = Some(Current { file, crc: Crc::new(), done });
            return Some(out.done());
        }
        None
    }

    /// The end of the archive: the directory of its files.
    fn end(&self) -> Bytes {
        let mut out = Record(Vec::new());
        for Done { name, bytes, crc, offset } in &self.done {
            out.u32s(&[0x0201_4b50]).u16s(&[VERSION | 3 << 8, VERSION, FLAGS, 0, 0, DATE]);
            out.u32s(&[*crc, IN_EXTRA, IN_EXTRA]).u16s(&[length(name), 28, 0, 0, 0]);
            // A regular file that its owner may write.
            out.u32s(&[0o100_644 << 16, IN_EXTRA]).bytes(name.as_bytes());
            out.u16s(&[1, 24]).u64s(&[*bytes, *bytes, *offset]);
        }
        let (count, list_bytes) = (self.done.len().to_u64(), out.0.len().to_u64());
        let end = self.offset + list_bytes;
        out.u32s(&[0x0606_4b50]).u64s(&[44]).u16s(&[VERSION, VERSION]).u32s(&[0, 0]);
        out.u64s(&[count, count, list_bytes, self.offset]);
        out.u32s(&[0x0706_4b50, 0]).u64s(&[end]).u32s(&[1]);
        out.u32s(&[0x0605_4b50]).u16s(&[0, 0, u16::MAX, u16::MAX]).u32s(&[IN_EXTRA, IN_EXTRA]).u16s(&[0]);
        out.done()
    }

    fn piece(&mut self) -> io::Result<Option<Bytes>> {
        let Some(current) = &mut self.current else {
            if let Some(header) = self.begin() {
                return Ok(Some(header));
            }
            if self.is_over {
                return Ok(None);
            }
            self.is_over = true;
            return Ok(Some(self.end()));
        };
        if let Some(piece) = current.file.next()? {
            current.crc.update(&piece);
            return Ok(Some(piece));
        }
        current.done.crc = current.crc.sum();
        let mut out = Record::new(0x0807_4b50);
        out.u32s(&[current.done.crc]).u64s(&[current.done.bytes, current.done.bytes]);
        self.done.extend(self.current.take().map(|current| current.done));
        Ok(Some(out.done()))
    }
}

impl Source for Archive {
    fn next(&mut self) -> io::Result<Option<Bytes>> {
        let piece = self.piece()?;
        self.offset += piece.as_ref().map_or(0, Bytes::len).to_u64();
        Ok(piece)
    }
}

/// Makes a name safe: on some systems, these characters are separators of paths.
fn safe(name: &str) -> String {
    let name: String = name.chars().map(|c| if c == '\\' || c == ':' || c.is_control() { '_' } else { c }).collect();
    // Longer names do not fit into the format.
    name.chars().take(8192).collect()
}

fn length(name: &str) -> u16 {
    u16::try_from(name.len()).unwrap_or(u16::MAX)
}

/// Numbers one after another, little-endian.
struct Record(Vec<u8>);

impl Record {
    fn new(signature: u32) -> Record {
        Record(signature.to_le_bytes().to_vec())
    }

    fn bytes(&mut self, bytes: &[u8]) -> &mut Record {
        self.0.extend_from_slice(bytes);
        self
    }

    fn u16s(&mut self, numbers: &[u16]) -> &mut Record {
        self.0.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
        self
    }

    fn u32s(&mut self, numbers: &[u32]) -> &mut Record {
        self.0.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
        self
    }

    fn u64s(&mut self, numbers: &[u64]) -> &mut Record {
        self.0.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
        self
    }

    fn done(self) -> Bytes {
        self.0.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::place;
    use std::fs;
    use std::process::Command;

    #[test]
    fn other_programs_can_open_it() {
        let dir = tempfile::tempdir().unwrap();
        let run = dir.path().join("root/t/run");
        fs::create_dir_all(run.join("n")).unwrap();
        fs::write(run.join("history.edn"), "{:a 1}\n".repeat(100_000)).unwrap();
        fs::write(run.join("n/empty"), "").unwrap();
        fs::write(run.join("x\\..\\y"), "1").unwrap();
        let (files, _) = place::files(&run, 99);
        let mut archive = Archive::new(dir.path().join("root"), "t/run", files);
        let mut bytes = Vec::new();
        while let Some(piece) = archive.next().unwrap() {
            bytes.extend_from_slice(&piece);
        }
        let path = dir.path().join("a.zip");
        fs::write(&path, bytes).unwrap();
        let script = "import sys, zipfile\nz = zipfile.ZipFile(sys.argv[1])\nassert z.testzip() is None\n\
             print([(i.filename, i.file_size) for i in z.infolist()])";
        // Without Python, this cannot be tested.
        let Ok(listing) = Command::new("python3").args(["-c", script]).arg(&path).output() else { return };
        let text = String::from_utf8_lossy(&listing.stdout).into_owned() + &String::from_utf8_lossy(&listing.stderr);
        assert_eq!(text.trim(), "[('run/history.edn', 700000), ('run/n/empty', 0), ('run/x_.._y', 1)]");
    }
}
