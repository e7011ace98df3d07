//! All available checkers: built-in ones, each with a feature of this crate, and those of plugins.

#[cfg(feature = "plugins")]
pub use histcheck_process::{Limits as ProcessLimits, is_command};
use history_core::{AboutAnomaly, AboutLevel, Checker, Subject};
use std::fmt;
use std::ops::Deref;
use std::path::{Path, PathBuf};

/// The source of built-in checkers, in place of a plugin's file name.
const BUILT_IN: &str = "histcheck";

/// The checkers, in the order of lists.
#[derive(Default)]
pub struct Registry {
    checkers: Vec<Box<dyn Checker>>,
    /// For each checker, the plugin that it is from, if any.
    plugins: Vec<Option<PathBuf>>,
    /// Plugins that could not be loaded.
    refused: Vec<PathBuf>,
}

/// A checker that was found by its name.
#[derive(Clone, Copy)]
pub struct Found<'c> {
    /// The checker.
    pub checker: &'c dyn Checker,
    /// Whether it is from a plugin.
    pub is_plugin: bool,
}

impl fmt::Debug for Found<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Found").field("checker", &self.checker.name()).field("is_plugin", &self.is_plugin).finish()
    }
}

/// No checker, or more than one, has a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotFound {
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub hint: String,
}

impl fmt::Display for NotFound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.message, self.hint)
    }
}

impl std::error::Error for NotFound {}

/// A plugin that was not added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotAdded {
    /// A sentence about the plugin, without a full stop.
    pub message: String,
    /// More about it, of any length.
    pub details: Option<String>,
}

impl fmt::Display for NotAdded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for NotAdded {}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.full_names()).finish()
    }
}

impl Deref for Registry {
    type Target = [Box<dyn Checker>];

    fn deref(&self) -> &[Box<dyn Checker>] {
        &self.checkers
    }
}

impl From<Vec<Box<dyn Checker>>> for Registry {
    /// A registry of these built-in checkers.
    fn from(checkers: Vec<Box<dyn Checker>>) -> Registry {
        let plugins = checkers.iter().map(|_| None).collect();
        Registry { checkers, plugins, refused: Vec::new() }
    }
}

impl Registry {
    /// The checkers that this crate was built with. A new one is added to the list of its crate.
    pub fn built_in() -> Registry {
        let mut all: Vec<Box<dyn Checker>> = Vec::new();
        #[cfg(feature = "elle")]
        all.extend(check_elle::checkers());
        #[cfg(feature = "isolation")]
        all.extend(check_isolation::checkers());
        #[cfg(feature = "register")]
        all.extend(check_register::checkers());
        #[cfg(feature = "jepsen")]
        all.extend(check_jepsen::checkers());
        #[cfg(feature = "log")]
        all.extend(check_log::checkers());
        // Without features, no checker is added, and without this call `all` would not need to be mutable.
        all.shrink_to_fit();
        let mut all = Registry::from(all);
        #[cfg(feature = "plugins")]
        all.limit_processes(histcheck_plugin::host::Trust::Own, ProcessLimits::default());
        #[cfg(not(feature = "plugins"))]
        all.refused.clear();
        all
    }

    /// Has models in other processes (`--spec exec:COMMAND`) run so.
    #[cfg(feature = "plugins")]
    pub fn limit_processes(&mut self, trust: histcheck_plugin::host::Trust, limits: ProcessLimits) {
        #[cfg(feature = "register")]
        for checker in self.checkers.iter_mut().filter(|checker| checker.name() == check_register::AnyObject.name()) {
            *checker = Box::new(histcheck_process::AnyObject::new(Box::new(check_register::AnyObject), trust, limits));
        }
        #[cfg(not(feature = "register"))]
        let _ = (trust, limits);
    }

