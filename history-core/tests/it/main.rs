//! Reading, writing, pairing and reporting, tested through the public interface of the crate.

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
mod report_serde;
mod round_trip;
mod sessions;
mod threads;
mod validate;
