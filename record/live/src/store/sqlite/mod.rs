//! SQLite, compiled in: a database in a file, with a connection for each client.
//!
//! Without faults the connections belong to this process. With faults the file is on the disk of a node, and a process
//! there has the connections ([`node`]): it can be killed, and the disk can lose its power.
//!
//! With [`Locks::None`] SQLite opens the file through its `unix-none` VFS, whose locks do nothing. Some network file
//! systems behave like this.

mod client;
mod node;

use crate::client::{Client, Seat, Store};
use crate::error::LiveError;
use crate::fault::SERVER;
use crate::kind::{Exclusion, Kind, Make, Start, StoreOption};
use crate::run::patience::{Patience, sleep};
use crate::workload::{ACCOUNTS, INITIAL_BALANCE};
use client::{SqliteClient, wait_for_locks};
pub(super) use node::serve;
use rusqlite::{Connection, OpenFlags};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Whether SQLite locks the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Locks {
    /// SQLite's normal locks.
    #[default]
    Default,
    /// Not at all.
    None,
}

/// The time between two attempts to open the file.
const OPEN_AGAIN: Duration = Duration::from_millis(1);

const LOCKS: StoreOption = StoreOption::text(
    "locks",
    "HOW",
    "Locking of the database file: default, or none, as on some network file systems",
)
.of(&["default", "none"], "default")
.but(Exclusion { value: "none", other: ("journal", "wal"), why: "wal needs locks" });

const SYNCHRONOUS: StoreOption = StoreOption::text(
    "synchronous",
    "SETTING",
    "SQLite's synchronous: what is flushed to the disk; auto is full with faults, and off without faults",
)
.of(&["auto", "off", "normal", "full", "extra"], "auto");

const JOURNAL: StoreOption =
    StoreOption::text("journal", "MODE", "SQLite's journal_mode").of(&["delete", "wal"], "delete");

pub(super) const KIND: Kind = Kind {
    name: "sqlite",
    summary: "SQLite, compiled in: a database in a file, a connection per client",
    needs: &[],
    options: &[LOCKS, SYNCHRONOUS, JOURNAL],
    workloads: WORKLOADS,
    faults: SERVER,
    default_faults: &[],
    nodes: 1,
    nodes_may_vary: false,
    command: None,
    make: Make::StoreOrCluster {
        store: |start| Ok(Box::new(Settings::of(&start).create(&start.data.join("db"))?)),
        system: |start| Ok(Box::new(node::Node::new(Settings::of(start)))),
    },
};

const WORKLOADS: &[&str] = &["list-append", "rw-register", "cas-register", "versioned-register", "set-full", "bank"];

/// The settings for the file.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Settings {
    locks: Locks,
    synchronous: String,
    journal: String,
}

impl Settings {
    fn of(start: &Start) -> Settings {
        let locks = if start.option(&LOCKS) == "none" { Locks::None } else { Locks::Default };
        let synchronous = match start.option(&SYNCHRONOUS) {
            // Without faults that end the process, waiting for the disk would only reduce the number of requests.
            "auto" if start.faults.is_empty() => "off",
            "auto" => "full",
            given => given,
        };
        let journal = start.option(&JOURNAL).to_owned();
        Settings { locks, synchronous: synchronous.to_owned(), journal }
    }

    /// Creates the database at `path`. The file must not exist.
    fn create(self, path: &Path) -> Result<Sqlite, LiveError> {
        if path.exists() {
            return Err(LiveError::store(format!("{} exists already", path.display())));
        }
        let store = Sqlite { path: path.to_owned(), settings: self, nodes: vec![String::new()] };
        let created = store.open(Duration::from_secs(5)).and_then(|connection| {
            connection.pragma_update(None, "journal_mode", &store.settings.journal)?;
            connection.execute_batch(
                "begin;
                 create table lists (k integer primary key, v text not null);
                 create table registers (k integer primary key, v integer not null, id text not null);
                 create table elements (v integer primary key);
                 create table accounts (k integer primary key, v integer not null);",
            )?;
            for account in 0..ACCOUNTS {
                connection.execute("insert into accounts values (?1, ?2)", (account, INITIAL_BALANCE))?;
            }
            connection.execute_batch("commit")
        });
        created.map_err(|error| LiveError::store(format!("SQLite cannot create {}: {error}", path.display())))?;
        Ok(store)
    }

    /// Opens the database at `path`, and creates it if it does not exist.
    fn open(self, path: &Path) -> Result<Sqlite, LiveError> {
        if path.exists() {
            return Ok(Sqlite { path: path.to_owned(), settings: self, nodes: vec![String::new()] });
        }
        self.create(path)
    }
}

/// A database in a file.
#[derive(Debug)]
pub struct Sqlite {
    path: PathBuf,
    settings: Settings,
    nodes: Vec<String>,
}

impl Sqlite {
    /// Creates the database at `path`, where no file may exist. Nothing waits for the disk.
    ///
    /// # Errors
    ///
    /// If the file exists, or SQLite cannot create it.
    pub fn create(path: &Path, locks: Locks) -> Result<Sqlite, LiveError> {
        Settings { locks, synchronous: "off".to_owned(), journal: "delete".to_owned() }.create(path)
    }

    fn open(&self, timeout: Duration) -> rusqlite::Result<Connection> {
        let connection = match self.settings.locks {
            Locks::None => Connection::open_with_flags_and_vfs(&self.path, OpenFlags::default(), "unix-none")?,
            Locks::Default => Connection::open(&self.path)?,
        };
        wait_for_locks(&connection, timeout)?;
        connection.pragma_update(None, "synchronous", &self.settings.synchronous)?;
        Ok(connection)
    }
}

impl Store for Sqlite {
    fn name(&self) -> &'static str {
        "sqlite"
    }

    fn workloads(&self) -> &[&'static str] {
        WORKLOADS
    }

    fn nodes(&self) -> &[String] {
        &self.nodes
    }

    fn client(&self, seat: &Seat) -> Result<Box<dyn Client>, LiveError> {
        let patience = Patience::new(seat.timeout);
        loop {
            match self.open(seat.timeout) {
                Ok(connection) => return Ok(Box::new(SqliteClient { connection })),
                // Without locks, a client that opens the file during a change may find it, or its journal, damaged.
                Err(_) if self.settings.locks == Locks::None && patience.rest().is_some() => sleep(OPEN_AGAIN),
                Err(error) => return Err(LiveError::store(format!("SQLite: {error}"))),
            }
        }
    }
}
