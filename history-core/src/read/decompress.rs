//! Finding out whether a source is compressed, and undoing it.

use crate::error::{ErrorKind, HistoryError};
use std::io::{Cursor, Read};

const GZIP: [u8; 2] = [0x1f, 0x8b];
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
const BOM: [u8; 3] = [0xef, 0xbb, 0xbf];

type Source<'s> = Box<dyn Read + Send + 's>;

/// The text of a source: decompressed, its byte order mark removed.
pub(super) fn open(mut source: Source<'_>) -> Result<Source<'_>, HistoryError> {
    let head = head(&mut source, ZSTD.len())?;
    let whole = Cursor::new(head.clone()).chain(source);
    let mut text = if head.starts_with(&GZIP) {
        gzip(whole)?
    } else if head.starts_with(&ZSTD) {
        zstd(whole)?
    } else {
        return without_bom(head, whole);
    };
    let head = self::head(&mut text, BOM.len())?;
    without_bom(head.clone(), Cursor::new(head).chain(text))
}

fn without_bom<'s>(head: Vec<u8>, whole: impl Read + Send + 's) -> Result<Source<'s>, HistoryError> {
    if head.starts_with(&[0xff, 0xfe]) || head.starts_with(&[0xfe, 0xff]) {
        return Err(HistoryError::new(ErrorKind::Syntax, "this text is UTF-16").expected("UTF-8; convert it with iconv"));
    }
    let mut whole = whole;
    if head.starts_with(&BOM) {
        let mut bom = [0; BOM.len()];
        whole.read_exact(&mut bom).map_err(io)?;
    }
    Ok(Box::new(whole))
}

/// The first bytes of a source, fewer only where it ends.
fn head(source: &mut impl Read, len: usize) -> Result<Vec<u8>, HistoryError> {
    let mut head = Vec::with_capacity(len);
    source.take(len as u64).read_to_end(&mut head).map_err(io)?;
    Ok(head)
}

fn io(error: std::io::Error) -> HistoryError {
    HistoryError::new(ErrorKind::Io, format!("reading failed: {error}"))
}

#[cfg(feature = "gzip")]
#[expect(clippy::unnecessary_wraps, reason = "it can fail where the feature is off")]
fn gzip<'s>(source: impl Read + Send + 's) -> Result<Source<'s>, HistoryError> {
    Ok(Box::new(flate2::read::MultiGzDecoder::new(source)))
}

#[cfg(not(feature = "gzip"))]
fn gzip<'s>(_: impl Read + Send + 's) -> Result<Source<'s>, HistoryError> {
    Err(HistoryError::new(ErrorKind::Io, "this is gzip, which was left out of this build").expected("text"))
}

#[cfg(feature = "zstd")]
fn zstd<'s>(source: impl Read + Send + 's) -> Result<Source<'s>, HistoryError> {
    Ok(Box::new(zstd::Decoder::new(source).map_err(io)?))
}

#[cfg(not(feature = "zstd"))]
fn zstd<'s>(_: impl Read + Send + 's) -> Result<Source<'s>, HistoryError> {
    Err(HistoryError::new(ErrorKind::Io, "this is zstd, which was left out of this build").expected("text"))
}
