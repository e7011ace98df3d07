//! Overlays for pictures of time: the faults of a run, and annotations by the user.

mod annotations;
mod faults;

pub use annotations::{Annotation, Annotations};

use crate::text;
use faults::Faults;
use history_core::Op;
use history_core::cast::Cast as _;

/// An interval of time with a description, or a moment: then it ends where it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Band {
    /// Its description: a fault's name with the affected nodes, or an annotation's text. Safe to show.
    pub what: String,
    /// The lane that an annotation belongs to. None for faults.
    pub lane: Option<String>,
    /// The index of the op that began it: for an annotation, of the first op that is not before it.
    pub first: u64,
    /// The index of the op that ended it, if it ended.
    pub last: Option<u64>,
    /// The time of its beginning, in nanoseconds.
    pub from_ns: Option<i64>,
    /// The time of its end, if it ended.
    pub until_ns: Option<i64>,
}

/// The faults and annotations of a history, while its ops pass.
///
/// ```
/// use histcheck_draw::bands::Bands;
/// use history_core::History;
///
/// let history = History::parse(
///     "{:process :nemesis, :type :info, :f :start-partition, :time 5}
///      {:process 0, :type :invoke, :f :read, :time 6}
///      {:process :nemesis, :type :info, :f :stop-partition, :time 9}",
/// )?;
/// let mut bands = Bands::default();
/// history.ops().for_each(|op| bands.observe(&op));
/// let faults = bands.all();
/// assert_eq!((faults[0].what.as_str(), faults[0].from_ns, faults[0].until_ns), ("partition", Some(5), Some(9)));
/// # Ok::<(), history_core::HistoryError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Bands {
    faults: Faults,
    annotations: Annotations,
}

impl Bands {
    /// Creates bands with these annotations.
    pub fn new(annotations: Annotations) -> Bands {
        Bands { faults: Faults::default(), annotations }
    }

    /// Processes an op that was paired, as returned by all readers.
    pub fn observe(&mut self, op: &Op<'_>) {
        if !op.process.is_client() {
            self.faults.observe(op);
        }
        self.annotations.observe(op);
    }

    /// Sentences on the parts that a picture of a run between these times omits, and on assumptions about the end of
    /// faults.
    pub(crate) fn notes(&self, range: (i64, i64)) -> Vec<String> {
        let mut notes: Vec<String> = self.annotations_note(range).into_iter().collect();
        let (shown, omitted) = (self.faults.all().len().to_u64(), self.faults.omitted());
        if omitted > 0 {
            let (shown, all) = (text::grouped(shown), text::grouped(shown + omitted));
            notes.push(format!("Only the first {shown} of {all} faults are drawn."));
        }
        if self.faults.are_paired_by_name() {
            notes.push("Faults are paired by the names of ops (start-x, stop-x), because no op has :fault.".into());
        }
        notes
    }

    /// A note that annotations outside of these times are not drawn.
    pub(crate) fn annotations_note(&self, range: (i64, i64)) -> Option<String> {
        let (outside, all) = (self.annotations.outside(range), self.annotations.len());
        let noun = if all == 1 { "annotation is" } else { "annotations are" };
        let count = |number| text::grouped(number);
        (outside > 0)
            .then(|| format!("{} of {} {noun} outside of the run's times and not drawn.", count(outside), count(all)))
    }

    /// The faults so far, in the order of their beginnings.
    pub fn faults(&self) -> &[Band] {
        self.faults.all()
    }

    /// All bands so far: the faults, then the annotations.
    pub fn all(&self) -> Vec<Band> {
        self.faults.all().iter().cloned().chain(self.annotations.bands()).collect()
    }
}
