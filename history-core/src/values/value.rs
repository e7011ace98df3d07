//! A value of a history, borrowed from the reader: cheap to copy, decoded as it is walked.

use super::tape::{Tag, Tape};
use crate::Datum;
use crate::cast::Cast as _;
use std::fmt::{self, Write as _};

/// One value, as EDN has them; JSON's are a subset.
///
/// A view of 24 bytes, copied freely, and valid as long as the batch or history it came from. Copy what you need into
/// your own columns, or convert it to a [`Datum`] with [`Value::to_datum`].
///
/// ```
/// use history_core::{Datum, History, Value};
///
/// let history = History::parse("{:process 0, :type :ok, :f :read, :value [1 2 3]}").unwrap();
/// let Value::Vector(items) = history.op(0).value else { panic!() };
/// assert_eq!(items.as_ints(), Some(&[1, 2, 3][..]));
/// assert_eq!(history.op(0).value.to_string(), "[1 2 3]");
/// ```
#[derive(Clone, Copy)]
pub enum Value<'a> {
    /// `nil`, `null`, or absent.
    Nil,
    /// `true` or `false`.
    Bool(bool),
    /// An integer that fits in `i64`.
    Int(i64),
    /// A number that fits neither `i64` nor `f64` exactly (a bigint, a ratio, a decimal with `M`), as it was written.
    Big(&'a str),
    /// A floating-point number.
    Float(f64),
    /// A character, `\a`.
    Char(char),
    /// A string, its escapes resolved.
    Str(&'a str),
    /// A keyword, without its colon: `type`, `jepsen.history/op`.
    Keyword(&'a str),
    /// A symbol.
    Symbol(&'a str),
    /// `[...]`; a JSON array.
    Vector(Seq<'a>),
    /// `(...)`.
    List(Seq<'a>),
    /// `#{...}`, in the order written.
    Set(Seq<'a>),
    /// `{...}`; a JSON object, its keys strings.
    Map(Entries<'a>),
    /// `#tag value`: the tag's name and what follows.
    Tagged(&'a str, Tagged<'a>),
}

/// The value after a tag.
#[derive(Clone, Copy)]
pub struct Tagged<'a> {
    tape: &'a Tape,
    at: usize,
}

impl<'a> Tagged<'a> {
    /// The value itself.
    pub fn value(self) -> Value<'a> {
        Value::at(self.tape, self.at)
    }
}

impl fmt::Debug for Tagged<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value().fmt(f)
    }
}

/// The elements of a vector, list or set.
#[derive(Clone, Copy)]
pub struct Seq<'a>(SeqKind<'a>);

#[derive(Clone, Copy)]
pub(crate) enum SeqKind<'a> {
    Ints(&'a [i64]),
    Nodes { tape: &'a Tape, at: usize, count: u32 },
}

/// The entries of a map, in the order written.
#[derive(Clone, Copy)]
pub struct Entries<'a> {
    tape: &'a Tape,
    at: usize,
    count: u32,
}

impl<'a> Value<'a> {
    #[inline]
    pub(crate) fn at(tape: &'a Tape, at: usize) -> Value<'a> {
        let node = tape.nodes[at];
        let nodes = || Seq(SeqKind::Nodes { tape, at: at + 1, count: node.a });
        let ints = || Seq(SeqKind::Ints(&tape.ints[node.b.to_usize()..node.b.to_usize() + node.a.to_usize()]));
        match node.tag {
            Tag::Nil => Value::Nil,
            Tag::False => Value::Bool(false),
            Tag::True => Value::Bool(true),
            Tag::Int => Value::Int(node.b.cast_signed()),
            Tag::Float => Value::Float(f64::from_bits(node.b)),
            Tag::Char => Value::Char(char::from_u32(node.b.to_u32()).unwrap_or(char::REPLACEMENT_CHARACTER)),
            Tag::Big => Value::Big(tape.text(node.b, node.a)),
            Tag::Str => Value::Str(tape.text(node.b, node.a)),
            Tag::Keyword => Value::Keyword(tape.text(node.b, node.a)),
            Tag::Symbol => Value::Symbol(tape.text(node.b, node.a)),
            Tag::Tagged => Value::Tagged(tape.text(node.b, node.a), Tagged { tape, at: at + 1 }),
            Tag::Vector => Value::Vector(nodes()),
            Tag::List => Value::List(nodes()),
            Tag::Set => Value::Set(nodes()),
            Tag::Map => Value::Map(Entries { tape, at: at + 1, count: node.a / 2 }),
            Tag::IntVector => Value::Vector(ints()),
            Tag::IntList => Value::List(ints()),
            Tag::IntSet => Value::Set(ints()),
        }
    }

    /// Whether this is `nil`.
    pub fn is_nil(self) -> bool {
        matches!(self, Value::Nil)
    }

    /// The name in a keyword, string or symbol: formats differ in this respect, so `:ok` and `"ok"` are the same word.
    #[inline]
    pub fn as_name(self) -> Option<&'a str> {
        match self {
            Value::Str(s) | Value::Keyword(s) | Value::Symbol(s) => Some(s),
            _ => None,
        }
    }

    /// The integer, if it is one.
    pub fn as_int(self) -> Option<i64> {
        match self {
            Value::Int(i) => Some(i),
            _ => None,
        }
    }

    /// The integer, whatever its size, if it is one; an integer that does not fit in 128 bits becomes the nearest one
    /// that does.
    ///
    /// ```
    /// use history_core::History;
    ///
    /// let history = History::parse("{:type :ok, :process 0, :value [7 9223372036854775808 -1e3]}")?;
    /// let op = history.ops().next().unwrap();
    /// let wide: Vec<Option<i128>> = op.value.as_seq().unwrap().iter().map(|value| value.as_wide_int()).collect();
    /// assert_eq!(wide, [Some(7), Some(1 << 63), None]);
    /// # Ok::<(), history_core::HistoryError>(())
    /// ```
    pub fn as_wide_int(self) -> Option<i128> {
        match self {
            Value::Int(int) => Some(int.into()),
            Value::Big(text) => {
                let text = text.trim_end_matches('N');
                let digits = text.trim_start_matches(['-', '+']);
                if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
                    return None;
                }
                let beyond = if text.starts_with('-') { i128::MIN } else { i128::MAX };
                Some(text.parse().unwrap_or(beyond))
            }
            _ => None,
        }
    }

    /// The elements of a vector or list.
    #[inline]
    pub fn as_seq(self) -> Option<Seq<'a>> {
        match self {
            Value::Vector(s) | Value::List(s) => Some(s),
            _ => None,
        }
    }

    /// The two elements of a vector or list of two, whatever its tags: the key and the value of `#t [:x 3]`, as
    /// Jepsen's independent keys have them.
    pub fn as_pair(mut self) -> Option<(Value<'a>, Value<'a>)> {
        while let Value::Tagged(_, inner) = self {
            self = inner.value();
        }
        let mut items = self.as_seq()?.iter();
        match (items.next(), items.next(), items.next()) {
            (Some(key), Some(value), None) => Some((key, value)),
            _ => None,
        }
    }

    /// What kind of value this is, for messages: `"a map"`, `"an integer"`.
    pub fn kind(self) -> &'static str {
        match self {
            Value::Nil => "nil",
            Value::Bool(_) => "a boolean",
            Value::Int(_) => "an integer",
            Value::Big(_) => "a number",
            Value::Float(_) => "a float",
            Value::Char(_) => "a character",
            Value::Str(_) => "a string",
            Value::Keyword(_) => "a keyword",
            Value::Symbol(_) => "a symbol",
            Value::Vector(_) => "a vector",
            Value::List(_) => "a list",
            Value::Set(_) => "a set",
            Value::Map(_) => "a map",
            Value::Tagged(..) => "a tagged value",
        }
    }

    /// A text that is the same for equal values and differs for others: EDN, in which a list is written as a vector,
    /// what is in a set or map is sorted, and a zero has no sign.
    pub fn canonical(self) -> String {
        let mut text = String::new();
        self.write_canonical(&mut text);
        text
    }

    /// Puts [`Value::canonical`] after a text.
    pub fn write_canonical(self, out: &mut String) {
        self.try_write_canonical(out).expect("a string takes any text");
    }

    fn try_write_canonical(self, out: &mut String) -> fmt::Result {
        // Readers limit how deep values nest, which limits this recursion.
        let sorted = |mut items: Vec<String>| {
            items.sort_unstable();
            items.join(" ")
        };
        match self {
            // Such a string needs no escapes, and is written at once.
            Value::Str(text) if text.bytes().all(|byte| byte >= b' ' && byte != b'"' && byte != b'\\') => {
                out.push('"');
                out.push_str(text);
                out.push('"');
                Ok(())
            }
            Value::Vector(seq) | Value::List(seq) => {
                out.push('[');
                for (at, item) in seq.iter().enumerate() {
                    if at > 0 {
                        out.push(' ');
                    }
                    item.try_write_canonical(out)?;
                }
                out.push(']');
                Ok(())
            }
            Value::Set(seq) => write!(out, "#{{{}}}", sorted(seq.iter().map(Value::canonical).collect())),
            Value::Map(entries) => {
                let entry = |(key, value): (Value<'_>, Value<'_>)| format!("{} {}", key.canonical(), value.canonical());
                write!(out, "{{{}}}", sorted(entries.iter().map(entry).collect()))
            }
            Value::Tagged(tag, inner) => write!(out, "#{tag} {}", inner.value().canonical()),
            Value::Float(0.0) => write!(out, "0.0"),
            atom => write!(out, "{atom}"),
        }
    }

    /// A copy that owns what it holds. O(size).
    pub fn to_datum(self) -> Datum {
        Datum::from(self)
    }
}

