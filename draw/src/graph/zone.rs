//! A zone: the space between two ranks. From the top, it has a channel, a row of labels, and another channel.

use super::channel::{self, Channel, Course, Wire};
use super::spread::spread_within;
use super::txn_box::Point;
use crate::text::{self, columns, px};

/// The gap between boxes and the first track, which leaves space for an arrow.
const ENDS: i32 = 16;
/// The distance between two tracks.
const TRACK: i32 = 9;
/// The height of a label, and the margin above and below it.
pub(super) const LABEL_HEIGHT: i32 = 16;
const LABEL_MARGIN: i32 = 6;
/// The gap between two labels.
const LABEL_GAP: i32 = 10;
pub(super) const LABEL_COLUMN_WIDTH: i32 = 7;
/// The maximum number of columns of a label.
const LABEL_COLUMNS_MAX: usize = 16;

/// The text of a label for a relation.
pub(super) fn label(relation: &str) -> String {
    text::shorten(relation, LABEL_COLUMNS_MAX)
}

pub(super) fn label_width(relation: &str) -> i32 {
    px(columns(&label(relation)).max(2)) * LABEL_COLUMN_WIDTH + 16
}

/// An end of an edge.
#[derive(Clone, Copy, Debug)]
pub(super) struct End {
    /// The zone that contains this end.
    pub(super) zone: usize,
    /// The x of its position on the border of the box.
    pub(super) x: i32,
    /// Whether the edge has a label here. At least one of its ends has.
    pub(super) is_labelled: bool,
}

/// The data of an edge that zones need.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passing {
    pub(super) label_width: i32,
    /// Whether a lane connects the zones of the two ends. Otherwise, both ends are in the same zone.
    pub(super) lane: bool,
    pub(super) upper: End,
    pub(super) lower: End,
}

/// The space between two ranks.
#[derive(Debug)]
pub(super) struct Zone {
    number: usize,
    pub(super) top: i32,
    /// The right end of the labels.
    pub(super) width: i32,
    /// The centers of the labels, each with its edge.
    labels: Vec<(usize, i32)>,
    /// The channels above and below the row of labels.
    upper: Half,
    lower: Half,
}

/// A channel, and the edge of each of its wires.
#[derive(Debug, Default)]
struct Half {
    wires: Vec<(usize, Wire)>,
    channel: Channel,
}

/// The zones between this number of ranks, with positioned labels.
pub(super) fn label_all(ranks: usize, passings: &[Passing], width: i32) -> Vec<Zone> {
    (0..ranks.saturating_sub(1)).map(|number| Zone::new(number, passings, width)).collect()
}

impl Zone {
    /// Creates a zone. Each label is as near as possible to the end of its edge.
    fn new(number: usize, passings: &[Passing], width: i32) -> Zone {
        let mut wanted: Vec<(i32, usize, i32)> = Vec::new();
        for (edge, passing) in passings.iter().enumerate() {
            let ends = [passing.upper, passing.lower];
            let Some(end) = ends.iter().find(|end| end.zone == number && end.is_labelled) else { continue };
            let middle = if passing.lane { end.x } else { i32::midpoint(passing.upper.x, passing.lower.x) };
            wanted.push((end.x, edge, middle));
        }
        wanted.sort_unstable();
        // Labels that would overlap are in the order of the centers of their edges, so that the edges do not cross.
        for at in 1..wanted.len() {
            let mut here = at;
            while here > 0 {
                let [(x, edge, middle), (next_x, next_edge, next_middle)] = [wanted[here - 1], wanted[here]];
                let widths = passings[edge].label_width + passings[next_edge].label_width;
                if next_x - x >= widths / 2 + LABEL_GAP || middle <= next_middle {
                    break;
                }
                wanted.swap(here - 1, here);
                here -= 1;
            }
        }
        let widths: Vec<i32> = wanted.iter().map(|(_, edge, _)| passings[*edge].label_width).collect();
        let lefts: Vec<i32> = wanted.iter().zip(&widths).map(|((x, _, _), width)| x - width / 2).collect();
        let lefts = spread_within(&lefts, &widths, LABEL_GAP, width);
        let right = lefts.iter().zip(&widths).map(|(left, width)| left + width).max().unwrap_or(0);
        let labels = wanted.iter().zip(lefts.iter().zip(&widths));
        let labels = labels.map(|((_, edge, _), (left, width))| (*edge, left + width / 2)).collect();
        Zone { number, top: 0, width: right, labels, upper: Half::default(), lower: Half::default() }
    }

