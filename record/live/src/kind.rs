//! The kinds of stores, as data: requirements, options, and how to start one.

use crate::client::Store;
use crate::error::LiveError;
use crate::fault::{Fault, NODES};
use crate::need::Need;
use crate::world::cluster::{Cluster, System};
use crate::world::{NAMESPACES, World};
use history_core::cast::Cast as _;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// A kind of stores. All there are: [`store::KINDS`](crate::store::KINDS).
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// Its name.
    pub name: &'static str,
    /// A description, as a phrase.
    pub summary: &'static str,
    /// Programs that must be installed.
    pub needs: &'static [Need],
    /// Its own options.
    pub options: &'static [StoreOption],
    /// The workloads that its clients can perform; the first one is the default.
    pub workloads: &'static [&'static str],
    /// The faults that it supports.
    pub faults: &'static [Fault],
    /// The faults that a run has by default.
    pub default_faults: &'static [Fault],
    /// The default number of nodes.
    pub nodes: u32,
    /// Whether another number or other names of nodes are possible.
    pub nodes_may_vary: bool,
    /// The command with which it is started, if the user chooses it: its name in capitals, and a description.
    pub command: Option<(&'static str, &'static str)>,
    /// How a store of this kind is started.
    pub(crate) make: Make,
}

/// The way to start a store.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Make {
    /// As a store of its own, with any location.
    Store(fn(Start) -> Result<Box<dyn Store>, LiveError>),
    /// As a cluster of daemons in a world.
    Cluster {
        /// The ports of its servers, if they can be behind proxies.
        ports: &'static [u16],
        /// Creates the store's own part.
        system: fn(&Start) -> Result<Box<dyn System>, LiveError>,
    },
    /// As a store of its own, or with faults as a daemon on a node: a store in this process cannot be killed.
    #[cfg_attr(not(feature = "sqlite"), expect(dead_code, reason = "only SQLite is both"))]
    StoreOrCluster {
        store: fn(Start) -> Result<Box<dyn Store>, LiveError>,
        system: fn(&Start) -> Result<Box<dyn System>, LiveError>,
    },
}

/// Where the nodes of a store are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Where clients find them: in this process, or in processes on this machine's own network.
    Here,
    /// In a world ([`crate::world`]), which the code that starts the store has to create.
    World,
}

/// An option of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreOption {
    /// Its name.
    pub name: &'static str,
    /// The placeholder of its value, in capitals.
    pub value_name: &'static str,
    /// Its description: a phrase that begins with a noun or a verb.
    pub help: &'static str,
    /// Its valid values; if there are none, any text.
    pub values: &'static [&'static str],
    /// Its default value; empty: none.
    pub default: &'static str,
    /// A combination that is not valid, if there is one.
    pub(crate) excludes: Option<Exclusion>,
}

/// A value of an option that is not valid with a value of another option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Exclusion {
    pub(crate) value: &'static str,
    /// The other option, and its value.
    pub(crate) other: (&'static str, &'static str),
    /// The reason, as a clause.
    pub(crate) why: &'static str,
}

impl StoreOption {
    /// An option whose value is any text.
    pub(crate) const fn text(name: &'static str, value_name: &'static str, help: &'static str) -> StoreOption {
        StoreOption { name, value_name, help, values: &[], default: "", excludes: None }
    }

    /// The same, with these valid values, and a default.
    #[must_use]
    pub(crate) const fn of(self, values: &'static [&'static str], default: &'static str) -> StoreOption {
        StoreOption { values, default, ..self }
    }

    /// The same option with an invalid combination.
    #[cfg(feature = "sqlite")]
    #[must_use]
    pub(crate) const fn but(self, exclusion: Exclusion) -> StoreOption {
        StoreOption { excludes: Some(exclusion), ..self }
    }
}

/// The requested nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Nodes {
    /// The default number of the store.
    #[default]
    Default,
    /// So many.
    Count(u32),
    /// These.
    Named(Vec<String>),
}

/// The arguments with which a store is started.
#[derive(Debug, Default)]
pub struct Start {
    /// Its options, by name. An absent option has its default.
    pub options: BTreeMap<String, String>,
    /// The command, if the kind takes one.
    pub command: String,
    /// The nodes; the same as those of the world, if there is one.
    pub nodes: Nodes,
    /// The faults that the run may have, for which a world is prepared.
    pub faults: Vec<Fault>,
    /// The world, if the kind is in one.
    pub world: Option<World>,
    /// The directory for the logs of its programs; it exists.
    pub logs: PathBuf,
    /// The directory for its data; it exists and is empty.
    pub data: PathBuf,
    /// The seed of its random choices.
    pub seed: u64,
    /// The time-out of a request.
    pub timeout: Duration,
}

impl Start {
    /// An option's value: the given one, or the default.
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

    /// The names of the nodes: the given ones, or `n1` and so on.
    pub fn names(&self, default: u32) -> Vec<String> {
        let numbered = |count: u32| (1..=count).map(|number| format!("n{number}")).collect();
        match &self.nodes {
            Nodes::Default => numbered(default),
            Nodes::Count(count) => numbered(*count),
            Nodes::Named(names) => names.clone(),
        }
    }
}

