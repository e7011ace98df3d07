//! The stable interface between histcheck and checkers that live in other libraries.
//!
//! Nothing is here yet.
