/work/wt/fix/plugins/misbehaving/target/debug/deps/typed_arena-93bfea6139d8ecc1.d: /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/typed-arena-2.0.2/src/lib.rs

/work/wt/fix/plugins/misbehaving/target/debug/deps/libtyped_arena-93bfea6139d8ecc1.rlib: /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/typed-arena-2.0.2/src/lib.rs

/work/wt/fix/plugins/misbehaving/target/debug/deps/libtyped_arena-93bfea6139d8ecc1.rmeta: /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/typed-arena-2.0.2/src/lib.rs

/root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/typed-arena-2.0.2/src/lib.rs:
