//! Tests of the server from the clients' side.

mod checks;
mod client;
mod intruders;
mod live;
mod pages;
mod rows;
mod strange;
mod uploads;
