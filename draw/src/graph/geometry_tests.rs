//! Properties of the geometry of every picture, whatever its content.

use super::layout::{Edge, Layout, is_drawn, layout};
use super::mops;
use super::samples::{op, picture, step};
use super::txn_box::{Part, Point};
use super::zone::{LABEL_HEIGHT, label_width};
use history_core::cast::Cast as _;
use history_core::{Step, WitnessOp};
use proptest::prelude::*;

/// A rectangle by its left, top, right and bottom.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Rect(i32, i32, i32, i32);

impl Rect {
    fn new(corner: Point, width: i32, height: i32) -> Rect {
        Rect(corner.x, corner.y, corner.x + width, corner.y + height)
    }

    /// Returns true if their interiors overlap.
    fn overlaps(self, other: Rect) -> bool {
        self.0 < other.2 && other.0 < self.2 && self.1 < other.3 && other.1 < self.3
    }
}

fn pieces(edge: &Edge) -> Vec<Rect> {
    let piece = |ends: &[Point]| {
        let (a, b) = (ends[0], ends[1]);
        assert!(a.x == b.x || a.y == b.y, "a slanting piece in {edge:?}");
        Rect(a.x.min(b.x), a.y.min(b.y), a.x.max(b.x), a.y.max(b.y))
    };
    edge.points.windows(2).map(piece).collect()
}

/// Returns true if two pieces overlap in more than a point.
fn coincide(a: Rect, b: Rect) -> bool {
    let along_x = a.1 == a.3 && b.1 == b.3 && a.1 == b.1 && a.0 < b.2 && b.0 < a.2;
    let along_y = a.0 == a.2 && b.0 == b.2 && a.0 == b.0 && a.1 < b.3 && b.1 < a.3;
    along_x || along_y
}

fn boxes(layout: &Layout) -> Vec<Rect> {
    layout.boxes.iter().map(|(corner, txn)| Rect::new(*corner, txn.width, txn.height)).collect()
}

fn labels(layout: &Layout, steps: &[Step]) -> Vec<(usize, Rect)> {
    let of = |(at, edge): (usize, &Edge)| {
        let width = label_width(&steps[edge.step].relation);
        let rect = move |middle: &Point| {
            Rect::new(Point { x: middle.x - width / 2, y: middle.y - LABEL_HEIGHT / 2 }, width, LABEL_HEIGHT)
        };
        edge.labels.iter().map(move |middle| (at, rect(middle))).collect::<Vec<_>>()
    };
    layout.edges.iter().enumerate().flat_map(of).collect()
}

/// The rectangle of the part at which an end of an edge is.
fn part(layout: &Layout, op: usize, mop: Option<usize>) -> Option<Rect> {
    let (corner, txn) = &layout.boxes[op];
    let part = mop.map_or(Part::Name, Part::Mop);
    let cell = txn.cells.iter().find(|cell| cell.part == Some(part))?;
    Some(Rect::new(Point { x: corner.x + cell.corner.x, y: corner.y + cell.corner.y }, cell.width, cell.height))
}

fn check(ops: &[WitnessOp], steps: &[Step]) -> Result<(), TestCaseError> {
    let layout = layout(ops, steps, &[]);
    prop_assert_eq!(layout.boxes.len(), ops.len(), "a box for every op");
    let drawn: Vec<usize> = layout.edges.iter().map(|edge| edge.step).collect();
    let wanted: Vec<usize> = (0..steps.len()).filter(|step| is_drawn(&steps[*step], ops.len())).collect();
    prop_assert_eq!(drawn, wanted, "an edge for every step");

    let whole = Rect(0, 0, layout.width, layout.height);
    let inside = |rect: Rect| rect.0 >= 0 && rect.1 >= 0 && rect.2 <= whole.2 && rect.3 <= whole.3;
    let (boxes, labels) = (boxes(&layout), labels(&layout, steps));
    for (at, one) in boxes.iter().enumerate() {
        prop_assert!(inside(*one), "box {} is outside", at);
        prop_assert!(boxes[..at].iter().all(|other| !one.overlaps(*other)), "box {} overlaps another", at);
        let (corner, txn) = &layout.boxes[at];
        for (nth, cell) in txn.cells.iter().enumerate() {
            let rect =
                Rect::new(Point { x: corner.x + cell.corner.x, y: corner.y + cell.corner.y }, cell.width, cell.height);
            prop_assert!(
                rect.0 >= one.0 && rect.1 >= one.1 && rect.2 <= one.2 && rect.3 <= one.3,
                "a cell extends beyond its box"
            );
            for other in &txn.cells[..nth] {
                let other = Rect::new(
                    Point { x: corner.x + other.corner.x, y: corner.y + other.corner.y },
                    other.width,
                    other.height,
                );
                prop_assert!(!rect.overlaps(other), "a cell overlaps another");
            }
        }
    }
    for (at, (_, one)) in labels.iter().enumerate() {
        prop_assert!(inside(*one), "a label is outside: {:?} of {:?}", one, whole);
        prop_assert!(boxes.iter().all(|other| !one.overlaps(*other)), "a label overlaps a box");
        prop_assert!(labels[..at].iter().all(|(_, other)| !one.overlaps(*other)), "a label overlaps another");
    }
    for (at, edge) in layout.edges.iter().enumerate() {
        check_ends(&layout, edge, ops, steps)?;
        prop_assert!(!edge.labels.is_empty(), "a label for every edge");
        let step = &steps[edge.step];
        for piece in pieces(edge) {
            prop_assert!(inside(piece), "an edge extends beyond the picture");
            for (op, txn) in boxes.iter().enumerate() {
                prop_assert!(
                    op == step.from || op == step.to || !crosses(piece, *txn),
                    "edge {} crosses box {}",
                    at,
                    op
                );
            }
            for (labelled, label) in &labels {
                prop_assert!(*labelled == at || !crosses(piece, *label), "edge {} crosses a label of {}", at, labelled);
            }
            for (other, another) in layout.edges[..at].iter().enumerate() {
                let apart = pieces(another).iter().all(|other| !coincide(piece, *other));
                prop_assert!(apart, "edges {} and {} overlap", at, other);
            }
        }
    }
    Ok(())
}

