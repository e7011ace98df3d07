//! One operation, as it was recorded.

use crate::text::syntax::field::OwnField;
use crate::values::value::Entries;
use crate::{Position, Value};

/// What an op states about its operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum OpKind {
    /// A client began the operation.
    Invoke,
    /// It happened.
    Ok,
    /// It did not happen.
    Fail,
    /// It is unknown whether it happened; it may still happen.
    Info,
}

impl OpKind {
    /// The name in histories: `"invoke"`, `"ok"`, `"fail"`, `"info"`.
    pub fn name(self) -> &'static str {
        match self {
            OpKind::Invoke => "invoke",
            OpKind::Ok => "ok",
            OpKind::Fail => "fail",
            OpKind::Info => "info",
        }
    }

    /// The kind with this name.
    pub(crate) fn from_name(name: &str) -> Option<OpKind> {
        OpKind::from_bytes(name.as_bytes())
    }

    /// The kind with this name, as written in a text.
    #[inline]
    pub(crate) fn from_bytes(name: &[u8]) -> Option<OpKind> {
        Some(match name.len() {
            2 if name == b"ok" => OpKind::Ok,
            6 if name == b"invoke" => OpKind::Invoke,
            4 if name == b"fail" => OpKind::Fail,
            4 if name == b"info" => OpKind::Info,
            _ => return None,
        })
    }
}

/// The process of an op.
///
/// A history identifies clients by numbers or by names. [`Pairing`](crate::Pairing), which processes all ops,
/// determines which names are clients', and assigns each of those a number that no other client of the history has.
/// Code that only needs to distinguish clients needs nothing else. To show a client to people, use [`Op::client_name`]
/// or [`Client`](crate::Client).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Process<'a> {
    /// One of the clients: a single-threaded logical process. Numbers near `i64::MIN` represent names.
    Client(i64),
    /// A name. After pairing: a name that is not a client's, such as the nemesis. Checkers ignore its ops.
    Other(&'a str),
    /// The history does not contain it. It is a client nevertheless, whose order with others, and with itself, is
    /// unknown.
    Unknown,
}

impl Process<'_> {
    /// Whether a checker of clients' ops should process this one.
    pub fn is_client(self) -> bool {
        !matches!(self, Process::Other(_))
    }
}

impl From<i64> for Process<'_> {
    fn from(number: i64) -> Self {
        Process::Client(number)
    }
}

impl From<i32> for Process<'_> {
    fn from(number: i32) -> Self {
        Process::Client(number.into())
    }
}

impl<'a> From<&'a str> for Process<'a> {
    /// As in a history's text: digits are a client's number; whether a name is a client's follows from its ops.
    fn from(name: &'a str) -> Self {
        name.parse().map_or(Process::Other(name), Process::Client)
    }
}

/// The relation of an op to the other op of its operation. Set by [`Pairing`](crate::Pairing), through which every
/// reader and [`History`](crate::History) pass their ops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Pair {
    /// It has no other op, or none that can be determined: ops of non-clients, of unknown processes, and completions in
    /// a history without invocations.
    #[default]
    Alone,
    /// It begins an operation. `slot` is unique among the clients with an operation in flight, and slots are small
    /// numbers, so a checker can store the state of ops in flight in a vector.
    Invokes {
        /// Represents this operation until it completes.
        slot: u32,
    },
    /// It completes the operation that `slot` represents.
    Completes {
        /// Free again after this op.
        slot: u32,
        /// The invocation's index.
        invoked: u64,
        /// The invocation's time, in nanoseconds since the test began.
        invoked_time_ns: Option<i64>,
    },
}

/// One op of a history, borrowed from the reader's buffer.
#[derive(Clone, Copy, Debug)]
pub struct Op<'a> {
    /// Strictly increasing in the order of the history. If the history has no indices, the op's position (from 0).
    pub index: u64,
    /// In nanoseconds since the test began.
    pub time: Option<i64>,
    /// The process of the op.
    pub process: Process<'a>,
    /// The name of the client, if the history uses names; its number is `process`.
    pub client_name: Option<&'a str>,
    /// The op's kind.
    pub kind: OpKind,
    /// The name of the function that was called.
    pub f: Option<&'a str>,
    /// Its argument, or its result.
    pub value: Value<'a>,
    /// Its invocation or completion.
    pub pair: Pair,
    /// All other fields, as written.
    pub extra: Fields<'a>,
    /// The position of its beginning in the text it was read from.
    pub position: Option<Position>,
}

