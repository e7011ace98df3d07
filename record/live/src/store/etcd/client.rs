//! Clients of etcd: registers are keys, and a write that names the previous value is a transaction that compares it.

use super::http::Http;
use crate::client::Client;
use crate::error::LiveError;
use crate::request::{FIRST_VERSION, Key, Outcome, Request};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value as Json, json};
use std::net::SocketAddr;
use std::time::Duration;

pub(super) struct EtcdClient {
    node: SocketAddr,
    timeout: Duration,
    has_local_reads: bool,
    http: Option<Http>,
}

impl EtcdClient {
    pub(super) fn new(node: SocketAddr, timeout: Duration, has_local_reads: bool) -> EtcdClient {
        EtcdClient { node, timeout, has_local_reads, http: None }
    }
}

impl Client for EtcdClient {
    fn invoke(&mut self, request: &Request) -> Result<Outcome, LiveError> {
        let (path, body) = call(request, self.has_local_reads)?;
        let http = match self.http.take().map_or_else(|| Http::open(self.node, self.timeout), Ok) {
            Ok(http) => self.http.insert(http),
            // Nothing was sent, so the request failed.
            Err(error) => return Ok(Outcome::Fail(error.to_string())),
        };
        let outcome = match http.post(path, &body) {
            Ok((200, answer)) => outcome(request, &answer),
            Ok((status, answer)) => Outcome::unanswered(request, format!("status {status}: {answer}")),
            Err(error) => Outcome::unanswered(request, error.to_string()),
        };
        let is_refusal = matches!(&outcome, Outcome::Fail(why) if why == REFUSED);
        if !matches!(outcome, Outcome::Ok(_)) && !is_refusal {
            // The connection is closed, because a late response must not be taken for that of the next request.
            self.http = None;
        }
        Ok(outcome)
    }
}

const REFUSED: &str = "the register holds something else";

/// The encoding of texts in etcd's requests.
fn encoded(text: &str) -> String {
    BASE64.encode(text)
}

/// The key of a register without versions.
fn plain(key: Key) -> String {
    encoded(&format!("r{key}"))
}

/// The keys of a register with versions: one contains the id of the version, the other one its value. They are
/// adjacent, so one request reads both.
fn id_key(key: Key) -> String {
    encoded(&format!("v{key}/id"))
}

fn value_key(key: Key) -> String {
    encoded(&format!("v{key}/value"))
}

/// A request as a path and a document.
fn call(request: &Request, has_local_reads: bool) -> Result<(&'static str, Json), LiveError> {
    let put = |key: String, text: &str| json!({"request_put": {"key": key, "value": encoded(text)}});
    Ok(match request {
        Request::Read(key) => ("/v3/kv/range", json!({"key": plain(*key), "serializable": has_local_reads})),
        Request::Write(key, value) => ("/v3/kv/put", json!({"key": plain(*key), "value": encoded(&value.to_string())})),
        Request::Cas { key, expected, new } => {
            let holds = json!({"key": plain(*key), "target": "VALUE", "value": encoded(&expected.to_string())});
            ("/v3/kv/txn", json!({"compare": [holds], "success": [put(plain(*key), &new.to_string())]}))
        }
        Request::ReadVersion(key) => {
            // The range covers all keys that begin with `v1/`: `0` is the character after the slash.
            let (first, end) = (encoded(&format!("v{key}/")), encoded(&format!("v{key}0")));
            ("/v3/kv/range", json!({"key": first, "range_end": end, "serializable": has_local_reads}))
        }
        Request::WriteVersion { key, value, id, previous } => {
            let holds = if previous == FIRST_VERSION {
                json!({"key": id_key(*key), "target": "CREATE", "create_revision": "0"})
            } else {
                json!({"key": id_key(*key), "target": "VALUE", "value": encoded(previous)})
            };
            let puts = [put(id_key(*key), id), put(value_key(*key), &value.to_string())];
            ("/v3/kv/txn", json!({"compare": [holds], "success": puts}))
        }
        other => return Err(LiveError::Unsupported(format!("etcd has no request for {:?}", other.f()))),
    })
}

/// The outcome of a response.
fn outcome(request: &Request, answer: &Json) -> Outcome {
    // Each of etcd's responses has a header, so this is from another server.
    if !answer["header"].is_object() {
        return Outcome::unanswered(request, format!("no answer of etcd: {answer}"));
    }
    match request {
        Request::Read(_) => match texts(answer).as_deref() {
            None => Outcome::damaged(answer["kvs"].to_string()),
            Some([]) => Outcome::value(Json::Null),
            Some([value]) if value.parse::<i64>().is_ok() => Outcome::value(value.parse::<i64>().unwrap_or_default()),
            Some(texts) => Outcome::damaged(texts.join(" ")),
        },
        Request::ReadVersion(_) => match texts(answer).as_deref() {
            None => Outcome::damaged(answer["kvs"].to_string()),
            Some([]) => Outcome::version(0, FIRST_VERSION),
            Some([id, value]) if value.parse::<i64>().is_ok() => {
                Outcome::version(value.parse::<i64>().unwrap_or_default(), id)
            }
            Some(texts) => Outcome::damaged(texts.join(" ")),
        },
        Request::Cas { .. } | Request::WriteVersion { .. } if answer["succeeded"] != true => {
            Outcome::Fail(REFUSED.to_owned())
        }
        _ => Outcome::done(),
    }
}

/// The values in a response to a range request, in the order of their keys.
fn texts(answer: &Json) -> Option<Vec<String>> {
    // The field is absent if there are no keys.
    let Some(pairs) = answer.get("kvs") else { return Some(Vec::new()) };
    let text = |pair: &Json| String::from_utf8(BASE64.decode(pair["value"].as_str()?).ok()?).ok();
    pairs.as_array()?.iter().map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_shows_both_keys_of_a_version() {
        let read = Request::ReadVersion(1);
        assert_eq!(outcome(&read, &json!({"header": {}})), Outcome::version(0, "0"));
        let pairs = json!({"header": {}, "kvs": [{"value": encoded("w7")}, {"value": encoded("3")}]});
        assert_eq!(outcome(&read, &pairs), Outcome::version(3, "w7"));
    }

    #[test]
    fn a_read_of_what_nobody_wrote_is_recorded_as_it_is() {
        let torn = json!({"header": {}, "kvs": [{"value": encoded("w7")}]});
        assert_eq!(outcome(&Request::ReadVersion(1), &torn), Outcome::damaged("w7"));
        let garbage = json!({"header": {}, "kvs": [{"value": encoded("@")}]});
        assert_eq!(outcome(&Request::Read(1), &garbage), Outcome::damaged("@"));
        assert!(matches!(outcome(&Request::Read(1), &json!({"header": {}, "kvs": 1})), Outcome::Ok(_)));
    }

    #[test]
    fn what_is_no_answer_of_etcd_confirms_nothing() {
        for answer in [Json::Null, json!({"error": "no"}), json!({"kvs": []})] {
            assert!(matches!(outcome(&Request::Read(1), &answer), Outcome::Fail(_)), "{answer}");
            assert!(matches!(outcome(&Request::Write(1, 2), &answer), Outcome::Info(_)), "{answer}");
        }
    }

    #[test]
    fn a_transaction_that_did_not_succeed_failed() {
        let cas = Request::Cas { key: 1, expected: 2, new: 3 };
        assert_eq!(outcome(&cas, &json!({"header": {}})), Outcome::Fail(REFUSED.into()));
        assert_eq!(outcome(&cas, &json!({"header": {}, "succeeded": true})), Outcome::done());
    }
}
