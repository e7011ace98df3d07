//! The box of a transaction: its name, its micro-ops in rows of cells, and the ports where edges leave and enter.
//!
//! Edges begin and end at the top and the bottom of a box. If micro-ops take several rows, they are aligned in columns,
//! so that an edge of an inner row has a straight alley between two columns.

use super::mops;
use crate::bands::Band;
use crate::text::{self, columns, px};
use history_core::WitnessOp;
use std::collections::{BTreeMap, BTreeSet};

/// The maximum number of columns of a transaction's name.
const NAME_COLUMNS_MAX: usize = 24;
/// The maximum number of columns of the text on faults during the transaction.
const DURING_COLUMNS_MAX: usize = 40;
/// The maximum number of micro-ops shown, in addition to those with edges.
const MOPS_MAX: usize = 24;
/// The width of a row of micro-ops, if there are several rows.
const ROW_WIDTH_MAX: i32 = 960;

pub(super) const CELL_HEIGHT: i32 = 24;
/// The gap between a box and its cells, and between cells.
pub(super) const PADDING: i32 = 6;
/// The gap between two parallel edges.
pub(super) const PORT_GAP: i32 = 12;
/// The gap between two edges in an alley or between two rows.
const INNER_GAP: i32 = 8;
/// The height of an arrow between two rows.
const INNER_ARROW: i32 = 14;
/// The minimum width of an alley, and of the gap between rows, without edges.
const GUTTER: i32 = 6;

/// The x of the first edge of a name, from the left of the box. It leaves space for a label.
const NAME_PORT: i32 = 40;

// The widths of text columns: those of the widest common fonts in these sizes.
pub(super) const NAME_COLUMN_WIDTH: i32 = 9;
pub(super) const SMALL_COLUMN_WIDTH: i32 = 6;
pub(super) const CELL_COLUMN_WIDTH: i32 = 8;

/// A position in a picture or a box; y increases downwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Point {
    pub(super) x: i32,
    pub(super) y: i32,
}

/// The part of a transaction at which an edge ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    /// The name, which represents the whole transaction.
    Name,
    /// The micro-op at this position.
    Mop(usize),
}

/// The side of a part at which an edge ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Side {
    Top,
    Bottom,
}

/// The number of edges at each side of each part of a transaction.
pub(super) type Uses = BTreeMap<(Part, Side), usize>;

/// A rectangle with text in a box.
#[derive(Debug)]
pub(super) struct Cell {
    /// The part; `None` for a text that replaces omitted micro-ops.
    pub(super) part: Option<Part>,
    pub(super) text: String,
    pub(super) corner: Point,
    pub(super) width: i32,
    pub(super) height: i32,
}

/// The box of a transaction, at the origin.
#[derive(Debug)]
pub(super) struct TxnBox {
    pub(super) cells: Vec<Cell>,
    /// The index, process and type, in small letters below the name.
    pub(super) small: String,
    pub(super) width: i32,
    pub(super) height: i32,
    /// For each part and side with edges, from left to right: the path from the cell's border to the border of the box.
    ports: BTreeMap<(Part, Side), Vec<Vec<Point>>>,
}

/// A cell without a position.
struct Draft {
    part: Option<Part>,
    text: String,
    width: i32,
}

/// The text on the faults during which a transaction completed.
fn during(op: &WitnessOp, faults: &[Band]) -> String {
    let is_on = |fault: &&Band| fault.first <= op.index && fault.last.is_none_or(|last| op.index <= last);
    let names: Vec<&str> = faults.iter().filter(is_on).map(|fault| fault.what.as_str()).collect();
    if names.is_empty() {
        String::new()
    } else {
        format!(", during {}", text::shorten(&names.join(" and "), DURING_COLUMNS_MAX))
    }
}

