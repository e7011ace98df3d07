//! A tape: values in the order in which they were read, flat, in one vector of nodes.
//!
//! A tree of boxes would cost an allocation per element. Here a container is a node with the number of its children and
//! the position of its end; runs of small integers (most of a list-append history) are kept separately as a slice of
//! `i64`.

use crate::cast::Cast as _;
use std::borrow::Cow;

/// The kind of a node; see [`Node`] for the meaning of its two numbers.
///
/// The order is part of the interface of plugins (see [`crate::columns`]).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Tag {
    Nil,
    False,
    True,
    Int,
    Float,
    Char,
    Big,
    Str,
    Keyword,
    Symbol,
    Tagged,
    Vector,
    List,
    Set,
    Map,
    IntVector,
    IntList,
    IntSet,
}

impl Tag {
    /// Returns true if a value of this kind takes one node.
    #[inline]
    pub(crate) fn is_leaf(self) -> bool {
        !matches!(self, Tag::Tagged | Tag::Vector | Tag::List | Tag::Set | Tag::Map)
    }
}

/// One value, or the head of one.
///
/// - `Int`, `Float`, `Char`: `b` contains the bits. For a `Float` that was read from text, `a` is where the text begins
///   in `Tape::source`; else 0, where no number that matters begins.
/// - `Str`, `Keyword`, `Symbol`, `Big`: `a` bytes of text at `b` (`Tape::text`).
/// - `Tagged`: the same for the tag's name; the tagged value follows.
/// - `Vector`, `List`, `Set`, `Map`: `a` children (keys and values both counted); the node after the last one is `b`.
/// - `IntVector`, `IntList`, `IntSet`: `a` integers at `b` of `Tape::ints`.
///
/// Part of the interface of plugins (see [`crate::columns`]).
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Node {
    pub(crate) tag: Tag,
    pub(crate) a: u32,
    pub(crate) b: u64,
}

/// Set in a text offset if the text had escapes, so that it is, decoded, in [`Tape::unescaped`].
const UNESCAPED: u64 = 1 << 63;

/// Integers of a run have a magnitude below this; see [`Tape::ints`].
pub(crate) const RUN_INT_END: u64 = 1_000_000_000_000_000_000;
const _: () = assert!(RUN_INT_END < 1 << 62);

/// The content is owned, except for tapes of another library's batches: those are only read, and writing would copy
/// them.
#[derive(Default, Debug, Clone)]
pub(crate) struct Tape {
    /// The target of the offsets of text without escapes: the block as it was read.
    pub(crate) source: Cow<'static, str>,
    pub(crate) unescaped: Cow<'static, str>,
    pub(crate) nodes: Cow<'static, [Node]>,
    /// Each has a magnitude below 2^62, so checkers may use the rest of `i64` for their own purposes.
    pub(crate) ints: Cow<'static, [i64]>,
    /// Remains when the tape is cleared.
    pub(crate) memo: crate::text::syntax::memo::Memo,
}

/// A column, to be changed; a column of another library's batch is copied first. As [`Cow::to_mut`], but small enough
/// to be inlined, which matters because it is called for every value.
#[inline]
pub(crate) fn own<'a, T: Clone>(column: &'a mut Cow<'static, [T]>) -> &'a mut Vec<T> {
    match column {
        Cow::Owned(own) => own,
        Cow::Borrowed(_) => copied(column),
    }
}

#[cold]
fn copied<'a, T: Clone>(column: &'a mut Cow<'static, [T]>) -> &'a mut Vec<T> {
    column.to_mut()
}

/// The lengths of a tape, to which it can be truncated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    nodes: usize,
    ints: usize,
    unescaped: usize,
}

impl Tape {
    pub(crate) fn clear(&mut self) {
        self.nodes.to_mut().clear();
        self.ints.to_mut().clear();
        self.unescaped.to_mut().clear();
    }

    #[inline]
    pub(crate) fn mark(&self) -> Mark {
        Mark { nodes: self.nodes.len(), ints: self.ints.len(), unescaped: self.unescaped.len() }
    }

    pub(crate) fn cut(&mut self, mark: Mark) {
        self.nodes.to_mut().truncate(mark.nodes);
        self.ints.to_mut().truncate(mark.ints);
        self.unescaped.to_mut().truncate(mark.unescaped);
    }

    #[inline]
    pub(crate) fn text(&self, at: u64, len: u32) -> &str {
        let start = (at & !UNESCAPED).to_usize();
        let from = if at & UNESCAPED == 0 { &self.source } else { &self.unescaped };
        &from[start..start + len.to_usize()]
    }

