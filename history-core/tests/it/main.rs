//! Reading, writing, pairing and reporting, tested through what the crate exports.

#[cfg(feature = "serde")]
mod about;
mod accept;
mod blocks;
mod builder;
mod clients;
mod clock_error;
mod common;
mod compose;
mod converter;
mod coverage;
#[cfg(all(feature = "files", feature = "gzip", feature = "zstd"))]
mod files;
mod hash_flooding;
mod intervals;
mod json_acceptance;
mod keyed;
mod keyed_ends;
mod large;
mod lines;
mod pairing;
mod reject;
mod reject_syntax;
#[cfg(feature = "serde")]
mod report_serde;
mod round_trip;
mod sessions;
mod threads;
mod validate;
