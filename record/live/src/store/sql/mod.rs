//! The common part of SQL stores: requests as statements, and the meaning of responses and errors.
//!
//! | when | the operation |
//! |---|---|
//! | no connection | failed: nothing was sent |
//! | an error or a lost connection before COMMIT | failed: a transaction without COMMIT is rolled back |
//! | COMMIT, or a statement that is a transaction of its own: an error that reports a rollback | failed |
//! | the same: any other error, a warning, a lost connection, no answer | indeterminate; a read failed |

mod statements;

use crate::client::Client;
use crate::error::LiveError;
use crate::request::{FIRST_VERSION, MicroOp, Outcome, Request};
use serde_json::{Map, Value as Json, json};
pub(super) use statements::{Dialect, tables};
use std::thread;
use std::time::Duration;

/// A connection to a server.
pub(super) trait Session: Send {
    /// Executes a statement and waits for its response.
    fn query(&mut self, sql: &str) -> Result<Answer, QueryError>;
}

/// The response of a server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Answer {
    /// The rows; a value is a text or NULL.
    pub(super) rows: Vec<Vec<Option<String>>>,
    /// The number of rows that the statement has changed or inserted.
    pub(super) changed: u64,
    /// The server executed the statement, but with weaker guarantees than promised.
    pub(super) warning: Option<String>,
}

/// The reason why there is no response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum QueryError {
    /// The server rejects the statement.
    Server {
        /// The error code: SQLSTATE, or a number.
        code: String,
        message: String,
    },
    /// The connection is lost or too slow.
    Lost(String),
}

impl QueryError {
    fn text(&self) -> String {
        match self {
            QueryError::Server { code, message } => format!("{code} {message}"),
            QueryError::Lost(why) => why.clone(),
        }
    }
}

/// Opens the sessions of a client.
pub(super) trait Connector: Send {
    /// Opens a session for this request. If this fails, nothing of the request was sent; the error is the reason.
    fn open(&mut self, request: &Request) -> Result<Box<dyn Session>, String>;

    /// Returns true if this request must not use the session of the previous one.
    fn differs(&self, before: &Request, request: &Request) -> bool {
        let _ = (before, request);
        false
    }
}

/// The time before a client that all servers reject tries again: otherwise, its attempts would fill the history.
const AGAIN: Duration = Duration::from_millis(20);

/// A client of an SQL store.
pub(super) struct SqlClient<C> {
    connector: C,
    dialect: Dialect,
    /// The statement that begins a transaction.
    begin: String,
    session: Option<(Box<dyn Session>, Request)>,
}

impl<C: Connector> SqlClient<C> {
    pub(super) fn new(connector: C, dialect: Dialect, begin: String) -> SqlClient<C> {
        SqlClient { connector, dialect, begin, session: None }
    }
}

impl<C: Connector> Client for SqlClient<C> {
    fn invoke(&mut self, request: &Request) -> Result<Outcome, LiveError> {
        let kept = self.session.take().filter(|(_, before)| !self.connector.differs(before, request));
        let mut session = match kept.map_or_else(|| self.connector.open(request), |(session, _)| Ok(session)) {
            Ok(session) => session,
            Err(why) => {
                thread::sleep(AGAIN);
                return Ok(Outcome::Fail(why));
            }
        };
        let mut transaction =
            Transaction { session: &mut *session, dialect: self.dialect, begin: &self.begin, is_intact: true };
        let outcome = transaction.perform(request);
        if transaction.is_intact {
            self.session = Some((session, request.clone()));
        }
        Ok(outcome)
    }
}

/// A request in progress.
struct Transaction<'t> {
    session: &'t mut dyn Session,
    dialect: Dialect,
    begin: &'t str,
    /// Whether the session can be used again.
    is_intact: bool,
}

