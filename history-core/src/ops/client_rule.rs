//! Which names are clients, independently of their ops.

/// A rule, set before a history is read, about which names are clients and which are not.
///
/// A number is a client's unless it is excluded like a name: `other("3")`.
///
/// Whether another name is a client's follows from its ops; see [`Pairing`](crate::Pairing). By default, only one rule
/// exists: a name that contains `nemesis` (`nemesis`, `Nemesis-2`, `jepsen/nemesis`) is not a client's. A name that
/// ends in `*` matches all names that begin with the part before it.
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
    /// Only the default rule about `nemesis`.
    pub fn new() -> ClientRule {
        ClientRule::default()
    }

    /// Treats a name as a client's, even if it is `nemesis` or has only `info` ops.
    #[must_use]
    pub fn client(mut self, name: impl Into<String>) -> ClientRule {
        self.clients.push(name.into());
        self
    }

    /// Omits the ops of a name or number, even those that are invoked.
    #[must_use]
    pub fn other(mut self, name: impl Into<String>) -> ClientRule {
        self.others.push(name.into());
        self
    }

    /// Returns true if there is only the default rule about `nemesis`.
    pub(crate) fn is_empty(&self) -> bool {
        self.clients.is_empty() && self.others.is_empty()
    }

    /// The names in the rule: those of clients, then the others.
    pub(crate) fn patterns(&self) -> impl Iterator<Item = &str> {
        self.clients.iter().chain(&self.others).map(String::as_str)
    }

    /// Whether the name is a client's, if that does not depend on its ops. [`ClientRule::client`] has priority.
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

/// Returns true if a pattern matches a name.
pub(crate) fn is_meant(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == pattern,
    }
}

/// Returns true if this is the name that test harnesses use for the process that injects faults.
pub(crate) fn is_nemesis(name: &str) -> bool {
    const NEMESIS: &[u8] = b"nemesis";
    name.as_bytes().windows(NEMESIS.len()).any(|part| part.eq_ignore_ascii_case(NEMESIS))
}
