//! `histcheck gen`: a simulated history, written to a file or to standard output.

use crate::line::gen_args::Gen;
use crate::output::diagnose;
use crate::output::exit::{self, Exit};
use flate2::Compression;
use flate2::write::GzEncoder;
use record_simulate::Simulation;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;

/// Generates a history.
pub(crate) fn run(job: &Gen) -> Exit {
    let simulation = match job.parameters.simulation() {
        Ok(simulation) => simulation,
        Err(error) => {
            diagnose::error(&error.to_string());
            return Exit::FAILED;
        }
    };
    let Some(path) = &job.out else {
        return match simulation.write(io::stdout(), job.format) {
            Ok(_) => Exit::OK,
            Err(error) => exit::stopped(&error),
        };
    };
    match write(simulation, job, path) {
        Ok(()) => Exit::OK,
        Err(error) => {
            diagnose::error(&format!("cannot write {}: {error}", path.display()));
            Exit::FAILED
        }
    }
}

/// Writes text to a file, compressed according to its name.
pub(crate) fn write_text(path: &Path, text: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("gz") => {
            let mut packed = GzEncoder::new(file, Compression::fast());
            packed.write_all(text)?;
            packed.finish()?;
        }
        Some("zst") => {
            let mut packed = zstd::Encoder::new(file, zstd::DEFAULT_COMPRESSION_LEVEL)?;
            packed.write_all(text)?;
            packed.finish()?;
        }
        _ => file.write_all(text)?,
    }
    Ok(())
}

/// Writes to a file, compressed according to its name.
fn write(simulation: Simulation, job: &Gen, path: &Path) -> io::Result<()> {
    let file = File::create(path)?;
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("gz") => {
            simulation.write(GzEncoder::new(file, Compression::fast()), job.format)?.finish()?;
        }
        Some("zst") => {
            simulation.write(zstd::Encoder::new(file, zstd::DEFAULT_COMPRESSION_LEVEL)?, job.format)?.finish()?;
        }
        _ => {
            simulation.write(file, job.format)?;
        }
    }
    Ok(())
}
