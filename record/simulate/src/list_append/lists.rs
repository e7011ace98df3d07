//! The store's lists, one for each key that somebody may still use.
//!
//! A list only ever grows at its end (except where a bug says otherwise), so what a transaction read, and what the list
//! was at an earlier commit, is a length. That is all that is kept of reads and versions.

/// A key's place in the store; used again by another key once this one is over.
pub(crate) type ListId = u32;

/// How many transactions have committed.
pub(crate) type Commit = u64;

/// One key's list.
#[derive(Debug, Default)]
pub(crate) struct List {
    /// The key, as clients name it.
    pub(crate) key: i64,
    pub(crate) items: Vec<i64>,
    /// The commit that each item came with; as long as `items`, and nondecreasing.
    pub(crate) commits: Vec<Commit>,
    /// How many micro-operations in flight name this key.
    users: u32,
    /// Whether clients still choose this key.
    live: bool,
}

/// All lists.
#[derive(Debug, Default)]
pub(crate) struct Lists {
    lists: Vec<List>,
    /// Lists that no one can read any more.
    free: Vec<ListId>,
    next_key: i64,
    /// The last commit.
    pub(crate) commit: Commit,
}

impl Lists {
    /// The list of a new key: the next number.
    pub(crate) fn create(&mut self) -> ListId {
        let id = self.free.pop().unwrap_or_else(|| {
            self.lists.push(List::default());
            self.lists.len() as ListId - 1
        });
        let key = self.next_key;
        self.next_key += 1;
        let list = self.get_mut(id);
        assert!(list.items.is_empty() && list.users == 0);
        list.live = true;
        list.key = key;
        id
    }

    /// No new transaction will name this key.
    pub(crate) fn retire(&mut self, id: ListId) {
        self.lists[id as usize].live = false;
        self.drop_if_over(id);
    }

    /// A micro-operation in flight names this key.
    pub(crate) fn hold(&mut self, id: ListId) {
        self.lists[id as usize].users += 1;
    }

    /// A micro-operation that named this key is over.
    pub(crate) fn let_go(&mut self, id: ListId) {
        self.lists[id as usize].users -= 1;
        self.drop_if_over(id);
    }

    fn drop_if_over(&mut self, id: ListId) {
        let list = &mut self.lists[id as usize];
        if !list.live && list.users == 0 {
            list.items.clear();
            list.commits.clear();
            self.free.push(id);
        }
    }

    pub(crate) fn get(&self, id: ListId) -> &List {
        &self.lists[id as usize]
    }

    fn get_mut(&mut self, id: ListId) -> &mut List {
        &mut self.lists[id as usize]
    }

    /// Appends a value with the current commit.
    pub(crate) fn append(&mut self, id: ListId, value: i64) {
        let commit = self.commit;
        let list = self.get_mut(id);
        list.items.push(value);
        list.commits.push(commit);
    }

    /// How long the list is.
    pub(crate) fn len(&self, id: ListId) -> u32 {
        self.get(id).items.len() as u32
    }
}
