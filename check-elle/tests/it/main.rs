//! Tests of the transaction checkers against oracles that share no code with them.

mod certify;
mod certify_registers;
mod cycles;
mod decided;
mod enumerate;
mod enumerate_registers;
mod exact;
mod explained;
mod keyed;
mod lattice;
mod list_append;
mod monotone;
mod oracle;
mod predicates;
mod properties;
mod properties_registers;
mod retries;
mod rw_register;
mod tables;
mod undecoded;
mod vacuous;
