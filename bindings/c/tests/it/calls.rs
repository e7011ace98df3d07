//! Calls the functions as C does.
#![allow(unsafe_code)]

use histcheck::{
    HISTCHECK_ERROR, HISTCHECK_INVALID, HISTCHECK_VALID, HistcheckResult, HistcheckStream, histcheck_check_bytes,
    histcheck_result_error, histcheck_result_free, histcheck_result_json, histcheck_result_verdict,
    histcheck_stream_feed, histcheck_stream_finish, histcheck_stream_free, histcheck_stream_new,
};
use std::ffi::{CStr, CString, c_char, c_int};
use std::ptr;

const READ: &str = r#"{"process": 1, "type": "invoke", "f": "read", "value": null}"#;

/// The ops of a read, one per line.
fn read(value: &str) -> String {
    format!("{READ}\n{{\"process\": 1, \"type\": \"ok\", \"f\": \"read\", \"value\": {value}}}\n")
}

/// The ops of a write, one per line.
fn write(value: &str) -> String {
    let op = |kind| format!("{{\"process\": 0, \"type\": \"{kind}\", \"f\": \"write\", \"value\": {value}}}\n");
    op("invoke") + &op("ok")
}

/// A text of the library as a Rust string; "" for NULL.
fn text(text: *const c_char) -> String {
    // SAFETY: it is null, or a text of a result that was not freed.
    if text.is_null() { String::new() } else { unsafe { CStr::from_ptr(text) }.to_str().unwrap().to_owned() }
}

/// The verdict of a result, its error and its JSON. Frees the result.
fn taken(result: *mut HistcheckResult) -> (c_int, String, String) {
    // SAFETY: it is a result that was not freed, and is not used later.
    unsafe {
        let found = (histcheck_result_verdict(result), histcheck_result_error(result), histcheck_result_json(result));
        let found = (found.0, text(found.1), text(found.2));
        histcheck_result_free(result);
        found
    }
}

fn check(history: &str, settings: &str) -> (c_int, String, String) {
    let settings = CString::new(settings).unwrap();
    // SAFETY: the texts live until the call returns.
    taken(unsafe {
        histcheck_check_bytes(history.as_ptr().cast(), history.len(), c"register".as_ptr(), settings.as_ptr())
    })
}

struct Stream(*mut HistcheckStream);

impl Stream {
    fn new(settings: &CStr) -> Result<Stream, String> {
        let mut error = ptr::null_mut();
        // SAFETY: the texts live until the call returns, and the pointer may be written.
        let stream = unsafe { histcheck_stream_new(c"register".as_ptr(), settings.as_ptr(), &raw mut error) };
        if stream.is_null() { Err(taken(error).1) } else { Ok(Stream(stream)) }
    }

    /// Returns 1 or 0, or the error.
    fn feed(&self, history: &str) -> Result<c_int, String> {
        let mut error = ptr::null_mut();
        // SAFETY: the stream was not freed, the bytes live until the call returns, and the pointer may be written.
        let fed = unsafe { histcheck_stream_feed(self.0, history.as_ptr().cast(), history.len(), &raw mut error) };
        if fed == -1 { Err(taken(error).1) } else { Ok(fed) }
    }

    fn finish(&self) -> (c_int, String, String) {
        // SAFETY: the stream was not freed.
        taken(unsafe { histcheck_stream_finish(self.0) })
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // SAFETY: it was not freed.
        unsafe { histcheck_stream_free(self.0) };
    }
}

#[test]
fn lines_after_an_error_are_not_left_out() {
    // The stale read is in the same text as the invalid line, or in the next one.
    for (one, next) in [("no op{\n".to_owned() + &read("2"), String::new()), ("no op{\n".to_owned(), read("2"))] {
        let stream = Stream::new(c"{}").unwrap();
        assert_eq!(stream.feed(&(write("1") + &read("1"))), Ok(0));
        let error = stream.feed(&one).unwrap_err();
        assert!(error.contains("line 5, column 1: this word is not JSON"), "{error}");
        assert_eq!(stream.feed(&next), Err(error.clone()));
        let (verdict, at_the_end, _) = stream.finish();
        assert_eq!((verdict, at_the_end), (HISTCHECK_ERROR, error));
    }
}

#[test]
fn a_violation_before_an_error_stays_one() {
    let stream = Stream::new(c"{}").unwrap();
    assert!(stream.feed(&(write("1") + &read("2") + "no op{\n")).is_err());
    assert_eq!(stream.feed(""), Ok(1));
    let (verdict, _, json) = stream.finish();
    assert_eq!(verdict, HISTCHECK_INVALID);
    assert!(json.contains("nonlinearizable"), "{json}");
}

#[test]
fn a_violation_before_half_a_line_stays_one() {
    for (value, wanted) in [("2", HISTCHECK_INVALID), ("1", HISTCHECK_ERROR)] {
        let stream = Stream::new(c"{}").unwrap();
        stream.feed(&(write("1") + &read(value) + &READ[..READ.len() - 5])).unwrap();
        assert_eq!(stream.finish().0, wanted);
    }
}

#[test]
fn a_line_without_an_end_counts() {
    let stream = Stream::new(c"{}").unwrap();
    assert_eq!(stream.feed((write("1") + &read("1")).trim_end()), Ok(0));
    assert_eq!(stream.finish().0, HISTCHECK_VALID);
}

#[test]
fn formats_without_lines_of_ops_are_refused() {
    assert_eq!(
        Stream::new(cr#"{"format": "cobra"}"#).err().unwrap(),
        r#"format is "cobra"; expected "edn" or "json" for a stream"#
    );
    assert!(Stream::new(cr#"{"format": "json"}"#).is_ok());
}

#[test]
fn an_initial_value_is_a_value_as_in_a_history() {
    for value in ["18446744073709551616", "[1, 18446744073709551616]", "\"1\"", "\":a\"", "\"a b\"", "[\"a b\", 1]"] {
        let settings = format!("{{\"options\": {{\"initial\": {value}}}}}");
        let (verdict, error, json) = check(&read(value), &settings);
        assert_eq!(verdict, HISTCHECK_VALID, "{value}: {error} {json}");
    }
    assert_eq!(check(&read("18446744073709551617"), r#"{"options": {"initial": 18446744073709551616}}"#).0, 0);
    assert_eq!(check(&read("1"), r#"{"options": {"initial": "1"}}"#).0, HISTCHECK_INVALID);
}

#[test]
fn what_was_decided_about_keys_is_a_note() {
    let (_, _, json) = check(&(write("[7, 1]") + &read("[7, 1]")), r#"{"keyed": "auto"}"#);
    assert!(json.contains(r#""notes":["the history is checked as a whole: "#), "{json}");
}