/// The reason why a transaction ends before its COMMIT.
enum Stopped {
    /// The transaction has no effect, because a precondition does not hold.
    Precondition(&'static str),
    Error(QueryError),
}

impl From<QueryError> for Stopped {
    fn from(error: QueryError) -> Stopped {
        Stopped::Error(error)
    }
}

const HOLDS_ANOTHER_VALUE: &str = "the register holds another value";
const HOLDS_ANOTHER_VERSION: &str = "the register holds another version";

impl Transaction<'_> {
    fn perform(&mut self, request: &Request) -> Outcome {
        let dialect = self.dialect;
        match request {
            Request::Txn(mops) => self.transaction(request, |session| micro_ops(session, dialect, mops)),
            Request::Transfer { from, to, amount } => {
                self.transaction(request, |session| transfer(session, *from, *to, *amount))
            }
            Request::Read(key) => self.single(request, &format!("select v from registers where k = {key}"), |answer| {
                match integers(&answer).as_deref() {
                    Some([]) => Outcome::value(Json::Null),
                    Some([value]) => Outcome::value(*value),
                    _ => unexpected(&answer),
                }
            }),
            Request::Write(key, value) => {
                self.single(request, &dialect.write(*key, *value, FIRST_VERSION), |_| Outcome::done())
            }
            Request::Cas { key, expected, new } => {
                let sql = format!("update registers set v = {new} where k = {key} and v = {expected}");
                self.single(request, &sql, |answer| changed(&answer, HOLDS_ANOTHER_VALUE))
            }
            Request::ReadVersion(key) => {
                let sql = format!("select v, id from registers where k = {key}");
                self.single(request, &sql, |answer| version(&answer))
            }
            Request::WriteVersion { key, value, id, previous } => {
                let sql = if previous == FIRST_VERSION {
                    dialect.insert_version(*key, *value, id)
                } else {
                    format!("update registers set v = {value}, id = '{id}' where k = {key} and id = '{previous}'")
                };
                self.single(request, &sql, |answer| changed(&answer, HOLDS_ANOTHER_VERSION))
            }
            Request::Add(element) => {
                self.single(request, &format!("insert into elements values ({element})"), |_| Outcome::done())
            }
            Request::ReadSet => self.single(request, "select v from elements order by v", |answer| {
                integers(&answer).map_or_else(|| unexpected(&answer), Outcome::value)
            }),
            Request::ReadBalances => self.single(request, "select k, v from accounts order by k", |answer| {
                balances(&answer).map_or_else(|| unexpected(&answer), Outcome::value)
            }),
            // The store has no workload with other requests.
            _ => Outcome::Fail(format!("no SQL for {:?}", request.f())),
        }
    }

    /// Executes one statement that is a transaction of its own.
    fn single(&mut self, request: &Request, sql: &str, means: impl FnOnce(Answer) -> Outcome) -> Outcome {
        match self.session.query(sql) {
            Ok(Answer { warning: Some(warning), .. }) => Outcome::unanswered(request, warning),
            Ok(answer) => means(answer),
            Err(error) => self.ended(request, &error),
        }
    }

    /// Executes statements between BEGIN and COMMIT.
    fn transaction(
        &mut self,
        request: &Request,
        statements: impl FnOnce(&mut dyn Session) -> Result<Outcome, Stopped>,
    ) -> Outcome {
        let begun = self.session.query(self.begin).map_err(Stopped::from);
        let answer = match begun.and_then(|_| statements(self.session)) {
            Ok(answer) => answer,
            Err(stopped) => {
                // Without COMMIT, the transaction has no effect. A session whose rollback fails is closed. So is one
                // with a late response: it would be taken for the response to ROLLBACK, and so on for later requests.
                let is_lost = matches!(&stopped, Stopped::Error(QueryError::Lost(_)));
                self.is_intact = !is_lost && self.session.query("rollback").is_ok();
                return Outcome::Fail(match stopped {
                    Stopped::Precondition(why) => why.to_owned(),
                    Stopped::Error(error) => error.text(),
                });
            }
        };
        match self.session.query("commit") {
            Ok(Answer { warning: Some(warning), .. }) => Outcome::unanswered(request, warning),
            Ok(_) => answer,
            Err(error) => self.ended(request, &error),
        }
    }

    /// The outcome of an error in COMMIT, or in a transaction of one statement.
    fn ended(&mut self, request: &Request, error: &QueryError) -> Outcome {
        let code = match error {
            QueryError::Server { code, .. } => code.as_str(),
            QueryError::Lost(_) => "",
        };
        let has_rolled_back = self.dialect.is_rolled_back(code)
            || self.dialect.is_rolled_back_on_demand(code) && self.session.query("rollback").is_ok();
        self.is_intact = has_rolled_back && !self.dialect.leaves(code);
        if has_rolled_back { Outcome::Fail(error.text()) } else { Outcome::unanswered(request, error.text()) }
    }
}

