//! Statements whose form differs between databases, and error codes.

use crate::request::Key;
use crate::workload::{ACCOUNTS, INITIAL_BALANCE};

/// The database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::store) enum Dialect {
    Postgres,
    MariaDb,
}

/// The statements that create the tables.
pub(in crate::store) fn tables() -> Vec<String> {
    let accounts: Vec<String> = (0..ACCOUNTS).map(|account| format!("({account}, {INITIAL_BALANCE})")).collect();
    vec![
        "create table lists (k integer primary key, v text not null)".to_owned(),
        "create table registers (k integer primary key, v bigint not null, id varchar(64) not null)".to_owned(),
        "create table elements (v bigint primary key)".to_owned(),
        "create table accounts (k integer primary key, v bigint not null)".to_owned(),
        format!("insert into accounts values {}", accounts.join(", ")),
    ]
}

impl Dialect {
    /// Appends to a list, which is created if necessary.
    pub(super) fn append(self, key: Key, element: i64) -> String {
        let insert = format!("insert into lists values ({key}, '{element}')");
        match self {
            Dialect::Postgres => format!("{insert} on conflict (k) do update set v = lists.v || ' ' || excluded.v"),
            Dialect::MariaDb => format!("{insert} on duplicate key update v = concat(v, ' ', values(v))"),
        }
    }

    /// Writes a register.
    pub(super) fn write(self, key: Key, value: i64, id: &str) -> String {
        let insert = format!("insert into registers values ({key}, {value}, '{id}')");
        match self {
            Dialect::Postgres => format!("{insert} on conflict (k) do update set v = excluded.v, id = excluded.id"),
            Dialect::MariaDb => format!("{insert} on duplicate key update v = values(v), id = values(id)"),
        }
    }

    /// Writes the first version of a register, unless there is one.
    pub(super) fn insert_version(self, key: Key, value: i64, id: &str) -> String {
        match self {
            Dialect::Postgres => {
                format!("insert into registers values ({key}, {value}, '{id}') on conflict (k) do nothing")
            }
            Dialect::MariaDb => format!("insert ignore into registers values ({key}, {value}, '{id}')"),
        }
    }

    /// Reads a list or a register: `l` or `r`, and its content.
    pub(super) fn read(self, key: Key) -> String {
        let text = match self {
            Dialect::Postgres => "cast(v as text)",
            Dialect::MariaDb => "cast(v as char)",
        };
        format!("select 'l', v from lists where k = {key} union all select 'r', {text} from registers where k = {key}")
    }

    /// Returns true if an error with this code states that the transaction was rolled back, or was not begun.
    pub(super) fn is_rolled_back(self, code: &str) -> bool {
        match self {
            // Rollback of a transaction; or the server is a standby.
            Dialect::Postgres => code.len() == 5 && code.starts_with("40") && code != "40003" || code == "25006",
            // A deadlock, or a rejection by the other nodes; a change since the read; not in the primary component.
            Dialect::MariaDb => matches!(code, "1213" | "1020" | "1047"),
        }
    }

    /// Returns true if the transaction is rolled back after ROLLBACK.
    pub(super) fn is_rolled_back_on_demand(self, code: &str) -> bool {
        // A lock timeout.
        self == Dialect::MariaDb && code == "1205"
    }

    /// Returns true if another server may accept a request that this one rejects.
    pub(super) fn leaves(self, code: &str) -> bool {
        match self {
            Dialect::Postgres => code == "25006",
            Dialect::MariaDb => code == "1047",
        }
    }
}