impl Kind {
    /// A cluster of three nodes, whose fields are defaults for other kinds.
    pub(crate) const CLUSTER: Kind = Kind {
        name: "",
        summary: "",
        needs: &[],
        options: &[],
        workloads: &[],
        faults: NODES,
        default_faults: &[],
        nodes: 3,
        nodes_may_vary: false,
        command: None,
        make: Make::Store(|_| Err(LiveError::Unsupported(String::new()))),
    };

    /// The place of its nodes in a run with these faults.
    pub fn place(&self, faults: &[Fault]) -> Place {
        match self.make {
            Make::Cluster { .. } => Place::World,
            Make::StoreOrCluster { .. } if !faults.is_empty() => Place::World,
            Make::StoreOrCluster { .. } | Make::Store(_) => Place::Here,
        }
    }

    /// Programs that must be installed on this machine for a run with these faults: its own, and those for namespaces
    /// if its nodes are namespaces.
    pub fn needs_with_namespaces(&self, faults: &[Fault]) -> Vec<Need> {
        let world: &[Need] = if self.place(faults) == Place::World { &NAMESPACES } else { &[] };
        [self.needs, world].concat()
    }

    /// The ports of its servers, if they can be behind proxies.
    pub fn ports(&self) -> Option<&'static [u16]> {
        match self.make {
            Make::Cluster { ports, .. } if !ports.is_empty() => Some(ports),
            _ => None,
        }
    }

    /// Starts one and waits until clients may begin.
    ///
    /// # Errors
    ///
    /// If it does not start, or does not support the faults; if it needs a world and `start` has none.
    pub fn start(&self, mut start: Start) -> Result<Box<dyn Store>, LiveError> {
        let system = match self.make {
            Make::Store(store) => return store(start),
            Make::StoreOrCluster { store, .. } if start.faults.is_empty() => return store(start),
            Make::StoreOrCluster { system, .. } | Make::Cluster { system, .. } => system(&start)?,
        };
        let Some(mut world) = start.world.take() else {
            return Err(LiveError::Unsupported(format!("{} needs a world", self.name)));
        };
        if let Some(fault) = start.faults.iter().find(|fault| !self.faults.contains(fault)) {
            return Err(LiveError::Unsupported(format!("{} has no fault {fault}", self.name)));
        }
        world.check(self.needs)?;
        world.prepare(&start.faults)?;
        Ok(Box::new(Cluster::start((self.name, self.workloads, self.faults), world, system)?))
    }

    /// Checks the requested options and nodes, before anything is started.
    ///
    /// # Errors
    ///
    /// If it has no such option, or the option no such value; or if it cannot have such nodes. Nodes that are machines
    /// of the user's (`are_machines`) may have any names.
    pub fn check(
        &self,
        options: &BTreeMap<String, String>,
        nodes: &Nodes,
        are_machines: bool,
    ) -> Result<(), LiveError> {
        for (name, value) in options {
            let Some(option) = self.options.iter().find(|option| option.name == name) else {
                return Err(LiveError::Usage(format!("{} has no option --{name}", self.name)));
            };
            if !option.values.is_empty() && !option.values.contains(&value.as_str()) {
                let all = option.values.join(", ");
                return Err(LiveError::Usage(format!("--{name}: expected one of {all}, found {value}")));
            }
            if let Some(Exclusion { value: excluded, other: (other, its), why }) = option.excludes
                && value == excluded
                && options.get(other).is_some_and(|value| value == its)
            {
                let message = format!("--{name} {value} and --{other} {its} exclude each other: {why}");
                return Err(LiveError::Usage(message));
            }
        }
        match nodes {
            Nodes::Default => Ok(()),
            Nodes::Count(0) => Err(LiveError::Usage("--nodes: expected at least one node".to_owned())),
            Nodes::Count(count) if self.nodes_may_vary || *count == self.nodes => {
                const NODES_MAX: u32 = 99;
                if *count > NODES_MAX {
                    return Err(LiveError::Usage(format!("--nodes: expected at most {NODES_MAX}, found {count}")));
                }
                Ok(())
            }
            Nodes::Named(names) if are_machines && names.len() != self.nodes.to_usize() => {
                let (wanted, given) = (self.nodes, names.len());
                Err(LiveError::Usage(format!("{} needs {wanted} nodes, but --nodes names {given}", self.name)))
            }
            Nodes::Named(_) if are_machines || self.nodes_may_vary && self.place(&[]) == Place::Here => Ok(()),
            Nodes::Count(count) => {
                Err(LiveError::Usage(format!("--nodes: expected {} for {}, found {count}", self.nodes, self.name)))
            }
            Nodes::Named(_) => {
                Err(LiveError::Usage(format!("--nodes: the names of the nodes of {} are fixed", self.name)))
            }
        }
    }
}

/// A time such as `250ms`, `5s`, `1.5s` or `2m`; a number without a unit is in seconds.
///
/// # Errors
///
/// If the text is not a time; the error has what was expected.
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
