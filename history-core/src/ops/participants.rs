//! The processes of a history: the names of clients, which checkers receive as numbers, and the processes whose ops
//! were omitted.

use super::client_rule::is_nemesis;
use crate::cast::Cast as _;
use crate::hash::HashMap;
use crate::{Datum, Op, Process, visible};
use std::collections::BTreeMap;
use std::fmt;

/// Numbers below this represent names of clients, the first name for the least one.
///
/// `i64::MIN` represents none, so checkers may use it for their own purposes.
pub(crate) const NAMES_END: i64 = NAMES_START + NAMES_MAX as i64;
const NAMES_START: i64 = i64::MIN + 1;
/// The maximum number of names: fewer than ops.
const NAMES_MAX: u32 = u32::MAX;

/// The number that represents the `at`th name of a history.
pub(crate) fn number_of_name(at: usize) -> i64 {
    NAMES_START.saturating_add_unsigned(at.to_u64())
}

/// The maximum number of omitted names in a note.
const SHOWN_MAX: usize = 3;

/// A client as shown in a report: its number or its name. It displays in one line, with escapes for hidden characters.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(untagged))]
pub enum Client {
    /// A client with a number in the history.
    Number(i64),
    /// A client with a name in the history.
    Name(String),
}

impl Client {
    /// The client of an op, if it is a client's and the history has a number or name for it.
    pub fn of(op: &Op<'_>) -> Option<Client> {
        match (op.client_name, op.process) {
            (Some(name), _) => Some(Client::Name(name.to_owned())),
            (None, Process::Client(number)) => Some(Client::Number(number)),
            (None, Process::Other(_) | Process::Unknown) => None,
        }
    }
}

impl fmt::Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Client::Number(number) => write!(f, "{number}"),
            Client::Name(name) => f.write_str(&visible::line(name)),
        }
    }
}

impl From<i64> for Client {
    fn from(number: i64) -> Client {
        Client::Number(number)
    }
}

impl From<&Client> for Datum {
    /// The client in EDN: an integer, or a keyword.
    fn from(client: &Client) -> Datum {
        match client {
            Client::Number(number) => Datum::Int(*number),
            Client::Name(name) => Datum::Keyword(name.clone()),
        }
    }
}

/// The processes of a history, as a checker records them.
///
/// In a checker's columns every client is a number, including clients with a name ([`Process::Client`]); this type maps
/// the numbers back to names, for reports. It also counts the ops of processes that are not clients.
///
/// O(1) per op, without a look-up for clients that have a number.
///
/// ```
/// use history_core::{History, Participants, Process};
///
/// let history = History::parse("{:process :w1, :type :ok} {:process 4, :type :ok} {:process :nemesis, :type :info}")?;
/// let mut participants = Participants::new();
/// let clients: Vec<bool> = history.ops().map(|op| participants.see(&op)).collect();
/// assert_eq!(clients, [true, true, false]);
/// let Process::Client(number) = history.op(0).process else { panic!() };
/// assert_eq!(participants.client(number).to_string(), "w1");
/// assert_eq!(participants.others(), 1);
/// # Ok::<(), history_core::HistoryError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Participants {
    names: HashMap<i64, Box<str>>,
    others: u64,
    /// For each omitted process that may be a client, the number of its ops.
    left_out: BTreeMap<Box<str>, u64>,
}

crate::state!(struct Participants { names, others, left_out });

impl Participants {
    /// No processes.
    pub fn new() -> Participants {
        Participants::default()
    }

    /// Records the process of an op. Returns whether it is a client.
    #[inline]
    pub fn see(&mut self, op: &Op<'_>) -> bool {
        match op.process {
            Process::Client(number) => {
                if number < NAMES_END {
                    self.see_name(number, op);
                }
                true
            }
            Process::Unknown => true,
            Process::Other(name) => {
                self.add_others(name, 1);
                false
            }
        }
    }

    fn see_name(&mut self, number: i64, op: &Op<'_>) {
        if let Some(name) = op.client_name {
            self.names.entry(number).or_insert_with(|| name.into());
        }
    }

    /// Counts so many ops of a process that is not a client.
    #[doc(hidden)]
    pub fn add_others(&mut self, name: &str, ops: u64) {
        self.others += ops;
        if is_nemesis(name) {
            return;
        }
        match self.left_out.get_mut(name) {
            Some(count) => *count += ops,
            None => _ = self.left_out.insert(name.into(), ops),
        }
    }

    /// The client that a number represents.
    pub fn client(&self, number: i64) -> Client {
        match self.names.get(&number) {
            Some(name) => Client::Name(name.to_string()),
            None => Client::Number(number),
        }
    }

    /// Whether some client has a name.
    pub fn has_names(&self) -> bool {
        !self.names.is_empty()
    }

    /// The number of ops of processes that are not clients.
    pub fn others(&self) -> u64 {
        self.others
    }

    /// A sentence about the ops that were omitted; `None` if there are none other than those of a nemesis, which are
    /// expected.
    ///
    /// ```
    /// use history_core::{History, Participants};
    ///
    /// let text = "{:process 0, :type :invoke} {:process :w1, :type :info} {:process 0, :type :ok}";
    /// let mut participants = Participants::new();
    /// History::parse(text)?.ops().for_each(|op| _ = participants.see(&op));
    /// assert_eq!(participants.note().unwrap(), "1 op was ignored, because its process is not a client: 1 of w1.");
    /// # Ok::<(), history_core::HistoryError>(())
    /// ```
    pub fn note(&self) -> Option<String> {
        let names = self.left_out()?;
        Some(match self.left_out.values().sum() {
            1_u64 => format!("1 op was ignored, because its process is not a client: {names}."),
            total => format!("{total} ops were ignored, because their processes are not clients: {names}."),
        })
    }

    /// The processes whose ops were omitted, and how many, without those of a nemesis: `2 of main, 1 of setup`.
    pub(crate) fn left_out(&self) -> Option<String> {
        let shown = self.left_out.iter().take(SHOWN_MAX).map(|(name, count)| format!("{count} of {name}"));
        let shown = shown.collect::<Vec<_>>().join(", ");
        match self.left_out.len() {
            0 => None,
            1..=SHOWN_MAX => Some(shown),
            more => Some(format!("{shown}, and of {} more processes", more - SHOWN_MAX)),
        }
    }
}
