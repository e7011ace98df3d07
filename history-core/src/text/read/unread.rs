//! The unread part of a source: the bytes that were returned to it, then those that it still has.

use super::decompress::Source;
use crate::cast::Cast as _;
use std::io::{self, Read};

/// A source to which bytes can be returned.
pub(super) struct Unread<'s> {
    back: Vec<u8>,
    /// The number of bytes of `back` that were read again; at most its length.
    at: usize,
    /// The error of the last read of the source, to be returned again after `back`.
    failure: Option<io::Error>,
    source: Source<'s>,
}

impl<'s> Unread<'s> {
    pub(super) fn new(source: Source<'s>) -> Unread<'s> {
        Unread { back: Vec::new(), at: 0, failure: None, source }
    }

    /// Returns the source. Nothing may have been read from it.
    pub(super) fn into_source(self) -> Source<'s> {
        self.source
    }

    /// Takes back bytes that were read, and the error that followed them. They are returned again.
    pub(super) fn give_back(&mut self, bytes: &[u8], failure: Option<io::Error>) {
        let rest = self.back.split_off(self.at);
        self.back.clear();
        self.at = 0;
        self.back.extend_from_slice(bytes);
        self.back.extend_from_slice(&rest);
        self.failure = failure.or(self.failure.take());
    }

    /// Reads `count` more bytes, or as many as there are; returns their number. Bytes before an error are kept.
    pub(super) fn read_up_to(&mut self, count: usize, bytes: &mut Vec<u8>) -> io::Result<usize> {
        let back = count.min(self.back.len() - self.at);
        bytes.extend_from_slice(&self.back[self.at..self.at + back]);
        self.at += back;
        if back == count {
            return Ok(count);
        }
        self.failed()?;
        let got = self.source.by_ref().take((count - back).to_u64()).read_to_end(bytes)?;
        Ok(back + got)
    }

    /// Overwrites `out` until it is full, or as far as possible; returns the number of bytes. An error follows them.
    ///
    /// For a buffer that was filled before: [`Unread::read_up_to`] clears the bytes before it overwrites them, because
    /// not every source can be trusted with uninitialized bytes.
    pub(super) fn read_over(&mut self, out: &mut [u8]) -> (usize, io::Result<()>) {
        let mut got = 0;
        while got < out.len() {
            match self.read(&mut out[got..]) {
                Ok(0) => break,
                Ok(count) => got += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return (got, Err(error)),
            }
        }
        (got, Ok(()))
    }

    /// Returns the error that followed the bytes in `back`, once those were read again.
    fn failed(&mut self) -> io::Result<()> {
        (self.back, self.at) = (Vec::new(), 0);
        self.failure.take().map_or(Ok(()), Err)
    }
}

impl Read for Unread<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.at < self.back.len() {
            let count = (&self.back[self.at..]).read(out)?;
            self.at += count;
            return Ok(count);
        }
        if !out.is_empty() {
            self.failed()?;
        }
        self.source.read(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A source that returns a few bytes, then an error, then more bytes.
    struct Breaks(u8);

    impl Read for Breaks {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            self.0 += 1;
            if self.0 == 2 {
                return Err(io::Error::other("it broke"));
            }
            out[0] = b'0' + self.0;
            Ok(usize::from(self.0 < 5))
        }
    }

    #[test]
    fn what_was_given_back_comes_before_its_error_and_that_before_the_rest() {
        let mut unread = Unread::new(Box::new(Breaks(0)));
        let mut bytes = Vec::new();
        let failure = unread.read_up_to(10, &mut bytes).unwrap_err();
        assert_eq!(bytes, b"1");
        unread.give_back(b"xy1", Some(failure));
        let mut bytes = Vec::new();
        assert_eq!(unread.read_up_to(2, &mut bytes).unwrap(), 2);
        // The remaining bytes of `back` follow those that are given back now.
        unread.give_back(&bytes, None);
        bytes.clear();
        assert_eq!(unread.read_up_to(10, &mut bytes).unwrap_err().to_string(), "it broke");
        assert_eq!(bytes, b"xy1");
        unread.read_to_end(&mut bytes).unwrap();
        assert_eq!(bytes, b"xy134");
    }

    #[test]
    fn a_buffer_is_read_over_up_to_an_error_and_then_to_the_end() {
        let mut unread = Unread::new(Box::new(Breaks(0)));
        unread.give_back(b"xy", None);
        let mut out = *b"--------";
        let (got, failure) = unread.read_over(&mut out[..2]);
        assert_eq!((got, failure.is_ok(), &out), (2, true, b"xy------"));
        let (got, failure) = unread.read_over(&mut out);
        assert_eq!((got, failure.unwrap_err().to_string(), &out), (1, "it broke".to_owned(), b"1y------"));
        let (got, failure) = unread.read_over(&mut out);
        assert_eq!((got, failure.is_ok(), &out[..2]), (2, true, &b"34"[..]));
    }
}