impl<'a> Seq<'a> {
    /// How many elements there are.
    #[inline]
    pub fn len(self) -> usize {
        match self.0 {
            SeqKind::Ints(ints) => ints.len(),
            SeqKind::Nodes { count, .. } => count.to_usize(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The elements as a slice, if all are integers of magnitude below 2^62 and the reader stored them so, which it
    /// does for every sequence of up to 18-digit integers that it reads.
    pub fn as_ints(self) -> Option<&'a [i64]> {
        match self.0 {
            SeqKind::Ints(ints) => Some(ints),
            SeqKind::Nodes { count: 0, .. } => Some(&[]),
            SeqKind::Nodes { .. } => None,
        }
    }

    /// The elements as pairs, if each is a sequence of two integers and the reader stored them one after another, which
    /// it does for every list of pairs of up to 18-digit integers that it reads.
    ///
    /// ```
    /// use history_core::History;
    ///
    /// let history = History::parse("{:process 0, :type :ok, :value [[[0 7] [1 8]] [[0 7] [nil 8]] []]}")?;
    /// let lists: Vec<_> = history.op(0).value.as_seq().unwrap().iter().filter_map(|list| list.as_seq()).collect();
    /// assert_eq!(lists[0].as_int_pairs(), Some(&[[0, 7], [1, 8]][..]));
    /// assert_eq!(lists[1].as_int_pairs(), None);
    /// assert_eq!(lists[2].as_int_pairs(), Some(&[][..]));
    /// # Ok::<(), history_core::HistoryError>(())
    /// ```
    pub fn as_int_pairs(self) -> Option<&'a [[i64; 2]]> {
        let SeqKind::Nodes { tape, at, count } = self.0 else { return self.is_empty().then_some(&[]) };
        // A pair takes one node, so if all nodes are pairs, these nodes are the elements.
        let nodes = tape.nodes.get(at..at + count.to_usize())?;
        let start = nodes.first().map_or(0, |node| node.b);
        let mut end = start;
        for node in nodes {
            if !matches!(node.tag, Tag::IntVector | Tag::IntList) || node.a != 2 || node.b != end {
                return None;
            }
            end += 2;
        }
        Some(tape.ints.get(start.to_usize()..end.to_usize())?.as_chunks().0)
    }

    /// The elements, if there are exactly `N`. Faster than reading them one by one.
    ///
    /// ```
    /// use history_core::{History, Value};
    ///
    /// let history = History::parse("{:process 0, :type :ok, :value [[:w :x 3]]}")?;
    /// let mop = history.op(0).value.as_seq().and_then(|mops| mops.iter().next()).and_then(Value::as_seq).unwrap();
    /// let Some([f, key, value]) = mop.as_array() else { panic!() };
    /// assert_eq!((f.as_name(), key.as_name(), value.as_int()), (Some("w"), Some("x"), Some(3)));
    /// assert!(mop.as_array::<2>().is_none());
    /// # Ok::<(), history_core::HistoryError>(())
    /// ```
    #[inline]
    pub fn as_array<const N: usize>(self) -> Option<[Value<'a>; N]> {
        if self.len() != N {
            return None;
        }
        let mut all = [Value::Nil; N];
        match self.0 {
            SeqKind::Ints(ints) => all.iter_mut().zip(ints).for_each(|(one, int)| *one = Value::Int(*int)),
            SeqKind::Nodes { tape, mut at, .. } => {
                for one in &mut all {
                    *one = Value::at(tape, at);
                    at = tape.after(at);
                }
            }
        }
        Some(all)
    }

    /// The elements, in order.
    #[inline]
    pub fn iter(self) -> Values<'a> {
        Values(self.0)
    }
}

