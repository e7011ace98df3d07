//! Files of converted histories: a file gets its name only once it is complete.

use flate2::Compression;
use flate2::write::GzEncoder;
use history_core::Converted;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// A file that is being written under another name, or standard output.
pub(super) struct Out {
    sink: Option<Sink>,
    /// The temporary path of the file, and its final path.
    paths: Option<(PathBuf, PathBuf)>,
}

enum Sink {
    Stdout(BufWriter<io::Stdout>),
    Plain(BufWriter<File>),
    Gzip(GzEncoder<BufWriter<File>>),
    Zstd(zstd::Encoder<'static, BufWriter<File>>),
}

impl Out {
    /// Creates a file, compressed according to its name; without a path, uses standard output.
    pub(super) fn create(path: Option<&Path>) -> io::Result<Out> {
        let Some(path) = path else {
            return Ok(Out { sink: Some(Sink::Stdout(BufWriter::new(io::stdout()))), paths: None });
        };
        // A special file, such as /dev/null, is written directly.
        let is_special = fs::metadata(path).is_ok_and(|found| !found.is_file());
        let partial = if is_special { path.to_owned() } else { partial(path) };
        let file = BufWriter::new(File::create(&partial)?);
        let sink = match path.extension().and_then(|extension| extension.to_str()) {
            Some("gz") => Sink::Gzip(GzEncoder::new(file, Compression::fast())),
            Some("zst") => Sink::Zstd(zstd::Encoder::new(file, zstd::DEFAULT_COMPRESSION_LEVEL)?),
            _ => Sink::Plain(file),
        };
        Ok(Out { sink: Some(sink), paths: (!is_special).then(|| (partial, path.to_owned())) })
    }

    /// Completes the file and gives it its final name.
    pub(super) fn finish(mut self) -> io::Result<()> {
        match self.sink.take() {
            Some(Sink::Stdout(mut out)) => out.flush()?,
            Some(Sink::Plain(mut file)) => file.flush()?,
            Some(Sink::Gzip(packed)) => packed.finish()?.flush()?,
            Some(Sink::Zstd(packed)) => packed.finish()?.flush()?,
            None => {}
        }
        if let Some((partial, path)) = &self.paths {
            fs::rename(partial, path)?;
            self.paths = None;
        }
        Ok(())
    }
}

/// The temporary path of a file that is not yet complete.
fn partial(path: &Path) -> PathBuf {
    let mut name = path.file_name().map(OsString::from).unwrap_or_default();
    name.push(".part");
    path.with_file_name(name)
}

impl Drop for Out {
    fn drop(&mut self) {
        if let Some((partial, _)) = &self.paths {
            // An error means that the file is already gone.
            let _ = fs::remove_file(partial);
        }
    }
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.sink {
            Some(Sink::Stdout(out)) => out.write(bytes),
            Some(Sink::Plain(file)) => file.write(bytes),
            Some(Sink::Gzip(packed)) => packed.write(bytes),
            Some(Sink::Zstd(packed)) => packed.write(bytes),
            None => Err(io::Error::other("the file was ended")),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.sink {
            Some(Sink::Stdout(out)) => out.flush(),
            Some(Sink::Plain(file)) => file.flush(),
            Some(Sink::Gzip(packed)) => packed.flush(),
            Some(Sink::Zstd(packed)) => packed.flush(),
            None => Ok(()),
        }
    }
}

/// Writes a file for each session into a directory without logs: existing logs would count as sessions of this history.
pub(super) fn directory(directory: &Path, converted: &Converted) -> io::Result<()> {
    fs::create_dir_all(directory)?;
    if !history_core::session_logs(directory).is_empty() {
        return Err(io::Error::other("it already contains logs, which would be read as sessions of this history"));
    }
    for session in 0..converted.sessions() {
        let mut out = Out::create(Some(&directory.join(format!("T{session}.log"))))?;
        converted.write_session(session, &mut out)?;
        out.finish()?;
    }
    Ok(())
}
