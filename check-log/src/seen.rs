//! All that is known of a history so far: what the run fills in and the analysis looks at.

use crate::columns::{MsgId, OpId, Ops};
use crate::messages::Messages;
use history_core::{Coverage, Verdict};
use std::collections::BTreeMap;

/// The first op that could not be read.
#[derive(Clone, Debug)]
pub(crate) struct Unreadable {
    pub(crate) place: String,
    pub(crate) reason: String,
    pub(crate) count: u64,
}

/// All that is known of a history so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    pub(crate) ops: Ops,
    pub(crate) messages: Messages,
    /// Failed sends.
    pub(crate) failed: Vec<(MsgId, OpId)>,
    /// How many rows are `ok`.
    pub(crate) oks: u32,
    /// What crashed sends, polls and transactions say of their cause.
    pub(crate) causes: BTreeMap<String, u64>,
    pub(crate) clients: u64,
    pub(crate) coverage: Coverage,
    pub(crate) unreadable: Option<Unreadable>,
    pub(crate) stopped: bool,
}

impl Unreadable {
    pub(crate) fn sentence(&self, verdict: Verdict, stopped: bool) -> String {
        let place = format!("at {} {}", self.place, self.reason);
        let more = match self.count - 1 {
            0 => String::new(),
            1 => " One more op is like that.".into(),
            more => format!(" {more} more ops are like that."),
        };
        match (verdict, stopped) {
            (Verdict::Invalid, false) => format!("The verdict rests on the other ops: {place}.{more}"),
            (Verdict::Invalid, true) => format!("The verdict rests on the ops before this one: {place}."),
            _ => format!("Nothing can be said of this history, because {place}.{more}"),
        }
    }
}
