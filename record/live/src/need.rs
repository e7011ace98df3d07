//! Programs that a store needs, where they are searched for, and which Debian package contains them.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;

/// A program that must be installed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Need {
    /// Its name, or its path if that is fixed. A `*` in the path represents a version: the greatest is used.
    pub program: &'static str,
    /// The Debian package that has it.
    pub package: &'static str,
}

/// Directories that are not in every user's path.
const ADMINISTRATORS: [&str; 3] = ["/usr/local/sbin", "/usr/sbin", "/sbin"];

impl Need {
    /// A program, and the Debian package that has it.
    pub const fn new(program: &'static str, package: &'static str) -> Need {
        Need { program, package }
    }

    /// The path of the program.
    pub fn find(&self) -> Option<PathBuf> {
        find(self.program)
    }

    /// Those of them that are not here.
    pub fn missing(needs: &[Need]) -> Vec<Need> {
        needs.iter().filter(|need| need.find().is_none()).copied().collect()
    }
}

/// The path of a program: see [`Need::program`].
pub(crate) fn find(program: &str) -> Option<PathBuf> {
    if let Some((before, behind)) = program.split_once("/*/") {
        let versions = fs::read_dir(before).ok()?.flatten().map(|entry| entry.path());
        let number = |path: &PathBuf| -> Option<u32> { path.file_name()?.to_str()?.parse().ok() };
        return versions.filter(|path| path.join(behind).is_file()).max_by_key(number).map(|path| path.join(behind));
    }
    if program.contains('/') {
        return Some(PathBuf::from(program)).filter(|path| path.is_file());
    }
    env::split_paths(&search_path()).map(|directory| directory.join(program)).find(|path| path.is_file())
}

/// The user's path, and the directories of programs for administrators: users may run these in a namespace of their
/// own.
pub fn search_path() -> OsString {
    let own = env::var_os("PATH").unwrap_or_default();
    let all = env::split_paths(&own).filter(|path| !path.as_os_str().is_empty()).collect::<Vec<_>>();
    let more = ADMINISTRATORS.iter().map(PathBuf::from).filter(|path| !all.contains(path));
    env::join_paths(all.iter().cloned().chain(more)).unwrap_or(own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_is_here_and_nonsense_is_not() {
        let needs = [Need::new("sh", "dash"), Need::new("no-such-program", "no-such-package")];
        assert_eq!(Need::missing(&needs), [needs[1]]);
        assert!(Need::new("/bin/sh", "dash").find().is_some());
    }
}
