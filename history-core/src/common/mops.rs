//! The most common micro-ops, `[name integer integer]` or `[name integer list]`, decoded from their four nodes of the
//! tape at once.
//!
//! Half of the work of a transaction checker on an op is to decode its micro-ops. With [`Value`]s, each part needs a
//! dozen branches; here, one comparison of four tags decides.

use crate::Value;
use crate::cast::Cast as _;
use crate::values::tape::{Tag, Tape};
use crate::values::value::{Seq, SeqKind, Values};

/// An element of a list of micro-ops: see [`Seq::mops`].
#[derive(Clone, Copy, Debug)]
pub enum MopParts<'a> {
    /// `[name key value]` whose key is an integer, and whose value is an integer or nil.
    Ints {
        /// The name, as UTF-8.
        name: &'a [u8],
        /// The key.
        key: i64,
        /// The value; absent if it is nil.
        value: Option<i64>,
    },
    /// `[name key list]` whose key is an integer, and whose list is a vector of integers.
    List {
        /// The name, as UTF-8.
        name: &'a [u8],
        /// The key.
        key: i64,
        /// The vector.
        list: Seq<'a>,
    },
    /// Anything else.
    Other(Value<'a>),
}

/// Returns true if all these values are micro-ops, which are lists, and some of them have no result yet: their last
/// part is nil, or they are `[:poll]`.
pub(crate) fn lack_results<'a>(mops: impl Iterator<Item = Value<'a>> + Clone) -> bool {
    mops.clone().all(|mop| mop.as_seq().is_some()) && mops.into_iter().any(lacks_result)
}

fn lacks_result(mop: Value<'_>) -> bool {
    let Some(parts) = mop.as_seq() else { return false };
    let last = parts.iter().last();
    last.is_some_and(|last| last.is_nil() || parts.len() == 1 && last.as_name() == Some("poll"))
}

/// Iterates over the elements of a [`Seq`] as micro-ops.
#[derive(Clone, Debug)]
pub struct Mops<'a>(Values<'a>);

impl<'a> Seq<'a> {
    /// The elements, in order. An element `[name key value]` whose key is an integer, and whose value is an integer,
    /// nil or a vector of integers, is returned in parts, at a fraction of the cost of decoding a [`Value`].
    ///
    /// ```
    /// use history_core::{History, MopParts};
    ///
    /// let history = History::parse("{:process 0, :type :ok, :value [[:w 3 17] [:r 3 nil] [:r 3 [1 2]] [:r :x 1]]}")?;
    /// let mut mops = history.op(0).value.as_seq().unwrap().mops();
    /// assert!(matches!(mops.next(), Some(MopParts::Ints { name: b"w", key: 3, value: Some(17) })));
    /// assert!(matches!(mops.next(), Some(MopParts::Ints { name: b"r", key: 3, value: None })));
    /// let Some(MopParts::List { name: b"r", key: 3, list }) = mops.next() else { panic!() };
    /// assert_eq!(list.as_ints(), Some(&[1, 2][..]));
    /// assert!(matches!(mops.next(), Some(MopParts::Other(other)) if other.to_string() == "[:r :x 1]"));
    /// assert!(mops.next().is_none());
    /// # Ok::<(), history_core::HistoryError>(())
    /// ```
    #[inline]
    pub fn mops(self) -> Mops<'a> {
        Mops(self.iter())
    }
}

impl<'a> Iterator for Mops<'a> {
    type Item = MopParts<'a>;

    #[inline]
    fn next(&mut self) -> Option<MopParts<'a>> {
        if let SeqKind::Nodes { tape, at, count: count @ 1.. } = &mut self.0.0
            && let Some((ints, after)) = ints(tape, *at)
        {
            *count -= 1;
            *at = after;
            return Some(ints);
        }
        self.0.next().map(MopParts::Other)
    }
}

/// The micro-op at a node, if it has this form, and the position of the next value.
#[inline]
fn ints(tape: &Tape, at: usize) -> Option<(MopParts<'_>, usize)> {
    let [head, _, key, value] = tape.nodes.get(at..)?.first_chunk()?;
    let is_triple = matches!(head.tag, Tag::Vector | Tag::List) && head.a == 3;
    if !is_triple || key.tag != Tag::Int {
        return None;
    }
    let name = tape.name_bytes(at + 1)?;
    let key = key.b.cast_signed();
    let parts = match value.tag {
        Tag::Int => MopParts::Ints { name, key, value: Some(value.b.cast_signed()) },
        Tag::Nil => MopParts::Ints { name, key, value: None },
        Tag::IntVector => match Value::at(tape, at + 3) {
            Value::Vector(list) => MopParts::List { name, key, list },
            _ => return None,
        },
        _ => return None,
    };
    Some((parts, head.b.to_usize()))
}
