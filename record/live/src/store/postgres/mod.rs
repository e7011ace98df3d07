//! PostgreSQL: one server, or a primary with two standbys, of which the rig promotes one when the primary is gone.
//!
//! PostgreSQL leaves failover to others. Here it is the simplest there can be: when a fault takes the primary away from a
//! standby, the rig waits a second, as a failure detector would, and promotes the standby that has received the most. When
//! the fault ends the old primary is stopped before anybody can reach it again, and made anew as a standby.

mod client;
mod wire;

use crate::client::{Client, Seat, Store};
use crate::error::LiveError;
use crate::fault::Fault;
use crate::kind::{Kind, Place, StoreOption};
use crate::need::Need;
use crate::store::cluster::{Cluster, FAULTS_AND_CLOCK, SINGLE_FAULTS_AND_CLOCK, as_user, flush, give_to, run, words};
use crate::store::sql::{Answer, Dialect, Session as _, SqlClient, tables};
use crate::world::World;
use history_core::cast::Cast as _;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use wire::Connection;

const PORT: u16 = 5432;
/// The user who runs the servers, where the rig is root: they refuse to.
const USER: &str = "postgres";

/// How long a server may take to come up.
const START_MAX: Duration = Duration::from_secs(30);
/// How long the hub waits for a server.
const ASK: Duration = Duration::from_millis(500);
/// After how long a primary that does not answer is given up.
const DETECTION: Duration = Duration::from_secs(1);
/// How long standbys have to attach after a fault before they are made anew.
const ATTACH_MAX: Duration = Duration::from_secs(5);

const LEVEL: StoreOption = StoreOption {
    name: "level",
    value_name: "LEVEL",
    help: "Isolation level of the transactions",
    values: &["read-committed", "repeatable-read", "serializable"],
    default: "serializable",
};

const SYNCHRONOUS_COMMIT: StoreOption = StoreOption {
    name: "synchronous-commit",
    value_name: "SETTING",
    help: "PostgreSQL's synchronous_commit: what a COMMIT waits for",
    values: &["on", "off", "local", "remote_write", "remote_apply"],
    default: "on",
};

const FSYNC: StoreOption = StoreOption {
    name: "fsync",
    value_name: "SETTING",
    help: "PostgreSQL's fsync: whether anything is flushed to the disk",
    values: &["on", "off"],
    default: "on",
};

const READS: StoreOption = StoreOption {
    name: "reads-at",
    value_name: "SERVER",
    help: "Server that answers single reads: the primary, or that of the client's node",
    values: &["primary", "node"],
    default: "primary",
};

const STANDBYS: StoreOption = StoreOption {
    name: "synchronous-standbys",
    value_name: "COUNT",
    help: "Number of standbys that must have a commit before it is acknowledged",
    values: &["0", "1", "2"],
    default: "0",
};

const WORKLOADS: &[&str] = &["list-append", "rw-register", "versioned-register", "cas-register", "set-full", "bank"];

pub(in crate::store) const KIND: Kind = Kind {
    name: "postgres",
    summary: "PostgreSQL: one server",
    needs: NEEDS,
    options: &[LEVEL, SYNCHRONOUS_COMMIT, FSYNC],
    workloads: WORKLOADS,
    faults: SINGLE_FAULTS_AND_CLOCK,
    default_faults: &[],
    place: Place::World,
    nodes: 1,
    nodes_may_vary: false,
    command: None,
    start: |mut start| {
        let settings = Settings {
            level: spaced(start.option(&LEVEL)),
            synchronous_commit: start.option(&SYNCHRONOUS_COMMIT).to_owned(),
            has_fsync: start.option(&FSYNC) == "on",
            ..Settings::default()
        };
        Ok(Box::new(Postgres::start("postgres", start.take_world()?, settings)?))
    },
};