    /// Assigns tracks to all edges that end here. `lanes` has the lane of each edge that uses one.
    pub(super) fn route(&mut self, passings: &[Passing], lanes: &[Option<i32>]) {
        let mut label_of: Vec<Option<i32>> = vec![None; passings.len()];
        self.labels.iter().for_each(|(edge, x)| label_of[*edge] = Some(*x));
        for (edge, passing) in passings.iter().enumerate() {
            let here = |end: End| (end.zone == self.number).then_some(end.x);
            let (above, below) = (here(passing.upper), here(passing.lower));
            let lane_unless = |end: Option<i32>| if end.is_none() { lanes[edge] } else { None };
            let label = label_of[edge];
            if above.is_some() || (below.is_some() && label.is_some()) {
                let lane = if label.is_some() { lane_unless(above) } else { lanes[edge] };
                self.upper.wires.push((edge, Wire { above, below: label, lane }));
            }
            if below.is_some() || (above.is_some() && label.is_some()) {
                let lane = if label.is_some() { lane_unless(below) } else { lanes[edge] };
                self.lower.wires.push((edge, Wire { above: label, below, lane }));
            }
        }
        self.upper.route();
        self.lower.route();
    }

    pub(super) fn height(&self) -> i32 {
        2 * ENDS + self.upper.height() + self.label_row() + self.lower.height()
    }

    fn label_row(&self) -> i32 {
        if self.labels.is_empty() { 0 } else { LABEL_HEIGHT + 2 * LABEL_MARGIN }
    }

    /// Appends an edge's points in this zone, from above to below, and its label if it has one here.
    pub(super) fn follow(&self, edge: usize, points: &mut Vec<Point>, labels: &mut Vec<Point>) {
        let first = self.top + ENDS;
        self.upper.follow(edge, first, points);
        let row = first + self.upper.height();
        let label = self.labels.iter().find(|(labelled, _)| *labelled == edge);
        if let Some((_, x)) = label {
            let middle = Point { x: *x, y: row + self.label_row() / 2 };
            points.push(middle);
            labels.push(middle);
        }
        self.lower.follow(edge, row + self.label_row(), points);
    }
}

impl Half {
    fn route(&mut self) {
        let wires: Vec<Wire> = self.wires.iter().map(|(_, wire)| *wire).collect();
        self.channel = channel::route(&wires);
    }

    fn height(&self) -> i32 {
        px(self.channel.tracks) * TRACK
    }

    fn follow(&self, edge: usize, top: i32, points: &mut Vec<Point>) {
        let Some(at) = self.wires.iter().position(|(wired, _)| *wired == edge) else { return };
        let wire = self.wires[at].1;
        let (Some(from), Some(to)) = (wire.above.or(wire.lane), wire.below.or(wire.lane)) else { return };
        let y_of = |track: usize| top + px(track) * TRACK + TRACK / 2;
        match self.channel.courses[at] {
            Course::Straight => {}
            Course::Track(track) => {
                let y = y_of(track);
                points.extend([Point { x: from, y }, Point { x: to, y }]);
            }
            Course::Cut { tracks, x } => {
                let [upper, lower] = tracks.map(y_of);
                points.extend([
                    Point { x: from, y: upper },
                    Point { x, y: upper },
                    Point { x, y: lower },
                    Point { x: to, y: lower },
                ]);
            }
        }
    }
}