impl<'a> IntoIterator for Seq<'a> {
    type Item = Value<'a>;
    type IntoIter = Values<'a>;

    fn into_iter(self) -> Values<'a> {
        self.iter()
    }
}

/// Iterates over the elements of a [`Seq`].
#[derive(Clone)]
pub struct Values<'a>(pub(crate) SeqKind<'a>);

impl fmt::Debug for Seq<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl fmt::Debug for Values<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.clone()).finish()
    }
}

impl<'a> Iterator for Values<'a> {
    type Item = Value<'a>;

    #[inline]
    fn next(&mut self) -> Option<Value<'a>> {
        match &mut self.0 {
            SeqKind::Ints(ints) => {
                let (first, rest) = ints.split_first()?;
                *ints = rest;
                Some(Value::Int(*first))
            }
            SeqKind::Nodes { tape, at, count } => {
                *count = count.checked_sub(1)?;
                let value = Value::at(tape, *at);
                *at = tape.after(*at);
                Some(value)
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let len = Seq(self.0).len();
        (len, Some(len))
    }
}

impl ExactSizeIterator for Values<'_> {}

impl<'a> Entries<'a> {
    /// This number of entries; the key of the first is at this node.
    pub(crate) const fn at(tape: &'a Tape, at: usize, count: u32) -> Entries<'a> {
        Entries { tape, at, count }
    }

    /// How many entries there are.
    pub fn len(self) -> usize {
        self.count.to_usize()
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.count == 0
    }

    /// The keys and their values, in the order written.
    pub fn iter(self) -> Pairs<'a> {
        Pairs(self)
    }

