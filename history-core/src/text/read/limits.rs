//! Limits on how much a reader reads.

/// The limits of a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The maximum length of one op's text, in bytes; 256 MiB by default. More than 1 GiB is treated as 1 GiB.
    pub op_bytes_max: usize,
    /// The maximum number of ops in one history; 2^32 - 1 by default.
    pub ops_max: u64,
    /// The maximum length of the text kept in memory if ops must be sorted
    /// ([`Format::Intervals`](crate::Format::Intervals)), in bytes; 16 GiB by default.
    pub held_bytes_max: u64,
    /// The maximum length of the decompressed text that is read before a block begins, in bytes; unlimited by default.
    /// A few compressed bytes may decompress to a very long text.
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
