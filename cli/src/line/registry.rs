//! All checkers there are: those that are built in, each behind a feature of this crate, and those of plugins.

use history_core::Checker;
use std::ops::Deref;
use std::path::{Path, PathBuf};

/// What stands for this program where a plugin's file would.
const BUILT_IN: &str = "histcheck";

/// The checkers, in the order in which they are listed.
#[derive(Default)]
pub(crate) struct Registry {
    checkers: Vec<Box<dyn Checker>>,
    /// For each, the plugin that brought it along, if one did.
    plugins: Vec<Option<PathBuf>>,
    /// Plugins that could not be loaded.
    refused: Vec<PathBuf>,
}

/// A checker that was asked for.
pub(crate) struct Found<'c> {
    pub(crate) checker: &'c dyn Checker,
    pub(crate) is_plugin: bool,
}

impl Deref for Registry {
    type Target = [Box<dyn Checker>];

    fn deref(&self) -> &[Box<dyn Checker>] {
        &self.checkers
    }
}

impl From<Vec<Box<dyn Checker>>> for Registry {
    /// Those that are built in.
    fn from(checkers: Vec<Box<dyn Checker>>) -> Registry {
        let plugins = checkers.iter().map(|_| None).collect();
        Registry { checkers, plugins, refused: Vec::new() }
    }
}

impl Registry {
    /// What this program was built with: a new checker stands in the list of its crate.
    pub(crate) fn built_in() -> Registry {
        let mut all: Vec<Box<dyn Checker>> = Vec::new();
        #[cfg(feature = "elle")]
        all.extend(check_elle::checkers());
        #[cfg(feature = "register")]
        all.extend(check_register::checkers());
        #[cfg(feature = "jepsen")]
        all.extend(check_jepsen::checkers());
        // Without any feature there is nothing to add.
        all.shrink_to_fit();
        Registry::from(all)
    }

    /// The checkers that histories are watched with: of objects those that know of a violation when it happens.
    pub(crate) fn watchers() -> Registry {
        #[cfg_attr(not(feature = "online"), expect(unused_mut, reason = "nothing takes the place of another"))]
        let mut watchers = Registry::built_in();
        #[cfg(feature = "online")]
        for online in check_online::checkers() {
            if let Some(checker) = watchers.checkers.iter_mut().find(|checker| checker.name() == online.name()) {
                *checker = online;
            }
        }
        watchers
    }

    /// Adds what a plugin has. `own` are the options of the command line itself.
    ///
    /// # Errors
    ///
    /// If an option of it cannot be told from another one: a sentence. Then nothing was added.
    pub(crate) fn add(&mut self, path: &Path, checkers: Vec<Box<dyn Checker>>, own: &[String]) -> Result<(), String> {
        for checker in &checkers {
            for spec in checker.options() {
                let (name, option) = (checker.name(), spec.name);
                if own.iter().any(|own| own == option) {
                    return Err(format!(
                        "{} is not loaded: its checker {name} wants an option --{option}, which histcheck has itself; \
                         rename it in the plugin",
                        path.display()
                    ));
                }
                let all = self.checkers.iter().chain(&checkers);
                let other = all.flat_map(|other| other.options().iter().map(move |spec| (other, spec)));
                let other = other.into_iter().find(|(_, other)| other.name == option && other.kind != spec.kind);
                if let Some((other, taken)) = other {
                    return Err(format!(
                        "{} is not loaded: its checker {name} takes {} with --{option}, and {} takes {}; rename it in the plugin",
                        path.display(),
                        spec.kind.phrase(),
                        other.name(),
                        taken.kind.phrase()
                    ));
                }
            }
        }
        self.plugins.extend(checkers.iter().map(|_| Some(path.to_owned())));
        self.checkers.extend(checkers);
        Ok(())
    }

    /// Notes that a plugin could not be loaded: no other process need try.
    pub(crate) fn refuse(&mut self, path: PathBuf) {
        self.refused.push(path);
    }

    pub(crate) fn refused(&self) -> &[PathBuf] {
        &self.refused
    }