/// Returns true if a piece of an edge, which has no width, passes through the interior of a rectangle.
fn crosses(piece: Rect, rect: Rect) -> bool {
    piece.0 < rect.2
        && rect.0 < piece.2.max(piece.0 + 1)
        && piece.1 < rect.3
        && rect.1 < piece.3.max(piece.1 + 1)
        && !(piece.0 == piece.2 && piece.0 == rect.0)
        && !(piece.1 == piece.3 && piece.1 == rect.1)
}

/// An edge begins and ends at the upper or lower border of the parts that its step names, and touches no other cell.
fn check_ends(layout: &Layout, edge: &Edge, ops: &[WitnessOp], steps: &[Step]) -> Result<(), TestCaseError> {
    let step = &steps[edge.step];
    let about = mops::ends(step, &ops[step.from], &ops[step.to]);
    let ends = [(step.from, edge.points.first()), (step.to, edge.points.last())];
    for ((op, point), mop) in ends.into_iter().zip(about) {
        let rect = part(layout, op, mop);
        prop_assert!(rect.is_some(), "the part of step {} is not shown", edge.step);
        let (Some(rect), Some(point)) = (rect, point) else { continue };
        prop_assert!(rect.0 < point.x && point.x < rect.2, "step {} ends beside its micro-op", edge.step);
        prop_assert!(
            point.y == rect.1 || point.y == rect.3,
            "step {} does not end at its micro-op's border",
            edge.step
        );
    }
    for op in [step.from, step.to] {
        let (corner, txn) = &layout.boxes[op];
        for cell in txn.cells.iter().filter(|cell| cell.part != Some(Part::Name)) {
            let corner = Point { x: corner.x + cell.corner.x, y: corner.y + cell.corner.y };
            let rect = Rect::new(corner, cell.width, cell.height);
            prop_assert!(pieces(edge).iter().all(|piece| !crosses(*piece, rect)), "step {} crosses a cell", edge.step);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_parts_overlap((ops, steps) in picture()) {
        check(&ops, &steps)?;
    }
}

#[test]
fn a_cycle_has_one_edge_that_leads_up() {
    for n in 2..=30 {
        let ops: Vec<WitnessOp> = (0..n).map(|at| op(100 - at.to_u64(), "[[:append 1 2] [:r 1 [2]]]")).collect();
        let steps: Vec<Step> = (0..n).map(|at| step(at, (at + 1) % n, "realtime")).collect();
        check(&ops, &steps).unwrap();
        let layout = layout(&ops, &steps, &[]);
        let down = |edge: &&Edge| edge.points.first().unwrap().y < edge.points.last().unwrap().y;
        assert_eq!(layout.edges.iter().filter(down).count(), n - 1);
        assert!(layout.boxes.windows(2).all(|two| two[0].0.y < two[1].0.y && two[0].0.x == two[1].0.x));
    }
}

#[test]
fn the_largest_picture_is_laid_out() {
    let ops: Vec<WitnessOp> = (0..super::TXNS_MAX.to_u64()).map(|at| op(at, "[[:append 1 2] [:r 1 [2]]]")).collect();
    let steps: Vec<Step> = (0..super::STEPS_MAX)
        .map(|at| step((at * 7) % ops.len(), (at * 31 + at / 120 + 1) % ops.len(), "process"))
        .filter(|step| step.from != step.to)
        .collect();
    assert!(steps.len() > super::STEPS_MAX * 9 / 10);
    let layout = layout(&ops, &steps, &[]);
    assert_eq!((layout.boxes.len(), layout.edges.len()), (ops.len(), steps.len()));
    assert!(boxes(&layout).windows(2).all(|two| !two[0].overlaps(two[1])));
}

#[test]
fn steps_between_the_same_micro_ops_have_separate_ports() {
    let ops = [op(0, "[[:append 1 2] [:r 1 [2]]]"), op(1, "[[:append 1 3] [:r 1 [2 3]]]")];
    let ww = |from, to, value: i64, next: i64| {
        step(from, to, "ww").with_versions(Some(1.into()), Some(value.into()), Some(next.into()))
    };
    let steps = [ww(0, 1, 2, 3), ww(0, 1, 2, 3), ww(1, 0, 3, 2), ww(0, 1, 2, 3)];
    check(&ops, &steps).unwrap();
    let layout = layout(&ops, &steps, &[]);
    let mut ends: Vec<i32> = layout.edges.iter().map(|edge| edge.points[0].x).collect();
    ends.sort_unstable();
    ends.dedup();
    assert_eq!(ends.len(), steps.len());
}
