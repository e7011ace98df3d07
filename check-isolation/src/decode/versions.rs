//! Keys and the values that were written to them or read: the writer of each, and whether other transactions can read
//! it.
//!
//! Finding the writer of a value takes two lookups in distant memory, of key and of value, and histories have millions
//! of them. So there is nothing else in between: the values of a key are in **pages** of sixteen neighbors, and the
//! number of a version is the position of its writer. A key whose values are large or far apart has a hash map of
//! positions instead.

use crate::decode::Row;
use crate::ids::KeyId;
use history_core::IntMap;
use history_core::cast::Cast as _;
use history_core::hash::HashMap;

history_core::id! {
    /// A value of a key.
    pub(crate) VersionId
}

/// The number of values in a page.
const PAGE: usize = 16;
/// The number of pages in a key itself.
const OWN_PAGES: usize = 4;
/// The number of pages that a key may span, even if it has fewer.
const PAGES_FREE: usize = 16;
/// An absent page.
const NONE: u32 = u32::MAX;
/// From this number on, a page contains values in no order, with separately stored codes.
const MIXED: u32 = 1 << 31;

/// The writer of a value that no row has written yet.
const NOBODY: u32 = u32::MAX;
/// The mark of a version that its writer overwrote.
const OVERWRITTEN: u32 = 1 << 31;
/// The mark of a version whose writer failed.
const FAILED: u32 = 1 << 30;

/// All keys and their values.
#[derive(Clone, Debug, Default)]
pub(crate) struct Versions {
    ids: IntMap<KeyId>,
    /// The code of each key.
    pub(crate) key_codes: Vec<i64>,
    keys: Vec<Key>,
    /// For each version, and for unused positions in pages, its first writer with marks; or `NOBODY`.
    writers: Vec<u32>,
    /// For each page, its values divided by sixteen; or, from `MIXED` on, the position of its codes.
    pages: Vec<u32>,
    /// The pages of keys beyond those in the keys themselves.
    far_pages: Vec<Vec<u32>>,
    /// The positions of values that are in no page of their key.
    mixed: HashMap<(KeyId, i64), VersionId>,
    /// The codes of these values, in the order of their positions.
    mixed_codes: Vec<i64>,
    /// The first position of the page that contains the last one of them.
    mixed_page: usize,
    /// The second writer of a value that was written twice.
    again: IntMap<Row>,
}

/// The pages of a key, and its last write. Half a cache line, so that one access fetches all of it.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
struct Key {
    /// By the value divided by sixteen.
    own_pages: [u32; OWN_PAGES],
    /// The position of the other pages in `far_pages`.
    far_pages: u32,
    /// The number of pages, and `HAS_MIXED` if some values are in no page.
    page_count: u32,
    /// The last row that wrote the key, and the version.
    last: (Row, VersionId),
}

const HAS_MIXED: u32 = 1 << 31;
const _: () = assert!(size_of::<Key>() == 32);

impl Key {
    const NEW: Key =
        Key { own_pages: [NONE; OWN_PAGES], far_pages: NONE, page_count: 0, last: (Row::NONE, VersionId::NONE) };

    fn has_mixed(&self) -> bool {
        self.page_count & HAS_MIXED != 0
    }
}

/// The source of a read of a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// This row, which left the version to other transactions.
    Row(Row),
    /// A row that failed, or that overwrote the version.
    Hidden,
    /// No row has written it yet.
    Nobody,
}

/// A value of a key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Version {
    /// The code of the value.
    pub(crate) code: i64,
    /// The first writer; `Row::NONE` if there is none.
    pub(crate) writer: Row,
    /// The second writer, if the value was written twice.
    pub(crate) again: Row,
    /// Whether the first writer overwrote it.
    pub(crate) is_intermediate: bool,
}

impl Versions {
    /// The key with this code, created if it is new. O(1).
    #[inline]
    pub(crate) fn key(&mut self, code: i64) -> KeyId {
        match self.ids.get(code) {
            Some(key) => *key,
            None => self.push_key(code),
        }
    }

    #[cold]
    fn push_key(&mut self, code: i64) -> KeyId {
        let key = KeyId::new(self.key_codes.len());
        self.key_codes.push(code);
        self.keys.push(Key::NEW);
        self.ids.insert(code, key);
        key
    }

