//! MariaDB: one server, or three with Galera, each of which takes writes.

mod wire;

use crate::client::{Client, Seat, Store};
use crate::error::LiveError;
use crate::fault::Fault;
use crate::kind::{Kind, Place, StoreOption};
use crate::need::Need;
use crate::request::Request;
use crate::store::cluster::{Cluster, FAULTS, SINGLE_FAULTS, as_user, flush, give_to, run, words};
use crate::store::sql::{Connector, Dialect, QueryError, Session, SqlClient, tables};
use crate::world::World;
use history_core::cast::Cast as _;
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::time::Duration;
use wire::Connection;

const PORT: u16 = 3306;
/// The user who runs the servers, where the rig is root.
const USER: &str = "mysql";
/// Where the tables are.
const DATABASE: &str = "rig";

/// How long a server may take to come up: the others copy the data of the first one, one after another.
const START_MAX: Duration = Duration::from_secs(90);
/// How long the hub waits for a server.
const ASK: Duration = Duration::from_millis(500);

const LEVEL: StoreOption = StoreOption {
    name: "level",
    value_name: "LEVEL",
    help: "Isolation level of the transactions",
    values: &["read-uncommitted", "read-committed", "repeatable-read", "serializable"],
    default: "repeatable-read",
};

const SNAPSHOT_ISOLATION: StoreOption = StoreOption {
    name: "snapshot-isolation",
    value_name: "SETTING",
    help: "MariaDB's innodb_snapshot_isolation: whether a changed row that was read is an error",
    values: &["off", "on"],
    default: "off",
};

const FLUSH: StoreOption = StoreOption {
    name: "flush-log-at-commit",
    value_name: "SETTING",
    help: "MariaDB's innodb_flush_log_at_trx_commit: 0 writes and flushes once a second, 1 at each commit, 2 writes at each commit",
    values: &["0", "1", "2"],
    default: "1",
};

const SYNC_WAIT: StoreOption = StoreOption {
    name: "sync-wait",
    value_name: "MASK",
    help: "Galera's wsrep_sync_wait: 0 reads what the node has, 1 waits until it has what was committed before",
    values: &["0", "1"],
    default: "0",
};

const WORKLOADS: &[&str] = &["list-append", "rw-register", "versioned-register", "cas-register", "set-full", "bank"];

pub(in crate::store) const KIND: Kind = Kind {
    name: "mariadb",
    summary: "MariaDB: one server",
    needs: NEEDS.split_at(5).0,
    options: &[LEVEL, SNAPSHOT_ISOLATION, FLUSH],
    workloads: WORKLOADS,
    faults: SINGLE_FAULTS,
    default_faults: &[],
    place: Place::World,
    nodes: 1,
    nodes_may_vary: false,
    command: None,
    start: |mut start| {
        let settings =
            Settings::new("mariadb", start.option(&LEVEL), start.option(&SNAPSHOT_ISOLATION), start.option(&FLUSH));
        Ok(Box::new(MariaDb::start(start.take_world()?, settings)?))
    },
};

pub(in crate::store) const GALERA: Kind = Kind {
    name: "galera",
    summary: "MariaDB with Galera: three servers, each of which takes writes",
    needs: NEEDS,
    options: &[LEVEL, SNAPSHOT_ISOLATION, FLUSH, SYNC_WAIT],
    workloads: WORKLOADS,
    faults: FAULTS,
    default_faults: &[],
    place: Place::World,
    nodes: 3,
    nodes_may_vary: false,
    command: None,
    start: |mut start| {
        let mut settings =
            Settings::new("galera", start.option(&LEVEL), start.option(&SNAPSHOT_ISOLATION), start.option(&FLUSH));
        start.option(&SYNC_WAIT).clone_into(&mut settings.sync_wait);
        Ok(Box::new(MariaDb::start(start.take_world()?, settings)?))
    },
};

/// The last ones are Galera's.
const NEEDS: &[Need] = &[
    Need::new("mariadbd", "mariadb-server"),
    Need::new("mariadb-install-db", "mariadb-server"),
    Need::new("ip", "iproute2"),
    Need::new("nft", "nftables"),
    Need::new("unshare", "util-linux"),
    Need::new(PROVIDER, "galera-4"),
    Need::new("rsync", "rsync"),
    Need::new("socat", "socat"),
];

