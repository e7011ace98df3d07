/work/wt/fix/plugins/misbehaving/target/debug/deps/generational_arena-edeed86bf973f81c.d: /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/generational-arena-0.2.9/src/lib.rs

/work/wt/fix/plugins/misbehaving/target/debug/deps/libgenerational_arena-edeed86bf973f81c.rmeta: /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/generational-arena-0.2.9/src/lib.rs

/root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/generational-arena-0.2.9/src/lib.rs:
