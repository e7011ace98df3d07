//! Tests of options of several checkers on one command line.

use super::*;
use crate::line::compat;
use history_core::{Checker, Options};
use history_core::{OptionError, OptionKind, OptionSpec, Run};

/// A checker that only declares options.
struct Asking(&'static str, &'static [OptionSpec]);

impl Checker for Asking {
    fn name(&self) -> &str {
        self.0
    }

    fn summary(&self) -> &'static str {
        "Asks."
    }

    fn options(&self) -> &[OptionSpec] {
        self.1
    }

    fn start(&self, options: &Options) -> Result<Box<dyn Run>, OptionError> {
        if options.text("colour") == Some("blue") {
            return Err(OptionError::new("colour", "blue is not to be had"));
        }
        Ok(Box::new(Nothing))
    }
}

struct Nothing;

impl Run for Nothing {
    fn observe(&mut self, _: &history_core::Op<'_>) -> Result<std::ops::ControlFlow<()>, history_core::HistoryError> {
        unreachable!("nothing is judged here")
    }

    fn finish(self: Box<Self>, _: &history_core::Budget) -> Result<history_core::Report, history_core::HistoryError> {
        unreachable!("nothing is judged here")
    }
}

const fn spec(name: &'static str, kind: OptionKind) -> OptionSpec {
    OptionSpec::new(name, kind, "Helps.").with_value_name("X")
}

fn checkers() -> Registry {
    const SHARED: OptionSpec = spec("size", OptionKind::Integer);
    const ONE: &[OptionSpec] = &[SHARED, spec("colour", OptionKind::Text), spec("directory", OptionKind::Text)];
    const TWO: &[OptionSpec] = &[SHARED, spec("group-size", OptionKind::Integer), spec("fast", OptionKind::Flag)];
    let all: Vec<Box<dyn Checker>> = vec![Box::new(Asking("one", ONE)), Box::new(Asking("two", TWO))];
    all.into()
}

type Pairs = Vec<(String, String)>;

/// The options that the checker receives, and the warnings.
fn given_to(words: &str) -> Result<(Pairs, Vec<String>), String> {
    let checkers = checkers();
    let words = words.split_whitespace().map(OsString::from);
    match parse([OsString::from("histcheck")].into_iter().chain(words), &Config::default(), &checkers) {
        Ok(Command::Check(check)) => {
            let options = check.setup.options.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
            Ok((options, check.warnings))
        }
        Ok(_) => panic!("another command"),
        Err(said) => Err(said.to_string()),
    }
}

