//! The checker for the registry: its name, its options and its description.

use crate::kafka::Kafka;
use crate::run::LogRun;
use history_core::{About, AboutAnomaly, Checker, OptionError, OptionKind, OptionSpec, Options, Parts, Run};

const SUB_VIA: &str = "sub-via";
const WW_DEPS: &str = "ww-deps";
const ALL_ERRORS: &str = "all-errors";
const CUT_SHORT: &str = "cut-short";

const OPTIONS: &[OptionSpec] = &[
    OptionSpec::new(
        SUB_VIA,
        OptionKind::Names,
        "How consumers get their keys: assign, subscribe, or assign,subscribe. With subscribe, poll-skip and nonmonotonic-poll are allowed.",
    )
    .with_value_name("WAYS")
    .with_default("assign"),
    OptionSpec::new(
        WW_DEPS,
        OptionKind::Flag,
        "Order ops by the offsets of what they sent (ww dependencies), and allow cycles that need such a dependency.",
    ),
    OptionSpec::new(ALL_ERRORS, OptionKind::Flag, "Show a witness of every anomaly, not only of the first or worst ones."),
    OptionSpec::new(
        CUT_SHORT,
        OptionKind::Flag,
        "Allow acknowledged messages that no client polled (unseen), for a history that does not end with polls.",
    ),
];

/// The anomalies, each with its definition.
const ANOMALIES: &[(&str, &str)] = &[
    ("G1a", "An ok op polled a message that only a failed op sent."),
    ("inconsistent-offsets", "Two different messages were seen at one offset of a log."),
    ("duplicate", "One message was seen at two offsets of a log."),
    ("precommitted-read", "An op polled a message that it sent itself: sends are not visible before the op commits."),
    ("phantom-message", "A message was polled that no op sent."),
    ("lost-write", "A sent message has a lower offset than a polled one, and no ok op polled it."),
    ("unseen", "At the end of the history, no ok op had polled an acknowledged message."),
    ("int-poll-skip", "Within one op, polls passed over a message of the log."),
    ("int-nonmonotonic-poll", "Within one op, polls went back in the log or repeated a message."),
    ("int-send-skip", "Within one op, messages of other ops are between two messages sent to a log. Allowed."),
    ("int-nonmonotonic-send", "Within one op, a message has a lower offset than one that was sent earlier."),
    ("poll-skip", "A consumer's next poll passed over a message of the log."),
    ("nonmonotonic-poll", "A consumer's next poll went back in the log or repeated a message."),
    ("nonmonotonic-send", "A producer's next message has a lower offset than the one that it sent before."),
];

/// The types of cycles that may occur, each with its definition.
const CYCLES: &[(&str, &str)] = &[
    ("G0", "Ops sent messages to logs in contradictory orders. Allowed: sends are not isolated."),
    ("G0-realtime", "The order of messages in logs contradicts real time. Allowed."),
    ("G1c", "A cycle of ops, each of which polled from or sent before the next."),
    ("G1c-realtime", "A message was polled before it was sent, or a cycle of dependencies contradicts real time."),
];

impl Checker for Kafka {
    fn name(&self) -> &'static str {
        "kafka"
    }

    fn summary(&self) -> &'static str {
        "Append-only logs with offsets: nothing sent is lost, doubled or reordered, and polls skip nothing."
    }

    fn options(&self) -> &[OptionSpec] {
        OPTIONS
    }

    fn about(&self) -> About {
        let about = |(name, summary): &(&'static str, &'static str)| AboutAnomaly::new(*name, *summary);
        let cycles = CYCLES.iter().map(|cycle| {
            let mut anomaly = about(cycle);
            anomaly.is_cycle = true;
            anomaly
        });
        // Without one of its sends or polls, a history may have lost, unseen or skipped messages.
        let whole = About::default().with_parts(Parts::Whole);
        ANOMALIES.iter().map(about).chain(cycles).fold(whole, About::with_anomaly)
    }

    fn start(&self, options: &Options) -> Result<Box<dyn Run>, OptionError> {
        let mut kafka = *self;
        for way in options.names(SUB_VIA) {
            match way {
                "assign" => {}
                "subscribe" => kafka.subscribes = true,
                other => {
                    return Err(OptionError::new(SUB_VIA, format!("expected assign or subscribe, found {other}")));
                }
            }
        }
        kafka.ww_deps |= options.flag(WW_DEPS);
        kafka.all_errors |= options.flag(ALL_ERRORS);
        kafka.cut_short |= options.flag(CUT_SHORT);
        Ok(Box::new(LogRun::new(kafka)))
    }
}