    /// The version with this key and value code, if it exists. O(1).
    #[inline]
    pub(crate) fn find(&self, key: KeyId, code: i64) -> Option<VersionId> {
        let known = &self.keys[key.at()];
        // No branch depends on the content of the page, so that many lookups can be in progress at a time.
        let found = match usize::try_from(code) {
            Ok(code) if code < OWN_PAGES * PAGE => in_page(known.own_pages[code / PAGE], code),
            Ok(code) if known.far_pages != NONE => self.find_far(known.far_pages, code),
            _ => None,
        };
        let is_mixed = known.has_mixed() && found.is_none();
        if is_mixed { self.mixed.get(&(key, code)).copied() } else { found }
    }

    fn find_far(&self, far_pages: u32, code: usize) -> Option<VersionId> {
        in_page(*self.far_pages[far_pages.to_usize()].get(code / PAGE - OWN_PAGES)?, code)
    }

    /// The version with this key and value code, created if it is new. O(1).
    #[inline]
    pub(crate) fn version(&mut self, key: KeyId, code: i64) -> VersionId {
        self.find(key, code).unwrap_or_else(|| self.push(key, code))
    }

    /// Creates a position for a value.
    #[cold]
    fn push(&mut self, key: KeyId, code: i64) -> VersionId {
        let known = &mut self.keys[key.at()];
        // The span of pages is limited to a small multiple of the pages in use. A key with values elsewhere gets no
        // more pages, because one of these values might be in one.
        let reach = PAGES_FREE + 4 * known.page_count.to_usize();
        let in_reach = usize::try_from(code).ok().filter(|code| code / PAGE < reach && !known.has_mixed());
        let Some(code) = in_reach else {
            known.page_count |= HAS_MIXED;
            return self.push_mixed(key, code);
        };
        known.page_count += 1;
        let page = code / PAGE;
        let entry = match page.checked_sub(OWN_PAGES) {
            None => &mut known.own_pages[page],
            Some(at) => {
                if known.far_pages == NONE {
                    known.far_pages = self.far_pages.len().to_u32();
                    self.far_pages.push(Vec::new());
                }
                let far = &mut self.far_pages[known.far_pages.to_usize()];
                far.resize(far.len().max(at + 1), NONE);
                &mut far[at]
            }
        };
        *entry = self.pages.len().to_u32();
        VersionId::new(self.push_page(page.to_u32()) + code % PAGE)
    }

    fn push_mixed(&mut self, key: KeyId, code: i64) -> VersionId {
        let at = self.mixed_codes.len();
        if at.is_multiple_of(PAGE) {
            self.mixed_page = self.push_page(MIXED + (at / PAGE).to_u32());
        }
        let version = VersionId::new(self.mixed_page + at % PAGE);
        self.mixed_codes.push(code);
        self.mixed.insert((key, code), version);
        version
    }

    /// Adds a page. Returns the position of its first value.
    fn push_page(&mut self, page: u32) -> usize {
        let from = self.writers.len();
        self.pages.push(page);
        self.writers.resize(from + PAGE, NOBODY);
        from
    }

    /// The number of positions, which is greater than every version's number.
    pub(crate) fn len(&self) -> usize {
        self.writers.len()
    }

    /// Records that a row, the last one so far, wrote a value; the row may have failed.
    #[inline]
    pub(crate) fn write(&mut self, key: KeyId, version: VersionId, row: Row, has_failed: bool) {
        let (before, overwritten) = std::mem::replace(&mut self.keys[key.at()].last, (row, version));
        if before == row && self.writer(overwritten) == row {
            self.writers[overwritten.at()] |= OVERWRITTEN;
        }
        let writer = self.writer(version);
        if writer != Row::NONE {
            self.again.insert(version.number().into(), row);
        }
        if writer == Row::NONE || writer == row {
            self.writers[version.at()] = row.number() | if has_failed { FAILED } else { 0 };
        }
    }

    /// The last write so far of a row, the last one so far, to a key.
    #[inline]
    pub(crate) fn own(&self, key: KeyId, row: Row) -> Option<VersionId> {
        let (writer, version) = self.keys[key.at()].last;
        (writer == row).then_some(version)
    }

    /// Returns true if some value was written twice to a key.
    pub(crate) fn has_repeated(&self) -> bool {
        !self.again.is_empty()
    }

    /// The first writer of a value; `Row::NONE` if there is none.
    #[inline]
    pub(crate) fn writer(&self, version: VersionId) -> Row {
        match self.writers[version.at()] {
            NOBODY => Row::NONE,
            writer => Row::from(writer & !(OVERWRITTEN | FAILED)),
        }
    }