fn pairs(pairs: &[(&str, &str)]) -> Pairs {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

#[test]
fn the_grammar_holds_with_the_real_checkers() {
    grammar::command(&Registry::built_in()).debug_assert();
    grammar::command(&checkers()).debug_assert();
}

/// If two checkers have an option with the same name, it must have the same kind.
#[test]
fn checkers_agree_on_the_kinds_of_options() {
    let checkers = Registry::built_in();
    for spec in checkers.iter().flat_map(|checker| checker.options()) {
        let first = grammar::taken(&checkers).into_iter().find(|taken| taken.spec.name == spec.name).unwrap();
        assert_eq!(first.spec.kind, spec.kind, "--{}", spec.name);
        assert_eq!(compat::find(spec.name).map_or(spec.kind, |known| known.kind), spec.kind, "--{}", spec.name);
    }
}

#[test]
fn each_checker_gets_its_own_options() {
    let (options, warnings) = given_to("-m one --size -3 --colour red f").unwrap();
    assert_eq!(options, pairs(&[("colour", "red"), ("size", "-3")]));
    assert!(warnings.is_empty(), "{warnings:?}");

    let (options, warnings) = given_to("-m two --size 3 --fast -g 4 f").unwrap();
    assert_eq!(options, pairs(&[("fast", "true"), ("group-size", "4"), ("size", "3")]));
    assert!(warnings.is_empty(), "{warnings:?}");
}

#[test]
fn what_is_not_given_is_not_there() {
    assert_eq!(given_to("-m two f").unwrap(), (Vec::new(), Vec::new()));
}

#[test]
fn another_checkers_option_is_wrong_usage() {
    let said = given_to("-m one --fast f").unwrap_err();
    assert!(said.contains("one has no option --fast") && said.contains("it is an option of two"), "{said}");
}

#[test]
fn an_option_of_elle_cli_gives_a_warning_even_if_another_checker_takes_it() {
    let (options, warnings) = given_to("-m one -g 4 -c serializable f").unwrap();
    assert_eq!(options, pairs(&[]));
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    assert!(warnings.iter().any(|text| text.starts_with("--group-size has no effect on one: ")), "{warnings:?}");
}

#[test]
fn a_checker_that_wants_the_directory_gets_it() {
    assert_eq!(given_to("-m one -d reports f").unwrap().0, pairs(&[("directory", "reports")]));
    assert_eq!(given_to("-m two -d reports f").unwrap().0, pairs(&[]));
}

#[test]
fn pictures_want_a_directory() {
    let checkers: Vec<Box<dyn Checker>> = vec![Box::new(Asking("draws", &[]))];
    let checkers = checkers.into();
    let parsed = |words: &str| {
        let words = ["histcheck"].into_iter().chain(words.split_whitespace()).map(OsString::from);
        match parse(words, &Config::default(), &checkers) {
            Ok(Command::Check(check)) => Ok((check.plots, check.drawing.plot_bytes_max, check.warnings)),
            Ok(_) => panic!("another command"),
            Err(said) => Err(said.to_string()),
        }
    };
    assert_eq!(parsed("-m draws f"), Ok((PlotFormat::Svg, 65_536, vec![])));
    assert_eq!(parsed("-m draws -p svg -d d -b 100 f"), Ok((PlotFormat::Svg, 100, vec![])));
    assert!(parsed("-m draws -p svg f").unwrap().2[0].contains("without --directory"));
    assert!(parsed("-m draws -b 100 f").unwrap().2[0].contains("--max-plot-bytes has no effect without --directory"));
    assert!(parsed("-m draws -d d -b -1 f").unwrap_err().contains("expected a number of bytes above 0"));
    #[cfg(feature = "png")]
    assert_eq!(parsed("-m draws -p png -d d f"), Ok((PlotFormat::Png, 65_536, vec![])));
    #[cfg(not(feature = "png"))]
    assert!(parsed("-m draws -p png -d d f").unwrap().2[0].contains("built without PNG"));
}

#[test]
fn a_plugin_that_draws_for_itself_gets_the_limit() {
    const DRAWS: &[OptionSpec] = &[spec("max-plot-bytes", OptionKind::Integer)];
    let checkers: Vec<Box<dyn Checker>> = vec![Box::new(Asking("draws", DRAWS))];
    let checkers = checkers.into();
    let words = "histcheck -m draws -d d -b 100 f".split_whitespace().map(OsString::from);
    let Ok(Command::Check(check)) = parse(words, &Config::default(), &checkers) else { panic!("no check") };
    assert_eq!(check.setup.options.text("max-plot-bytes"), Some("100"));
}

#[test]
fn a_text_may_be_a_negative_number() {
    const STARTS: &[OptionSpec] = &[spec("initial", OptionKind::Text)];
    let checkers: Vec<Box<dyn Checker>> = vec![Box::new(Asking("starts", STARTS))];
    let checkers = checkers.into();
    let words = "histcheck -m starts --initial -3 f".split_whitespace().map(OsString::from);
    let Ok(Command::Check(check)) = parse(words, &Config::default(), &checkers) else { panic!("no check") };
    assert_eq!(check.setup.options.text("initial"), Some("-3"));
}

#[test]
fn what_a_checker_refuses_is_wrong_usage() {
    let said = given_to("-m one --colour blue f").unwrap_err();
    assert!(said.contains("--colour: blue is not to be had"), "{said}");
}

#[test]
fn help_says_which_checkers_take_an_option() {
    let help = given_to("--help").unwrap_err();
    assert!(help.contains("Helps (one, two)") && help.contains("Helps (two)"), "{help}");
    let accepted = help.split("but without effect:").nth(1).unwrap();
    assert!(accepted.contains("--total-amount") && !accepted.contains("--group-size"), "{help}");
}
