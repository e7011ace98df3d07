//! Overlays of panels: faults as bands in all of them, and annotations as lanes above.

use super::axis::{LEFT, LETTER_TENTHS, PANEL, RIGHT, Time, WIDTH};
use crate::bands::Band;
use crate::text;
use maud::{Markup, html};

/// The height of a lane.
pub(super) const LANE: i64 = 18;
/// The top of the first lane, and the height of its marks.
const LANES: i64 = 34;
const MARK: i64 = 12;
/// The maximum number of lanes, and of characters of a lane's name.
const LANES_MAX: usize = 20;
const NAME_CHARS_MAX: usize = 12;
/// The maximum number of fault names listed for a group.
const NAMED_MAX: usize = 5;
/// Faults that are at most this wide and this far apart form a group, with a maximum width.
const NARROW: i64 = 4;
const GROUP_MAX: i64 = 12;

/// The annotations of a lane.
pub(super) struct Lane<'a> {
    name: &'a str,
    bands: Vec<&'a Band>,
}

/// The lanes of annotations within the time shown, in the order of their first annotations.
pub(super) fn lanes(bands: &[Band], time: Time) -> Vec<Lane<'_>> {
    let mut lanes: Vec<Lane<'_>> = Vec::new();
    for band in bands {
        let (Some(name), Some(from)) = (&band.lane, band.from_ns) else { continue };
        if !time.meets(from, band.until_ns.unwrap_or(i64::MAX)) {
            continue;
        }
        if let Some(lane) = lanes.iter_mut().find(|lane| lane.name == name) {
            lane.bands.push(band);
        } else if lanes.len() < LANES_MAX {
            lanes.push(Lane { name, bands: vec![band] });
        }
    }
    for lane in &mut lanes {
        lane.bands.sort_by_key(|band| band.from_ns);
    }
    lanes
}

/// Draws the lanes. From each annotation, a thin line leads down through the panels.
pub(super) fn draw_lanes(lanes: &[Lane<'_>], time: Time, bottom: i64) -> Markup {
    html! {
        @for (at, lane) in (0..).zip(lanes) {
            @let y = LANES + at * LANE;
            text class="y" x=(LEFT - 8) y=(y + 10) { (text::clipped(lane.name, NAME_CHARS_MAX)) }
            @for (x, width, room, band) in places(lane.bands.iter().copied(), time) {
                g class="n" {
                    title { (lane.name) ": " (band.what) }
                    path class="d" d={ "M" (x) " " (y) "V" (bottom) } {}
                    rect x=(x) y=(y) width=(width) height=(MARK) {}
                    @let letters = letters(room);
                    @if letters >= 3 { text x=(x + 5) y=(y + 10) { (text::clipped(&band.what, letters)) } }
                }
            }
        }
    }
}

/// Draws the faults in a panel. Their names are above the first panel only, where they fit.
pub(super) fn faults(bands: &[Band], time: Time, is_named: bool) -> Markup {
    html! {
        @for group in groups(bands, time) {
            g class="f" {
                title { (group.title()) }
                rect x=(group.x) y="0" width=(group.width) height=(PANEL) {}
                @let letters = letters(group.room);
                @if is_named && letters >= 3 { text x=(group.x + 2) y="-20" { (text::clipped(&group.name(), letters)) } }
            }
        }
    }
}

/// A fault, or several that are too close to be distinguished at this scale.
struct Group<'a> {
    x: i64,
    width: i64,
    /// The width available for the name.
    room: i64,
    faults: Vec<&'a Band>,
}

impl Group<'_> {
    fn name(&self) -> String {
        match &self.faults[..] {
            [fault] => fault.what.clone(),
            all => format!("{} faults", all.len()),
        }
    }

    /// The name of the fault, or the names of the first ones of several.
    fn title(&self) -> String {
        let named: Vec<&str> = self.faults.iter().take(NAMED_MAX).map(|fault| fault.what.as_str()).collect();
        match (self.faults.len(), named.len()) {
            (1, _) => format!("fault: {}", named[0]),
            (all, shown) if all > shown => format!("{all} faults: {} and {} more", named.join(", "), all - shown),
            (all, _) => format!("{all} faults: {}", named.join(", ")),
        }
    }
}

/// The faults in the order of their beginnings, in groups of those that cannot be distinguished.
fn groups(bands: &[Band], time: Time) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for (x, width, room, fault) in places(bands.iter().filter(|band| band.lane.is_none()), time) {
        let joins = |last: &Group<'_>| {
            let is_narrow = width <= NARROW && last.width <= GROUP_MAX;
            let is_near = x <= last.x + last.width + NARROW && x + width <= last.x + GROUP_MAX;
            (last.x, last.width) == (x, width) || is_narrow && is_near
        };
        match groups.last_mut().filter(|last| joins(last)) {
            Some(last) => {
                last.faults.push(fault);
                last.width = last.width.max(x + width - last.x);
                // The available width begins at the last fault: before it there is none.
                last.room = room + x - last.x;
            }
            None => groups.push(Group { x, width, room, faults: vec![fault] }),
        }
    }
    groups
}

/// The positions of bands: the left edge, the width, and the width available for a name before the next band.
fn places<'a>(bands: impl Iterator<Item = &'a Band>, time: Time) -> Vec<(i64, i64, i64, &'a Band)> {
    let mut places: Vec<(i64, i64, i64, &Band)> = bands
        .filter_map(|band| {
            let from_ns = band.from_ns?;
            // A band that ended before the time shown, or began after it, is omitted.
            if !time.meets(from_ns, band.until_ns.unwrap_or(i64::MAX)) {
                return None;
            }
            let x = time.x(from_ns);
            let width = (band.until_ns.map_or(WIDTH - RIGHT, |until| time.x(until)) - x).max(2);
            Some((x, width, 0, band))
        })
        .collect();
    let next: Vec<i64> = places.iter().skip(1).map(|(x, ..)| *x).chain([WIDTH - RIGHT]).collect();
    for ((x, _, room, _), next) in places.iter_mut().zip(next) {
        *room = next - *x - 6;
    }
    places
}

fn letters(room: i64) -> usize {
    usize::try_from(room * 10 / LETTER_TENTHS).unwrap_or_default()
}
