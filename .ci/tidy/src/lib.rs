//! Tests of the repository's own rules. The tests of this crate read only manifests, sources and documents.
//!
//! - `dependencies`: the dependencies between crates, as the table in `docs/architecture.md` permits them.
//! - `packages`: the files that each published crate contains.
//! - `files`: the form of sources.
//! - `structure`: cycles of modules, large folders, names of checkers in the command line.
//! - `counts`: casts and long functions, by numbers that may only fall; files that nothing uses.

pub mod manifests;
pub mod modules;

use std::fs;
use std::path::{Path, PathBuf};

/// The folder of the workspace.
pub fn root() -> PathBuf {
    let mut here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    here.pop();
    here.pop();
    here
}

/// A file of the repository.
///
/// # Panics
///
/// If it cannot be read.
pub fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// What a source has before its tests, without comments.
pub fn code(text: &str) -> String {
    let code = text.split("\nmod tests").next().unwrap_or_default();
    code.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

/// All files whose names end so, by their paths from the root, in order. Links are omitted, and so is what is built.
///
/// # Panics
///
/// If a folder cannot be listed.
pub fn files(ending: &str) -> Vec<String> {
    let (root, mut found, mut folders) = (root(), Vec::new(), vec![PathBuf::new()]);
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(root.join(&folder)).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        for entry in entries {
            let entry = entry.unwrap();
            let (name, kind) = (entry.file_name().into_string().unwrap(), entry.file_type().unwrap());
            let path = folder.join(&name);
            if kind.is_dir() && name != "target" && (name == ".ci" || !name.starts_with('.')) {
                folders.push(path);
            } else if kind.is_file() && name.ends_with(ending) {
                found.push(path.to_str().unwrap().replace('\\', "/"));
            }
        }
    }
    found.sort();
    found
}
