//! A picture's geometry: boxes on ranks, and edges that are straight, along tracks between ranks, or in lanes beside
//! them.
//!
//! Edges leave boxes at the bottom and reach boxes at the top, or the other way round if they lead back. Between two
//! ranks are a channel, a row of labels, and another channel. An edge over several ranks passes them in a lane at the
//! left or the right of all boxes. So no edge crosses a box or a label, and no two edges overlap.

use super::lanes::{self, Lane};
use super::mops;
use super::place::place;
use super::rank;
use super::txn_box::{PORT_GAP, Part, Point, Side, TxnBox, Uses};
use super::zone::{self, End, Passing, Zone};
use crate::bands::Band;
use history_core::{Step, WitnessOp};
use std::collections::BTreeMap;

/// The maximum width of a rank, unless one box is wider.
const RANK_WIDTH_MAX: i32 = 1500;

/// A picture whose corner is at the origin.
#[derive(Debug)]
pub(super) struct Layout {
    /// The box of each op, with its position.
    pub(super) boxes: Vec<(Point, TxnBox)>,
    /// The edge of each step that can be drawn.
    pub(super) edges: Vec<Edge>,
    pub(super) width: i32,
    pub(super) height: i32,
}

/// The edge of a step.
#[derive(Debug)]
pub(super) struct Edge {
    /// The number of the step.
    pub(super) step: usize,
    /// From the border of the cell that it leaves to the border of the cell that it reaches. Neighbouring points share
    /// x or y.
    pub(super) points: Vec<Point>,
    /// The centers of its labels, which name the relation.
    pub(super) labels: Vec<Point>,
}

/// A step between two boxes before its edge is computed.
struct Link {
    step: usize,
    upper: usize,
    lower: usize,
    upper_part: Part,
    lower_part: Part,
    /// Whether the edge leads from the upper box to the lower one.
    leads_down: bool,
}

/// Computes the layout of the ops, and of the steps between two of them.
pub(super) fn layout(ops: &[WitnessOp], steps: &[Step], faults: &[Band]) -> Layout {
    let order = rank::order(ops, steps);
    let links = links(ops, steps, &order);
    let mut uses: Vec<Uses> = vec![Uses::new(); ops.len()];
    for link in &links {
        *uses[link.upper].entry((link.upper_part, Side::Bottom)).or_default() += 1;
        *uses[link.lower].entry((link.lower_part, Side::Top)).or_default() += 1;
    }
    let boxes: Vec<TxnBox> = ops.iter().zip(&uses).map(|(op, uses)| TxnBox::new(op, uses, faults)).collect();
    let widths: Vec<i32> = boxes.iter().map(|txn| txn.width).collect();
    let mut pairs: Vec<(usize, usize)> = links.iter().map(|link| (link.upper, link.lower)).collect();
    pairs.sort_unstable();
    pairs.dedup();
    let mut ranks = rank::ranks(&order, &pairs, &widths, RANK_WIDTH_MAX);
    let lefts = place(&mut ranks, &pairs, &widths);
    let mut rank_of = vec![0; ops.len()];
    for (at, rank) in ranks.iter().enumerate() {
        for op in rank {
            rank_of[*op] = at;
        }
    }

    let boxes_width = (0..ops.len()).map(|op| lefts[op] + widths[op]).max().unwrap_or(0);
    let plan = Plan { links: &links, boxes: &boxes, lefts: &lefts, rank_of: &rank_of };
    let lanes = plan.lanes(boxes_width);
    let mut ways = plan.ways(&lanes);
    plan.straighten(&lanes, &mut ways);
    let passings = plan.passings(steps, &lanes, &ways);
    let mut zones = zone::label_all(ranks.len(), &passings, boxes_width);
    let inside = zones.iter().map(|zone| zone.width).max().unwrap_or(0).max(boxes_width);
    let lane_xs = lanes::places(&lanes, inside);
    for zone in &mut zones {
        zone.route(&passings, &lane_xs);
    }

    let mut tops = vec![0];
    for (at, rank) in ranks.iter().enumerate() {
        let tallest = rank.iter().map(|op| boxes[*op].height).max().unwrap_or(0);
        zones.get_mut(at).into_iter().for_each(|zone| zone.top = tops[at] + tallest);
        tops.push(tops[at] + tallest + zones.get(at).map_or(0, Zone::height));
    }
    let corner = |op: usize| Point { x: lefts[op], y: tops[rank_of[op]] };
    let edges = links.iter().enumerate().map(|(at, link)| {
        let mut points: Vec<Point> = ways[at][0].iter().map(|point| shifted(*point, corner(link.upper))).collect();
        let mut labels = Vec::new();
        let (first, last) = (rank_of[link.upper], rank_of[link.lower] - 1);
        for zone in if first == last { vec![first] } else { vec![first, last] } {
            zones[zone].follow(at, &mut points, &mut labels);
        }
        points.extend(ways[at][1].iter().rev().map(|point| shifted(*point, corner(link.lower))));
        if !link.leads_down {
            points.reverse();
            labels.reverse();
        }
        Edge { step: link.step, points: simplified(points), labels }
    });
    let edges: Vec<Edge> = edges.collect();
    let corners: Vec<Point> = (0..ops.len()).map(corner).collect();
    let [left, right] = lanes::margins(&lanes);
    let mut made = Layout {
        boxes: corners.into_iter().zip(boxes).collect(),
        edges,
        width: left + inside + right,
        height: tops[ranks.len()],
    };
    made.shift(left);
    made
}

