//! Verifies who could have written a library: one that other users can change is not loaded by default.

use super::Trust;
use super::error::{LoadError, LoadErrorKind};
use std::path::Path;

/// Rejects a library that other users can write or replace.
pub(super) fn check_library(path: &Path, trust: Trust) -> Result<(), LoadError> {
    if trust == Trust::All {
        return Ok(());
    }
    refuse_if(path, path, others_can_write(path, false))?;
    let is_in = |path: &Path| path.parent().filter(|parent| !parent.as_os_str().is_empty()).map(Path::to_owned);
    let path_or_here = is_in(path).unwrap_or_else(|| ".".into());
    refuse_if(path, &path_or_here, others_can_write(&path_or_here, true))?;
    // Other users may be able to replace the target of a link.
    let real = std::fs::canonicalize(path).ok().and_then(|real| is_in(&real));
    real.map_or(Ok(()), |real| refuse_if(path, &real, others_can_write(&real, true)))
}

/// Rejects a directory into which other users can put libraries.
pub(super) fn check_directory(path: &Path, trust: Trust) -> Result<(), LoadError> {
    if trust == Trust::All {
        return Ok(());
    }
    refuse_if(path, path, others_can_write(path, false))
}

fn refuse_if(path: &Path, what: &Path, why: Option<&str>) -> Result<(), LoadError> {
    let Some(why) = why else { return Ok(()) };
    let message = if path == what {
        format!("{why}, and a plugin runs with your permissions; change that, or pass --trust")
    } else {
        format!(
            "is in {}, which {why}, and a plugin runs with your permissions; change that, or pass --trust",
            what.display()
        )
    };
    Err(LoadError::new(path, LoadErrorKind::Untrusted, message))
}

/// How other users could have written this, if they could. In `sticky` directories users cannot replace files of
/// others.
#[cfg(unix)]
fn others_can_write(path: &Path, sticky_will_do: bool) -> Option<&'static str> {
    use std::os::unix::fs::MetadataExt;
    const OTHERS_WRITE: u32 = 0o002;
    const STICKY: u32 = 0o1000;
    const ROOT: u32 = 0;
    let metadata = std::fs::metadata(path).ok()?;
    let mode = metadata.mode();
    if mode & OTHERS_WRITE != 0 && !(sticky_will_do && mode & STICKY != 0) {
        return Some("can be written by other users");
    }
    // If the system does not return this user's id, owners are not compared.
    let own = std::fs::metadata("/proc/self").ok()?.uid();
    (metadata.uid() != own && metadata.uid() != ROOT).then_some("belongs to another user")
}

/// On other systems, permissions are more complex, and the user's folders are not accessible to others.
#[cfg(not(unix))]
fn others_can_write(_: &Path, _: bool) -> Option<&'static str> {
    None
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn what_a_link_leads_to_is_looked_at() {
        let directory = tempfile::tempdir().unwrap();
        let (open, link) = (directory.path().join("open"), directory.path().join("p.so"));
        fs::create_dir(&open).unwrap();
        fs::write(open.join("q.so"), "").unwrap();
        std::os::unix::fs::symlink(open.join("q.so"), &link).unwrap();
        assert!(check_library(&link, Trust::Own).is_ok());
        fs::set_permissions(&open, Permissions::from_mode(0o777)).unwrap();
        let error = check_library(&link, Trust::Own).unwrap_err().to_string();
        assert!(error.contains("open, which can be written by other users"), "{error}");
        assert!(check_library(&link, Trust::All).is_ok());
    }

    #[test]
    fn what_others_can_write_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let library = directory.path().join("p.so");
        fs::write(&library, "").unwrap();
        let allow = |path: &Path, mode: u32| fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
        let kind = |result: Result<(), LoadError>| result.err().map(|error| error.kind);
        let refused = Some(LoadErrorKind::Untrusted);
        allow(directory.path(), 0o755);
        allow(&library, 0o755);
        assert_eq!(kind(check_library(&library, Trust::Own)), None);
        allow(&library, 0o757);
        assert_eq!(kind(check_library(&library, Trust::Own)), refused);
        assert_eq!(kind(check_library(&library, Trust::All)), None);
        allow(&library, 0o755);
        allow(directory.path(), 0o777);
        assert_eq!(kind(check_library(&library, Trust::Own)), refused, "others can put another file there");
        assert_eq!(kind(check_directory(directory.path(), Trust::Own)), refused);
        allow(directory.path(), 0o1777);
        assert_eq!(kind(check_library(&library, Trust::Own)), None, "others cannot replace it");
        assert_eq!(kind(check_directory(directory.path(), Trust::Own)), refused, "others can add to it");
    }
}
