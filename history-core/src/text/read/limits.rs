//! How much a reader reads.

/// What a reader will not exceed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes in one op's text; 256 MiB by default. More than 1 GiB is taken for 1 GiB.
    pub op_bytes_max: usize,
    /// Ops in one history; 2^32 - 1 by default.
    pub ops_max: u64,
    /// Bytes of text kept in memory where ops must be sorted ([`Format::Intervals`](crate::Format::Intervals)); 16 GiB
    /// by default.
    pub held_bytes_max: u64,
    /// Bytes of text, decompressed, that are read before a block is begun; as many as there are by default. A few bytes
    /// that are compressed may be very much text.
    pub text_bytes_max: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            op_bytes_max: 256 << 20,
            ops_max: u64::from(u32::MAX),
            held_bytes_max: 16 << 30,
            text_bytes_max: u64::MAX,
        }
    }
}
