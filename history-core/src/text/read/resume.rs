//! Continuing a reader where it stopped: in another process, or as a validation.

use super::{Blocks, FirstValue, Format, Limits, Place, Reader, Steps};
use crate::TimeUnit;
use crate::ops::index::Indices;
use crate::ops::pairing::Pairing;
use crate::state::{Damaged, In, Out, Parts as _, State as _};

/// The parts of a reader.
pub(crate) struct Parts<'s> {
    pub(crate) blocks: Blocks<'s>,
    pub(crate) format: Option<Format>,
    pub(crate) limits: Limits,
    pub(crate) unit: Option<TimeUnit>,
    pub(crate) first_value: FirstValue,
    pub(crate) session_names: Vec<String>,
    pub(crate) pairing: Pairing,
}

impl<'s> Reader<'s> {
    /// The parts that a validation continues with.
    pub(crate) fn into_parts(self) -> Parts<'s> {
        let Reader { blocks, format, limits, unit, pairing, first_value, session_names, .. } = self;
        Parts { blocks, format, limits, unit, first_value, session_names, pairing: pairing.unwrap_or_default() }
    }

    /// The state from which [`Reader::resume`] can continue after the ops that were read, and the byte of the source
    /// where they end. `None` before the first op, after an error, if the source is compressed, and in formats that are
    /// not read op by op: [`Format::Intervals`] and those of other checkers.
    pub fn save(&self) -> Option<(u64, Vec<u8>)> {
        let place = self.blocks.place()?;
        let (pairing, steps) = (self.pairing.as_ref()?, self.steps.as_ref()?);
        let number = FORMATS.iter().position(|format| Some(*format) == self.format)?;
        if self.failed.is_some() {
            return None;
        }
        let mut out = Out::new(usize::MAX);
        number.save(&mut out);
        place.save(&mut out);
        self.indices.save(&mut out);
        steps.save_parts(&mut out);
        pairing.save_parts(&mut out);
        out.into_bytes().map(|bytes| (place.offset, bytes))
    }

    /// Continues to read a source from the position of [`Reader::save`], with the same settings. Call it before
    /// anything is read.
    ///
    /// ```
    /// use history_core::{Batch, Reader};
    ///
    /// let text = b"{:process 0, :type :invoke, :f :read} {:process 0, :type :ok, :f :read, :value 3}";
    /// let mut reader = Reader::new(&text[..40]).growing();
    /// let mut batch = Batch::new();
    /// reader.read_batch(&mut batch)?;
    /// let (byte, state) = reader.save().unwrap();
    ///
    /// let rest = &text[usize::try_from(byte)?..];
    /// let mut reader = Reader::new(rest).resume(&state)?;
    /// reader.read_batch(&mut batch)?;
    /// assert_eq!(batch.ops().map(|op| op.index).collect::<Vec<_>>(), [1]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the bytes are not such a state.
    pub fn resume(mut self, state: &[u8]) -> Result<Reader<'s>, Damaged> {
        let mut from = In::new(state);
        let format = *FORMATS.get(usize::load(&mut from)?).ok_or(Damaged)?;
        self.format = Some(format);
        self.blocks.begin_at(Place::load(&mut from)?);
        self.indices = Indices::load(&mut from)?;
        let mut steps = Steps::new(format);
        steps.load_parts(&mut from)?;
        self.steps = Some(steps);
        self.pairing.as_mut().ok_or(Damaged)?.load_parts(&mut from)?;
        from.end()?;
        Ok(self)
    }
}

/// The formats that are read op by op.
const FORMATS: [Format; 3] = [Format::Edn, Format::Json, Format::Table];
