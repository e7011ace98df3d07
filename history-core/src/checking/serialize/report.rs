//! Reports: the form in which they are printed, stored and sent; see the crate's documentation for the schema.

use super::{Keyword, named};
use crate::{Anomaly, Artifact, Datum, KeyReport, NextStep, OpKind, Report, Verdict, Witness};
use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::ser::{Serialize, SerializeStruct, Serializer};
use serde::{Deserialize as DeriveDeserialize, Serialize as DeriveSerialize};
use std::borrow::Cow;
use std::fmt;

type Name = Cow<'static, str>;

impl Serialize for Verdict {
    /// `true`, `false`, or `"unknown"`; in EDN `:unknown`.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Verdict::Valid => serializer.serialize_bool(true),
            Verdict::Invalid => serializer.serialize_bool(false),
            Verdict::Unknown => Keyword("unknown").serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Verdict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Verdict, D::Error> {
        struct VerdictVisitor;
        impl Visitor<'_> for VerdictVisitor {
            type Value = Verdict;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(r#"true, false or "unknown""#)
            }

            fn visit_bool<E>(self, valid: bool) -> Result<Verdict, E> {
                Ok(if valid { Verdict::Valid } else { Verdict::Invalid })
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Verdict, E> {
                match text {
                    "unknown" => Ok(Verdict::Unknown),
                    _ => Err(E::invalid_value(de::Unexpected::Str(text), &self)),
                }
            }
        }
        deserializer.deserialize_any(VerdictVisitor)
    }
}

impl Serialize for OpKind {
    /// `"invoke"`, `"ok"`, `"fail"` or `"info"`; keywords in EDN.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Keyword(self.name()).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for OpKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<OpKind, D::Error> {
        let name = Cow::<str>::deserialize(deserializer)?;
        OpKind::from_name(&name)
            .ok_or_else(|| de::Error::invalid_value(de::Unexpected::Str(&name), &"invoke, ok, fail or info"))
    }
}

/// The serialized form of a report.
#[derive(DeriveSerialize, DeriveDeserialize)]
struct ReportForm {
    #[serde(serialize_with = "keyword")]
    checker: Name,
    valid: Verdict,
    /// Written only if it is true.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    partial: bool,
    /// The names in `anomalies`, for consumers that need no details; not read back.
    #[serde(default, serialize_with = "keywords", skip_deserializing)]
    anomaly_types: Vec<Name>,
    #[serde(default, serialize_with = "keywords")]
    not: Vec<Name>,
    #[serde(default, serialize_with = "keywords")]
    also_not: Vec<Name>,
    #[serde(default, serialize_with = "keywords", skip_serializing_if = "Vec::is_empty")]
    not_checked: Vec<Name>,
    #[serde(default, with = "named")]
    anomalies: Vec<(Name, AnomalyForm)>,
    #[serde(default)]
    notes: Vec<String>,
    /// Written only if the verdict is unknown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    next: Vec<NextStep>,
    #[serde(default, with = "named")]
    counts: Vec<(Name, u64)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    artifacts: Vec<Artifact>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    keys: Vec<KeyReport>,
    #[serde(default, with = "named", skip_serializing_if = "Vec::is_empty")]
    checkers: Vec<(Name, Report)>,
}

/// The serialized form of an anomaly without its name.
#[derive(DeriveSerialize, DeriveDeserialize)]
struct AnomalyForm {
    count: u64,
    #[serde(default)]
    witnesses: Vec<Witness>,
}

impl Serialize for Report {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let form = |anomaly: &Anomaly| AnomalyForm { count: anomaly.count, witnesses: anomaly.witnesses.clone() };
        ReportForm {
            checker: self.checker.clone(),
            valid: self.verdict,
            partial: self.is_partial,
            anomaly_types: self.anomaly_types().map(|name| name.to_owned().into()).collect(),
            not: self.not.clone(),
            also_not: self.also_not.clone(),
            not_checked: self.not_checked.clone(),
            anomalies: self.anomalies.iter().map(|anomaly| (anomaly.name.clone(), form(anomaly))).collect(),
            notes: self.notes.clone(),
            next: self.next.clone(),
            counts: self.counts.clone(),
            artifacts: self.artifacts.clone(),
            keys: self.keys.clone(),
            checkers: self.checkers.iter().map(|report| (report.checker.clone(), report.clone())).collect(),
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Report {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Report, D::Error> {
        let form = ReportForm::deserialize(deserializer)?;
        let anomaly =
            |(name, form): (Name, AnomalyForm)| Anomaly { name, count: form.count, witnesses: form.witnesses };
        Ok(Report {
            checker: form.checker,
            verdict: form.valid,
            is_partial: form.partial,
            notes: form.notes,
            next: form.next,
            anomalies: form.anomalies.into_iter().map(anomaly).collect(),
            not: form.not,
            also_not: form.also_not,
            not_checked: form.not_checked,
            counts: form.counts,
            artifacts: form.artifacts,
            figures: Vec::new(),
            keys: form.keys,
            checkers: form.checkers.into_iter().map(|(_, report)| report).collect(),
        })
    }
}

/// A name that is a keyword in EDN.
pub(crate) fn keyword<S: Serializer>(name: &Name, serializer: S) -> Result<S::Ok, S::Error> {
    Keyword(name).serialize(serializer)
}

pub(crate) fn keywords<S: Serializer>(names: &[Name], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(names.iter().map(|name| Keyword(name)))
}

/// Deserializes a field that may be omitted. A field that is present becomes `Some`, even if its value is `null`.
pub(crate) fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Datum>, D::Error> {
    Datum::deserialize(deserializer).map(Some)
}

impl Serialize for Artifact {
    /// `{"path": ..., "content": ...}`, where the content is a string if it is text, else an array of bytes.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut form = serializer.serialize_struct("Artifact", 2)?;
        form.serialize_field("path", &self.path)?;
        match std::str::from_utf8(&self.content) {
            Ok(text) => form.serialize_field("content", text)?,
            Err(_) => form.serialize_field("content", &self.content)?,
        }
        form.end()
    }
}

impl<'de> Deserialize<'de> for Artifact {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Artifact, D::Error> {
        #[derive(DeriveDeserialize)]
        #[serde(untagged)]
        enum Content {
            Text(String),
            Bytes(Vec<u8>),
        }

        #[derive(DeriveDeserialize)]
        struct Form {
            path: String,
            content: Content,
        }

        let form = Form::deserialize(deserializer)?;
        let content = match form.content {
            Content::Text(text) => text.into_bytes(),
            Content::Bytes(bytes) => bytes,
        };
        Ok(Artifact { path: form.path, content })
    }
}
