//! Pictures of the part of a log that an anomaly concerns: the messages that each op sent and polled there.

use super::{Evidence, Scene};
use crate::columns::sightings::Role;
use crate::columns::{KeyId, OpId};
use history_core::explain;
use history_core::figure::{Content, Figure, LOG_ROWS_MAX, LogCell, LogPart, LogRow, OFFSETS_MAX};

/// The number of offsets shown on each side of those that an anomaly concerns.
const AROUND: u32 = 3;
/// The maximum number of pictures per type of anomaly.
const PICTURES_MAX: usize = 4;

/// A picture for each of the first anomalies of a type that concern places in a log, as `duplicate/0`.
pub(crate) fn figures(scene: Scene<'_>, anomaly: &str, shown: &[Evidence]) -> Vec<Figure> {
    let part = |(at, evidence): (usize, &Evidence)| {
        let (key, about) = evidence.place.as_ref()?;
        let part = part(scene, anomaly, *key, about, &evidence.ops)?;
        Some(Figure { name: format!("{anomaly}/{at}"), content: Content::Log(Box::new(part)) })
    };
    shown.iter().take(PICTURES_MAX).enumerate().filter_map(part).collect()
}

fn part(scene: Scene<'_>, anomaly: &str, key: KeyId, about: &[i64], named: &[OpId]) -> Option<LogPart> {
    let indices = indices(scene, key, about);
    let offsets: Vec<i64> = indices.iter().map(|index| scene.logs.chosen(key, *index).offset).collect();
    let mut ops = named.to_vec();
    for index in &indices {
        for entry in scene.logs.all_at(key, *index) {
            if !ops.contains(&entry.op) && ops.len() < LOG_ROWS_MAX {
                ops.push(entry.op);
            }
        }
    }
    // The ops that the explanation names come first, the others in their order.
    ops[named.len()..].sort_unstable();
    ops.truncate(LOG_ROWS_MAX);
    let row = |(at, op): (usize, &OpId)| row(scene, key, &offsets, (at < named.len()).then_some(at), *op);
    let rows: Vec<LogRow> = ops.iter().enumerate().map(row).collect();
    let title = format!("{anomaly} in the log of {}", scene.key(key));
    rows.iter().any(|row| !row.cells.is_empty()).then_some(LogPart { title, offsets, rows })
}

/// The indices in the log of these offsets and around them, in ascending order.
fn indices(scene: Scene<'_>, key: KeyId, about: &[i64]) -> Vec<u32> {
    let len = scene.logs.len(key);
    let mut indices = Vec::new();
    // The offsets that matter come first, because there may be too many.
    for far in 0..=AROUND {
        for offset in about {
            let index = scene.logs.index_from(key, *offset);
            let near = [index.checked_sub(far), index.checked_add(far)].into_iter().flatten();
            for index in near.filter(|index| *index < len) {
                if !indices.contains(&index) && indices.len() < OFFSETS_MAX {
                    indices.push(index);
                }
            }
        }
    }
    indices.sort_unstable();
    indices
}

fn row(scene: Scene<'_>, key: KeyId, offsets: &[i64], named: Option<usize>, op: OpId) -> LogRow {
    let ops = &scene.seen.ops;
    let mut cells = Vec::new();
    for (segment, range) in ops.segments(op).filter(|(segment, _)| segment.key() == key) {
        let is_sent = match segment.role() {
            Role::Sent => true,
            Role::Polled => false,
            Role::Poll | Role::Assigned => continue,
        };
        for seen in scene.sightings(range) {
            if offsets.binary_search(&seen.offset).is_ok() {
                let message = scene.message(seen.msg).to_string();
                let cell = LogCell { offset: seen.offset, is_sent, message };
                if !cells.contains(&cell) {
                    cells.push(cell);
                }
            }
        }
    }
    let name = named.map(|at| explain::name(at) + ": ").unwrap_or_default();
    let by = ops.client(op).map_or_else(String::new, |process| format!(" by process {process}"));
    let name = format!("{name}{}{by}, index {}", scene.noun(op), ops.index(op));
    LogRow { name, kind: ops.kind(op), cells }
}
