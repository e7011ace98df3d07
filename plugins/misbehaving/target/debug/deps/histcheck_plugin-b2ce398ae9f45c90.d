/work/wt/fix/plugins/misbehaving/target/debug/deps/histcheck_plugin-b2ce398ae9f45c90.d: /work/wt/fix/plugins/abi/src/lib.rs /work/wt/fix/plugins/abi/src/guest.rs /work/wt/fix/plugins/abi/src/interface.rs /work/wt/fix/plugins/abi/src/wire.rs /work/wt/fix/plugins/abi/src/wire/figure.rs /work/wt/fix/plugins/abi/src/wire/forms.rs /work/wt/fix/plugins/abi/src/wire/report.rs

/work/wt/fix/plugins/misbehaving/target/debug/deps/libhistcheck_plugin-b2ce398ae9f45c90.rmeta: /work/wt/fix/plugins/abi/src/lib.rs /work/wt/fix/plugins/abi/src/guest.rs /work/wt/fix/plugins/abi/src/interface.rs /work/wt/fix/plugins/abi/src/wire.rs /work/wt/fix/plugins/abi/src/wire/figure.rs /work/wt/fix/plugins/abi/src/wire/forms.rs /work/wt/fix/plugins/abi/src/wire/report.rs

/work/wt/fix/plugins/abi/src/lib.rs:
/work/wt/fix/plugins/abi/src/guest.rs:
/work/wt/fix/plugins/abi/src/interface.rs:
/work/wt/fix/plugins/abi/src/wire.rs:
/work/wt/fix/plugins/abi/src/wire/figure.rs:
/work/wt/fix/plugins/abi/src/wire/forms.rs:
/work/wt/fix/plugins/abi/src/wire/report.rs:

# env-dep:CARGO_PKG_NAME=histcheck-plugin
# env-dep:CARGO_PKG_VERSION=1.0.0