    /// The checkers for a history that is still being written: for objects those that report a violation when it
    /// happens.
    pub fn watchers() -> Registry {
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

    /// Loads a plugin and adds its checkers; `exec:COMMAND` starts a checker in another process. Either runs code with
    /// all rights of this process.
    ///
    /// # Errors
    ///
    /// If it cannot be loaded, or has an option that another checker has with another type. Nothing is added in this
    /// case.
    #[cfg(feature = "plugins")]
    pub fn load_plugin(&mut self, path: &Path, trust: histcheck_plugin::host::Trust) -> Result<(), NotAdded> {
        if let Some(command) = path.to_str().filter(|path| histcheck_process::is_command(path)) {
            return self.load_process(command, trust, ProcessLimits::default(), &[]);
        }
        let library = histcheck_plugin::host::load(path, trust)
            .map_err(|error| NotAdded { message: format!("plugin {error}"), details: error.details })?;
        self.add(path, library.checkers, &[])
    }

    /// Starts the checker of another process, `exec:COMMAND`, and adds it. `own` is as for [`Registry::add`].
    ///
    /// # Errors
    ///
    /// If it cannot be started, does not respond, or has an option that another checker has with another type.
    #[cfg(feature = "plugins")]
    pub fn load_process(
        &mut self,
        command: &str,
        trust: histcheck_plugin::host::Trust,
        limits: ProcessLimits,
        own: &[String],
    ) -> Result<(), NotAdded> {
        let checker = histcheck_process::load(command, trust, limits);
        let checker = checker.map_err(|message| NotAdded { message, details: None })?;
        self.add(Path::new(command), vec![checker], own)
    }

    /// Adds the checkers of a plugin. `own` are the names of options that no checker may have: those of a command line.
    ///
    /// # Errors
    ///
    /// If an option has one of these names, or another checker has it with another type. Nothing is added in this case.
    pub fn add(&mut self, path: &Path, checkers: Vec<Box<dyn Checker>>, own: &[String]) -> Result<(), NotAdded> {
        let not_added = |message| Err(NotAdded { message, details: None });
        for checker in &checkers {
            for spec in checker.options() {
                let (name, option) = (checker.name(), spec.name);
                if own.iter().any(|own| own == option) {
                    return not_added(format!(
                        "{} is not loaded: its checker {name} has an option --{option}, which is an option of histcheck itself; \
                         rename it in the plugin",
                        path.display()
                    ));
                }
                let all = self.checkers.iter().chain(&checkers);
                let other = all.flat_map(|other| other.options().iter().map(move |spec| (other, spec)));
                let other = other.into_iter().find(|(_, other)| other.name == option && other.kind != spec.kind);
                if let Some((other, taken)) = other {
                    return not_added(format!(
                        "{} is not loaded: its checker {name} expects {} for --{option}, but {} expects {}; rename the option in the plugin",
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

    /// Records that a plugin could not be loaded, so that no other process tries.
    pub fn refuse(&mut self, path: PathBuf) {
        self.refused.push(path);
    }

    /// The plugins that could not be loaded.
    pub fn refused(&self) -> &[PathBuf] {
        &self.refused
    }

    /// The names of all, each once.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for checker in &self.checkers {
            if !names.iter().any(|name| name == checker.name()) {
                names.push(checker.name().to_owned());
            }
        }
        names
    }

    /// The names of all with their origins, `file:name`: they choose between two of one name.
    pub fn full_names(&self) -> Vec<String> {
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

    /// The origin of each, for people.
    pub fn origins(&self) -> impl Iterator<Item = String> {
        self.plugins.iter().map(|path| path.as_ref().map_or(BUILT_IN.to_owned(), |path| path.display().to_string()))
    }

    /// The checker of this name, or of this `file:name`.
    ///
    /// # Errors
    ///
    /// If there is none, or more than one.
    pub fn find(&self, given: &str) -> Result<Found<'_>, NotFound> {
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
            [] => Err(NotFound {
                message: format!("unknown checker {given}"),
                hint: "`histcheck models` lists all checkers".into(),
            }),
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
                    format!("two checkers are named {name}: one from {}, one from {}", place(first), place(second));
                Err(NotFound { message, hint: format!("choose {a}:{name} or {b}:{name}") })
            }
        }
    }

    /// The anomalies that checkers of transactions can forbid, each once.
    pub fn anomalies(&self) -> Vec<AboutAnomaly> {
        let mut all: Vec<AboutAnomaly> = Vec::new();
        let takes_them = |checker: &&dyn Checker| checker.options().iter().any(|option| option.name == "anomalies");
        for about in self.of_transactions().filter(takes_them).map(history_core::Checker::about) {
            let is_new = |one: &AboutAnomaly| all.iter().all(|known| known.name != one.name);
            let new: Vec<AboutAnomaly> =
                about.anomalies.into_iter().filter(|one| !one.is_of_a_level && is_new(one)).collect();
            all.extend(new);
        }
        all
    }

    /// The consistency levels of the checkers of transactions, each once.
    pub fn levels(&self) -> Vec<AboutLevel> {
        let mut all: Vec<AboutLevel> = Vec::new();
        for about in self.of_transactions().map(history_core::Checker::about) {
            let is_new = |one: &AboutLevel| all.iter().all(|known| known.name != one.name);
            let new: Vec<AboutLevel> = about.levels.into_iter().filter(is_new).collect();
            all.extend(new);
        }
        all
    }

    /// The checkers of transactions that have a level, by its name or an alias.
    pub fn knowing(&self, level: &str) -> Vec<&str> {
        let is_meant = |known: &AboutLevel| known.name == level || known.aliases.iter().any(|alias| alias == level);
        let knowing = self.of_transactions().filter(|checker| checker.about().levels.iter().any(is_meant));
        knowing.map(history_core::Checker::name).collect()
    }

    fn of_transactions(&self) -> impl Iterator<Item = &dyn Checker> {
        let all = self.checkers.iter().map(std::convert::AsRef::as_ref);
        all.filter(|checker| checker.about().subject == Subject::Transactions)
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
            unreachable!("nothing is checked here")
        }
    }

    fn boxed(name: &'static str) -> Box<dyn Checker> {
        Box::new(Named(name, Vec::new()))
    }

    fn asking(option: &'static str, kind: OptionKind) -> Box<dyn Checker> {
        Box::new(Named("ask", vec![OptionSpec::new(option, kind, "").with_value_name("V")]))
    }

    #[test]
    #[cfg(feature = "elle")]
    fn anomalies_and_levels_are_listed_once() {
        let (anomalies, levels) = (Registry::built_in().anomalies(), Registry::built_in().levels());
        assert_eq!(anomalies.iter().filter(|anomaly| anomaly.name == "G1c").count(), 1);
        assert_eq!(levels.iter().filter(|level| level.name == "serializable").count(), 1);
    }

    #[test]
    fn of_two_with_one_name_the_file_chooses() {
        let mut all = Registry::from(vec![boxed("a"), boxed("b")]);
        all.add(Path::new("/x/p.so"), vec![boxed("a")], &[]).unwrap();
        all.add(Path::new("/y/p.so"), vec![boxed("a"), boxed("c")], &[]).unwrap();
        let from = |given: &str| all.find(given).map(|found| found.is_plugin).map_err(|error| error.to_string());
        assert_eq!(from("b"), Ok(false));
        assert_eq!(from("c"), Ok(true));
        assert_eq!(from("histcheck:a"), Ok(false));
        assert_eq!(from("/y/p.so:a"), Ok(true));
        let two = "two checkers are named a: one from histcheck itself, one from /x/p.so; choose histcheck:a or p.so:a";
        assert_eq!(from("a"), Err(two.into()));
        let two = "two checkers are named a: one from /x/p.so, one from /y/p.so; choose /x/p.so:a or /y/p.so:a";
        assert_eq!(from("p.so:a"), Err(two.into()));
        assert_eq!(from("z"), Err("unknown checker z; `histcheck models` lists all checkers".into()));
        assert_eq!(all.names(), ["a", "b", "c"]);
        for name in all.full_names().iter().filter(|name| !name.starts_with("p.so:a")) {
            assert!(all.find(name).is_ok(), "{name}");
        }
    }

    #[test]
    fn options_that_two_checkers_take_differently_are_refused() {
        let own = ["timeout".to_owned()];
        let mut all = Registry::from(vec![asking("colour", OptionKind::Text)]);
        let error = all.add(Path::new("p.so"), vec![asking("colour", OptionKind::Integer)], &own).unwrap_err();
        assert!(error.message.contains("expects an integer for --colour, but ask expects text"), "{error}");
        let error = all.add(Path::new("p.so"), vec![asking("timeout", OptionKind::Integer)], &own).unwrap_err();
        assert!(error.message.contains("an option of histcheck itself"), "{error}");
        assert_eq!(all.len(), 1);
        all.add(Path::new("p.so"), vec![asking("colour", OptionKind::Text)], &own).unwrap();
    }
}
