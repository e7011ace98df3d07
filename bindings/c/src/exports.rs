//! The functions that C calls. Only they receive and return pointers, so this is the only file with `unsafe`.
//!
//! `include/histcheck.h` is generated from these functions and their docs. It states once, for all of them, the
//! requirements on pointers.
#![allow(unsafe_code)]
#![allow(clippy::missing_safety_doc, reason = "the head of the header states what the caller has to hold")]

use crate::outcome::{HISTCHECK_ERROR, HistcheckResult};
use crate::settings::Settings;
use crate::stream::HistcheckStream;
use history_core::HistoryError;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

const PANICKED: &str = "histcheck panicked, which is a bug: please report it";

/// A text from C; `None` if it is null.
///
/// # Safety
///
/// It is null, or ends with a zero and remains unchanged until the call returns.
unsafe fn text<'a>(text: *const c_char, what: &str) -> Result<&'a str, String> {
    if text.is_null() {
        return Err(format!("{what} is NULL"));
    }
    // SAFETY: the caller guarantees the same.
    unsafe { CStr::from_ptr(text) }.to_str().map_err(|_| format!("{what} is not UTF-8"))
}

/// Settings from C; none if they are null.
///
/// # Safety
///
/// As for [`text`].
unsafe fn settings<'a>(given: *const c_char) -> Result<&'a str, String> {
    // SAFETY: the caller guarantees the same.
    if given.is_null() { Ok("") } else { unsafe { text(given, "settings") } }
}

/// Bytes from C.
///
/// # Safety
///
/// There are `size` bytes, unless `size` is zero.
unsafe fn bytes<'a>(data: *const c_void, size: usize) -> Result<&'a [u8], String> {
    match (data.is_null(), size) {
        (_, 0) => Ok(&[]),
        (true, _) => Err("data is NULL".to_owned()),
        // SAFETY: the caller guarantees the same.
        (false, _) => Ok(unsafe { std::slice::from_raw_parts(data.cast(), size) }),
    }
}

/// The result of `does`. A panic becomes an error.
fn caught(name: &str, does: impl FnOnce() -> Result<HistcheckResult, String>) -> *mut HistcheckResult {
    let result = match catch_unwind(AssertUnwindSafe(does)) {
        Ok(Ok(result)) => result,
        Ok(Err(message)) => HistcheckResult::failed(name, &message),
        Err(_) => HistcheckResult::failed(name, PANICKED),
    };
    Box::into_raw(Box::new(result))
}

/// The version of this library, "0.1.0". It is not to be freed.
#[unsafe(no_mangle)]
pub extern "C" fn histcheck_version() -> *const c_char {
    const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    VERSION.as_ptr().cast()
}

/// Checks the history in size bytes of text, in any format. The result is never NULL, and is to be freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn histcheck_check_bytes(
    data: *const c_void,
    size: usize,
    checker: *const c_char,
    settings_json: *const c_char,
) -> *mut HistcheckResult {
    caught("bytes", || {
        // SAFETY: the header requires the same of the caller.
        let (data, checker, given) =
            unsafe { (bytes(data, size)?, text(checker, "checker")?, settings(settings_json)?) };
        let settings = Settings::parse(checker, given, false)?;
        let open = || Ok(settings.read_as.bytes(data));
        Ok(HistcheckResult::new("bytes", &check(&settings, open)))
    })
}

/// Checks a file, or the history in a directory of Jepsen. The result is never NULL, and is to be freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn histcheck_check_file(
    path: *const c_char,
    checker: *const c_char,
    settings_json: *const c_char,
) -> *mut HistcheckResult {
    caught("file", || {
        // SAFETY: the header requires the same of the caller.
        let (path, checker, given) =
            unsafe { (text(path, "path")?, text(checker, "checker")?, settings(settings_json)?) };
        let settings = Settings::parse(checker, given, false)?;
        let open = || settings.read_as.open(path);
        Ok(HistcheckResult::new(path, &check(&settings, open)))
    })
}

fn check<'r>(
    settings: &Settings,
    open: impl FnOnce() -> Result<history_core::Reader<'r>, HistoryError>,
) -> Result<history_core::Report, HistoryError> {
    let checked = settings.setup.check(|_| open(), &std::sync::Arc::default(), &settings.budget(), &());
    let mut report = checked.outcome?;
    // The decisions for "keyed": "auto". The command prints them to standard error, which a library must not use.
    report.notes.extend(checked.decisions);
    Ok(report)
}

/// The verdict; `HISTCHECK_ERROR` for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn histcheck_result_verdict(result: *const HistcheckResult) -> c_int {
    // SAFETY: it is null, or a result that was not freed.
    unsafe { result.as_ref() }.map_or(HISTCHECK_ERROR, |result| result.verdict)
}