impl TxnBox {
    pub(super) fn new(op: &WitnessOp, uses: &Uses, faults: &[Band]) -> TxnBox {
        let name = text::shorten(&op.name, NAME_COLUMNS_MAX);
        let process = op.process.as_ref().map(text::process).unwrap_or_default();
        let small = format!("{}, index {}{process}{}", op.kind.name(), op.index, during(op, faults));
        let named = px(columns(&name)) * NAME_COLUMN_WIDTH;
        let head_width = named.max(px(columns(&small)) * SMALL_COLUMN_WIDTH - 10) + 2 * PADDING;
        let head_width = head_width.max(NAME_PORT + ports_width(uses, Part::Name));
        let mut drafts = drafts(op, uses);
        let in_row = fit(&drafts);
        let rows = drafts.len().div_ceil(in_row.max(1));
        let row_of = |at: usize| at / in_row.max(1);
        // Aligns the cells in columns, if there are several rows.
        let mut widths: Vec<i32> = vec![0; in_row];
        for (at, draft) in drafts.iter().enumerate() {
            widths[at % in_row] = widths[at % in_row].max(draft.width);
        }
        drafts.iter_mut().enumerate().for_each(|(at, draft)| draft.width = widths[at % in_row]);

        // The number of edges of inner rows in each alley, and in each gap between rows.
        let mut alleys: Vec<usize> = vec![0; in_row];
        let mut gaps: Vec<usize> = vec![0; rows.saturating_sub(1)];
        for (at, draft) in drafts.iter().enumerate() {
            let (up, down) = inner(draft, row_of(at), rows, uses);
            alleys[at % in_row] += up + down;
            if up > 0 {
                gaps[row_of(at) - 1] += up;
            }
            if down > 0 {
                gaps[row_of(at)] += down;
            }
        }
        let alley_width = |uses: &usize| GUTTER.max(px(uses + 1) * INNER_GAP);
        let gap_height = |uses: &usize| if *uses == 0 { GUTTER } else { 2 * INNER_ARROW + px(*uses) * INNER_GAP };
        let mut lefts = vec![head_width + PADDING];
        for (width, alley) in widths.iter().zip(&alleys) {
            lefts.push(lefts[lefts.len() - 1] + width + alley_width(alley));
        }
        let mut tops = vec![PADDING];
        for gap in &gaps {
            tops.push(tops[tops.len() - 1] + CELL_HEIGHT + gap_height(gap));
        }
        // A name with the small text needs the height of one and a half rows.
        let height = (tops[tops.len() - 1] + CELL_HEIGHT + PADDING).max(40);
        let lift = if rows <= 1 { (height - CELL_HEIGHT) / 2 - PADDING } else { 0 };
        let width = match alleys.last() {
            Some(0) => lefts[in_row] - GUTTER + PADDING,
            Some(_) => lefts[in_row],
            None => head_width,
        };

        let head = Cell { part: Some(Part::Name), text: name, corner: Point { x: 0, y: 0 }, width: head_width, height };
        let mut made = TxnBox { cells: vec![head], small, width, height, ports: BTreeMap::new() };
        made.cells.extend(drafts.into_iter().enumerate().map(|(at, draft)| Cell {
            part: draft.part,
            text: draft.text,
            corner: Point { x: lefts[at % in_row], y: tops[row_of(at)] + lift },
            width: draft.width,
            height: CELL_HEIGHT,
        }));
        made.lay_ports(uses, in_row, rows);
        made
    }

    /// Assigns each edge of a part a port, and a path out of the box.
    fn lay_ports(&mut self, uses: &Uses, in_row: usize, rows: usize) {
        let mut alleys = vec![0; in_row];
        let (mut above, mut below) = (vec![0; rows + 1], vec![0; rows + 1]);
        for (at, cell) in self.cells.iter().enumerate() {
            let Some(part) = cell.part else { continue };
            for side in [Side::Top, Side::Bottom] {
                let count = uses.get(&(part, side)).copied().unwrap_or(0);
                let start = match side {
                    Side::Top => cell.corner.y,
                    Side::Bottom => cell.corner.y + cell.height,
                };
                let border = if side == Side::Top { 0 } else { self.height };
                let mut ways = Vec::with_capacity(count);
                for port in 0..count {
                    // The first ports of names are aligned if their boxes are.
                    let x = match part {
                        Part::Name => cell.corner.x + NAME_PORT + px(port) * PORT_GAP,
                        Part::Mop(_) => cell.corner.x + cell.width * px(port + 1) / px(count + 1),
                    };
                    let mut way = vec![Point { x, y: start }];
                    let row = at.saturating_sub(1) / in_row.max(1);
                    let is_inner = part != Part::Name && if side == Side::Top { row > 0 } else { row + 1 < rows };
                    if is_inner {
                        let column = (at - 1) % in_row;
                        alleys[column] += 1;
                        // Between two rows, edges that lead down use the upper tracks, and edges that lead up the lower
                        // ones, so they never overlap.
                        let tracks = if side == Side::Top { &mut above[row] } else { &mut below[row] };
                        let depth = INNER_ARROW + *tracks * INNER_GAP;
                        *tracks += 1;
                        let y = if side == Side::Top { start - depth } else { start + depth };
                        let alley = cell.corner.x + cell.width + alleys[column] * INNER_GAP;
                        way.extend([Point { x, y }, Point { x: alley, y }, Point { x: alley, y: border }]);
                    } else if start != border {
                        way.push(Point { x, y: border });
                    }
                    ways.push(way);
                }
                self.ports.insert((part, side), ways);
            }
        }
    }

    /// The paths from a side of a part to the border of the box, from left to right.
    pub(super) fn ways(&self, part: Part, side: Side) -> &[Vec<Point>] {
        self.ports.get(&(part, side)).map_or(&[], Vec::as_slice)
    }

    /// Returns true if a cell has an edge.
    pub(super) fn is_used(&self, cell: &Cell) -> bool {
        let used = |side| cell.part.is_some_and(|part| !self.ways(part, side).is_empty());
        used(Side::Top) || used(Side::Bottom)
    }
}

/// The width that the ports of a part need.
fn ports_width(uses: &Uses, part: Part) -> i32 {
    let on = |side| uses.get(&(part, side)).copied().unwrap_or(0);
    px(on(Side::Top).max(on(Side::Bottom)) + 1) * PORT_GAP
}

/// The numbers of edges of a cell that must pass rows above it and below it.
fn inner(draft: &Draft, row: usize, rows: usize, uses: &Uses) -> (usize, usize) {
    let on = |side| draft.part.and_then(|part| uses.get(&(part, side))).copied().unwrap_or(0);
    let up = if row > 0 { on(Side::Top) } else { 0 };
    let down = if row + 1 < rows { on(Side::Bottom) } else { 0 };
    (up, down)
}

/// The cells of the micro-ops to show, with the numbers of omitted ones between them.
fn drafts(op: &WitnessOp, uses: &Uses) -> Vec<Draft> {
    let all = mops::all(op);
    let cell = |part: Option<Part>, text: String| {
        let ports = part.map_or(0, |part| ports_width(uses, part));
        let width = (px(columns(&text)) * CELL_COLUMN_WIDTH + 2 * PADDING).max(ports);
        Draft { part, text, width }
    };
    if all.is_empty() {
        return vec![cell(None, text::datum(&op.value, MOPS_MAX))];
    }
    let used = uses.iter().filter(|(_, count)| **count > 0);
    let mut shown: BTreeSet<usize> =
        used.filter_map(|((part, _), _)| if let Part::Mop(at) = part { Some(*at) } else { None }).collect();
    for at in 0..all.len() {
        if shown.len() >= MOPS_MAX {
            break;
        }
        shown.insert(at);
    }
    let mut drafts = Vec::new();
    let mut next = 0;
    for at in shown {
        if at > next {
            drafts.push(cell(None, format!("... {} more ...", at - next)));
        }
        let is_aside = ![Side::Top, Side::Bottom].iter().any(|side| uses.contains_key(&(Part::Mop(at), *side)));
        drafts.push(cell(Some(Part::Mop(at)), mops::show(&all[at], is_aside)));
        next = at + 1;
    }
    if next < all.len() {
        drafts.push(cell(None, format!("... {} more", all.len() - next)));
    }
    drafts
}

/// The number of cells per row: as many as fit if all rows are aligned in columns.
fn fit(drafts: &[Draft]) -> usize {
    let width = |in_row: usize| -> i32 {
        (0..in_row)
            .map(|column| {
                let cells = drafts.iter().skip(column).step_by(in_row);
                cells.map(|draft| draft.width).max().unwrap_or(0) + GUTTER
            })
            .sum()
    };
    (2..=drafts.len()).rev().find(|in_row| width(*in_row) <= ROW_WIDTH_MAX).unwrap_or(drafts.len().min(1))
}