pub(in crate::store) const FAILOVER: Kind = Kind {
    name: "postgres-failover",
    summary: "PostgreSQL: a primary and two standbys, one of which is promoted when the primary is gone",
    needs: NEEDS,
    options: &[LEVEL, SYNCHRONOUS_COMMIT, READS, STANDBYS],
    workloads: &["versioned-register", "cas-register", "set-full", "list-append", "rw-register", "bank"],
    faults: FAULTS_AND_CLOCK,
    default_faults: &[Fault::Isolate],
    place: Place::World,
    nodes: 3,
    nodes_may_vary: false,
    command: None,
    start: |mut start| {
        let settings = Settings {
            level: spaced(start.option(&LEVEL)),
            synchronous_commit: start.option(&SYNCHRONOUS_COMMIT).to_owned(),
            reads_here: start.option(&READS) == "node",
            synchronous_standbys: start.number(&STANDBYS)?,
            ..Settings::default()
        };
        Ok(Box::new(Postgres::start("postgres-failover", start.take_world()?, settings)?))
    },
};

const NEEDS: &[Need] = &[
    Need::new("/usr/lib/postgresql/*/bin/initdb", "postgresql"),
    Need::new("ip", "iproute2"),
    Need::new("nft", "nftables"),
    Need::new("unshare", "util-linux"),
];

/// An isolation level as SQL writes it.
fn spaced(level: &str) -> &'static str {
    match level {
        "read-committed" => "read committed",
        "repeatable-read" => "repeatable read",
        _ => "serializable",
    }
}

/// How the servers are set.
#[derive(Clone, Debug)]
struct Settings {
    level: &'static str,
    synchronous_commit: String,
    has_fsync: bool,
    reads_here: bool,
    synchronous_standbys: u64,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            level: "serializable",
            synchronous_commit: "on".to_owned(),
            has_fsync: true,
            reads_here: false,
            synchronous_standbys: 0,
        }
    }
}

/// Servers: the first one begins as the primary.
struct Postgres {
    name: &'static str,
    cluster: Cluster,
    settings: Settings,
    /// Where the programs are.
    programs: PathBuf,
    primary: Mutex<u32>,
}

impl Postgres {
    fn start(name: &'static str, world: World, settings: Settings) -> Result<Postgres, LiveError> {
        let initdb = NEEDS[0].find();
        let programs = initdb.as_ref().and_then(|path| path.parent());
        let programs = programs.ok_or_else(|| LiveError::store("PostgreSQL is not installed"))?.to_owned();
        let cluster = Cluster::new(world).with_clocks();
        let store = Postgres { name, cluster, settings, programs, primary: Mutex::new(0) };
        store.create()?;
        store.run(0)?;
        let is_up = || store.ask(0, "select 1").is_some();
        store.cluster.until(START_MAX, "does not let clients in", is_up)?;
        // A checkpoint flushes the tables also where commits are not.
        for sql in tables().into_iter().chain(["checkpoint".to_owned()]) {
            store.ask(0, &sql).ok_or_else(|| LiveError::store(format!("PostgreSQL does not perform {sql:?}")))?;
        }
        flush(&store.data(0)?.1)?;
        let nodes = u32::try_from(store.cluster.nodes().len()).unwrap_or(u32::MAX);
        (1..nodes).try_for_each(|node| store.make_standby(node))?;
        store.cluster.until(START_MAX, "the standbys did not attach", || store.is_settled())?;
        Ok(store)
    }

    fn address(&self, node: u32) -> Ipv4Addr {
        self.cluster.nodes()[node.to_usize()].address
    }

    fn program(&self, name: &str) -> String {
        self.programs.join(name).display().to_string()
    }

    /// A program to be run by the servers' user.
    fn command(&self, name: &str) -> Vec<String> {
        let mut command = as_user(USER);
        command.push(self.program(name));
        command
    }

    /// Where a server's data is. Sockets are next to it: what is in it is copied to standbys.
    fn data(&self, node: u32) -> Result<(PathBuf, PathBuf), LiveError> {
        let directory = self.cluster.world.data(node, "postgres")?;
        give_to(USER, &directory)?;
        Ok((directory.join("data"), directory))
    }

    /// Makes the data of the first server.
    fn create(&self) -> Result<(), LiveError> {
        let (data, _) = self.data(0)?;
        let data = data.display().to_string();
        let mut command = self.command("initdb");
        command.extend(words("-A trust -U postgres -E UTF8 --locale=C --no-instructions --no-sync -D"));
        command.push(data.clone());
        run(&command)?;
        // Nobody else is in this network.
        let path = format!("{data}/pg_hba.conf");
        let lines = "host all all 10.77.0.0/24 trust\nhost replication all 10.77.0.0/24 trust\n";
        OpenOptions::new()
            .append(true)
            .open(&path)
            .and_then(|mut file| file.write_all(lines.as_bytes()))
            .map_err(|source| LiveError::Write { path: path.into(), source })
    }

    /// Starts the server of a node.
    fn run(&self, node: u32) -> Result<(), LiveError> {
        let (data, sockets) = self.data(node)?;
        let Settings { synchronous_commit, has_fsync, synchronous_standbys, .. } = &self.settings;
        let mut command = vec![self.program("postgres")];
        command.extend(["-D".to_owned(), data.display().to_string()]);
        command.extend(["-k".to_owned(), sockets.display().to_string()]);
        let fsync = if *has_fsync { "on" } else { "off" };
        let standbys = match synchronous_standbys {
            0 => String::new(),
            count => format!("ANY {count} (*)"),
        };
        for setting in [
            "listen_addresses=*".to_owned(),
            format!("port={PORT}"),
            format!("synchronous_commit={synchronous_commit}"),
            format!("fsync={fsync}"),
            format!("synchronous_standby_names={standbys}"),
            // Without this a level that lets transactions wait for each other is slow, not wrong.
            "deadlock_timeout=10ms".to_owned(),
            "shared_buffers=32MB".to_owned(),
            // A scan of a small table counts as a read of all of it, which refuses more transactions than need be.
            "enable_seqscan=off".to_owned(),
            "wal_sender_timeout=2s".to_owned(),
            "wal_receiver_timeout=2s".to_owned(),
            "wal_receiver_status_interval=1s".to_owned(),
            "wal_retrieve_retry_interval=200ms".to_owned(),
        ] {
            command.extend(["-c".to_owned(), setting]);
        }
        self.cluster.start_as(USER, node, &format!("postgres-{}", self.node_name(node)), command)
    }

    /// Makes the server of a node anew, as a standby.
    fn make_standby(&self, node: u32) -> Result<(), LiveError> {
        self.cluster.remove(node)?;
        let (data, _) = self.data(node)?;
        if data.exists() {
            fs::remove_dir_all(&data).map_err(|source| LiveError::Write { path: data.clone(), source })?;
        }
        let mut command = self.command("pg_basebackup");
        command.extend(words("-U postgres -R -X stream -c fast --no-sync -h"));
        command.extend([self.address(self.now()).to_string(), "-D".to_owned(), data.display().to_string()]);
        run(&command)?;
        self.run(node)
    }

    /// Asks the server of a node, from the hub.
    fn ask(&self, node: u32, sql: &str) -> Option<Answer> {
        let address = (IpAddr::V4(self.address(node)), PORT).into();
        let mut connection = Connection::open(address, ASK, START_MAX).ok()?;
        connection.query(sql).ok()
    }

    /// The first value of an answer.
    fn ask_value(&self, node: u32, sql: &str) -> Option<String> {
        self.ask(node, sql)?.rows.first()?.first()?.clone()
    }

