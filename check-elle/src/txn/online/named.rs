//! When ops named a key, which indicates whether a later op may name it again.

/// The ops that named a key.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Named {
    first: u64,
    last: u64,
    times: u64,
}

history_core::state!(struct Named { first, last, times });

impl Named {
    pub(crate) fn at(op: u64) -> Named {
        Named { first: op, last: op, times: 1 }
    }

    pub(crate) fn again(&mut self, op: u64) {
        self.last = op;
        self.times = self.times.saturating_add(1);
    }

    /// The last op that named the key.
    pub(crate) fn last(&self) -> u64 {
        self.last
    }

    /// How long the key has been unnamed at the op `until`, multiplied by the frequency with which ops named it before.
    /// A rarely named key is often unnamed for long, and may be named again. A key that was named constantly and no
    /// longer is will probably not be named again.
    pub(crate) fn quiet(&self, until: u64) -> u64 {
        let span = self.last.saturating_sub(self.first).saturating_add(1);
        until.saturating_sub(self.last).saturating_mul(self.times) / span
    }
}

/// The keys that no op has named since `since`, those least likely to be named again first.
pub(crate) fn idle(keys: impl Iterator<Item = (u32, Named)>, since: u64) -> Vec<u32> {
    let idle = keys.filter(|(_, named)| named.last() < since);
    let mut idle: Vec<(u64, u64, u32)> =
        idle.map(|(key, named)| (u64::MAX - named.quiet(since), named.last(), key)).collect();
    idle.sort_unstable();
    idle.into_iter().map(|(.., key)| key).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_is_named_seldom_is_kept_longer() {
        let mut busy = Named::at(400);
        (401..500).for_each(|op| busy.again(op));
        let mut seldom = Named::at(0);
        seldom.again(450);
        // Both have been unnamed for long; the second one was so before, too.
        assert_eq!((busy.quiet(900), seldom.quiet(900)), (401, 1));
        let keys = [(7, seldom), (8, busy), (9, Named::at(1_000))];
        assert_eq!(idle(keys.into_iter(), 900), [8, 7]);
        // Indices of a history increase, but those of a damaged checkpoint may not.
        let mut back = Named::at(500);
        back.again(100);
        assert_eq!(back.quiet(900), 1_600);
    }
}
