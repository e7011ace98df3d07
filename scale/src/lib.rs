#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod job;
mod join;
mod judge;
mod keys;
mod meeting;
mod packet;
mod part;
mod peers;
mod plan;
mod ranges;
mod run;
mod to;
mod txns;
mod whole;
mod wire;

pub use histcheck_front;
pub use job::{History, Job, Judged, Spill, can_judge};
pub use peers::{Cluster, Sample};
pub use run::{judge, judge_with_others};
