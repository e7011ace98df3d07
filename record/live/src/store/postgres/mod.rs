//! PostgreSQL: one server, or a primary with two standbys. The rig promotes one of these when the primary is
//! unavailable.
//!
//! PostgreSQL does not include failover. The rig uses the simplest form: when a fault makes the primary unavailable to
//! a standby, the rig waits a second, as a failure detector would, and promotes the standby that has received the most.
//! When the fault ends, the old primary is stopped before it can be reached again, and created again as a standby.

mod client;
mod wire;

use crate::client::{Client, Seat};
use crate::error::LiveError;
use crate::fault::{Fault, NODES_AND_CLOCKS, SERVER_AND_CLOCK};
use crate::kind::{Kind, Make, Start, StoreOption};
use crate::need::Need;
use crate::run::patience::{self, Patience};
use crate::store::sql::{Answer, Dialect, Session as _, SqlClient, tables};
use crate::world::cluster::System;
use crate::world::{Node, World, words};
use history_core::cast::Cast as _;
use std::fmt::Write as _;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use wire::Connection;

const PORT: u16 = 5432;
/// The user who runs the servers, if the rig is root: they do not run as root.
const USER: &str = "postgres";

/// The maximum time in which a server must start.
const START_MAX: Duration = Duration::from_secs(30);
/// How long the hub waits for a server's response.
const ASK: Duration = Duration::from_millis(500);
/// The time after which a primary that does not respond is replaced.
const DETECTION: Duration = Duration::from_secs(1);
/// The maximum time for standbys to attach after a fault before they are created again.
const ATTACH_MAX: Duration = Duration::from_secs(5);

const LEVEL: StoreOption = StoreOption::text("level", "LEVEL", "Isolation level of the transactions")
    .of(&["read-committed", "repeatable-read", "serializable"], "serializable");

const SYNCHRONOUS_COMMIT: StoreOption =
    StoreOption::text("synchronous-commit", "SETTING", "PostgreSQL's synchronous_commit: what a COMMIT waits for")
        .of(&["on", "off", "local", "remote_write", "remote_apply"], "on");

const FSYNC: StoreOption =
    StoreOption::text("fsync", "SETTING", "PostgreSQL's fsync: whether anything is flushed to the disk")
        .of(&["on", "off"], "on");

const READS: StoreOption = StoreOption::text(
    "reads-at",
    "SERVER",
    "Server that answers single reads: the primary, or that of the client's node",
)
.of(&["primary", "node"], "primary");

const STANDBYS: StoreOption = StoreOption::text(
    "synchronous-standbys",
    "COUNT",
    "Number of standbys that must receive a commit before it is acknowledged",
)
.of(&["0", "1", "2"], "0");

pub(in crate::store) const KIND: Kind = Kind {
    name: "postgres",
    summary: "PostgreSQL: one server",
    options: &[LEVEL, SYNCHRONOUS_COMMIT, FSYNC],
    faults: SERVER_AND_CLOCK,
    default_faults: &[],
    workloads: &["list-append", "rw-register", "versioned-register", "cas-register", "set-full", "bank"],
    nodes: 1,
    ..FAILOVER
};

pub(in crate::store) const FAILOVER: Kind = Kind {
    name: "postgres-failover",
    summary: "PostgreSQL: a primary and two standbys, one of which is promoted when the primary fails",
    needs: &[Need::new(INITDB, "postgresql")],
    options: &[LEVEL, SYNCHRONOUS_COMMIT, READS, STANDBYS],
    workloads: &["versioned-register", "cas-register", "set-full", "list-append", "rw-register", "bank"],
    faults: NODES_AND_CLOCKS,
    default_faults: &[Fault::Isolate],
    make: Make::Cluster { ports: &[PORT], system: |start| Ok(Box::new(Postgres::new(start)?)) },
    ..Kind::CLUSTER
};

/// The program that creates a server's data; the others are next to it.
const INITDB: &str = "/usr/lib/postgresql/*/bin/initdb";

/// An isolation level as SQL writes it.
fn spaced(level: &str) -> &'static str {
    match level {
        "read-committed" => "read committed",
        "repeatable-read" => "repeatable read",
        _ => "serializable",
    }
}

/// Servers. The first one begins as the primary.
struct Postgres {
    level: &'static str,
    synchronous_commit: String,
    fsync: String,
    reads_here: bool,
    /// The standbys that a commit waits for, as PostgreSQL writes them.
    synchronous_standbys: String,
    primary: Mutex<u32>,
}

impl Postgres {
    fn new(start: &Start) -> Result<Postgres, LiveError> {
        Ok(Postgres {
            level: spaced(start.option(&LEVEL)),
            synchronous_commit: start.option(&SYNCHRONOUS_COMMIT).to_owned(),
            fsync: start.option(&FSYNC).to_owned(),
            reads_here: start.option(&READS) == "node",
            synchronous_standbys: match start.number(&STANDBYS)? {
                0 => String::new(),
                count => format!("ANY {count} (*)"),
            },
            primary: Mutex::new(0),
        })
    }

