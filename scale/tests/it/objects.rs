//! Histories in object storage, which is a directory here. The tests of the command line use a server.

use crate::made::{Made, json, one_machine, registers, setup};
use check_register::Linearizable;
use check_register::models::CasRegister;
use flate2::Compression;
use flate2::write::GzEncoder;
use histcheck_scale::histcheck_front::ReadAs;
use histcheck_scale::{History, Job, objects_below};
use std::io::Write as _;
use std::num::NonZeroUsize;

fn text(wrong: u64) -> String {
    registers(Made { seed: 3, ops: 3000, keys: 7, is_json: true, has_indices: false, wrong })
}

fn judged(address: &str, workers: usize, range_bytes: u64) -> String {
    let setup = setup(Linearizable::<CasRegister>::default());
    let mut job = Job::new(&setup, vec![History::new(address, ReadAs::default())]);
    job.range_bytes = range_bytes;
    json(&histcheck_scale::judge(&job, NonZeroUsize::new(workers).unwrap())[0].outcome)
}

fn expected(text: &[u8]) -> String {
    one_machine(&setup(Linearizable::<CasRegister>::default()), text)
}

#[test]
fn an_object_on_disk_is_read_as_its_file() {
    let dir = tempfile::tempdir().unwrap();
    for wrong in [0, 20] {
        let text = text(wrong);
        std::fs::write(dir.path().join("history.jsonl"), &text).unwrap();
        let address = format!("file://{}/history.jsonl", dir.path().display());
        for (workers, range_bytes) in [(1, 1 << 20), (3, 700)] {
            assert_eq!(judged(&address, workers, range_bytes), expected(text.as_bytes()));
        }
    }
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(text(20).as_bytes()).unwrap();
    std::fs::write(dir.path().join("history.jsonl.gz"), packed.finish().unwrap()).unwrap();
    let address = format!("file://{}/history.jsonl.gz", dir.path().display());
    assert_eq!(judged(&address, 2, 700), expected(text(20).as_bytes()));
    let below = objects_below(&format!("file://{}/", dir.path().display())).unwrap();
    assert_eq!(below, [address.trim_end_matches(".gz"), &address]);
    assert_eq!(objects_below(&address).unwrap(), std::slice::from_ref(&address), "the beginning of one address only");
    let none = judged(&format!("file://{}/none", dir.path().display()), 2, 700);
    assert!(none.contains("there is no such object"), "{none}");
}
