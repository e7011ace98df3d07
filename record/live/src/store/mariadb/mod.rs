//! MariaDB: one server, or three with Galera, each of which accepts writes.

mod wire;

use crate::client::{Client, Seat};
use crate::error::LiveError;
use crate::fault::{NODES_AND_CLOCKS, SERVER_AND_CLOCK};
use crate::kind::{Kind, Make, Start, StoreOption};
use crate::need::Need;
use crate::request::Request;
use crate::store::sql::{Connector, Dialect, QueryError, Session, SqlClient, tables};
use crate::world::cluster::System;
use crate::world::{Node, World, words};
use history_core::cast::Cast as _;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;
use wire::Connection;

const PORT: u16 = 3306;
/// The user who runs the servers, if the rig is root.
const USER: &str = "mysql";
/// The database with the tables.
const DATABASE: &str = "rig";

/// The maximum time in which a server must start: the others copy the data of the first one, one after another.
const START_MAX: Duration = Duration::from_secs(90);
/// How long the hub waits for a server's response.
const ASK: Duration = Duration::from_millis(500);

const LEVEL: StoreOption = StoreOption::text("level", "LEVEL", "Isolation level of the transactions")
    .of(&["read-uncommitted", "read-committed", "repeatable-read", "serializable"], "repeatable-read");

const SNAPSHOT_ISOLATION: StoreOption = StoreOption::text(
    "snapshot-isolation",
    "SETTING",
    "MariaDB's innodb_snapshot_isolation: whether a write to a row that changed since it was read is an error",
)
.of(&["off", "on"], "off");

const FLUSH: StoreOption = StoreOption::text("flush-log-at-commit", "SETTING", "MariaDB's innodb_flush_log_at_trx_commit: 0 writes and flushes once a second, 1 at each commit, 2 writes at each commit").of(&["0", "1", "2"], "1");

const SYNC_WAIT: StoreOption = StoreOption::text(
    "sync-wait",
    "MASK",
    "Galera's wsrep_sync_wait: 0 reads the local state of the node, 1 waits for earlier commits first",
)
.of(&["0", "1"], "0");

pub(in crate::store) const KIND: Kind = Kind {
    name: "mariadb",
    summary: "MariaDB: one server",
    needs: GALERA.needs.split_at(2).0,
    options: &[LEVEL, SNAPSHOT_ISOLATION, FLUSH],
    faults: SERVER_AND_CLOCK,
    nodes: 1,
    make: Make::Cluster { ports: &[PORT], system: MariaDb::system },
    ..GALERA
};

pub(in crate::store) const GALERA: Kind = Kind {
    name: "galera",
    summary: "MariaDB with Galera: three servers, which all accept writes",
    needs: &[
        Need::new("mariadbd", "mariadb-server"),
        Need::new("mariadb-install-db", "mariadb-server"),
        Need::new(PROVIDER, "galera-4"),
        Need::new("rsync", "rsync"),
        Need::new("socat", "socat"),
    ],
    options: &[LEVEL, SNAPSHOT_ISOLATION, FLUSH, SYNC_WAIT],
    workloads: &["list-append", "rw-register", "versioned-register", "cas-register", "set-full", "bank"],
    faults: NODES_AND_CLOCKS,
    // Copying a server's data uses ports of all addresses, which a proxy cannot forward.
    make: Make::Cluster { ports: &[], system: MariaDb::system },
    ..Kind::CLUSTER
};

/// The library that joins servers into a cluster.
const PROVIDER: &str = "/usr/lib/galera/libgalera_smm.so";

/// Starts the first server. The first word is the path of a file that exists if it was started before.
const FIRST: &str = r#"[ -e "$0" ] || { : > "$0"; set -- "$@" --wsrep-new-cluster; }; exec "$@""#;

/// The servers, with their settings.
struct MariaDb {
    /// The isolation level as SQL writes it.
    level: String,
    snapshot_isolation: String,
    flush: String,
    sync_wait: String,
}

impl MariaDb {
    #[expect(clippy::unnecessary_wraps, reason = "other systems cannot be made of all options")]
    fn system(start: &Start) -> Result<Box<dyn System>, LiveError> {
        Ok(Box::new(MariaDb {
            level: start.option(&LEVEL).replace('-', " "),
            snapshot_isolation: start.option(&SNAPSHOT_ISOLATION).to_owned(),
            flush: start.option(&FLUSH).to_owned(),
            sync_wait: start.option(&SYNC_WAIT).to_owned(),
        }))
    }

    fn is_galera(world: &World) -> bool {
        world.count() > 1
    }

    fn data(world: &World, node: u32) -> Result<PathBuf, LiveError> {
        world.data(node, "mariadb", USER)
    }

    /// Creates the data of the first server.
    fn install(world: &World) -> Result<(), LiveError> {
        let mut command = words("mariadb-install-db --no-defaults --auth-root-authentication-method=normal");
        command.extend(words("--skip-test-db --innodb-flush-method=fsync --innodb-log-file-size=16M"));
        command.push(format!("--datadir={}", MariaDb::data(world, 0)?.display()));
        world.run(0, USER, command)
    }

    /// Starts the server of a node.
    fn run(&self, world: &World, node: u32) -> Result<(), LiveError> {
        let MariaDb { level, snapshot_isolation, flush, sync_wait } = self;
        let data = MariaDb::data(world, node)?.display().to_string();
        let Node { address, own, .. } = &world.nodes()[node.to_usize()];
        // Users need no password.
        let mut command = words("mariadbd --no-defaults --skip-grant-tables --skip-name-resolve");
        command.extend(words("--innodb-flush-method=fsync --innodb-log-file-size=16M --innodb-buffer-pool-size=64M"));
        command.extend(words("--innodb-lock-wait-timeout=2 --max-connections=100"));
        command.extend([
            format!("--bind-address={own}"),
            format!("--datadir={data}"),
            format!("--socket={data}/socket"),
            format!("--pid-file={data}/pid"),
            format!("--port={PORT}"),
            format!("--transaction-isolation={}", level.replace(' ', "-")),
            format!("--innodb-snapshot-isolation={snapshot_isolation}"),
            format!("--innodb-flush-log-at-trx-commit={flush}"),
        ]);
        if MariaDb::is_galera(world) {
            let others: Vec<String> = world.nodes().iter().map(|node| node.address.to_string()).collect();
            command.extend(words("--wsrep-on=ON --binlog-format=ROW --default-storage-engine=InnoDB"));
            command.extend(words("--innodb-autoinc-lock-mode=2 --wsrep-sst-method=rsync --wsrep-slave-threads=4"));
            command.push(format!("--wsrep-provider={PROVIDER}"));
            command.push(format!("--wsrep-node-address={address}"));
            command.push(format!("--wsrep-sync-wait={sync_wait}"));
            command.push(format!("--wsrep-cluster-address=gcomm://{}", others.join(",")));
            command.push("--wsrep-provider-options=evs.keepalive_period=PT0.5S;evs.suspect_timeout=PT2S;evs.inactive_timeout=PT6S".to_owned());
        }
        if MariaDb::is_galera(world) && node == 0 {
            // The first server creates the cluster, but only once: after a fault it joins the others.
            let begun = world.data(node, "galera", USER)?.join("has-begun").display().to_string();
            let mut first = vec!["sh".to_owned(), "-c".to_owned(), FIRST.to_owned(), begun];
            first.append(&mut command);
            command = first;
        }
        world.start(node, USER, "mariadb", command)
    }

    fn make_tables(world: &World) -> Result<(), LiveError> {
        let failed = |error: QueryError| LiveError::store(format!("MariaDB cannot create tables: {error:?}"));
        let mut connection = MariaDb::open(world, 0).map_err(failed)?;
        connection.query(&format!("create database {DATABASE}")).map_err(failed)?;
        connection.query(&format!("use {DATABASE}")).map_err(failed)?;
        let flush_logs = "flush engine logs".to_owned();
        let mut all = tables().into_iter().chain([flush_logs]);
        all.try_for_each(|sql| connection.query(&sql).map(drop).map_err(failed))?;
        world.flush(0, &MariaDb::data(world, 0)?)
    }

    /// Opens a connection from the hub.
    fn open(world: &World, node: u32) -> Result<Connection, QueryError> {
        Connection::open(world.nodes()[node.to_usize()].at(PORT), "", ASK, Duration::from_secs(10))
    }

    /// Returns true if a server is part of a cluster of this size.
    fn is_ready(world: &World, node: u32, size: u32) -> bool {
        let Ok(mut connection) = MariaDb::open(world, node) else { return false };
        if !MariaDb::is_galera(world) {
            return connection.query("select 1").is_ok();
        }
        let mut status = |name: &str| {
            let answer = connection.query(&format!("show status like '{name}'")).ok()?;
            answer.rows.first()?.get(1)?.clone()
        };
        status("wsrep_ready").as_deref() == Some("ON") && status("wsrep_cluster_size") == Some(size.to_string())
    }
}

/// The connector of clients, which always use the server of their node.
struct OwnServer {
    address: SocketAddr,
    timeout: Duration,
    level: String,
}

impl Connector for OwnServer {
    fn open(&mut self, _: &Request) -> Result<Box<dyn Session>, String> {
        let opened = Connection::open(self.address, DATABASE, self.timeout, self.timeout);
        let set = format!("set session transaction isolation level {}", self.level);
        match opened.and_then(|mut connection| connection.query(&set).map(|_| connection)) {
            Ok(connection) => Ok(Box::new(connection)),
            Err(QueryError::Server { code, message }) => Err(format!("{code} {message}")),
            Err(QueryError::Lost(why)) => Err(why),
        }
    }
}

/// Every server accepts writes, so no server is a better target than another.
impl System for MariaDb {
    fn set_up(&self, world: &World) -> Result<(), LiveError> {
        MariaDb::install(world)?;
        for node in 0..world.count() {
            self.run(world, node)?;
            // Each server copies the data of those before it.
            let is_up = || (0..=node).all(|at| MariaDb::is_ready(world, at, node + 1));
            world.until(START_MAX, "does not accept clients", is_up)?;
            if node == 0 {
                MariaDb::make_tables(world)?;
            }
        }
        world.until(START_MAX, "the servers did not form a cluster", || self.is_settled(world))
    }

    fn connect(&self, nodes: &[Node], seat: &Seat) -> Box<dyn Client> {
        let address = nodes[seat.node.to_usize()].at(PORT);
        let connector = OwnServer { address, timeout: seat.timeout, level: self.level.clone() };
        Box::new(SqlClient::new(connector, Dialect::MariaDb, "start transaction".to_owned()))
    }

    fn is_settled(&self, world: &World) -> bool {
        (0..world.count()).all(|node| MariaDb::is_ready(world, node, world.count()))
    }
}
