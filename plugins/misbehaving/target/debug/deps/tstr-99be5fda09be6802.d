/work/wt/fix/plugins/misbehaving/target/debug/deps/tstr-99be5fda09be6802.d: /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/tstr-0.2.4/src/lib.rs /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/tstr-0.2.4/src/asserts.rs /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/tstr-0.2.4/src/macros.rs /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/tstr-0.2.4/src/macros/cmp_macros.rs /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/tstr-0.2.4/src/make_tstr.rs /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/tstr-0.2.4/src/to_uint.rs /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/tstr-0.2.4/src/to_uint/impl_no_const_generics.rs /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/tstr-0.2.4/src/tstr_type.rs /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/tstr-0.2.4/src/utils.rs /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/tstr-0.2.4/src/./p.rs

/work/wt/fix/plugins/misbehaving/target/debug/deps/libtstr-99be5fda09be6802.rmeta: /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/tstr-0.2.4/src/lib.rs /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/tstr-0.2.4/src/asserts.rs /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/tstr-0.2.4/src/macros.rs /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/tstr-0.2.4/src/macros/cmp_macros.rs /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/tstr-0.2.4/src/make_tstr.rs /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/tstr-0.2.4/src/to_uint.rs /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/tstr-0.2.4/src/to_uint/impl_no_const_generics.rs /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/tstr-0.2.4/src/tstr_type.rs /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/tstr-0.2.4/src/utils.rs /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/tstr-0.2.4/src/./p.rs

/root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/tstr-0.2.4/src/lib.rs:
/root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/tstr-0.2.4/src/asserts.rs:
/root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/tstr-0.2.4/src/macros.rs:
/root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/tstr-0.2.4/src/macros/cmp_macros.rs:
/root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/tstr-0.2.4/src/make_tstr.rs:
/root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/tstr-0.2.4/src/to_uint.rs:
/root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/tstr-0.2.4/src/to_uint/impl_no_const_generics.rs:
/root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/tstr-0.2.4/src/tstr_type.rs:
/root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/tstr-0.2.4/src/utils.rs:
/root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/tstr-0.2.4/src/./p.rs:
