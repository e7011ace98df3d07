#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod chance;
mod client;
mod dial;
mod error;
mod fault;
mod group;
mod kind;
mod need;
mod remote;
mod request;
mod run;
pub mod store;
mod workload;
pub mod world;

pub use chance::Chance;
pub use client::{Client, FailedStart, Seat, Stands, Store};
pub use error::LiveError;
pub use fault::Fault;
pub use group::remove_directory_if_killed;
pub use kind::{Kind, Nodes, Place, Start as StartStore, StoreOption, time};
pub use need::{Need, search_path};
pub use remote::{Ssh, serve};
pub use request::{FIRST_VERSION, Fields, Key, MicroOp, Outcome, Request};
pub use run::counts::{Counts, Took};
pub use run::judge::{Check, Found, Start, Violated};
pub use run::line::Performer;
pub use run::nemesis::{Faults, Nemesis, Target};
pub use run::recorder::{FaultEvent, Recorder};
pub use run::schedule::Step;
pub use run::stop::Stop;
pub use run::{Ended, Live, Progress};
pub use workload::{ACCOUNTS, INITIAL_BALANCE, Plan, TOTAL, Workload};