    fn program(world: &World, node: u32, name: &str) -> Result<String, LiveError> {
        let initdb = world.find(node, INITDB)?;
        let programs = initdb.as_ref().and_then(|path| path.parent());
        let programs = programs.ok_or_else(|| LiveError::store("PostgreSQL is not installed"))?;
        Ok(programs.join(name).display().to_string())
    }

    /// The path of a server's data, and the directory around it. Sockets are next to the data: the content of the data
    /// directory is copied to standbys.
    fn data(world: &World, node: u32) -> Result<(String, PathBuf), LiveError> {
        let directory = world.data(node, "postgres", USER)?;
        Ok((directory.join("data").display().to_string(), directory))
    }

    /// Creates the data of the first server.
    fn create(world: &World) -> Result<(), LiveError> {
        let (data, _) = Postgres::data(world, 0)?;
        let mut command = vec![Postgres::program(world, 0, "initdb")?];
        command.extend(words("-A trust -U postgres -E UTF8 --locale=C --no-instructions --no-sync -D"));
        command.push(data.clone());
        world.run(0, USER, command)?;
        let mut callers = String::new();
        for range in world.callers() {
            _ = writeln!(callers, "host all all {range} trust\nhost replication all {range} trust");
        }
        world.write(0, &PathBuf::from(data).join("pg_hba.conf"), callers)
    }

    /// Starts the server of a node.
    fn run(&self, world: &World, node: u32) -> Result<(), LiveError> {
        let (data, sockets) = Postgres::data(world, node)?;
        let mut command = vec![Postgres::program(world, node, "postgres")?, "-D".to_owned(), data];
        command.extend(["-k".to_owned(), sockets.display().to_string()]);
        for setting in [
            format!("listen_addresses={}", world.nodes()[node.to_usize()].own),
            format!("port={PORT}"),
            format!("synchronous_commit={}", self.synchronous_commit),
            format!("fsync={}", self.fsync),
            format!("synchronous_standby_names={}", self.synchronous_standbys),
            // Without this, a level at which transactions wait for each other is slow, but not wrong.
            "deadlock_timeout=10ms".to_owned(),
            "shared_buffers=32MB".to_owned(),
            // A scan of a small table counts as a read of all of it, which causes unnecessary rejections of
            // transactions.
            "enable_seqscan=off".to_owned(),
            "wal_sender_timeout=2s".to_owned(),
            "wal_receiver_timeout=2s".to_owned(),
            "wal_receiver_status_interval=1s".to_owned(),
            "wal_retrieve_retry_interval=200ms".to_owned(),
        ] {
            command.extend(["-c".to_owned(), setting]);
        }
        world.start(node, USER, "postgres", command)
    }

    /// How the server of a node reaches the primary. It uses its node's name there.
    fn source(world: &World, node: u32, primary: u32) -> String {
        let host = world.nodes()[primary.to_usize()].address;
        format!("host={host} port={PORT} user=postgres application_name={}", world.names()[node.to_usize()])
    }

    /// Creates the server of a node again, as a standby.
    fn make_standby(&self, world: &World, node: u32) -> Result<(), LiveError> {
        world.stop(node)?;
        let (data, _) = Postgres::data(world, node)?;
        world.run(node, "", vec!["rm".to_owned(), "-rf".to_owned(), data.clone()])?;
        let mut command = vec![Postgres::program(world, node, "pg_basebackup")?];
        command.extend(words("-R -X stream -c fast --no-sync"));
        command.extend(["-d".to_owned(), Postgres::source(world, node, self.now()), "-D".to_owned(), data]);
        world.run(node, USER, command)?;
        self.run(world, node)
    }

    /// Executes a query on the server of a node, from the hub.
    fn ask(world: &World, node: u32, sql: &str) -> Option<Answer> {
        let mut connection = Connection::open(world.nodes()[node.to_usize()].at(PORT), ASK, START_MAX).ok()?;
        connection.query(sql).ok()
    }

    /// The first value of a response.
    fn ask_value(world: &World, node: u32, sql: &str) -> Option<String> {
        Postgres::ask(world, node, sql)?.rows.first()?.first()?.clone()
    }