    /// The value of the keyword, string or symbol with this name. O(entries).
    pub fn get(self, name: &str) -> Option<Value<'a>> {
        self.iter().find(|(key, _)| key.as_name() == Some(name)).map(|(_, value)| value)
    }
}

impl<'a> IntoIterator for Entries<'a> {
    type Item = (Value<'a>, Value<'a>);
    type IntoIter = Pairs<'a>;

    fn into_iter(self) -> Pairs<'a> {
        self.iter()
    }
}

/// Iterates over the keys and values of [`Entries`].
#[derive(Clone, Debug)]
pub struct Pairs<'a>(Entries<'a>);

impl<'a> Iterator for Pairs<'a> {
    type Item = (Value<'a>, Value<'a>);

    fn next(&mut self) -> Option<(Value<'a>, Value<'a>)> {
        let Pairs(rest) = self;
        rest.count = rest.count.checked_sub(1)?;
        let key = Value::at(rest.tape, rest.at);
        let at = rest.tape.after(rest.at);
        let value = Value::at(rest.tape, at);
        rest.at = rest.tape.after(at);
        Some((key, value))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.0.len(), Some(self.0.len()))
    }
}

impl ExactSizeIterator for Pairs<'_> {}

impl fmt::Display for Value<'_> {
    /// Writes EDN.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        crate::text::write::edn::value(f, *self)
    }
}

impl fmt::Debug for Entries<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl fmt::Debug for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