    /// The source of a read of a value.
    #[inline]
    pub(crate) fn source(&self, version: VersionId) -> Source {
        match self.writers[version.at()] {
            NOBODY => Source::Nobody,
            writer if writer & (OVERWRITTEN | FAILED) != 0 => Source::Hidden,
            writer => Source::Row(Row::from(writer)),
        }
    }

    /// The code of a value.
    pub(crate) fn code(&self, version: VersionId) -> i64 {
        let (page, at) = (version.at() / PAGE, version.at() % PAGE);
        match self.pages[page].checked_sub(MIXED) {
            None => (self.pages[page].to_usize() * PAGE + at).to_i64(),
            Some(mixed) => self.mixed_codes[mixed.to_usize() * PAGE + at],
        }
    }

    pub(crate) fn get(&self, version: VersionId) -> Version {
        let again = self.again.get(version.number().into()).copied().unwrap_or(Row::NONE);
        let writer = self.writers[version.at()];
        let is_intermediate = writer != NOBODY && writer & OVERWRITTEN != 0;
        Version { code: self.code(version), writer: self.writer(version), again, is_intermediate }
    }
}

/// The version of a value that is in a page.
#[inline]
fn in_page(page: u32, code: usize) -> Option<VersionId> {
    (page != NONE).then(|| VersionId::new(page.to_usize() * PAGE + code % PAGE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_keeps_its_position_and_its_code() {
        // Dense, near, far, then near the far ones, negative, and within the span of pages only once there are more.
        let near = (0..40).chain([70, 81, 100, 95, 255, 256, 300]);
        let far = [i64::MIN, -1, 5_000, 5_001, 1 << 40, i64::MAX, 260, 400, 401];
        let step = (0..200).map(|i| 16 * i + 3);
        let shapes: [Vec<i64>; 4] = [
            near.clone().chain(far).collect(),
            far.into_iter().chain(near).collect(),
            step.collect(),
            (0..3000).collect(),
        ];
        let mut versions = Versions::default();
        let mut all = Vec::new();
        for (at, shape) in shapes.iter().enumerate() {
            let key = versions.key(at.to_i64());
            for code in shape {
                assert_eq!(versions.find(key, *code).filter(|place| versions.writer(*place) != Row::NONE), None);
                let version = versions.version(key, *code);
                assert_eq!(versions.writer(version), Row::NONE, "{at}: {code}");
                versions.write(key, version, Row::new(all.len()), false);
                all.push((key, *code, version));
            }
        }
        for (row, (key, code, version)) in all.iter().enumerate() {
            assert_eq!((versions.find(*key, *code), versions.code(*version)), (Some(*version), *code));
            assert_eq!(versions.source(*version), Source::Row(Row::new(row)));
        }
        assert!(!versions.has_repeated());
        assert!(versions.len() < 40 * all.len(), "{} positions for {} values", versions.len(), all.len());
    }

    #[test]
    fn overwritten_values_and_values_of_failed_writers_are_hidden() {
        let mut versions = Versions::default();
        let key = versions.key(7);
        let [overwritten, last, failed, twice] = [1, 2, 3, 4].map(|code| versions.version(key, code));
        let rows = [0, 1, 2, 3].map(Row::new);
        versions.write(key, overwritten, rows[0], false);
        assert_eq!((versions.own(key, rows[0]), versions.own(key, rows[1])), (Some(overwritten), None));
        versions.write(key, last, rows[0], false);
        versions.write(key, failed, rows[1], true);
        assert_eq!([overwritten, failed].map(|version| versions.source(version)), [Source::Hidden; 2]);
        assert_eq!([overwritten, failed].map(|version| versions.get(version).is_intermediate), [true, false]);
        assert_eq!((versions.source(last), versions.source(twice)), (Source::Row(rows[0]), Source::Nobody));
        versions.write(key, twice, rows[2], false);
        assert!(!versions.has_repeated());
        versions.write(key, twice, rows[3], false);
        let Version { writer, again, is_intermediate, .. } = versions.get(twice);
        assert_eq!((writer, again, is_intermediate), (rows[2], rows[3], false));
        assert!(versions.has_repeated());
    }

    #[test]
    fn a_value_that_its_writer_writes_again_last_is_not_overwritten() {
        let mut versions = Versions::default();
        let (key, row) = (versions.key(7), Row::new(0));
        let [one, two] = [1, 2].map(|code| versions.version(key, code));
        for version in [one, two, one] {
            versions.write(key, version, row, false);
        }
        assert_eq!([one, two].map(|version| versions.get(version).is_intermediate), [false, true]);
        assert_eq!(versions.get(one).again, row);
    }
}
