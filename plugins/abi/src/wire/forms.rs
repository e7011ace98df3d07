//! The parts of reports and figures as data between host and plugin.

use history_core::{Client, Datum, History, OpKind, Participants, Step, WitnessOp};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub(super) struct OpForm {
    name: String,
    index: u64,
    #[serde(default)]
    process: Option<Client>,
    kind: OpKind,
    #[serde(default)]
    time_ns: Option<i64>,
    value: Edn,
}

#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub(super) struct StepForm {
    pub(super) from: usize,
    pub(super) to: usize,
    relation: String,
    #[serde(default)]
    key: Option<Edn>,
    #[serde(default)]
    value: Option<Edn>,
    #[serde(default)]
    next_value: Option<Edn>,
    #[serde(default)]
    because: String,
}

/// A value as EDN text.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
#[serde(transparent)]
pub(super) struct Edn(String);

impl Edn {
    pub(super) fn of(datum: &Datum) -> Edn {
        Edn(datum.to_string())
    }

    pub(super) fn datum(&self) -> Result<Datum, String> {
        let history = History::parse(&format!("{{:type :info, :value {}\n}}", self.0));
        let history = history.map_err(|error| format!("a value is not EDN ({}): {}", error.message, self.0))?;
        if history.len() != 1 {
            return Err(format!("a value is not EDN: {}", self.0));
        }
        Ok(history.op(0).value.to_datum())
    }
}

impl From<WitnessOp> for OpForm {
    fn from(op: WitnessOp) -> OpForm {
        let WitnessOp { name, index, process, kind, time_ns, value } = op;
        OpForm { name, index, process, kind, time_ns, value: Edn::of(&value) }
    }
}

impl From<Step> for StepForm {
    fn from(step: Step) -> StepForm {
        let edn = |datum: &Option<Datum>| datum.as_ref().map(Edn::of);
        StepForm {
            from: step.from,
            to: step.to,
            key: edn(&step.key),
            value: edn(&step.value),
            next_value: edn(&step.next_value),
            relation: step.relation.into(),
            because: step.because,
        }
    }
}

/// Returns true if a path stays within the directory to which it is relative.
pub(super) fn is_inside(path: &str) -> bool {
    let is_name = |part: &str| !part.is_empty() && part != "." && part != ".." && !part.contains(['\\', ':', '\0']);
    path.split('/').all(is_name)
}

/// The client. If an older plugin sends a number that represents a name, returns the name.
pub(super) fn named(client: Client, participants: &Participants) -> Client {
    match client {
        Client::Number(number) => participants.client(number),
        Client::Name(_) => client,
    }
}

impl OpForm {
    pub(super) fn op(self, participants: &Participants) -> Result<WitnessOp, String> {
        let OpForm { name, index, process, kind, time_ns, value } = self;
        let process = process.map(|client| named(client, participants));
        Ok(WitnessOp { name, index, process, kind, time_ns, value: value.datum()? })
    }
}

impl StepForm {
    pub(super) fn step(self) -> Result<Step, String> {
        let datum = |edn: Option<Edn>| edn.map(|edn| edn.datum()).transpose();
        let step = Step::new(self.from, self.to, self.relation, self.because);
        Ok(step.with_versions(datum(self.key)?, datum(self.value)?, datum(self.next_value)?))
    }
}
