//! Runs programs of the system: `ip`, `nft`, `mount`.

use crate::error::LiveError;
use std::io::Write as _;
use std::process::{Command, Stdio};

/// Runs a command to its end.
pub(crate) fn run(command: &mut Command, input: &str) -> Result<(), LiveError> {
    let program = command.get_program().to_string_lossy().into_owned();
    let start_failed = |source| LiveError::Start { program: program.clone(), source };
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(start_failed)?;
    if let Some(mut stdin) = child.stdin.take() {
        // If a command ends before it has read everything, its error message contains the reason.
        let _ = stdin.write_all(input.as_bytes());
    }
    let ended = child.wait_with_output().map_err(start_failed)?;
    if ended.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&ended.stderr).trim().to_owned();
    Err(LiveError::Store { what: format!("{program} ended with {}", ended.status), log: said })
}

/// Splits a command whose words contain no spaces.
pub(crate) fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}
