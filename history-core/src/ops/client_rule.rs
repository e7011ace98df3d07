//! Which names are clients, whatever their ops say.

/// What is decided about names before a history is read: which are clients, and which are not.
///
/// A number is a client's unless it is omitted as a name would be: `other("3")`.
///
/// All other names show by their ops what they are; [`Pairing`](crate::Pairing) says how. Without further rules only
/// one is known: a name that has `nemesis` in it (`nemesis`, `Nemesis-2`, `jepsen/nemesis`) is not a client's. A name
/// that ends in `*` means all that begin with what is before that.
///
/// ```
/// use history_core::ClientRule;
///
/// let rule = ClientRule::new().client("nemesis-probe").other("chaos*");
/// assert_eq!(rule.decides("nemesis-probe"), Some(true));
/// assert_eq!(rule.decides("nemesis-2"), Some(false));
/// assert_eq!(rule.decides("chaos-monkey"), Some(false));
/// assert_eq!(rule.decides("w1"), None, "its ops will show");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientRule {
    clients: Vec<String>,
    others: Vec<String>,
}

impl ClientRule {
    /// Nothing but what is known of `nemesis`.
    pub fn new() -> ClientRule {
        ClientRule::default()
    }

    /// Takes a name for a client's, even if it is `nemesis` or has only `info` ops.
    #[must_use]
    pub fn client(mut self, name: impl Into<String>) -> ClientRule {
        self.clients.push(name.into());
        self
    }

    /// Leaves out the ops of a name or number, even those that are invoked.
    #[must_use]
    pub fn other(mut self, name: impl Into<String>) -> ClientRule {
        self.others.push(name.into());
        self
    }

    /// Whether it says nothing but what is known of `nemesis`.
    pub(crate) fn is_empty(&self) -> bool {
        self.clients.is_empty() && self.others.is_empty()
    }

    /// The names it was given: those of clients, then the others.
    pub(crate) fn patterns(&self) -> impl Iterator<Item = &str> {
        self.clients.iter().chain(&self.others).map(String::as_str)
    }

    /// Whether the name is a client's, if that does not depend on its ops. What [`ClientRule::client`] says comes
    /// first.
    pub fn decides(&self, name: &str) -> Option<bool> {
        if matches(&self.clients, name) {
            return Some(true);
        }
        (matches(&self.others, name) || is_nemesis(name)).then_some(false)
    }
}

fn matches(patterns: &[String], name: &str) -> bool {
    patterns.iter().any(|pattern| is_meant(pattern, name))
}

/// Whether a name is one of those that a pattern means.
pub(crate) fn is_meant(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == pattern,
    }
}

/// Whether this is what every harness calls the process that breaks things.
pub(crate) fn is_nemesis(name: &str) -> bool {
    const NEMESIS: &[u8] = b"nemesis";
    name.as_bytes().windows(NEMESIS.len()).any(|part| part.eq_ignore_ascii_case(NEMESIS))
}
