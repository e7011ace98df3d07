//! Channel routing: assigns tracks to wires between two rows of ends, so that no two wires overlap.
//!
//! A wire comes down from an end above, runs along a track, and goes down to an end below; or it comes from, or goes
//! to, a lane at the side. If the upper end of a wire is directly above the lower end of another, the first one must
//! have the higher track. If such constraints form a cycle, a wire is cut into two at a free position between its ends.

use crate::text::px;

/// Lines that are closer than this look like a single line.
const NEAR: i32 = 5;
/// The minimum gap between the ends of two wires on one track.
const TRACK_GAP: i32 = 10;

/// A wire of a channel. It has two of the three ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wire {
    /// The x of its upper end.
    pub(super) above: Option<i32>,
    /// The x of its lower end.
    pub(super) below: Option<i32>,
    /// The x of its lane.
    pub(super) lane: Option<i32>,
}

impl Wire {
    /// The range of x that it takes on its track.
    fn span(&self) -> (i32, i32) {
        let ends = [self.above, self.below, self.lane];
        let ends = || ends.iter().flatten().copied();
        (ends().min().unwrap_or(0), ends().max().unwrap_or(0))
    }

    fn covers(&self, x: Option<i32>) -> bool {
        let (from, to) = self.span();
        x.is_some_and(|x| from - NEAR < x && x < to + NEAR)
    }

    fn is_straight(&self) -> bool {
        self.lane.is_none() && self.above == self.below
    }

    /// Returns true if this wire must not be below the other one: its upper end is directly above the other's lower
    /// end.
    fn precedes(&self, other: &Wire) -> bool {
        matches!((self.above, other.below), (Some(above), Some(below)) if (above - below).abs() < NEAR)
    }

    /// The number of crossings if this wire is above the other one.
    fn crossings_above(&self, other: &Wire) -> i64 {
        i64::from(other.covers(self.below)) + i64::from(self.covers(other.above))
    }

    fn shares_track(&self, other: &Wire) -> bool {
        let ((a, b), (c, d)) = (self.span(), other.span());
        b + TRACK_GAP <= c || d + TRACK_GAP <= a
    }
}

/// The course of a wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Course {
    /// A straight vertical line.
    Straight,
    /// Along one track; tracks are counted from above.
    Track(usize),
    /// Along the first track up to `x`, then along the second.
    Cut { tracks: [usize; 2], x: i32 },
}

/// The tracks of a channel.
#[derive(Debug, Default)]
pub(super) struct Channel {
    /// The course of each wire.
    pub(super) courses: Vec<Course>,
    pub(super) tracks: usize,
}

/// A part of a wire that is on one track.
struct Piece {
    wire: usize,
    shape: Wire,
}

/// Computes the course of each wire. No two wires may have the same upper end, or the same lower end. Quadratic.
pub(super) fn route(wires: &[Wire]) -> Channel {
    let bent: Vec<usize> = (0..wires.len()).filter(|wire| !wires[*wire].is_straight()).collect();
    let (pieces, cuts) = in_order(wires, &bent);
    let mut courses = vec![Course::Straight; wires.len()];
    let mut tracks_of: Vec<usize> = Vec::with_capacity(pieces.len());
    for (at, piece) in pieces.iter().enumerate() {
        let meets = |earlier: &usize| !pieces[*earlier].shape.shares_track(&piece.shape);
        let track = (0..at).filter(meets).map(|earlier| tracks_of[earlier] + 1).max().unwrap_or(0);
        tracks_of.push(track);
        courses[piece.wire] = match courses[piece.wire] {
            Course::Track(first) => Course::Cut { tracks: [first, track], x: cuts[piece.wire] },
            _ => Course::Track(track),
        };
    }
    Channel { courses, tracks: tracks_of.iter().map(|track| track + 1).max().unwrap_or(0) }
}