    /// The node whose server is the primary.
    fn now(&self) -> u32 {
        *self.primary.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Promotes the standby that has received the most, among those that the fault does not affect.
    fn fail_over(&self, world: &World, hit: &[u32]) -> Result<(), LiveError> {
        let received = "select pg_wal_lsn_diff(pg_last_wal_receive_lsn(), '0/0')";
        let place = |node: u32| {
            let bytes = Postgres::ask_value(world, node, received)?;
            Some((bytes.parse::<u64>().ok()?, node))
        };
        patience::sleep(DETECTION);
        let best = (0..world.count()).filter(|node| !hit.contains(node)).filter_map(place).max();
        let Some((_, node)) = best else { return Ok(()) };
        if Postgres::ask_value(world, node, "select pg_promote(true, 10)").as_deref() != Some("t") {
            let name = &world.names()[node.to_usize()];
            return Err(LiveError::store(format!("the server of {name} was not promoted")));
        }
        *self.primary.lock().unwrap_or_else(PoisonError::into_inner) = node;
        for other in (0..world.count()).filter(|other| *other != node && !hit.contains(other)) {
            let source = Postgres::source(world, other, node);
            Postgres::ask(world, other, &format!("alter system set primary_conninfo = '{source}'"));
            Postgres::ask(world, other, "select pg_reload_conf()");
        }
        Ok(())
    }

    /// The nodes whose servers follow the primary.
    fn attached(&self, world: &World) -> Vec<u32> {
        let sql = "select application_name from pg_stat_replication where state = 'streaming'";
        let rows = Postgres::ask(world, self.now(), sql).map(|answer| answer.rows).unwrap_or_default();
        let is_attached = |name: &String| rows.iter().any(|row| row.first() == Some(&Some(name.clone())));
        (0..).zip(world.names()).filter(|(_, name)| is_attached(name)).map(|at| at.0).collect()
    }
}

/// Returns true if a fault makes the nodes unavailable to the others, so that a primary among them is replaced.
fn takes_away(fault: Fault) -> bool {
    matches!(
        fault,
        Fault::Isolate
            | Fault::Split
            | Fault::DropOutgoing
            | Fault::DropIncoming
            | Fault::LinkDown
            | Fault::Kill
            | Fault::Pause
            | Fault::PowerCut
    )
}

impl System for Postgres {
    fn set_up(&self, world: &World) -> Result<(), LiveError> {
        Postgres::create(world)?;
        self.run(world, 0)?;
        let is_up = || Postgres::ask(world, 0, "select 1").is_some();
        world.until(START_MAX, "does not accept clients", is_up)?;
        // A checkpoint flushes the tables even if commits do not.
        for sql in tables().into_iter().chain(["checkpoint".to_owned()]) {
            let asked = Postgres::ask(world, 0, &sql);
            asked.ok_or_else(|| LiveError::store(format!("PostgreSQL did not execute {sql:?}")))?;
        }
        world.flush(0, &Postgres::data(world, 0)?.1)?;
        (1..world.count()).try_for_each(|node| self.make_standby(world, node))?;
        world.until(START_MAX, "the standbys did not attach", || self.is_settled(world))
    }

    fn connect(&self, nodes: &[Node], seat: &Seat) -> Box<dyn Client> {
        let addresses: Vec<SocketAddr> = nodes.iter().map(|node| node.at(PORT)).collect();
        let (behind, own) = addresses.split_at(seat.node.to_usize());
        let Postgres { level, reads_here, .. } = *self;
        let connector =
            client::PostgresConnector { hosts: [own, behind].concat(), timeout: seat.timeout, level, reads_here };
        Box::new(SqlClient::new(connector, Dialect::Postgres, format!("begin isolation level {level}")))
    }

    fn begin(&self, world: &World, fault: Fault, nodes: &[u32]) -> Result<(), LiveError> {
        world.begin(fault, nodes)?;
        if takes_away(fault) && nodes.contains(&self.now()) { self.fail_over(world, nodes) } else { Ok(()) }
    }

    fn heal(&self, world: &World) -> Result<(), LiveError> {
        let now = self.now();
        // A server that missed a promotion must not act as a primary again.
        let is_standby = |node: u32| {
            Postgres::ask_value(world, node, "select pg_is_in_recovery()").is_some_and(|answer| answer == "t")
        };
        let others: Vec<u32> = (0..world.count()).filter(|node| *node != now).collect();
        let stale: Vec<u32> = others.iter().copied().filter(|node| !is_standby(*node)).collect();
        stale.iter().try_for_each(|node| world.stop(*node))?;
        world.heal()?;
        let is_up = || Postgres::ask(world, now, "select 1").is_some();
        world.until(START_MAX, "does not accept clients", is_up)?;
        stale.iter().try_for_each(|node| self.make_standby(world, *node))?;
        let patience = Patience::new(ATTACH_MAX);
        while self.attached(world).len() < others.len() && patience.rest().is_some() {
            patience::sleep(Duration::from_millis(50));
        }
        let attached = self.attached(world);
        others.iter().filter(|node| !attached.contains(node)).try_for_each(|node| self.make_standby(world, *node))
    }

    fn primary(&self, _: &World) -> Option<u32> {
        Some(self.now())
    }

    fn is_settled(&self, world: &World) -> bool {
        Postgres::ask(world, self.now(), "select 1").is_some() && self.attached(world).len() + 1 == world.nodes().len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_written_as_sql_has_them() {
        assert_eq!(
            LEVEL.values.iter().map(|level| level.replace('-', " ")).collect::<Vec<_>>(),
            LEVEL.values.iter().map(|level| spaced(level)).collect::<Vec<_>>()
        );
    }

    #[test]
    fn only_faults_that_take_the_primary_away_replace_it() {
        let replaced: Vec<Fault> = Fault::all().filter(|fault| takes_away(*fault)).collect();
        assert!(replaced.contains(&Fault::Isolate) && replaced.contains(&Fault::PowerCut));
        for fault in [Fault::Clock, Fault::FullDisk, Fault::Loss, Fault::Ring, Fault::Bridge, Fault::Command] {
            assert!(!replaced.contains(&fault), "{fault}");
        }
    }
}