/// The library that makes servers a cluster.
const PROVIDER: &str = "/usr/lib/galera/libgalera_smm.so";

/// Starts the first server.
const FIRST: &str = r#"[ -e "$0" ] || { : > "$0"; set -- "$@" --wsrep-new-cluster; }; exec "$@""#;
/// The file that is there when the first server has been started; on no disk whose power is cut.
const BEGUN: &str = "/run/galera-has-begun";

/// How the servers are set.
struct Settings {
    name: &'static str,
    /// The isolation level, as SQL writes it.
    level: String,
    snapshot_isolation: String,
    flush: String,
    sync_wait: String,
}

impl Settings {
    fn new(name: &'static str, level: &str, snapshot_isolation: &str, flush: &str) -> Settings {
        Settings {
            name,
            level: level.replace('-', " "),
            snapshot_isolation: snapshot_isolation.to_owned(),
            flush: flush.to_owned(),
            sync_wait: "0".to_owned(),
        }
    }
}

/// Servers.
struct MariaDb {
    cluster: Cluster,
    settings: Settings,
}

impl MariaDb {
    fn start(world: World, settings: Settings) -> Result<MariaDb, LiveError> {
        let store = MariaDb { cluster: Cluster::new(world), settings };
        store.install()?;
        for node in 0..store.count() {
            store.run(node)?;
            // Each one copies the data of those before it.
            let is_up = || (0..=node).all(|at| store.is_ready(at, node + 1));
            store.cluster.until(START_MAX, "does not let clients in", is_up)?;
            if node == 0 {
                store.make_tables()?;
            }
        }
        let is_up = || (0..store.count()).all(|node| store.is_ready(node, store.count()));
        store.cluster.until(START_MAX, "the servers are no cluster", is_up)?;
        Ok(store)
    }

    fn count(&self) -> u32 {
        u32::try_from(self.cluster.nodes().len()).unwrap_or(u32::MAX)
    }

    fn is_galera(&self) -> bool {
        self.count() > 1
    }

    fn data(&self, node: u32) -> Result<String, LiveError> {
        let data = self.cluster.world.data(node, "mariadb")?;
        give_to(USER, &data)?;
        Ok(data.display().to_string())
    }

    /// Makes the data of the first server.
    fn install(&self) -> Result<(), LiveError> {
        let mut command = as_user(USER);
        command.extend(words("mariadb-install-db --no-defaults --auth-root-authentication-method=normal"));
        command.extend(words("--skip-test-db --innodb-flush-method=fsync --innodb-log-file-size=16M"));
        command.push(format!("--datadir={}", self.data(0)?));
        run(&command)
    }

    /// Starts the server of a node.
    fn run(&self, node: u32) -> Result<(), LiveError> {
        let Settings { level, snapshot_isolation, flush, sync_wait, .. } = &self.settings;
        let data = self.data(node)?;
        let address = self.cluster.nodes()[node.to_usize()].address;
        // Nobody else is in this network, so nobody is asked for a password.
        let mut command =
            words("mariadbd --no-defaults --skip-grant-tables --bind-address=0.0.0.0 --skip-name-resolve");
        command.extend(words("--innodb-flush-method=fsync --innodb-log-file-size=16M --innodb-buffer-pool-size=64M"));
        command.extend(words("--innodb-lock-wait-timeout=2 --max-connections=100"));
        for setting in [
            format!("--datadir={data}"),
            format!("--socket={data}/socket"),
            format!("--pid-file={data}/pid"),
            format!("--port={PORT}"),
            format!("--transaction-isolation={}", level.replace(' ', "-")),
            format!("--innodb-snapshot-isolation={snapshot_isolation}"),
            format!("--innodb-flush-log-at-trx-commit={flush}"),
        ] {
            command.push(setting);
        }
        if self.is_galera() {
            let others: Vec<String> = self.cluster.nodes().iter().map(|node| node.address.to_string()).collect();
            command.extend(words("--wsrep-on=ON --binlog-format=ROW --default-storage-engine=InnoDB"));
            command.extend(words("--innodb-autoinc-lock-mode=2 --wsrep-sst-method=rsync --wsrep-slave-threads=4"));
            command.push(format!("--wsrep-provider={PROVIDER}"));
            command.push(format!("--wsrep-node-address={address}"));
            command.push(format!("--wsrep-sync-wait={sync_wait}"));
            command.push(format!("--wsrep-cluster-address=gcomm://{}", others.join(",")));
            command.push("--wsrep-provider-options=evs.keepalive_period=PT0.5S;evs.suspect_timeout=PT2S;evs.inactive_timeout=PT6S".to_owned());
        }
        if self.is_galera() && node == 0 {
            // The first server makes the cluster, but only once: after a fault it joins the others.
            let mut first = vec!["sh".to_owned(), "-c".to_owned(), FIRST.to_owned(), BEGUN.to_owned()];
            first.append(&mut command);
            command = first;
        }
        self.cluster.start_as(USER, node, &format!("mariadb-{}", self.cluster.nodes()[node.to_usize()].name), command)
    }