    /// The node whose server is the primary.
    fn now(&self) -> u32 {
        *self.primary.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Promotes the standby that has received the most, among those that the fault has not hit.
    fn fail_over(&self, hit: &[u32]) -> Result<(), LiveError> {
        let nodes = u32::try_from(self.cluster.nodes().len()).unwrap_or(u32::MAX);
        let received = "select pg_wal_lsn_diff(pg_last_wal_receive_lsn(), '0/0')";
        let place = |node: u32| {
            let bytes = self.ask_value(node, received)?;
            Some((bytes.parse::<u64>().ok()?, node))
        };
        thread::sleep(DETECTION);
        let best = (0..nodes).filter(|node| !hit.contains(node)).filter_map(place).max();
        let Some((_, node)) = best else { return Ok(()) };
        if self.ask_value(node, "select pg_promote(true, 10)").as_deref() != Some("t") {
            return Err(LiveError::store(format!("the server of {} was not promoted", self.node_name(node))));
        }
        *self.primary.lock().unwrap_or_else(PoisonError::into_inner) = node;
        for other in (0..nodes).filter(|other| *other != node && !hit.contains(other)) {
            let source = format!("host={} port={PORT} user=postgres", self.address(node));
            self.ask(other, &format!("alter system set primary_conninfo = '{source}'"));
            self.ask(other, "select pg_reload_conf()");
        }
        Ok(())
    }

    fn node_name(&self, node: u32) -> &str {
        &self.cluster.nodes()[node.to_usize()].name
    }

    /// The nodes whose servers follow the primary.
    fn attached(&self) -> Vec<u32> {
        let sql = "select host(client_addr) from pg_stat_replication where state = 'streaming'";
        let rows = self.ask(self.now(), sql).map(|answer| answer.rows).unwrap_or_default();
        let is_attached = |address: &str| rows.iter().any(|row| row.first() == Some(&Some(address.to_owned())));
        (0..)
            .zip(self.cluster.nodes())
            .filter(|(_, node)| is_attached(&node.address.to_string()))
            .map(|at| at.0)
            .collect()
    }
}

/// Whether a fault takes the nodes away from the others, so that a primary among them is replaced.
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

impl Store for Postgres {
    fn name(&self) -> &str {
        self.name
    }

    fn workloads(&self) -> &[&'static str] {
        WORKLOADS
    }

    fn nodes(&self) -> &[String] {
        self.cluster.world.names()
    }

    fn client(&self, seat: &Seat) -> Result<Box<dyn Client>, LiveError> {
        self.cluster.world.seat(seat)?;
        let addresses: Vec<Ipv4Addr> = self.cluster.nodes().iter().map(|node| node.address).collect();
        let (behind, own) = addresses.split_at(seat.node.to_usize());
        let Settings { level, reads_here, .. } = self.settings;
        let connector =
            client::PostgresConnector { hosts: [own, behind].concat(), timeout: seat.timeout, level, reads_here };
        let begin = format!("begin isolation level {level}");
        Ok(Box::new(SqlClient::new(connector, Dialect::Postgres, begin)))
    }

    fn faults(&self) -> &[Fault] {
        self.cluster.faults()
    }

    fn begin(&self, fault: Fault, nodes: &[u32]) -> Result<(), LiveError> {
        self.cluster.begin(fault, nodes)?;
        if takes_away(fault) && nodes.contains(&self.now()) { self.fail_over(nodes) } else { Ok(()) }
    }

    fn heal(&self) -> Result<(), LiveError> {
        let now = self.now();
        let nodes = u32::try_from(self.cluster.nodes().len()).unwrap_or(u32::MAX);
        // A server that missed a promotion must not be found again as a primary.
        let is_standby =
            |node: u32| self.ask_value(node, "select pg_is_in_recovery()").is_some_and(|answer| answer == "t");
        let others: Vec<u32> = (0..nodes).filter(|node| *node != now).collect();
        let stale: Vec<u32> = others.iter().copied().filter(|node| !is_standby(*node)).collect();
        stale.iter().try_for_each(|node| self.cluster.remove(*node))?;
        self.cluster.heal()?;
        let is_up = || self.ask(now, "select 1").is_some();
        self.cluster.until(START_MAX, "does not let clients in", is_up)?;
        stale.iter().try_for_each(|node| self.make_standby(*node))?;
        let began = Instant::now();
        while self.attached().len() < others.len() && began.elapsed() < ATTACH_MAX {
            thread::sleep(Duration::from_millis(50));
        }
        let attached = self.attached();
        others.iter().filter(|node| !attached.contains(node)).try_for_each(|node| self.make_standby(*node))
    }

    fn primary(&self) -> Option<u32> {
        Some(self.now())
    }

    fn is_settled(&self) -> bool {
        self.ask(self.now(), "select 1").is_some() && self.attached().len() + 1 == self.cluster.nodes().len()
    }

    fn log(&self) -> String {
        self.cluster.log()
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
