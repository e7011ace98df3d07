//! Clients of SQLite: each has a connection, and uses a transaction for each request.

use crate::client::Client;
use crate::error::LiveError;
use crate::request::{FIRST_VERSION, Key, MicroOp, Outcome, Request};
use crate::run::patience::Patience;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OptionalExtension as _};
use serde_json::{Map, Value as Json, json};
use std::cell::Cell;
use std::thread;
use std::time::Duration;

thread_local! {
    /// How long connections of this thread wait for locks, and the current wait.
    static TIMEOUT: Cell<Duration> = const { Cell::new(Duration::ZERO) };
    static WAIT: Cell<Option<Patience>> = const { Cell::new(None) };
}

/// Waits for a lock. `before` is the number of earlier calls for it. Returns whether to try again.
fn waits(before: i32) -> bool {
    if before == 0 {
        WAIT.set(Some(Patience::new(TIMEOUT.get())));
    }
    let goes_on = WAIT.get().is_some_and(|wait| wait.rest().is_some());
    thread::sleep(Duration::from_millis(1));
    goes_on
}

/// Makes a connection of this thread wait for locks, at most this long.
pub(super) fn wait_for_locks(connection: &Connection, timeout: Duration) -> rusqlite::Result<()> {
    TIMEOUT.set(timeout);
    connection.busy_handler(Some(waits))
}

pub(super) struct SqliteClient {
    pub(super) connection: Connection,
}

/// The reason why a transaction has no response.
enum Refused {
    /// The transaction has no effect, because a precondition does not hold.
    Precondition(&'static str),
    Sqlite(rusqlite::Error),
}

impl From<rusqlite::Error> for Refused {
    fn from(error: rusqlite::Error) -> Refused {
        Refused::Sqlite(error)
    }
}

impl Client for SqliteClient {
    fn invoke(&mut self, request: &Request) -> Result<Outcome, LiveError> {
        if let Err(error) = self.connection.execute_batch("begin immediate") {
            return Ok(Outcome::Fail(error.to_string()));
        }
        let answer = match perform(&self.connection, request) {
            Ok(answer) => answer,
            Err(refused) => {
                let why = match refused {
                    Refused::Precondition(why) => why.to_owned(),
                    Refused::Sqlite(error) => error.to_string(),
                };
                // Nothing was committed; if the disk is full, SQLite has already rolled back. If a rollback fails, the
                // next process that opens the file does it.
                let is_undone = self.connection.is_autocommit() || self.connection.execute_batch("rollback").is_ok();
                return Ok(if is_undone { Outcome::Fail(why) } else { Outcome::unanswered(request, why) });
            }
        };
        match self.connection.execute_batch("commit") {
            Ok(()) => Ok(answer),
            Err(error) if is_busy(&error) && self.connection.execute_batch("rollback").is_ok() => {
                Ok(Outcome::Fail(error.to_string()))
            }
            Err(error) => Ok(Outcome::unanswered(request, error.to_string())),
        }
    }

