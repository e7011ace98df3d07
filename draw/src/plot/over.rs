//! What lies over panels: faults as bands in all of them, annotations as lanes above.

use super::axis::{LEFT, LETTER_TENTHS, PANEL, RIGHT, Time, WIDTH};
use crate::bands::Band;
use crate::text;
use maud::{Markup, html};

/// The height of a lane.
pub(super) const LANE: i64 = 18;
/// Where the first lane begins, and the height of its marks.
const LANES: i64 = 34;
const MARK: i64 = 12;
/// Lanes, at most, and characters of a lane's name.
const LANES_MAX: usize = 20;
const NAME_CHARS_MAX: usize = 12;

/// The annotations of a lane.
pub(super) struct Lane<'a> {
    name: &'a str,
    bands: Vec<&'a Band>,
}

/// The lanes of annotations within the time shown, in the order of their first ones.
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

/// Draws the lanes; from each annotation a thin line leads down through the panels.
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

/// The faults in a panel; their names stand above the first panel only, where there is room.
pub(super) fn faults(bands: &[Band], time: Time, is_named: bool) -> Markup {
    html! {
        @for (x, width, room, fault) in places(bands.iter().filter(|band| band.lane.is_none()), time) {
            g class="f" {
                title { "fault: " (fault.what) }
                rect x=(x) y="0" width=(width) height=(PANEL) {}
                @let letters = letters(room);
                @if is_named && letters >= 3 { text x=(x + 2) y="-20" { (text::clipped(&fault.what, letters)) } }
            }
        }
    }
}

/// Where bands are: the left edge, the width, and how wide a name may be before the next band begins.
fn places<'a>(bands: impl Iterator<Item = &'a Band>, time: Time) -> Vec<(i64, i64, i64, &'a Band)> {
    let mut places: Vec<(i64, i64, i64, &Band)> = bands
        .filter_map(|band| {
            let from_ns = band.from_ns?;
            // What was over before all that is shown, or came later, says nothing of it.
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
