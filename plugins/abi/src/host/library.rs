//! Opens a dynamic library and finds the header of a plugin in it.
#![expect(unsafe_code, reason = "runs the code of another library")]

use super::error::{LoadError, LoadErrorKind};
use abi_stable::library::{AbiHeaderRef, LibHeader, LibraryError, ROOT_MODULE_LOADER_NAME_WITH_NUL};
use libloading::Library;
use std::path::Path;

/// The reason why a library is not opened.
pub(super) enum NotOpened {
    /// The system cannot load it, or it has no header.
    Refused(LoadError),
    /// The header is of another interface, or the plugin failed.
    Header(LibraryError),
}

/// The header of the plugin in a library at an absolute path. The library is never unloaded: threads that it started,
/// and text that it lent, may outlive all its checkers.
pub(super) fn open(path: &Path, absolute: &Path) -> Result<&'static LibHeader, NotOpened> {
    let refused = |kind, message: &str, error: libloading::Error| {
        NotOpened::Refused(LoadError::new(path, kind, message).with_details(error.to_string()))
    };
    // SAFETY: initializers of the library run here. By naming a plugin, the user lets it run with all rights of this
    // process.
    let library = unsafe { Library::new(absolute) }.map_err(|error| {
        refused(LoadErrorKind::NotLoadable, "cannot be loaded by this system; --debug prints what is missing", error)
    })?;
    // SAFETY: this name, which `export_checkers!` defines, refers to a static `LibHeader`. It begins with an
    // `AbiHeader`, which `upgrade` verifies before anything else.
    let header = unsafe { library.get::<AbiHeaderRef>(ROOT_MODULE_LOADER_NAME_WITH_NUL.as_bytes()) };
    let header = header.map(|header| *header).map_err(|error| {
        let message =
            "is a library, but not a plugin of histcheck: the crate of a plugin is a cdylib and calls export_checkers!";
        refused(LoadErrorKind::NotAPlugin, message, error)
    })?;
    std::mem::forget(library);
    header.upgrade().map_err(NotOpened::Header)
}