    fn is_broken(&self) -> bool {
        // The transaction could not be ended.
        !self.connection.is_autocommit()
    }
}

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

/// Performs a request within a transaction.
fn perform(db: &Connection, request: &Request) -> Result<Outcome, Refused> {
    Ok(match request {
        Request::Txn(mops) => {
            let answers: Result<Vec<Json>, Refused> = mops.iter().map(|mop| micro_op(db, *mop)).collect();
            Outcome::value(answers?)
        }
        Request::Read(key) => Outcome::value(register(db, *key)?.map_or(Json::Null, |(value, _)| json!(value))),
        Request::Write(key, value) => {
            write(db, *key, *value, FIRST_VERSION)?;
            Outcome::done()
        }
        Request::Cas { key, expected, new } => {
            if register(db, *key)?.is_none_or(|(value, _)| value != *expected) {
                return Err(Refused::Precondition("the register holds another value"));
            }
            write(db, *key, *new, FIRST_VERSION)?;
            Outcome::done()
        }
        Request::ReadVersion(key) => {
            let (value, id) = register(db, *key)?.unwrap_or_else(|| (0, FIRST_VERSION.to_owned()));
            Outcome::version(value, id)
        }
        Request::WriteVersion { key, value, id, previous } => {
            let held = register(db, *key)?.map_or_else(|| FIRST_VERSION.to_owned(), |(_, id)| id);
            if held != *previous {
                return Err(Refused::Precondition("the register holds another version"));
            }
            write(db, *key, *value, id)?;
            Outcome::done()
        }
        Request::Add(element) => {
            db.prepare_cached("insert into elements values (?1)")?.execute([element])?;
            Outcome::done()
        }
        Request::ReadSet => {
            let mut select = db.prepare_cached("select v from elements order by v")?;
            let elements: rusqlite::Result<Vec<i64>> = select.query_map([], |row| row.get(0))?.collect();
            Outcome::value(elements?)
        }
        Request::Transfer { from, to, amount } => {
            let balance: i64 =
                db.prepare_cached("select v from accounts where k = ?1")?.query_row([from], |row| row.get(0))?;
            if balance < *amount {
                return Err(Refused::Precondition("the account would be overdrawn"));
            }
            let mut set = db.prepare_cached("update accounts set v = v + ?2 where k = ?1")?;
            set.execute((from, -amount))?;
            set.execute((to, amount))?;
            Outcome::done()
        }
        Request::ReadBalances => {
            let mut select = db.prepare_cached("select k, v from accounts order by k")?;
            let mut balances = Map::new();
            let mut rows = select.query([])?;
            while let Some(row) = rows.next()? {
                balances.insert(row.get::<_, i64>(0)?.to_string(), json!(row.get::<_, i64>(1)?));
            }
            Outcome::value(balances)
        }
        // The store has no workload with other requests.
        _ => return Err(Refused::Precondition("not a request of this store")),
    })
}

fn micro_op(db: &Connection, mop: MicroOp) -> Result<Json, Refused> {
    Ok(match mop {
        MicroOp::Append(key, element) => {
            let sql = "insert into lists values (?1, ?2) on conflict (k) do update set v = v || ' ' || excluded.v";
            db.prepare_cached(sql)?.execute((key, element.to_string()))?;
            mop.to_json()
        }
        MicroOp::Write(key, value) => {
            write(db, key, value, FIRST_VERSION)?;
            mop.to_json()
        }
        // A key contains a list or a register: the one that was written.
        MicroOp::Read(key) => match list(db, key)? {
            Some(elements) => json!(["r", key, elements]),
            None => json!(["r", key, register(db, key)?.map(|(value, _)| value)]),
        },
    })
}

/// The elements of a list, or the text of a value that no client writes.
fn list(db: &Connection, key: Key) -> Result<Option<Json>, Refused> {
    let mut select = db.prepare_cached("select v from lists where k = ?1")?;
    let mut rows = select.query([key])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let text = match row.get_ref(0)? {
        ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned(),
        // A single element may have been stored as a number.
        other => other.as_i64().map_err(|error| Refused::Sqlite(error.into()))?.to_string(),
    };
    let elements: Option<Vec<i64>> = text.split(' ').map(|element| element.parse().ok()).collect();
    Ok(Some(elements.map_or_else(|| json!(text), |elements| json!(elements))))
}

fn register(db: &Connection, key: Key) -> Result<Option<(i64, String)>, Refused> {
    let mut select = db.prepare_cached("select v, id from registers where k = ?1")?;
    Ok(select.query_row([key], |row| Ok((row.get(0)?, row.get(1)?))).optional()?)
}

fn write(db: &Connection, key: Key, value: i64, id: &str) -> Result<(), Refused> {
    db.prepare_cached("insert or replace into registers values (?1, ?2, ?3)")?.execute((key, value, id))?;
    Ok(())
}
