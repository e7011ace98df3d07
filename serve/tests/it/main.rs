//! A server as its clients see it.

mod checks;
mod client;
mod intruders;
mod pages;
mod rows;