    /// The names of all, each once.
    pub(crate) fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for checker in &self.checkers {
            if !names.iter().any(|name| name == checker.name()) {
                names.push(checker.name().to_owned());
            }
        }
        names
    }

    /// The names of all with where they come from: what chooses between two of one name.
    pub(crate) fn full_names(&self) -> Vec<String> {
        let full = |at: usize| {
            let checker = &self.checkers[at];
            let path = self.plugins[at].as_deref();
            let files = path.map_or(vec![BUILT_IN.to_owned()], |path| vec![file_of(path), path.display().to_string()]);
            files.into_iter().map(|file| format!("{file}:{}", checker.name())).collect::<Vec<_>>()
        };
        let mut names: Vec<String> = (0..self.checkers.len()).flat_map(full).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Where each comes from, for people.
    pub(crate) fn origins(&self) -> impl Iterator<Item = String> {
        self.plugins.iter().map(|path| path.as_ref().map_or(BUILT_IN.to_owned(), |path| path.display().to_string()))
    }

    /// The checker of this name, or of this `file:name`.
    ///
    /// # Errors
    ///
    /// If there is none, or more than one: what is wrong, and what to do.
    pub(crate) fn find(&self, given: &str) -> Result<Found<'_>, (String, String)> {
        let (file, name) = given.rsplit_once(':').map_or((None, given), |(file, name)| (Some(file), name));
        let is_meant = |path: Option<&Path>| match (file, path) {
            (None, _) => true,
            (Some(file), None) => file == BUILT_IN,
            (Some(file), Some(path)) => file == file_of(path) || Path::new(file) == path,
        };
        let named = |at: &usize| self.checkers[*at].name() == name && is_meant(self.plugins[*at].as_deref());
        let found: Vec<usize> = (0..self.checkers.len()).filter(named).collect();
        match found[..] {
            [at] => Ok(Found { checker: self.checkers[at].as_ref(), is_plugin: self.plugins[at].is_some() }),
            [] => Err((format!("there is no checker {given}"), "`histcheck models` lists what -m takes".into())),
            [first, second, ..] => {
                let place = |at: usize| {
                    self.plugins[at].as_ref().map_or("histcheck itself".into(), |path| path.display().to_string())
                };
                let file = |at: usize| self.plugins[at].as_deref().map_or(BUILT_IN.to_owned(), file_of);
                let (mut a, mut b) = (file(first), file(second));
                if a == b {
                    (a, b) = (place(first), place(second));
                }
                let message =
                    format!("two checkers are named {name}: one of {}, one of {}", place(first), place(second));
                Err((message, format!("say -m {a}:{name} or -m {b}:{name}")))
            }
        }
    }
}

fn file_of(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use history_core::{OptionError, OptionKind, OptionSpec, Options, Run};

    struct Named(&'static str, Vec<OptionSpec>);

    impl Checker for Named {
        fn name(&self) -> &str {
            self.0
        }

        fn summary(&self) -> &'static str {
            "Is named."
        }

        fn options(&self) -> &[OptionSpec] {
            &self.1
        }

        fn start(&self, _: &Options) -> Result<Box<dyn Run>, OptionError> {
            unreachable!("nothing is judged here")
        }
    }

    fn boxed(name: &'static str) -> Box<dyn Checker> {
        Box::new(Named(name, Vec::new()))
    }

    fn asking(option: &'static str, kind: OptionKind) -> Box<dyn Checker> {
        Box::new(Named("ask", vec![OptionSpec::new(option, kind, "").with_value_name("V")]))
    }

    #[test]
    fn of_two_with_one_name_the_file_chooses() {
        let mut all = Registry::from(vec![boxed("a"), boxed("b")]);
        all.add(Path::new("/x/p.so"), vec![boxed("a")], &[]).unwrap();
        all.add(Path::new("/y/p.so"), vec![boxed("a"), boxed("c")], &[]).unwrap();
        let from = |given: &str| {
            all.find(given).map(|found| found.is_plugin).map_err(|(message, tip)| format!("{message}; {tip}"))
        };
        assert_eq!(from("b"), Ok(false));
        assert_eq!(from("c"), Ok(true));
        assert_eq!(from("histcheck:a"), Ok(false));
        assert_eq!(from("/y/p.so:a"), Ok(true));
        let two = "two checkers are named a: one of histcheck itself, one of /x/p.so; say -m histcheck:a or -m p.so:a";
        assert_eq!(from("a"), Err(two.into()));
        let two = "two checkers are named a: one of /x/p.so, one of /y/p.so; say -m /x/p.so:a or -m /y/p.so:a";
        assert_eq!(from("p.so:a"), Err(two.into()));
        assert_eq!(from("z"), Err("there is no checker z; `histcheck models` lists what -m takes".into()));
        assert_eq!(all.names(), ["a", "b", "c"]);
        for name in all.full_names().iter().filter(|name| !name.starts_with("p.so:a")) {
            assert!(all.find(name).is_ok(), "{name}");
        }
    }

    #[test]
    fn options_that_cannot_be_told_apart_are_refused() {
        let own = ["timeout".to_owned()];
        let mut all = Registry::from(vec![asking("colour", OptionKind::Text)]);
        let error = all.add(Path::new("p.so"), vec![asking("colour", OptionKind::Integer)], &own).unwrap_err();
        assert!(error.contains("takes an integer with --colour, and ask takes text"), "{error}");
        let error = all.add(Path::new("p.so"), vec![asking("timeout", OptionKind::Integer)], &own).unwrap_err();
        assert!(error.contains("which histcheck has itself"), "{error}");
        assert_eq!(all.len(), 1);
        all.add(Path::new("p.so"), vec![asking("colour", OptionKind::Text)], &own).unwrap();
    }
}
