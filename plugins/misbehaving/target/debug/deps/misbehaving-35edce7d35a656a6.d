/work/wt/fix/plugins/misbehaving/target/debug/deps/misbehaving-35edce7d35a656a6.d: src/lib.rs

/work/wt/fix/plugins/misbehaving/target/debug/deps/libmisbehaving-35edce7d35a656a6.rmeta: src/lib.rs

src/lib.rs:
