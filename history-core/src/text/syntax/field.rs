//! The fields that nearly every op has, by name.

/// The fields that have a place of their own in [`Op`](crate::Op).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum OwnField {
    Index,
    Time,
    Process,
    Type,
    F,
    Value,
}

impl OwnField {
    #[inline]
    pub(crate) fn from_name(name: &str) -> Option<OwnField> {
        OwnField::from_bytes(name.as_bytes())
    }

    /// The field of this name, as written in a text.
    #[inline]
    pub(crate) fn from_bytes(name: &[u8]) -> Option<OwnField> {
        Some(match name.len() {
            1 if name == b"f" => OwnField::F,
            4 if name == b"type" => OwnField::Type,
            4 if name == b"time" => OwnField::Time,
            5 if name == b"value" => OwnField::Value,
            5 if name == b"index" => OwnField::Index,
            7 if name == b"process" => OwnField::Process,
            _ => return None,
        })
    }

    /// A bit that is different for each field.
    #[inline]
    pub(crate) fn bit(self) -> u8 {
        1 << self as u8
    }
}
