//! Finding and loading plugins, for programs that run them.
//!
//! Only named libraries are loaded: [`load`] takes a path, [`libraries_in`] lists those in a directory. Both reject
//! what other users could have written, unless the user trusts it: a library runs with all permissions of the user.
//! Libraries are never unloaded. Names and help texts of their options are kept permanently, too, each text once.

mod error;
mod library;
mod object;
mod remote;
mod trust;

pub use error::{LoadError, LoadErrorKind};

use crate::interface::{HAS, InterfaceRef, VERSION};
use crate::wire::{Answer, Described, Description, Refusal};
use abi_stable::library::LibraryError;
use history_core::Checker;
use library::NotOpened;
use remote::RemoteChecker;
use std::fs;
use std::path::{Path, PathBuf};

/// A plugin that was loaded.
pub struct Library {
    /// Where it was found.
    pub path: PathBuf,
    /// Its checkers, ready to be started.
    pub checkers: Vec<Box<dyn Checker>>,
}

/// Whether to load what other users can write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Trust {
    /// Only what no one can have changed except the user and the system's owner.
    #[default]
    Own,
    /// Anything.
    All,
}

/// The maximum number of checkers in one library.
const LIST_MAX: usize = 1000;

/// Loads a plugin.
///
/// # Errors
///
/// If there is none at the path, if it cannot be loaded here, or if it may not be trusted.
pub fn load(path: &Path, trust: Trust) -> Result<Library, LoadError> {
    object::look(path)?;
    trust::check_library(path, trust)?;
    // Without a slash in the path, the system would search for it in its own folders.
    let absolute = fs::canonicalize(path).map_err(|error| LoadError::unreadable(path, &error))?;
    let header = library::open(path, &absolute).map_err(|error| match error {
        NotOpened::Refused(error) => error,
        NotOpened::Header(error) => refused(path, &error),
    })?;
    let interface = header.init_root_module::<InterfaceRef>().map_err(|error| refused(path, &error))?;
    let description = describe(path, interface)?;
    let mut checkers: Vec<Box<dyn Checker>> = Vec::with_capacity(description.checkers.len());
    for (at, form) in (0..).zip(description.checkers) {
        let described = Described::try_from(form).map_err(|what| LoadError::new(path, LoadErrorKind::Garbage, what))?;
        checkers.push(Box::new(RemoteChecker::new(interface, at, path, described)));
    }
    Ok(Library { path: path.to_owned(), checkers })
}

/// Whether a file may be run with the user's permissions: it, and the directory that it is in, are not writable by
/// other users.
///
/// # Errors
///
/// If they are, unless everything is trusted.
pub fn check_trust(path: &Path, trust: Trust) -> Result<(), LoadError> {
    trust::check_library(path, trust)
}

/// The libraries in a directory, by name; files of other kinds are ignored.
///
/// # Errors
///
/// If it cannot be listed, or may not be trusted.
pub fn libraries_in(directory: &Path, trust: Trust) -> Result<Vec<PathBuf>, LoadError> {
    let unlisted = |error: &std::io::Error| LoadError::unlisted(directory, error);
    let entries = fs::read_dir(directory).map_err(|error| unlisted(&error))?;
    trust::check_directory(directory, trust)?;
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.map_err(|error| unlisted(&error))?.path();
        if path.extension().is_some_and(|extension| extension == std::env::consts::DLL_EXTENSION) {
            found.push(path);
        }
    }
    found.sort_unstable();
    Ok(found)
}

/// Where a user keeps plugins that are always to be loaded, whether or not there is such a directory:
/// `$XDG_DATA_HOME/histcheck/plugins` (`~/.local/share/histcheck/plugins`), on macOS
/// `~/Library/Application Support/histcheck/plugins`, on Windows `%APPDATA%\histcheck\plugins`.
pub fn data_directory() -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let home = || variable("HOME");
    let data = if cfg!(windows) {
        variable("APPDATA")
    } else if cfg!(target_os = "macos") {
        home().map(|home| home.join("Library/Application Support"))
    } else {
        variable("XDG_DATA_HOME").or_else(|| home().map(|home| home.join(".local/share")))
    };
    data.map(|data| data.join("histcheck").join("plugins"))
}

