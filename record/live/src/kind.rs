//! The kinds of stores, as data: what each needs, which options it has, and how one is started.

use crate::client::Store;
use crate::error::LiveError;
use crate::fault::Fault;
use crate::need::Need;
#[cfg(target_os = "linux")]
use crate::world::World;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// A kind of stores. All there are: [`store::KINDS`](crate::store::KINDS).
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// Its name.
    pub name: &'static str,
    /// What it is, in a phrase.
    pub summary: &'static str,
    /// Programs that must be installed.
    pub needs: &'static [Need],
    /// Options of its own.
    pub options: &'static [StoreOption],
    /// The workloads that its clients can perform; the first one is the default.
    pub workloads: &'static [&'static str],
    /// The faults that it can be given.
    pub faults: &'static [Fault],
    /// The faults that it is given if nobody says which.
    pub default_faults: &'static [Fault],
    /// Where its nodes are.
    pub place: Place,
    /// How many nodes there are if nobody says how many.
    pub nodes: u32,
    /// Whether another number or other names of nodes are possible.
    pub nodes_may_vary: bool,
    /// What the command is that it is started with, if it takes one.
    pub command: Option<&'static str>,
    /// Starts one and waits until clients may begin.
    pub start: fn(Start) -> Result<Box<dyn Store>, LiveError>,
}

/// Where the nodes of a store are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Wherever its clients find them: in this process, or in processes on this machine's own network.
    Here,
    /// In a world of namespaces (`world`): the program has to be inside of one.
    World,
}

/// An option of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreOption {
    /// Its name.
    pub name: &'static str,
    /// What its value is, in capitals.
    pub value_name: &'static str,
    /// What it does: a phrase that begins with a noun or a verb.
    pub help: &'static str,
    /// The values that it may have; if there are none, any text.
    pub values: &'static [&'static str],
    /// Its value if it is not given; empty: none.
    pub default: &'static str,
}

/// The nodes that somebody wants.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Nodes {
    /// As many as the store has of itself.
    #[default]
    Default,
    /// So many.
    Count(u32),
    /// These.
    Named(Vec<String>),
}

/// What a store is started with.
#[derive(Default)]
pub struct Start {
    /// Its options, by their names. What is absent has its default.
    pub options: BTreeMap<String, String>,
    /// The command, if the kind takes one.
    pub command: String,
    /// The nodes; the same as those of the world, if there is one.
    pub nodes: Nodes,
    /// The faults that the run may have, for which a world is prepared.
    pub faults: Vec<Fault>,
    /// The world, if the kind is in one.
    #[cfg(target_os = "linux")]
    pub world: Option<World>,
    /// Where the logs of its programs go; the directory exists.
    pub logs: PathBuf,
    /// Where its data goes; the directory exists and is empty.
    pub data: PathBuf,
    /// Chooses what is random about it.
    pub seed: u64,
    /// How long a request may take.
    pub timeout: Duration,
}

impl Start {
    /// An option's value: what was given, or the default.
    pub fn option(&self, option: &StoreOption) -> &str {
        self.options.get(option.name).map_or(option.default, String::as_str)
    }

    /// The same as a number.
    ///
    /// # Errors
    ///
    /// If it is none.
    pub fn number(&self, option: &StoreOption) -> Result<u64, LiveError> {
        let text = self.option(option);
        text.parse().map_err(|_| LiveError::Usage(format!("--{}: expected a number, found {text:?}", option.name)))
    }

    /// The same as a time.
    ///
    /// # Errors
    ///
    /// If it is none.
    pub fn time(&self, option: &StoreOption) -> Result<Duration, LiveError> {
        let text = self.option(option);
        time(text).map_err(|why| LiveError::Usage(format!("--{}: {why}", option.name)))
    }

    /// The names of the nodes: those that were given, or `n1` and so on.
    pub fn names(&self, default: u32) -> Vec<String> {
        let numbered = |count: u32| (1..=count).map(|number| format!("n{number}")).collect();
        match &self.nodes {
            Nodes::Default => numbered(default),
            Nodes::Count(count) => numbered(*count),
            Nodes::Named(names) => names.clone(),
        }
    }

    /// The world, prepared for the faults.
    ///
    /// # Errors
    ///
    /// If there is none: whoever starts a kind whose place is [`Place::World`] has to make one; or if a fault is not
    /// possible here.
    #[cfg(target_os = "linux")]
    pub fn take_world(&mut self) -> Result<World, LiveError> {
        let world = self.world.take();
        let mut world =
            world.ok_or_else(|| LiveError::Unsupported("this store needs a world of namespaces".to_owned()))?;
        world.prepare(&self.faults)?;
        Ok(world)
    }
}

impl Kind {
    /// Checks the options and nodes that somebody wants, before anything is started.
    ///
    /// # Errors
    ///
    /// If it has no such option, or the option no such value; or if it cannot have such nodes.
    pub fn check(&self, options: &BTreeMap<String, String>, nodes: &Nodes) -> Result<(), LiveError> {
        for (name, value) in options {
            let Some(option) = self.options.iter().find(|option| option.name == name) else {
                return Err(LiveError::Usage(format!("{} has no option --{name}", self.name)));
            };
            if !option.values.is_empty() && !option.values.contains(&value.as_str()) {
                let all = option.values.join(", ");
                return Err(LiveError::Usage(format!("--{name}: {value} is not one of {all}")));
            }
        }
        match nodes {
            Nodes::Default => Ok(()),
            Nodes::Count(0) => Err(LiveError::Usage("a store has at least one node".to_owned())),
            Nodes::Count(count) if self.nodes_may_vary || *count == self.nodes => {
                const NODES_MAX: u32 = 99;
                if *count > NODES_MAX {
                    return Err(LiveError::Usage(format!("{count} nodes are too many: expected at most {NODES_MAX}")));
                }
                Ok(())
            }
            Nodes::Named(_) if self.nodes_may_vary && self.place == Place::Here => Ok(()),
            Nodes::Count(_) => {
                Err(LiveError::Usage(format!("{} has {} nodes, not another number", self.name, self.nodes)))
            }
            Nodes::Named(_) => Err(LiveError::Usage(format!("the nodes of {} have names of their own", self.name))),
        }
    }
}

/// A time such as `250ms`, `5s`, `1.5s` or `2m`; a number without a unit is in seconds.
///
/// # Errors
///
/// If it is none; says what was expected.
pub fn time(text: &str) -> Result<Duration, String> {
    let wrong = || format!("expected a time such as 250ms, 5s or 2m, found {text:?}");
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let seconds = match unit {
        "ms" => 0.001,
        "" | "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return Err(wrong()),
    };
    let number: f64 = number.parse().map_err(|_| wrong())?;
    Duration::try_from_secs_f64(number * seconds).map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        assert_eq!(time("250ms"), Ok(Duration::from_millis(250)));
        assert_eq!(time("1.5s"), Ok(Duration::from_millis(1500)));
        assert_eq!((time("2m"), time("90")), (Ok(Duration::from_mins(2)), Ok(Duration::from_secs(90))));
        for wrong in ["", "s", "-1s", "5 s", "1.2.3", "5d", "1e400"] {
            assert!(time(wrong).is_err(), "{wrong}");
        }
    }
}
