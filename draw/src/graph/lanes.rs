//! Lanes: the paths of edges over several ranks, to the left and right of all boxes.

use crate::text::px;

/// The gap between the boxes and the first lane.
const MARGIN: i32 = 18;
/// The gap between two lanes.
const LANE_GAP: i32 = 10;

/// An edge that needs a lane.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    /// The zone in which it leaves the upper box.
    pub(super) first: usize,
    /// The zone in which it reaches the lower box.
    pub(super) last: usize,
    pub(super) is_left: bool,
}

/// A lane next to the boxes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lane {
    pub(super) is_left: bool,
    /// The number of the lane, counted from the boxes outward.
    pub(super) number: usize,
}

/// Assigns lanes: short paths get the inner ones, and two paths that share a zone never share a lane. Quadratic.
pub(super) fn assign(wanted: &[Option<Wanted>]) -> Vec<Option<Lane>> {
    let mut by_length: Vec<(usize, Wanted)> =
        wanted.iter().enumerate().filter_map(|(at, wanted)| Some((at, (*wanted)?))).collect();
    by_length.sort_by_key(|(at, wanted)| (wanted.last - wanted.first, wanted.first, *at));
    let mut lanes = vec![None; wanted.len()];
    // The paths in each lane, on the left and on the right.
    let mut used: [Vec<Vec<Wanted>>; 2] = [Vec::new(), Vec::new()];
    for (at, wanted) in by_length {
        let side = &mut used[usize::from(wanted.is_left)];
        let is_free = |ways: &Vec<Wanted>| ways.iter().all(|way| way.last < wanted.first || wanted.last < way.first);
        let number = side.iter().position(is_free).unwrap_or(side.len());
        if number == side.len() {
            side.push(Vec::new());
        }
        side[number].push(wanted);
        lanes[at] = Some(Lane { is_left: wanted.is_left, number });
    }
    lanes
}

/// The x of each lane, beside boxes between 0 and `width`.
pub(super) fn places(lanes: &[Option<Lane>], width: i32) -> Vec<Option<i32>> {
    let place = |lane: &Lane| {
        let away = MARGIN + px(lane.number) * LANE_GAP;
        if lane.is_left { -away } else { width + away }
    };
    lanes.iter().map(|lane| lane.as_ref().map(place)).collect()
}

/// The width of the lanes on the left and on the right.
pub(super) fn margins(lanes: &[Option<Lane>]) -> [i32; 2] {
    [true, false].map(|is_left| {
        let outermost = lanes.iter().flatten().filter(|lane| lane.is_left == is_left).map(|lane| lane.number).max();
        outermost.map_or(0, |number| MARGIN + px(number) * LANE_GAP + LANE_GAP / 2)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_share_a_zone_get_separate_lanes_and_short_ones_are_inside() {
        let right = |first, last| Some(Wanted { first, last, is_left: false });
        let lanes = assign(&[right(0, 9), right(1, 2), None, right(2, 3), right(4, 5)]);
        let numbers: Vec<Option<usize>> = lanes.iter().map(|lane| lane.map(|lane| lane.number)).collect();
        assert_eq!(numbers, [Some(2), Some(0), None, Some(1), Some(0)]);
        assert_eq!(places(&lanes, 100), [Some(138), Some(118), None, Some(128), Some(118)]);
        assert_eq!(margins(&lanes), [0, 43]);
    }
}