/// The reason why `abi_stable` does not load it, as a sentence.
fn refused(path: &Path, error: &LibraryError) -> LoadError {
    let (kind, message) = match error {
        LibraryError::IncompatibleVersionNumber { actual_version, .. } => (
            LoadErrorKind::OtherInterface,
            format!(
                "was built for plugin interface {}, but this histcheck has interface {}; build it with histcheck-plugin {}",
                actual_version.major, VERSION.0, VERSION.0
            ),
        ),
        LibraryError::InvalidAbiHeader(_) | LibraryError::InvalidCAbi { .. } | LibraryError::ParseVersionError(_) => (
            LoadErrorKind::OtherInterface,
            format!(
                "was built for another plugin interface, but this histcheck has interface {}; build it with \
                 histcheck-plugin {}",
                VERSION.0, VERSION.0
            ),
        ),
        LibraryError::AbiInstability(_) | LibraryError::Many(_) => (
            LoadErrorKind::OtherLayout,
            format!(
                "was built with a histcheck-plugin whose types have another layout; build it with the released \
                 histcheck-plugin {}",
                VERSION.0
            ),
        ),
        // These errors cannot occur, because this crate opens the library and finds the header itself.
        LibraryError::OpenError { .. } | LibraryError::GetSymbolError { .. } | LibraryError::RootModule { .. } => {
            (LoadErrorKind::Panicked, "failed while loading, which is a bug of the plugin".to_owned())
        }
    };
    LoadError::new(path, kind, message).with_details(error.to_string().trim().to_owned())
}

fn describe(path: &Path, interface: InterfaceRef) -> Result<Description, LoadError> {
    let said = (interface.describe())();
    let garbage = |what: String| {
        let message = "sent an invalid description, which is a bug of the plugin".to_owned();
        LoadError::new(path, LoadErrorKind::Garbage, message).with_details(what)
    };
    // The required features are verified before any data that an older histcheck may not understand.
    let needs = serde_json::from_str::<Answer<serde_json::Value>>(&said);
    if let Ok(Answer::Answer(value)) = &needs {
        let missing: Vec<&str> =
            value["needs"].as_array().into_iter().flatten().filter_map(serde_json::Value::as_str).collect();
        let missing: Vec<&str> = missing.into_iter().filter(|need| !HAS.contains(need)).collect();
        if !missing.is_empty() {
            let minor = value["interface"][1].as_u64().unwrap_or_default();
            let message = format!(
                "needs {}, which this histcheck (plugin interface {}.{}) lacks; use one with interface {}.{minor}",
                missing.join(" and "),
                VERSION.0,
                VERSION.1,
                VERSION.0
            );
            return Err(LoadError::new(path, LoadErrorKind::TooNew, message));
        }
    }
    match serde_json::from_str::<Answer<Description>>(&said) {
        Ok(Answer::Answer(description)) if description.checkers.is_empty() => Err(garbage("it has no checkers".into())),
        Ok(Answer::Answer(description)) if description.checkers.len() > LIST_MAX => {
            Err(garbage(format!("it has more than {LIST_MAX} checkers")))
        }
        Ok(Answer::Answer(description)) => Ok(description),
        Ok(Answer::Refusal(Refusal::Panic(said))) => {
            let message = format!("panicked while loading, which is a bug of the plugin: {said}");
            Err(LoadError::new(path, LoadErrorKind::Panicked, message))
        }
        Ok(Answer::Refusal(refusal)) => Err(garbage(format!("it refused: {refusal:?}"))),
        Err(error) => Err(garbage(error.to_string())),
    }
}