/// The steps that can be drawn: those from one op to another.
fn links(ops: &[WitnessOp], steps: &[Step], order: &[usize]) -> Vec<Link> {
    let mut position = vec![0; ops.len()];
    for (at, op) in order.iter().enumerate() {
        position[*op] = at;
    }
    let drawn = steps.iter().enumerate().filter(|(_, step)| is_drawn(step, ops.len()));
    drawn
        .map(|(at, step)| {
            let parts = mops::ends(step, &ops[step.from], &ops[step.to]);
            let [from_part, to_part] = parts.map(|mop| mop.map_or(Part::Name, Part::Mop));
            let leads_down = position[step.from] < position[step.to];
            let (upper, lower) = if leads_down { (step.from, step.to) } else { (step.to, step.from) };
            let (upper_part, lower_part) = if leads_down { (from_part, to_part) } else { (to_part, from_part) };
            Link { step: at, upper, lower, upper_part, lower_part, leads_down }
        })
        .collect()
}

/// Returns true if a step leads from one op to another.
pub(super) fn is_drawn(step: &Step, ops: usize) -> bool {
    step.from != step.to && step.from < ops && step.to < ops
}

/// The data computed before the edges.
struct Plan<'a> {
    links: &'a [Link],
    boxes: &'a [TxnBox],
    lefts: &'a [i32],
    rank_of: &'a [usize],
}

impl Plan<'_> {
    /// The middle of a part of a box.
    fn center(&self, op: usize, part: Part) -> i32 {
        let cell = self.boxes[op].cells.iter().find(|cell| cell.part == Some(part));
        self.lefts[op] + cell.map_or(0, |cell| cell.corner.x + cell.width / 2)
    }

    /// The lane of each link that passes a rank.
    fn lanes(&self, width: i32) -> Vec<Option<Lane>> {
        let wanted = self.links.iter().map(|link| {
            let (first, last) = (self.rank_of[link.upper], self.rank_of[link.lower] - 1);
            let middle = self.center(link.upper, link.upper_part) + self.center(link.lower, link.lower_part);
            (first < last).then_some(lanes::Wanted { first, last, is_left: middle < width })
        });
        lanes::assign(&wanted.collect::<Vec<_>>())
    }

    /// For each link, its paths out of the upper and the lower box, relative to the boxes' corners. The ports of a part
    /// are assigned from left to right, to links in the order of their other ends.
    fn ways(&self, lanes: &[Option<Lane>]) -> Vec<[Vec<Point>; 2]> {
        let mut users: BTreeMap<(usize, Part, Side), Vec<(i32, usize)>> = BTreeMap::new();
        for (at, link) in self.links.iter().enumerate() {
            let beside = lanes[at].as_ref().map(|lane| if lane.is_left { i32::MIN } else { i32::MAX });
            let below = beside.unwrap_or_else(|| self.center(link.lower, link.lower_part));
            let above = beside.unwrap_or_else(|| self.center(link.upper, link.upper_part));
            users.entry((link.upper, link.upper_part, Side::Bottom)).or_default().push((below, at));
            users.entry((link.lower, link.lower_part, Side::Top)).or_default().push((above, at));
        }
        let mut ways = vec![[Vec::new(), Vec::new()]; self.links.len()];
        for ((op, part, side), mut users) in users {
            users.sort_unstable();
            for (way, (_, link)) in self.boxes[op].ways(part, side).iter().zip(users) {
                ways[link][usize::from(side == Side::Top)].clone_from(way);
            }
        }
        ways
    }

    /// Aligns the two ends of an edge, if this only moves an end along a micro-op that has no other edge on that side.
    fn straighten(&self, lanes: &[Option<Lane>], ways: &mut [[Vec<Point>; 2]]) {
        for (at, link) in self.links.iter().enumerate().filter(|(at, _)| lanes[*at].is_none()) {
            let lefts = [link.upper, link.lower].map(|op| self.lefts[op]);
            let reach = |end: usize| {
                let (op, part, side) =
                    [(link.upper, link.upper_part, Side::Bottom), (link.lower, link.lower_part, Side::Top)][end];
                let way = &ways[at][end];
                let is_plain = way.iter().all(|point| point.x == way[0].x);
                let is_alone = self.boxes[op].ways(part, side).len() == 1;
                let here = way.last().map_or(0, |point| point.x) + lefts[end];
                if is_plain && is_alone && part != Part::Name { self.reach(op, part) } else { (here, here) }
            };
            let (upper, lower) = (reach(0), reach(1));
            let (from, to) = (upper.0.max(lower.0), upper.1.min(lower.1));
            if from <= to {
                let x = i32::midpoint(from, to);
                for (end, reach) in [upper, lower].into_iter().enumerate().filter(|(_, reach)| reach.0 < reach.1) {
                    debug_assert!(reach.0 <= x && x <= reach.1);
                    ways[at][end].iter_mut().for_each(|point| point.x = x - lefts[end]);
                }
            }
        }
    }

    /// The range of x in which a micro-op can have an edge.
    fn reach(&self, op: usize, part: Part) -> (i32, i32) {
        let cell = self.boxes[op].cells.iter().find(|cell| cell.part == Some(part));
        cell.map_or((0, 0), |cell| {
            let left = self.lefts[op] + cell.corner.x;
            (left + PORT_GAP, left + cell.width - PORT_GAP)
        })
    }

    /// For each link, the data that the zones at its ends need.
    fn passings(&self, steps: &[Step], lanes: &[Option<Lane>], ways: &[[Vec<Point>; 2]]) -> Vec<Passing> {
        /// A link over at least this number of ranks has a label at both ends.
        const LONG: usize = 4;
        let passing = |(at, link): (usize, &Link)| {
            let (first, last) = (self.rank_of[link.upper], self.rank_of[link.lower] - 1);
            let is_long = last - first >= LONG;
            let exit = |end: usize| ways[at][end].last().map_or(0, |point| point.x);
            Passing {
                label_width: zone::label_width(&steps[link.step].relation),
                lane: lanes[at].is_some(),
                upper: End {
                    zone: first,
                    x: self.lefts[link.upper] + exit(0),
                    is_labelled: link.leads_down || is_long,
                },
                lower: End {
                    zone: last,
                    x: self.lefts[link.lower] + exit(1),
                    is_labelled: !link.leads_down || is_long,
                },
            }
        };
        self.links.iter().enumerate().map(passing).collect()
    }
}

fn shifted(point: Point, by: Point) -> Point {
    Point { x: point.x + by.x, y: point.y + by.y }
}

/// Removes points on a straight line between their neighbours.
fn simplified(points: Vec<Point>) -> Vec<Point> {
    let mut simple: Vec<Point> = Vec::with_capacity(points.len());
    for point in points {
        if let [.., a, b] = simple[..]
            && ((a.x == b.x && b.x == point.x) || (a.y == b.y && b.y == point.y))
        {
            simple.pop();
        }
        if simple.last() != Some(&point) {
            simple.push(point);
        }
    }
    simple
}

impl Layout {
    /// Moves everything to the right.
    fn shift(&mut self, by: i32) {
        let points = self.edges.iter_mut().flat_map(|edge| edge.points.iter_mut().chain(&mut edge.labels));
        points.chain(self.boxes.iter_mut().map(|(corner, _)| corner)).for_each(|point| point.x += by);
    }
}
