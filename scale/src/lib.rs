#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod job;
mod join;
mod judge;
mod keys;
mod meeting;
mod packet;
mod peers;
mod read;
mod run;
mod to;
mod txns;
mod wire;

pub use histcheck_front;
pub use job::{History, Job, Judged, Spill, can_judge};
pub use peers::{Cluster, Sample};
#[cfg(feature = "objects")]
pub use read::objects::{is_object, objects_below};
pub use read::place::is_address;
pub use run::{judge, judge_with_others};