/// The pieces of the wires from the highest to the lowest, and for each wire the x at which it is cut.
fn in_order(wires: &[Wire], bent: &[usize]) -> (Vec<Piece>, Vec<i32>) {
    let mut left: Vec<usize> = bent.to_vec();
    // The additional crossings if wire `a` is placed above `b` instead of below it.
    let cost_of = |a: usize, b: usize| wires[a].crossings_above(&wires[b]) - wires[b].crossings_above(&wires[a]);
    let mut cost: Vec<i64> = vec![0; wires.len()];
    for a in bent {
        cost[*a] = bent.iter().filter(|b| *b != a).map(|b| cost_of(*a, *b)).sum();
    }
    let (mut first, mut middle, mut last) = (Vec::new(), Vec::new(), Vec::new());
    let mut cuts = vec![0; wires.len()];
    let mut taken: Vec<i32> = wires.iter().flat_map(|wire| [wire.above, wire.below, wire.lane]).flatten().collect();
    while !left.is_empty() {
        let is_free = |wire: usize| left.iter().all(|other| *other == wire || !wires[*other].precedes(&wires[wire]));
        let best = left.iter().copied().filter(|wire| is_free(*wire)).min_by_key(|wire| (cost[*wire], *wire));
        // A cycle of constraints consists only of wires with both an upper and a lower end.
        let both = |wire: &usize| wires[*wire].above.is_some() && wires[*wire].below.is_some();
        let wire = best.or_else(|| left.iter().copied().find(both)).unwrap_or(left[0]);
        match (best, wires[wire]) {
            (None, Wire { above: Some(above), below: Some(below), .. }) => {
                let x = free_near(i32::midpoint(above, below), &taken);
                taken.push(x);
                cuts[wire] = x;
                first.push(Piece { wire, shape: Wire { above: Some(above), below: Some(x), lane: None } });
                last.push(Piece { wire, shape: Wire { above: Some(x), below: Some(below), lane: None } });
            }
            (_, shape) => middle.push(Piece { wire, shape }),
        }
        left.retain(|other| *other != wire);
        for other in &left {
            cost[*other] -= cost_of(*other, wire);
        }
    }
    first.extend(middle);
    first.extend(last);
    (first, cuts)
}