/// The report as `histcheck --output json` writes it, or an object with "error". It lives as long as the
/// result. "" for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn histcheck_result_json(result: *const HistcheckResult) -> *const c_char {
    // SAFETY: it is null, or a result that was not freed.
    unsafe { result.as_ref() }.map_or(c"".as_ptr(), |result| result.json.as_ptr())
}

/// The error message if the verdict is `HISTCHECK_ERROR`; otherwise NULL. It may have several lines, and lives as
/// long as the result.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn histcheck_result_error(result: *const HistcheckResult) -> *const c_char {
    // SAFETY: it is null, or a result that was not freed.
    let error = unsafe { result.as_ref() }.and_then(|result| result.error.as_ref());
    error.map_or(ptr::null(), |error| error.as_ptr())
}

/// Frees a result. Does nothing for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn histcheck_result_free(result: *mut HistcheckResult) {
    if !result.is_null() {
        // SAFETY: it comes from `Box::into_raw`, and was not freed.
        drop(unsafe { Box::from_raw(result) });
    }
}

/// Starts the check of a history that is still being written. On failure it returns NULL and sets `*error`, unless
/// error is NULL, to a result that is to be freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn histcheck_stream_new(
    checker: *const c_char,
    settings_json: *const c_char,
    error: *mut *mut HistcheckResult,
) -> *mut HistcheckStream {
    let started = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: the header requires the same of the caller.
        let (checker, given) = unsafe { (text(checker, "checker")?, settings(settings_json)?) };
        HistcheckStream::start(checker, given)
    }));
    let message = match started {
        Ok(Ok(stream)) => return Box::into_raw(Box::new(stream)),
        Ok(Err(message)) => message,
        Err(_) => PANICKED.to_owned(),
    };
    if !error.is_null() {
        // SAFETY: it points to a pointer that may be written.
        unsafe { error.write(Box::into_raw(Box::new(HistcheckResult::failed("stream", &message)))) };
    }
    ptr::null_mut()
}

/// Adds text: lines of JSON or EDN, one op each. The text may end within a line. Returns 1 if the ops so far prove a
/// violation, 0 if they do not, and -1 on failure; `*error` is then set as by `histcheck_stream_new`. For checkers
/// that decide only at the end it returns 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn histcheck_stream_feed(
    stream: *const HistcheckStream,
    data: *const c_void,
    size: usize,
    error: *mut *mut HistcheckResult,
) -> c_int {
    let fed = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: it is null, or a stream that was not freed; and the bytes exist.
        let (stream, data) = unsafe { (stream.as_ref(), bytes(data, size)) };
        let stream = stream.ok_or_else(|| HistcheckResult::failed("stream", "stream is NULL"))?;
        let data = data.map_err(|message| HistcheckResult::failed("stream", &message))?;
        stream.feed(data).map_err(|error| HistcheckResult::new("stream", &Err(error)))
    }));
    let failed = match fed {
        Ok(Ok(is_violated)) => return is_violated,
        Ok(Err(failed)) => failed,
        Err(_) => HistcheckResult::failed("stream", PANICKED),
    };
    if !error.is_null() {
        // SAFETY: it points to a pointer that may be written.
        unsafe { error.write(Box::into_raw(Box::new(failed))) };
    }
    -1
}

/// The report on the violation, which is to be freed; NULL if there is none so far.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn histcheck_stream_violation(stream: *const HistcheckStream) -> *mut HistcheckResult {
    // SAFETY: it is null, or a stream that was not freed.
    let stream = unsafe { stream.as_ref() };
    let found = catch_unwind(AssertUnwindSafe(|| stream.and_then(HistcheckStream::violation)));
    let found = found.unwrap_or_else(|_| Some(HistcheckResult::failed("stream", PANICKED)));
    found.map_or(ptr::null_mut(), |result| Box::into_raw(Box::new(result)))
}

/// The report on all text that was fed: never NULL, and to be freed. After an error of `histcheck_stream_feed`, the
/// violation that was proved before it, or else the error. The stream accepts no more text, and is still to be freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn histcheck_stream_finish(stream: *const HistcheckStream) -> *mut HistcheckResult {
    caught("stream", || {
        // SAFETY: it is null, or a stream that was not freed.
        let stream = unsafe { stream.as_ref() }.ok_or("stream is NULL")?;
        Ok(stream.finish())
    })
}

/// Frees a stream. Does nothing for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn histcheck_stream_free(stream: *mut HistcheckStream) {
    if !stream.is_null() {
        // SAFETY: it comes from `Box::into_raw`, and was not freed.
        let stream = unsafe { Box::from_raw(stream) };
        _ = catch_unwind(AssertUnwindSafe(|| drop(stream)));
    }
}