    fn make_tables(&self) -> Result<(), LiveError> {
        let failed = |error: QueryError| LiveError::store(format!("MariaDB makes no tables: {error:?}"));
        let mut connection = self.open(0, "").map_err(failed)?;
        connection.query(&format!("create database {DATABASE}")).map_err(failed)?;
        connection.query(&format!("use {DATABASE}")).map_err(failed)?;
        let flush_logs = "flush engine logs".to_owned();
        let mut all = tables().into_iter().chain([flush_logs]);
        all.try_for_each(|sql| connection.query(&sql).map(drop).map_err(failed))?;
        flush(Path::new(&self.data(0)?))
    }

    /// Opens a connection from the hub.
    fn open(&self, node: u32, database: &str) -> Result<Connection, QueryError> {
        let address = self.cluster.nodes()[node.to_usize()].address;
        Connection::open((IpAddr::V4(address), PORT).into(), database, ASK, Duration::from_secs(10))
    }

    /// Whether a server takes part in a cluster of this size.
    fn is_ready(&self, node: u32, size: u32) -> bool {
        let Ok(mut connection) = self.open(node, "") else { return false };
        if !self.is_galera() {
            return connection.query("select 1").is_ok();
        }
        let mut status = |name: &str| {
            let answer = connection.query(&format!("show status like '{name}'")).ok()?;
            answer.rows.first()?.get(1)?.clone()
        };
        status("wsrep_ready").as_deref() == Some("ON") && status("wsrep_cluster_size") == Some(size.to_string())
    }
}

/// Clients stay with the server of their node.
struct OwnServer {
    address: Ipv4Addr,
    timeout: Duration,
    level: String,
}

impl Connector for OwnServer {
    fn open(&mut self, _: &Request) -> Result<Box<dyn Session>, String> {
        let opened = Connection::open((IpAddr::V4(self.address), PORT).into(), DATABASE, self.timeout, self.timeout);
        let set = format!("set session transaction isolation level {}", self.level);
        match opened.and_then(|mut connection| connection.query(&set).map(|_| connection)) {
            Ok(connection) => Ok(Box::new(connection)),
            Err(QueryError::Server { code, message }) => Err(format!("{code} {message}")),
            Err(QueryError::Lost(why)) => Err(why),
        }
    }
}

impl Store for MariaDb {
    fn name(&self) -> &str {
        self.settings.name
    }

    fn workloads(&self) -> &[&'static str] {
        WORKLOADS
    }

    fn nodes(&self) -> &[String] {
        self.cluster.world.names()
    }

    fn client(&self, seat: &Seat) -> Result<Box<dyn Client>, LiveError> {
        self.cluster.world.seat(seat)?;
        let address = self.cluster.nodes()[seat.node.to_usize()].address;
        let connector = OwnServer { address, timeout: seat.timeout, level: self.settings.level.clone() };
        Ok(Box::new(SqlClient::new(connector, Dialect::MariaDb, "start transaction".to_owned())))
    }

    fn faults(&self) -> &[Fault] {
        self.cluster.faults()
    }

    fn begin(&self, fault: Fault, nodes: &[u32]) -> Result<(), LiveError> {
        self.cluster.begin(fault, nodes)
    }

    fn heal(&self) -> Result<(), LiveError> {
        self.cluster.heal()
    }

    /// Every server takes writes, so no one is more worth hitting than another.
    fn primary(&self) -> Option<u32> {
        None
    }

    fn is_settled(&self) -> bool {
        (0..self.count()).all(|node| self.is_ready(node, self.count()))
    }

    fn log(&self) -> String {
        self.cluster.log()
    }
}