/// The position nearest to `x` that is not too close to any taken position.
fn free_near(x: i32, taken: &[i32]) -> i32 {
    let is_free = |x: i32| taken.iter().all(|other| (x - other).abs() >= NEAR);
    // Each taken position excludes fewer than `2 * NEAR` positions.
    let away_max = 2 * NEAR * px(taken.len() + 1);
    (0..away_max).flat_map(|away| [x - away, x + away]).find(|x| is_free(*x)).unwrap_or(x)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn wire(above: i32, below: i32) -> Wire {
        Wire { above: Some(above), below: Some(below), lane: None }
    }

    #[test]
    fn a_straight_wire_needs_no_track() {
        let channel = route(&[wire(10, 10)]);
        assert_eq!((channel.courses, channel.tracks), (vec![Course::Straight], 0));
    }

    #[test]
    fn wires_apart_share_a_track() {
        assert_eq!(route(&[wire(0, 50), wire(70, 100)]).tracks, 1);
        assert_eq!(route(&[wire(0, 50), wire(55, 100)]).tracks, 2, "too near");
    }

    #[test]
    fn wires_do_not_cross_without_need() {
        // Both wires go to the right: the one with the larger x is higher.
        let channel = route(&[wire(0, 100), wire(50, 150)]);
        assert_eq!(channel.courses, [Course::Track(1), Course::Track(0)]);
        // Both wires go to the left.
        let channel = route(&[wire(100, 0), wire(150, 50)]);
        assert_eq!(channel.courses, [Course::Track(0), Course::Track(1)]);
    }

    #[test]
    fn a_wire_whose_end_is_above_another_end_has_the_higher_track() {
        let channel = route(&[wire(100, 0), wire(50, 100)]);
        assert_eq!(channel.courses, [Course::Track(0), Course::Track(1)]);
        let channel = route(&[wire(50, 100), wire(100, 0)]);
        assert_eq!(channel.courses, [Course::Track(1), Course::Track(0)]);
    }

    #[test]
    fn a_cycle_of_constraints_is_cut() {
        let channel = route(&[wire(0, 100), wire(100, 0)]);
        assert_eq!(channel.courses, [Course::Cut { tracks: [0, 2], x: 50 }, Course::Track(1)]);
    }

    #[test]
    fn wires_to_lanes_end_there() {
        let up = Wire { above: Some(10), below: None, lane: Some(200) };
        let down = Wire { above: None, below: Some(10), lane: Some(220) };
        assert_eq!(route(&[down, up]).courses, [Course::Track(1), Course::Track(0)]);
    }

    /// The pieces of a wire, each a line between two points, in a channel whose tracks are one unit apart.
    fn pieces(wire: Wire, course: Course, tracks: usize) -> Vec<[(i32, i32); 2]> {
        let (from, to) = (wire.above.or(wire.lane).unwrap(), wire.below.or(wire.lane).unwrap());
        let y = |track: usize| i32::try_from(track).unwrap() + 1;
        let mut points = vec![(from, y(0) - 1)];
        match course {
            Course::Straight => {}
            Course::Track(track) => points.extend([(from, y(track)), (to, y(track))]),
            Course::Cut { tracks, x } => {
                points.extend([(from, y(tracks[0])), (x, y(tracks[0])), (x, y(tracks[1])), (to, y(tracks[1]))]);
            }
        }
        points.push((to, y(tracks)));
        // The ends in a lane are elsewhere.
        let first = usize::from(wire.above.is_none());
        let last = points.len() - usize::from(wire.below.is_none());
        points[first..last].windows(2).map(|two| [two[0].min(two[1]), two[0].max(two[1])]).collect()
    }

    /// Returns true if two pieces overlap, or are so close that they seem to.
    fn coincide([a, b]: [(i32, i32); 2], [c, d]: [(i32, i32); 2]) -> bool {
        let upright = |(x, _): (i32, i32), (other, _): (i32, i32)| x == other;
        let along_y = upright(a, b) && upright(c, d) && (a.0 - c.0).abs() < NEAR && a.1 < d.1 && c.1 < b.1;
        let along_x = a.1 == b.1 && c.1 == d.1 && a.1 == c.1 && a.0 < d.0 && c.0 < b.0;
        along_y || along_x
    }

    proptest! {
        /// The ends have only a few positions above and below, so many are above one another.
        #[test]
        fn no_two_wires_overlap(
            above in prop::sample::subsequence((0..12).map(|x| x * 8).collect::<Vec<i32>>(), 9).prop_shuffle(),
            below in prop::sample::subsequence((0..12).map(|x| x * 8 + x % 3).collect::<Vec<i32>>(), 9).prop_shuffle(),
            lanes in prop::collection::vec(0..4_u8, 9),
        ) {
            let wires: Vec<Wire> = (0..9).map(|at| match lanes[at] {
                0 => Wire { above: Some(above[at]), below: None, lane: Some(200 + 10 * px(at)) },
                1 => Wire { above: None, below: Some(below[at]), lane: Some(-100 - 10 * px(at)) },
                _ => wire(above[at], below[at]),
            }).collect();
            let channel = route(&wires);
            let drawn = wires.iter().zip(&channel.courses);
            let all: Vec<_> = drawn.map(|(wire, course)| pieces(*wire, *course, channel.tracks)).collect();
            for (at, one) in all.iter().enumerate() {
                for other in &all[..at] {
                    let apart = one.iter().all(|a| other.iter().all(|b| !coincide(*a, *b)));
                    prop_assert!(apart, "{:?} {:?}", wires, channel);
                }
            }
        }
    }
}