impl<'a> Op<'a> {
    /// The same op without a value, if it failed or its outcome is unknown, and its value is a name, a text or a
    /// number: that value is the reason. For checkers whose values are collections.
    ///
    /// ```
    /// use history_core::{History, Value};
    ///
    /// let text = "{:process 0, :type :invoke, :f :txn, :value [[:w 1 2]]} {:process 0, :type :info, :value :timeout}";
    /// let history = History::parse(text).unwrap();
    /// assert!(history.op(0).without_cause().is_none());
    /// assert!(matches!(history.op(1).without_cause().unwrap().value, Value::Nil));
    /// ```
    #[inline]
    pub fn without_cause(&self) -> Option<Op<'a>> {
        if !matches!(self.kind, OpKind::Fail | OpKind::Info) || self.value.is_nil() {
            return None;
        }
        let is_content = matches!(self.value, Value::Vector(_) | Value::List(_) | Value::Set(_) | Value::Map(_));
        (!is_content).then_some(Op { value: Value::Nil, ..*self })
    }

    /// Whether what it writes is known from its invocation: it is an invocation with a value, the completion of an
    /// invocation, or not a client's op. If this holds for all ops of a history, no value was read before the
    /// invocation that writes it.
    ///
    /// ```
    /// use history_core::History;
    ///
    /// let is_announced = |text: &str| History::parse(text).unwrap().ops().all(|op| op.is_announced());
    /// assert!(is_announced("{:process 0, :type :invoke, :value [[:r 1 nil]]} {:process 0, :type :ok}"));
    /// assert!(!is_announced("{:process 0, :type :ok, :value [[:r 1 2]]}"));
    /// ```
    pub fn is_announced(&self) -> bool {
        match (self.kind, self.pair) {
            _ if !self.process.is_client() => true,
            (OpKind::Invoke, Pair::Invokes { .. }) => !self.value.is_nil(),
            (_, Pair::Completes { .. }) => true,
            _ => false,
        }
    }

    /// Its position, for messages: `index 7 (line 8)`.
    ///
    /// ```
    /// use history_core::History;
    ///
    /// let history = History::parse("{:process 0, :type :invoke}\n{:process 0, :type :ok}").unwrap();
    /// assert_eq!(history.op(1).place(), "index 1 (line 2)");
    /// ```
    pub fn place(&self) -> String {
        place(self.index, self.position)
    }
}

/// The position of the op with an index, for messages.
pub(crate) fn place(index: u64, position: Option<Position>) -> String {
    match position {
        Some(position) if position.line > 0 => format!("index {index} (line {})", position.line),
        Some(position) => format!("index {index} (byte {})", position.offset),
        None => format!("index {index}"),
    }
}

/// The fields of an op that [`Op`] has no field for: `:write-id`, `:error`, `:host`.
#[derive(Clone, Copy, Debug)]
pub struct Fields<'a>(pub(crate) Option<Entries<'a>>);

impl<'a> Fields<'a> {
    /// No fields.
    pub const NONE: Fields<'static> = Fields(None);

    /// Whether there are none.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.0.is_none() || self.iter().next().is_none()
    }

    /// The value of a field. O(fields).
    pub fn get(self, name: &str) -> Option<Value<'a>> {
        self.iter().find(|(key, _)| key.as_name() == Some(name)).map(|(_, value)| value)
    }

    /// All of them, in the order written.
    pub fn iter(self) -> impl Iterator<Item = (Value<'a>, Value<'a>)> {
        let own = |key: Value<'a>| key.as_name().and_then(OwnField::from_name).is_some();
        self.0.into_iter().flatten().filter(move |(key, _)| !own(*key))
    }
}
