//! A command that starts another process: the words after `exec:`.

use histcheck_plugin::host::{self, Trust};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

/// What the name of a checker or model in another process begins with.
pub const PREFIX: &str = "exec:";

/// Whether a name is that of a checker or model in another process.
pub fn is_command(name: &str) -> bool {
    name.starts_with(PREFIX)
}

/// A command that may be run.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    /// The name that the user gave, as it appears in errors.
    pub(crate) name: Arc<str>,
    words: Vec<String>,
}

impl Program {
    /// Parses the command in a text that begins with [`PREFIX`]. Quotes keep spaces within a word, as in a shell.
    ///
    /// # Errors
    ///
    /// If it is not a command, or must not be run: the rest of a sentence that begins with its name.
    pub(crate) fn new(name: &str, trust: Trust) -> Result<Program, String> {
        let words = shlex::split(name.strip_prefix(PREFIX).unwrap_or(name)).unwrap_or_default();
        let Some(program) = words.first() else {
            return Err("is not a command; expected exec:PROGRAM, or exec:'PROGRAM ARGUMENT...'".to_owned());
        };
        // A program found by its name is the system's, or in a directory that the user chose.
        let is_named_file = |word: &&String| Path::new(word).is_file() && (word.contains('/') || *word != program);
        for file in words.iter().filter(is_named_file) {
            host::check_trust(Path::new(file), trust).map_err(|error| format!("is not run: {error}"))?;
        }
        Ok(Program { name: name.into(), words })
    }

    /// The process to start, with pipes.
    pub(crate) fn command(&self) -> Command {
        // There is at least one word.
        let mut command = Command::new(&self.words[0]);
        command.args(&self.words[1..]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // The terminal's interrupt must only reach histcheck, which ends the process when necessary.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command
    }

    /// The reason why it was not started: the rest of a sentence.
    pub(crate) fn not_started(&self, error: &std::io::Error) -> String {
        let program = &self.words[0];
        match error.kind() {
            std::io::ErrorKind::NotFound if program.contains('/') => {
                format!("cannot be started: {program} or its interpreter was not found")
            }
            std::io::ErrorKind::NotFound => {
                format!(
                    "cannot be started: {program} was not found in PATH; for a file in this directory, use exec:./{program}"
                )
            }
            std::io::ErrorKind::PermissionDenied => format!(
                "cannot be started: {program} is not executable; run chmod +x, or pass its interpreter: exec:'python3 {program}'"
            ),
            _ => format!("cannot be started: {error}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_a_shell() {
        let words = |text: &str| Program::new(text, Trust::Own).map(|program| program.words);
        assert_eq!(words("exec:./check"), Ok(vec!["./check".to_owned()]));
        assert_eq!(words("exec:python3 'a b.py' -x"), Ok(["python3", "a b.py", "-x"].map(str::to_owned).to_vec()));
        for nothing in ["exec:", "exec: ", "exec:'a"] {
            let error = words(nothing).unwrap_err();
            assert!(error.starts_with("is not a command"), "{nothing}: {error}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn files_that_others_can_write_are_not_run() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().unwrap();
        let script = directory.path().join("check.py");
        std::fs::write(&script, "").unwrap();
        std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o777)).unwrap();
        for command in [format!("exec:{}", script.display()), format!("exec:python3 {}", script.display())] {
            let error = Program::new(&command, Trust::Own).unwrap_err();
            assert!(error.contains("can be written by other users"), "{error}");
            Program::new(&command, Trust::All).unwrap();
        }
    }
}