fn micro_ops(session: &mut dyn Session, dialect: Dialect, mops: &[MicroOp]) -> Result<Outcome, Stopped> {
    let mut done = Vec::with_capacity(mops.len());
    for mop in mops {
        done.push(match *mop {
            MicroOp::Append(key, element) => {
                session.query(&dialect.append(key, element))?;
                mop.to_json()
            }
            MicroOp::Write(key, value) => {
                session.query(&dialect.write(key, value, FIRST_VERSION))?;
                mop.to_json()
            }
            MicroOp::Read(key) => {
                let answer = session.query(&dialect.read(key))?;
                json!(["r", key, held(&answer)])
            }
        });
    }
    Ok(Outcome::value(done))
}

/// The content of a key: a list, a register, or nothing; or the text of a value that no client writes.
fn held(answer: &Answer) -> Json {
    let Some(row) = answer.rows.first() else { return Json::Null };
    let held = match &row[..] {
        [Some(kind), Some(text)] if kind == "l" => {
            let elements: Option<Vec<i64>> = text.split(' ').map(|element| element.parse().ok()).collect();
            elements.map(|elements| json!(elements))
        }
        [Some(kind), Some(text)] if kind == "r" => text.parse::<i64>().ok().map(|value| json!(value)),
        _ => None,
    };
    held.unwrap_or_else(|| json!(format!("{row:?}")))
}

/// Reads both balances, and writes the new ones: in a database that permits another transfer in between, money is lost.
fn transfer(session: &mut dyn Session, from: u32, to: u32, amount: i64) -> Result<Outcome, Stopped> {
    let mut balance = |account: u32| {
        let answer = session.query(&format!("select v from accounts where k = {account}"))?;
        let balance = integers(&answer).and_then(|balances| balances.first().copied());
        balance.ok_or(Stopped::Precondition("the account is not there"))
    };
    let (payer, payee) = (balance(from)?, balance(to)?);
    if payer < amount {
        return Err(Stopped::Precondition("the account would be overdrawn"));
    }
    for (account, balance) in [(from, payer - amount), (to, payee + amount)] {
        session.query(&format!("update accounts set v = {balance} where k = {account}"))?;
    }
    Ok(Outcome::done())
}

/// The integers of a column.
fn integers(answer: &Answer) -> Option<Vec<i64>> {
    answer.rows.iter().map(|row| row.first()?.as_ref()?.parse().ok()).collect()
}

fn balances(answer: &Answer) -> Option<Map<String, Json>> {
    let pair = |row: &Vec<Option<String>>| match &row[..] {
        [Some(account), Some(balance)] => Some((account.clone(), json!(balance.parse::<i64>().ok()?))),
        _ => None,
    };
    answer.rows.iter().map(pair).collect()
}

fn version(answer: &Answer) -> Outcome {
    match answer.rows.first().map(Vec::as_slice) {
        None => Outcome::version(0, FIRST_VERSION),
        Some([Some(value), Some(id)]) if value.parse::<i64>().is_ok() => {
            Outcome::version(value.parse().unwrap_or_default(), id)
        }
        Some(_) => unexpected(answer),
    }
}

fn changed(answer: &Answer, otherwise: &str) -> Outcome {
    if answer.changed == 0 { Outcome::Fail(otherwise.to_owned()) } else { Outcome::done() }
}

