//! A server as its clients see it.

mod client;
mod intruders;
mod pages;
