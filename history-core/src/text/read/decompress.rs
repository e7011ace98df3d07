//! Detecting whether a source is compressed, and decompressing it.

use crate::cast::Cast as _;
use crate::error::{ErrorKind, HistoryError};
use std::io::{Cursor, Read};

const GZIP: [u8; 2] = [0x1f, 0x8b];
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
const BOM: [u8; 3] = [0xef, 0xbb, 0xbf];
const JEPSEN: [u8; 6] = *b"JEPSEN";

/// Instructions for a message: how to get text from a test that Jepsen stored in its binary form.
pub(crate) const TO_TEXT: &str = "history.edn, which Jepsen writes beside test.jepsen when a test ends; or else, at \
    its REPL, (jepsen.store/write-history! (jepsen.store/test \"STORE-DIRECTORY\"))";

pub(crate) type Source<'s> = Box<dyn Read + Send + 's>;

/// Returns the text of a source, decompressed, without its byte order mark; the length of that mark; and whether the
/// source was compressed.
pub(super) fn open(mut source: Source<'_>) -> Result<(Source<'_>, u64, bool), HistoryError> {
    let head = head(&mut source, JEPSEN.len())?;
    if head == JEPSEN {
        return Err(HistoryError::new(ErrorKind::Io, "this is Jepsen's binary format, which histcheck does not read")
            .expected(TO_TEXT));
    }
    let whole = Cursor::new(head.clone()).chain(source);
    let mut text = if head.starts_with(&GZIP) {
        gzip(whole)?
    } else if is_zstd(&head) {
        zstd(whole)?
    } else {
        return without_bom(&head, whole).map(|(text, mark)| (text, mark, false));
    };
    let head = self::head(&mut text, BOM.len())?;
    without_bom(&head, Cursor::new(head.clone()).chain(text)).map(|(text, mark)| (text, mark, true))
}

/// Decompresses a source that is a part of a larger one.
#[cfg(feature = "files")]
pub(crate) fn decompressed(source: Source<'static>) -> Result<Source<'static>, HistoryError> {
    open(source).map(|(source, ..)| source)
}

/// Returns true if this begins a frame of zstd, or a skippable frame, which some compressors write first.
fn is_zstd(head: &[u8]) -> bool {
    head.starts_with(&ZSTD) || matches!(head, [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..])
}

fn without_bom<'s>(head: &[u8], mut whole: impl Read + Send + 's) -> Result<(Source<'s>, u64), HistoryError> {
    if head.starts_with(&[0xff, 0xfe]) || head.starts_with(&[0xfe, 0xff]) {
        return Err(
            HistoryError::new(ErrorKind::Syntax, "this text is UTF-16").expected("UTF-8; convert it with iconv")
        );
    }
    if !head.starts_with(&BOM) {
        return Ok((Box::new(whole), 0));
    }
    whole.read_exact(&mut [0; BOM.len()]).map_err(io)?;
    Ok((Box::new(whole), BOM.len().to_u64()))
}

/// The first bytes of a source, fewer only where it ends.
fn head(source: &mut impl Read, len: usize) -> Result<Vec<u8>, HistoryError> {
    let mut head = Vec::with_capacity(len);
    source.take(len.to_u64()).read_to_end(&mut head).map_err(io)?;
    Ok(head)
}

fn io(error: std::io::Error) -> HistoryError {
    HistoryError::io(format!("reading failed: {error}"), error)
}

#[cfg(feature = "gzip")]
#[expect(clippy::unnecessary_wraps, reason = "it can fail where the feature is off")]
fn gzip<'s>(source: impl Read + Send + 's) -> Result<Source<'s>, HistoryError> {
    Ok(Box::new(flate2::read::MultiGzDecoder::new(source)))
}

#[cfg(not(feature = "gzip"))]
fn gzip<'s>(_: impl Read + Send + 's) -> Result<Source<'s>, HistoryError> {
    Err(HistoryError::new(ErrorKind::Io, "this is gzip, and this program was built without it").expected("text"))
}

#[cfg(feature = "zstd")]
fn zstd<'s>(source: impl Read + Send + 's) -> Result<Source<'s>, HistoryError> {
    Ok(Box::new(zstd::Decoder::new(source).map_err(io)?))
}

#[cfg(not(feature = "zstd"))]
fn zstd<'s>(_: impl Read + Send + 's) -> Result<Source<'s>, HistoryError> {
    Err(HistoryError::new(ErrorKind::Io, "this is zstd, and this program was built without it").expected("text"))
}
