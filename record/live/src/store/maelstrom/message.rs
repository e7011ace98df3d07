//! Messages of Maelstrom's protocol.

use serde_json::{Value as Json, json};

/// A message between two nodes, clients or services.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Message {
    pub(super) src: String,
    pub(super) dest: String,
    pub(super) body: Json,
}

impl Message {
    /// Parses a line; `None` if it is not a message.
    pub(super) fn read(line: &str) -> Option<Message> {
        let mut message: Json = serde_json::from_str(line).ok()?;
        let text = |name: &str| message.get(name).and_then(Json::as_str).map(str::to_owned);
        let (src, dest) = (text("src")?, text("dest")?);
        let body = message.get_mut("body")?.take();
        body.get("type")?.as_str()?;
        Some(Message { src, dest, body })
    }

    /// The line of the message, with its newline.
    pub(super) fn line(&self) -> String {
        let mut line = json!({"src": self.src, "dest": self.dest, "body": self.body}).to_string();
        line.push('\n');
        line
    }

    /// The response to this message.
    pub(super) fn answer(&self, mut body: Json) -> Message {
        body["in_reply_to"] = self.body["msg_id"].clone();
        Message { src: self.dest.clone(), dest: self.src.clone(), body }
    }

    /// The body's type.
    pub(super) fn kind(&self) -> &str {
        self.body["type"].as_str().unwrap_or_default()
    }
}

/// The body of an error.
pub(super) fn error(code: u64, text: &str) -> Json {
    json!({"type": "error", "code": code, "text": text})
}

/// Codes of errors, as Maelstrom defines them.
pub(super) const KEY_DOES_NOT_EXIST: u64 = 20;
pub(super) const PRECONDITION_FAILED: u64 = 22;
pub(super) const NOT_SUPPORTED: u64 = 10;

/// Returns true if an error with this code states that the request did not and will not happen.
pub(super) fn is_definite(code: u64) -> bool {
    matches!(code, 1 | 10 | 11 | 12 | 14 | 20 | 21 | 22 | 30)
}
