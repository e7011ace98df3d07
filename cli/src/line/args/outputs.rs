//! Destinations and formats of verdicts: `--output FORMAT` and `--output FORMAT=FILE`.

use crate::job::{DocumentFormat, OutputFormat, ResultFormat, ResultOutput, ResultPlace};
use crate::judge::input::Input;
use crate::line::usage::UsageError;
use clap::ArgMatches;
use std::path::PathBuf;

/// The variable in which GitHub passes a job the path of its summary.
const SUMMARY: &str = "GITHUB_STEP_SUMMARY";

/// The requested outputs. If all go to files, lines of text are also written to standard output.
pub(super) fn outputs(matches: &ArgMatches, inputs: &[Input]) -> Result<Vec<ResultOutput>, UsageError> {
    let given = matches.try_get_many::<String>("output").ok().flatten().into_iter().flatten();
    let mut outputs: Vec<ResultOutput> = given.map(|text| output_of(text)).collect();
    let is_stdout = |output: &&ResultOutput| output.to == ResultPlace::Stdout;
    match outputs.iter().filter(is_stdout).count() {
        0 => outputs.insert(0, stdout(ResultFormat::Stream(OutputFormat::Text))),
        1 => {}
        _ => {
            let message = "only one --output can go to standard output";
            return Err(UsageError::new(message).tip("name a file for the others: --output junit=results.xml"));
        }
    }
    for (at, output) in outputs.iter().enumerate() {
        if let ResultPlace::File(path) = &output.to
            && inputs.iter().any(|input| input.is_file(path))
        {
            let message = format!("--output would overwrite the history {}", path.display());
            return Err(UsageError::new(message).tip("name another file for the output"));
        }
        if outputs[..at].iter().any(|other| other.to == output.to) {
            return Err(
                UsageError::new("two --output options name the same file").tip("name another file for one of them")
            );
        }
    }
    let is_for_jepsen = matches.try_get_one::<String>("compat").ok().flatten().is_some_and(|name| name == "jepsen");
    if is_for_jepsen && !outputs.iter().any(|output| output.format == ResultFormat::Stream(OutputFormat::Edn)) {
        return Err(UsageError::new("--compat jepsen needs results in EDN").tip("add --output edn"));
    }
    let summary = std::env::var_os(SUMMARY).filter(|path| !path.is_empty());
    if let Some(path) = summary.filter(|_| outputs.iter().any(|output| output.format == ResultFormat::Github)) {
        let to = ResultPlace::Append(path.into());
        outputs.push(ResultOutput { format: ResultFormat::Document(DocumentFormat::Markdown), to });
    }
    Ok(outputs)
}

fn stdout(format: ResultFormat) -> ResultOutput {
    ResultOutput { format, to: ResultPlace::Stdout }
}

/// Parses an output that the grammar has accepted.
fn output_of(text: &str) -> ResultOutput {
    let (name, file) = text.split_once('=').map_or((text, None), |(name, file)| (name, Some(file)));
    let format = match name {
        "json" => ResultFormat::Stream(OutputFormat::Json),
        "edn" => ResultFormat::Stream(OutputFormat::Edn),
        "github" => ResultFormat::Github,
        "junit" => ResultFormat::Document(DocumentFormat::Junit),
        "sarif" => ResultFormat::Document(DocumentFormat::Sarif),
        "markdown" => ResultFormat::Document(DocumentFormat::Markdown),
        _ => ResultFormat::Stream(OutputFormat::Text),
    };
    match file {
        None => stdout(format),
        Some(file) => ResultOutput { format, to: ResultPlace::File(PathBuf::from(file)) },
    }
}
