//! A server as its clients see it.

mod checks;
mod client;
mod intruders;
mod live;
mod pages;
mod rows;
mod strange;
mod uploads;
