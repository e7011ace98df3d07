//! The choices of a scheduler within a step, besides the next thread.

/// The kind of a choice: see [`Scheduler::pick`](super::Scheduler::pick).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Pick {
    /// Whether a wait with a time-out ends at once (1), although others could continue before the time is up.
    TimeOut,
    /// Whether a wait ends (1) although the thread was not notified or unparked.
    Wake,
    /// Whether `compare_exchange_weak` fails (1) although the value is the expected one.
    Fail,
    /// Which of the waiting threads is notified, in the order in which they began to wait.
    Waiter,
    /// Which of the values of an atomic a load returns: 0 is the newest one.
    Message,
    /// Which branch of a `select!` is polled first.
    Branch,
    /// A number for [`choose`](crate::choose).
    Number,
    /// Whether a message sent over a simulated network has not arrived yet (1) when a thread looks for it.
    Late,
    /// Whether one byte (1) is read from a stream, or written to it, although more could be.
    Part,
    /// Whether a datagram is lost (1).
    Lose,
    /// Whether a datagram arrives twice (1).
    Repeat,
    /// Whether a connection is reset (1).
    Break,
}

impl Pick {
    /// Returns true if 1 is rare, and limited by [`Settings::surprises_max`](crate::Settings::surprises_max).
    #[inline]
    pub fn is_surprise(self) -> bool {
        matches!(self, Pick::TimeOut | Pick::Wake | Pick::Fail) || self.is_fault()
    }

    /// Returns true if it is a surprise of the network. A thread may have as many of them as of the other surprises,
    /// which are possible more often.
    #[inline]
    pub fn is_fault(self) -> bool {
        matches!(self, Pick::Late | Pick::Part | Pick::Lose | Pick::Repeat | Pick::Break)
    }

    /// Explains this pick among `options` options to the reader.
    pub(crate) fn explain(self, value: u32, options: u32) -> String {
        match self {
            Pick::TimeOut => "times out".into(),
            Pick::Wake => "wakes without a notification".into(),
            Pick::Fail => "fails although the value is the expected one".into(),
            Pick::Waiter => format!("wakes waiter {} of {options}", value + 1),
            Pick::Message => format!("reads an older value, {value} of {}", options - 1),
            Pick::Branch => format!("polls branch {} of {options} first", value + 1),
            Pick::Number => format!("chooses {value} of 0 to {}", options - 1),
            Pick::Late => "what was sent is still on its way".into(),
            Pick::Part => "one byte only".into(),
            Pick::Lose => "the datagram is lost".into(),
            Pick::Repeat => "the datagram arrives twice".into(),
            Pick::Break => "the connection is reset".into(),
        }
    }
}