    /// The name in a keyword, string or symbol.
    #[inline]
    pub(crate) fn name(&self, at: usize) -> Option<&str> {
        let node = self.nodes[at];
        matches!(node.tag, Tag::Str | Tag::Keyword | Tag::Symbol).then(|| self.text(node.b, node.a))
    }

    /// The same as bytes, which are not valid text if the node does not belong to this tape.
    #[inline]
    pub(crate) fn name_bytes(&self, at: usize) -> Option<&[u8]> {
        let node = self.nodes[at];
        matches!(node.tag, Tag::Str | Tag::Keyword | Tag::Symbol).then(|| {
            let start = (node.b & !UNESCAPED).to_usize();
            let from = if node.b & UNESCAPED == 0 { &self.source } else { &self.unescaped };
            &from.as_bytes()[start..start + node.a.to_usize()]
        })
    }

    /// Returns true if a value is a keyword, string or symbol.
    #[inline]
    pub(crate) fn is_name(&self, at: usize) -> bool {
        matches!(self.nodes[at].tag, Tag::Str | Tag::Keyword | Tag::Symbol)
    }

    #[inline]
    pub(crate) fn int(&self, at: usize) -> Option<i64> {
        let node = self.nodes[at];
        (node.tag == Tag::Int).then_some(node.b.cast_signed())
    }

    /// Where the value after the one at `at` begins.
    #[inline]
    pub(crate) fn after(&self, mut at: usize) -> usize {
        while self.nodes[at].tag == Tag::Tagged {
            at += 1;
        }
        match self.nodes[at].tag {
            Tag::Vector | Tag::List | Tag::Set | Tag::Map => self.nodes[at].b.to_usize(),
            _ => at + 1,
        }
    }

    /// Appends a copy of the value at `at`. O(nodes of the value).
    pub(crate) fn copy(&mut self, at: usize) {
        let (end, moved) = (self.after(at), self.nodes.len() - at);
        for from in at..end {
            let mut node = self.nodes[from];
            if matches!(node.tag, Tag::Vector | Tag::List | Tag::Set | Tag::Map) {
                node.b += moved.to_u64();
            }
            own(&mut self.nodes).push(node);
        }
    }

    #[inline]
    pub(crate) fn push(&mut self, tag: Tag) {
        own(&mut self.nodes).push(Node { tag, a: 0, b: 0 });
    }

    #[inline]
    pub(crate) fn push_bits(&mut self, tag: Tag, b: u64) {
        own(&mut self.nodes).push(Node { tag, a: 0, b });
    }

    /// A float whose text begins at `start` of `source`.
    #[inline]
    pub(crate) fn push_float(&mut self, x: f64, start: usize) {
        own(&mut self.nodes).push(Node { tag: Tag::Float, a: start.to_u32(), b: x.to_bits() });
    }

    /// Pushes text that is in `source` unchanged.
    #[inline]
    pub(crate) fn push_source(&mut self, tag: Tag, start: usize, end: usize) {
        own(&mut self.nodes).push(Node { tag, a: (end - start).to_u32(), b: start.to_u64() });
    }

    /// Pushes text that had escapes: it was appended to `unescaped`, from `start` on.
    pub(crate) fn push_unescaped(&mut self, tag: Tag, start: usize) {
        let len = self.unescaped.len() - start;
        own(&mut self.nodes).push(Node { tag, a: len.to_u32(), b: start.to_u64() | UNESCAPED });
    }

    /// Opens a container; returns the argument for [`Tape::close`].
    #[inline]
    pub(crate) fn open(&mut self, tag: Tag) -> u32 {
        self.push(tag);
        (self.nodes.len() - 1).to_u32()
    }

    #[inline]
    pub(crate) fn close(&mut self, node: u32, children: u32) {
        let end = self.nodes.len().to_u64();
        let node = &mut own(&mut self.nodes)[node.to_usize()];
        node.a = children;
        node.b = end;
    }

    #[inline]
    pub(crate) fn push_run(&mut self, tag: Tag, start: usize) {
        debug_assert!(
            self.ints[start..].iter().all(|int| int.unsigned_abs() < 1 << 62),
            "an integer of a run is too large"
        );
        let len = self.ints.len() - start;
        own(&mut self.nodes).push(Node { tag, a: len.to_u32(), b: start.to_u64() });
    }
}
