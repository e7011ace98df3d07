//! The page of a run, in a program built without the server: it shows nothing.

use super::rest::Rest;
use super::shown::{Progressed, Shown};
use history_core::{Op, Report};
use std::path::Path;

const NONE: &str = "this histcheck was built without the server";

/// A page, which cannot exist.
pub(crate) enum Page {}

impl Page {
    pub(crate) fn open(shown: &Shown<'_>) -> Result<Page, String> {
        let Shown { listen, directory, name, checkers, details } = shown;
        let _ = (listen, directory, name, checkers, details);
        Err(NONE.to_owned())
    }

    pub(crate) fn op(&mut self, _: &Op<'_>) {
        match *self {}
    }

    pub(crate) fn pass(&mut self, _: u64, _: u64, _: Option<u64>) {
        match *self {}
    }

    pub(crate) fn violation(&mut self, _: Option<u64>, _: Option<&Report>) {
        match *self {}
    }

    pub(crate) fn end(&mut self, _: Result<&Report, String>) {
        match *self {}
    }

    #[cfg_attr(not(all(unix, feature = "live")), expect(dead_code, reason = "only `live` has such runs"))]
    pub(crate) fn progress(&mut self, _: Progressed) {
        match *self {}
    }

    #[cfg_attr(not(feature = "live"), expect(dead_code, reason = "only `live` runs inside of another world"))]
    #[cfg(target_os = "linux")]
    pub(crate) fn elsewhere(_: &Path) -> Result<Page, String> {
        Err(NONE.to_owned())
    }

    #[cfg_attr(not(feature = "live"), expect(dead_code, reason = "only `live` runs inside of another world"))]
    #[cfg(target_os = "linux")]
    pub(crate) fn receive_at(&self, _: &Path) -> Result<(), String> {
        match *self {}
    }

    pub(crate) fn close(self, _: Option<&Rest>) {
        match self {}
    }
}