/// Only reads return rows.
fn unexpected(answer: &Answer) -> Outcome {
    Outcome::damaged(format!("{:?}", answer.rows))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Prepared responses, in order, and the statements that were executed.
    struct Prepared {
        answers: Vec<Result<Answer, QueryError>>,
        asked: Vec<String>,
    }

    impl Session for Prepared {
        fn query(&mut self, sql: &str) -> Result<Answer, QueryError> {
            self.asked.push(sql.to_owned());
            self.answers.remove(0)
        }
    }

    fn server(code: &str) -> Result<Answer, QueryError> {
        Err(QueryError::Server { code: code.to_owned(), message: "why".to_owned() })
    }

    fn lost() -> Result<Answer, QueryError> {
        Err(QueryError::Lost("gone".to_owned()))
    }

    fn warned() -> Answer {
        Answer { warning: Some("not replicated".to_owned()), ..Answer::default() }
    }

    /// The outcome of a request, and whether the session can be used again.
    fn perform(dialect: Dialect, request: &Request, answers: Vec<Result<Answer, QueryError>>) -> (&'static str, bool) {
        let mut session = Prepared { answers, asked: Vec::new() };
        let mut transaction = Transaction { session: &mut session, dialect, begin: "begin", is_intact: true };
        let outcome = transaction.perform(request);
        let is_intact = transaction.is_intact;
        assert!(session.answers.is_empty(), "not asked: {:?}", session.answers);
        let kind = match outcome {
            Outcome::Ok(_) => "ok",
            Outcome::Fail(_) => "fail",
            Outcome::Info(_) => "info",
        };
        (kind, is_intact)
    }

    fn done() -> Answer {
        Answer::default()
    }

    #[test]
    fn outcomes_of_postgres() {
        let append = Request::Txn(vec![MicroOp::Append(1, 2)]);
        let write = Request::Write(1, 2);
        let on = |request: &Request, answers| perform(Dialect::Postgres, request, answers);
        assert_eq!(on(&append, vec![Ok(done()), Ok(done()), Ok(done())]), ("ok", true));
        // Errors before COMMIT.
        assert_eq!(on(&append, vec![Ok(done()), server("40001"), Ok(done())]), ("fail", true));
        assert_eq!(on(&append, vec![Ok(done()), server("53100"), lost()]), ("fail", false));
        // A late response to a statement must not be taken for one to ROLLBACK, so no more statements are sent.
        assert_eq!(on(&append, vec![lost()]), ("fail", false));
        assert_eq!(on(&append, vec![Ok(done()), lost()]), ("fail", false));
        // Errors in COMMIT, and in a statement that is a transaction of its own.
        for (answer, expected) in [
            (server("40001"), ("fail", true)),
            (server("40P01"), ("fail", true)),
            (server("25006"), ("fail", false)),
            (server("57P01"), ("info", false)),
            (server("53100"), ("info", false)),
            (lost(), ("info", false)),
        ] {
            assert_eq!(on(&append, vec![Ok(done()), Ok(done()), answer.clone()]), expected, "{answer:?}");
            assert_eq!(on(&write, vec![answer.clone()]), expected, "{answer:?}");
        }
        assert_eq!(on(&append, vec![Ok(done()), Ok(done()), Ok(warned())]), ("info", true));
        assert_eq!(on(&write, vec![Ok(warned())]), ("info", true));
        // Reads have no effect, so they fail.
        assert_eq!(on(&Request::Read(1), vec![lost()]), ("fail", false));
        assert_eq!(on(&Request::Txn(vec![MicroOp::Read(1)]), vec![Ok(done()), Ok(done()), lost()]), ("fail", false));
    }

    #[test]
    fn outcomes_of_mariadb() {
        let append = Request::Txn(vec![MicroOp::Append(1, 2)]);
        let write = Request::Write(1, 2);
        let on = |request: &Request, answers| perform(Dialect::MariaDb, request, answers);
        for (answer, expected) in [
            (server("1213"), ("fail", true)),
            (server("1020"), ("fail", true)),
            (server("1047"), ("fail", false)),
            (server("2013"), ("info", false)),
            (server("1180"), ("info", false)),
            (lost(), ("info", false)),
        ] {
            assert_eq!(on(&append, vec![Ok(done()), Ok(done()), answer.clone()]), expected, "{answer:?}");
            assert_eq!(on(&write, vec![answer.clone()]), expected, "{answer:?}");
        }
        // A lock timeout leaves the transaction open.
        assert_eq!(on(&write, vec![server("1205"), Ok(done())]), ("fail", true));
        assert_eq!(on(&write, vec![server("1205"), lost()]), ("info", false));
    }

    #[test]
    fn a_write_that_changes_no_row_failed() {
        let cas = Request::Cas { key: 1, expected: 2, new: 3 };
        assert_eq!(perform(Dialect::Postgres, &cas, vec![Ok(done())]), ("fail", true));
        let one = Ok(Answer { changed: 1, ..Answer::default() });
        assert_eq!(perform(Dialect::Postgres, &cas, vec![one]), ("ok", true));
    }

    #[test]
    fn a_key_holds_a_list_or_a_register() {
        let row = |kind: &str, text: &str| Answer {
            rows: vec![vec![Some(kind.to_owned()), Some(text.to_owned())]],
            ..Answer::default()
        };
        assert_eq!(held(&row("l", "5")), json!([5]));
        assert_eq!(held(&row("l", "5 -7")), json!([5, -7]));
        assert_eq!(held(&row("r", "5")), json!(5));
        assert_eq!(held(&Answer::default()), Json::Null);
        assert_eq!(held(&row("l", "x")), json!("[Some(\"l\"), Some(\"x\")]"));
    }
}
