//! Every checker, under libFuzzer.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    histcheck_fuzz_targets::models(data);
});
