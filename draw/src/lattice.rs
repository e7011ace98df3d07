//! The consistency models as a picture: each above those it implies, and which of them a history rules out.
//!
//! Layers are lengths of the longest path from above, and the order within a layer comes from the means of neighbours,
//! as in Sugiyama, Tagawa, Toda, "Methods for Visual Understanding of Hierarchical System Structures" (1981). An edge
//! that crosses a layer gets a position in it.

use crate::text;
use history_core::{About, AboutLevel, Report};
use maud::{Markup, html};

const NODE: usize = 28;
const LAYER: usize = 64;
const BETWEEN: usize = 14;
const PADDING: usize = 8;
const LETTER_TENTHS: usize = 68;
/// The width of an edge that crosses a layer.
const CROSSING: usize = 6;
/// The maximum number of levels of one checker: a plugin may have any number.
const LEVELS_MAX: usize = 200;
const NAME_CHARS_MAX: usize = 60;
const SUMMARY_CHARS_MAX: usize = 400;
/// The number of sweeps over the layers. Further sweeps change nothing for the built-in levels.
const SWEEPS: usize = 8;

/// The result of a history for a model.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standing {
    /// One of the weakest levels that are ruled out.
    Not,
    /// A level that is stronger than one of these.
    AlsoNot,
    /// The level is neither known to hold nor ruled out.
    Unknown,
    /// The level is known to hold.
    Holds,
}

impl Standing {
    /// The class of its elements, for a style sheet.
    pub fn class(self) -> &'static str {
        match self {
            Standing::Not => "not",
            Standing::AlsoNot => "also-not",
            Standing::Unknown => "unknown",
            Standing::Holds => "holds",
        }
    }

    /// A mark for the result, without colour.
    pub fn mark(self) -> &'static str {
        match self {
            Standing::Not | Standing::AlsoNot => "\u{2715}",
            Standing::Unknown => "?",
            Standing::Holds => "\u{25cb}",
        }
    }

    /// The meaning of the result.
    pub fn words(self) -> &'static str {
        match self {
            Standing::Not => "ruled out by the anomalies found",
            Standing::AlsoNot => "ruled out, because a weaker level is",
            Standing::Unknown => "not checked or not requested: may hold or not",
            Standing::Holds => "holds, as far as this history shows",
        }
    }
}

/// The levels of a checker, and the result of a history for each.
#[derive(Debug)]
pub struct Lattice<'a> {
    /// The levels that some anomaly could rule out. The checkers do not decide the others.
    levels: Vec<&'a AboutLevel>,
    standings: Vec<Standing>,
    /// For each level, whether it implies each other one, in any number of steps.
    implies: Vec<Vec<bool>>,
}

impl<'a> Lattice<'a> {
    /// The levels of a checker, and the result of its report for each.
    pub fn of(about: &'a About, report: &Report) -> Lattice<'a> {
        let all: Vec<&AboutLevel> = about.levels.iter().take(LEVELS_MAX).collect();
        let implies = closure(&all);
        let forbids = |at: usize| !all[at].forbids.is_empty();
        let matters = |at: &usize| forbids(*at) || (0..all.len()).any(|weaker| implies[*at][weaker] && forbids(weaker));
        let kept: Vec<usize> = (0..all.len()).filter(matters).collect();
        let levels: Vec<&AboutLevel> = kept.iter().map(|at| all[*at]).collect();
        Lattice {
            standings: levels.iter().map(|level| standing(report, level)).collect(),
            implies: kept.iter().map(|a| kept.iter().map(|b| implies[*a][*b]).collect()).collect(),
            levels,
        }
    }

    /// Returns true if anything is known of any level.
    pub fn says_something(&self) -> bool {
        self.standings.iter().any(|standing| *standing != Standing::Unknown)
    }

    /// The names of the levels with this result.
    pub fn names(&self, wanted: Standing) -> Vec<String> {
        let all = self.levels.iter().zip(&self.standings);
        all.filter(|(_, standing)| **standing == wanted)
            .map(|(level, _)| text::shown(&level.name, NAME_CHARS_MAX))
            .collect()
    }

    /// The names of the strongest levels that hold: no other level that holds implies them.
    pub fn strongest(&self) -> Vec<String> {
        let holds = |at: usize| self.standings[at] == Standing::Holds;
        // Equal levels imply each other.
        let is_above = |a: usize, b: usize| holds(a) && self.implies[a][b] && !self.implies[b][a];
        let all = 0..self.levels.len();
        all.clone()
            .filter(|at| holds(*at) && !all.clone().any(|other| is_above(other, *at)))
            .map(|at| text::shown(&self.levels[at].name, NAME_CHARS_MAX))
            .collect()
    }

    /// Draws the levels.
    pub fn draw(&self) -> Markup {
        let layout = Layout::new(self);
        let width = |node: usize| layout.width(node);
        let leftmost = (0..layout.nodes.len()).map(|at| layout.nodes[at].x - width(at) / 2).min().unwrap_or(0);
        let shift = leftmost - PADDING.min(leftmost);
        let x = |node: usize| layout.nodes[node].x - shift;
        let right = (0..layout.nodes.len()).map(|at| x(at) + width(at) / 2).max().unwrap_or(0) + PADDING;
        let height = 2 * PADDING + layout.layers.len().saturating_sub(1) * LAYER + NODE;
        let y = |node: usize| PADDING + layout.nodes[node].layer * LAYER;
        let names = |wanted: Standing| {
            let names = self.names(wanted);
            if names.is_empty() { "none".to_owned() } else { names.join(", ") }
        };
        html! {
            svg xmlns="http://www.w3.org/2000/svg" class="lattice" role="img" width=(right) height=(height) viewBox={ "0 0 " (right) " " (height) } {
                title { "Consistency levels, each above those that it implies" }
                desc { "Ruled out: " (names(Standing::Not)) ". With them: " (names(Standing::AlsoNot)) ". Not checked: " (names(Standing::Unknown)) ". Hold: " (names(Standing::Holds)) "." }
                @for (from, to) in &layout.edges {
                    @let (x1, x2) = (x(*from), x(*to));
                    @let (y1, y2) = (y(*from) + NODE, y(*to));
                    @let bend = (y2 - y1) / 2;
                    path d={ "M" (x1) " " (y1) "C" (x1) " " (y1 + bend) " " (x2) " " (y2 - bend) " " (x2) " " (y2) } {}
                    @if layout.nodes[*to].level.is_none() { path d={ "M" (x2) " " (y2) "V" (y2 + NODE) } {} }
                }
                @for (at, node) in layout.nodes.iter().enumerate() {
                    @if let Some(level) = node.level {
                        @let (standing, name) = (self.standings[level], text::shown(&self.levels[level].name, NAME_CHARS_MAX));
                        g class=(standing.class()) {
                            title { (name) ": " (standing.words()) ". " (text::shown(&self.levels[level].summary, SUMMARY_CHARS_MAX)) }
                            rect x=(x(at) - width(at) / 2) y=(y(at)) width=(width(at)) height=(NODE) rx="6" {}
                            text x=(x(at)) y=(y(at) + NODE / 2 + 4) text-anchor="middle" { (standing.mark()) " " (name) }
                        }
                    }
                }
            }
        }
    }
}

/// For each two levels, whether the first implies the second, in any number of steps. Levels that imply each other are
/// left out.
fn closure(levels: &[&AboutLevel]) -> Vec<Vec<bool>> {
    let mut implies: Vec<Vec<bool>> =
        levels.iter().map(|a| levels.iter().map(|b| a.implies.contains(&b.name)).collect()).collect();
    for between in 0..levels.len() {
        for a in 0..levels.len() {
            for b in 0..levels.len() {
                implies[a][b] |= implies[a][between] && implies[between][b];
            }
        }
    }
    // Levels that imply each other are drawn side by side. Without these pairs the rest is a partial order.
    let pairs = (0..levels.len()).flat_map(|a| (0..=a).map(move |b| (a, b)));
    for (a, b) in pairs.filter(|(a, b)| implies[*a][*b] && implies[*b][*a]).collect::<Vec<_>>() {
        (implies[a][b], implies[b][a]) = (false, false);
    }
    implies
}

fn standing(report: &Report, level: &AboutLevel) -> Standing {
    if report.not.contains(&level.name) {
        Standing::Not
    } else if report.also_not.contains(&level.name) {
        Standing::AlsoNot
    } else if report.not_checked.contains(&level.name) {
        Standing::Unknown
    } else {
        Standing::Holds
    }
}

/// A level, or the position where an edge crosses a layer.
struct Node {
    level: Option<usize>,
    layer: usize,
    /// The x of its center.
    x: usize,
}

struct Layout {
    nodes: Vec<Node>,
    /// The edges, each from one layer to the next.
    edges: Vec<(usize, usize)>,
    /// The nodes of each layer from left to right.
    layers: Vec<Vec<usize>>,
    /// The width of each level's box.
    widths: Vec<usize>,
}

impl Layout {
    fn new(lattice: &Lattice<'_>) -> Layout {
        let count = lattice.levels.len();
        let implies = |a: usize, b: usize| lattice.implies[a][b];
        // Omits implications that follow from others.
        let direct =
            |a: usize, b: usize| implies(a, b) && !(0..count).any(|between| implies(a, between) && implies(between, b));
        let direct: Vec<(usize, usize)> =
            (0..count).flat_map(|a| (0..count).map(move |b| (a, b))).filter(|(a, b)| direct(*a, *b)).collect();
        let mut layer = vec![0; count];
        // Repeated as often as the longest path may require.
        for _ in 0..count {
            for (above, below) in &direct {
                layer[*below] = layer[*below].max(layer[*above] + 1);
            }
        }
        let mut nodes: Vec<Node> =
            layer.iter().enumerate().map(|(level, layer)| Node { level: Some(level), layer: *layer, x: 0 }).collect();
        let mut edges = Vec::new();
        for (above, below) in direct {
            let mut from = above;
            for crossed in layer[above] + 1..layer[below] {
                nodes.push(Node { level: None, layer: crossed, x: 0 });
                edges.push((from, nodes.len() - 1));
                from = nodes.len() - 1;
            }
            edges.push((from, below));
        }
        let width = |level: &&AboutLevel| {
            (text::shown(&level.name, NAME_CHARS_MAX).chars().count() + 2) * LETTER_TENTHS / 10 + 20
        };
        let deepest = nodes.iter().map(|node| node.layer).max().unwrap_or(0);
        let in_layer = |wanted: usize| (0..nodes.len()).filter(|at| nodes[*at].layer == wanted).collect();
        let layers = (0..=deepest).map(in_layer).collect();
        let widths = lattice.levels.iter().map(width).collect();
        let mut layout = Layout { nodes, edges, layers, widths };
        for sweep in 0..SWEEPS {
            layout.sort(sweep % 2 == 0);
        }
        layout.place();
        layout
    }

    fn width(&self, node: usize) -> usize {
        self.nodes[node].level.map_or(CROSSING, |level| self.widths[level])
    }

    /// Neighbours of a node in the layer above or below it.
    fn neighbours(&self, node: usize, above: bool) -> impl Iterator<Item = usize> {
        let other = move |(a, b): &(usize, usize)| match above {
            true if *b == node => Some(*a),
            false if *a == node => Some(*b),
            _ => None,
        };
        self.edges.iter().filter_map(other)
    }

    /// Sorts each layer by the means of its neighbours' positions.
    fn sort(&mut self, downwards: bool) {
        let mut order: Vec<usize> = (0..self.layers.len()).collect();
        if !downwards {
            order.reverse();
        }
        let mut place = vec![0_usize; self.nodes.len()];
        for layer in &self.layers {
            for (at, node) in layer.iter().enumerate() {
                place[*node] = at * 1000 / layer.len().max(1);
            }
        }
        for layer in order {
            let mean = |node: usize| {
                let places: Vec<usize> = self.neighbours(node, downwards).map(|other| place[other]).collect();
                let sum: usize = places.iter().sum();
                if places.is_empty() { place[node] } else { sum / places.len() }
            };
            let mut keyed: Vec<(usize, usize)> = self.layers[layer].iter().map(|node| (mean(*node), *node)).collect();
            keyed.sort_by_key(|(mean, _)| *mean);
            self.layers[layer] = keyed.into_iter().map(|(_, node)| node).collect();
            let len = self.layers[layer].len().max(1);
            for (at, node) in self.layers[layer].iter().enumerate() {
                place[*node] = at * 1000 / len;
            }
        }
    }

    /// Positions each node as near to its neighbours as the others in its layer allow.
    fn place(&mut self) {
        for layer in &self.layers {
            let mut x = PADDING;
            for node in layer {
                let width = self.nodes[*node].level.map_or(CROSSING, |level| self.widths[level]);
                self.nodes[*node].x = x + width / 2;
                x += width + BETWEEN;
            }
        }
        for sweep in 0..SWEEPS {
            for at in 0..self.layers.len() {
                let layer = self.layers[at].clone();
                let wanted: Vec<usize> = layer.iter().map(|node| self.wanted(*node, sweep % 2 == 0)).collect();
                // The preferred positions with sufficient gaps: the mean of moving nodes to the right and of moving
                // them to the left.
                let gap = |a: usize, b: usize| usize::midpoint(self.width(a), self.width(b)) + BETWEEN;
                let mut right = wanted.clone();
                for i in 1..layer.len() {
                    right[i] = right[i].max(right[i - 1] + gap(layer[i - 1], layer[i]));
                }
                let mut left = wanted.clone();
                for i in (0..layer.len().saturating_sub(1)).rev() {
                    left[i] = left[i].min(left[i + 1].saturating_sub(gap(layer[i], layer[i + 1])));
                }
                let mut x: Vec<usize> = right.iter().zip(&left).map(|(a, b)| usize::midpoint(*a, *b)).collect();
                for i in 0..layer.len() {
                    let least = if i == 0 {
                        PADDING + self.width(layer[0]) / 2
                    } else {
                        x[i - 1] + gap(layer[i - 1], layer[i])
                    };
                    x[i] = x[i].max(least);
                }
                for (node, x) in layer.iter().zip(x) {
                    self.nodes[*node].x = x;
                }
            }
        }
    }

    fn wanted(&self, node: usize, above: bool) -> usize {
        let mut places: Vec<usize> = self.neighbours(node, above).map(|other| self.nodes[other].x).collect();
        if places.is_empty() {
            places = self.neighbours(node, !above).map(|other| self.nodes[other].x).collect();
        }
        if places.is_empty() { self.nodes[node].x } else { places.iter().sum::<usize>() / places.len() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use history_core::{Subject, Verdict};

    /// Levels with the levels that each implies; each forbids some anomaly.
    fn about(levels: &[(&'static str, &[&'static str])]) -> About {
        let mut about = About::new(Subject::Transactions);
        about.levels = levels
            .iter()
            .map(|(name, implies)| {
                let mut level = AboutLevel::new(*name, "A level.");
                level.implies = implies.iter().map(|name| (*name).into()).collect();
                level.forbids = vec!["G0".into()];
                level
            })
            .collect();
        about
    }

    fn assert_well_placed(about: &About) {
        let report = Report::new("x", Verdict::Valid);
        let lattice = Lattice::of(about, &report);
        let layout = Layout::new(&lattice);
        for layer in &layout.layers {
            for pair in layer.windows(2) {
                let [a, b] = [pair[0], pair[1]];
                let right = layout.nodes[a].x + layout.width(a) / 2;
                assert!(right < layout.nodes[b].x - layout.width(b) / 2 + 2, "{a} and {b} overlap");
            }
        }
        for (a, implied) in lattice.implies.iter().enumerate() {
            for (b, implies) in implied.iter().enumerate() {
                assert!(!implies || layout.nodes[a].layer < layout.nodes[b].layer, "{a} and {b}");
            }
        }
        assert!(layout.edges.iter().all(|(a, b)| layout.nodes[*a].layer + 1 == layout.nodes[*b].layer));
    }

    #[test]
    fn the_strongest_levels_are_those_without_a_stronger_one() {
        let about = about(&[("ru", &[]), ("rc", &["ru"]), ("si", &["rc"]), ("rr", &["rc"]), ("ser", &["si", "rr"])]);
        let strongest = |not: &[&'static str], also_not: &[&'static str], open: &[&'static str]| {
            let mut report = Report::new("x", Verdict::Unknown);
            report.not = not.iter().map(|name| (*name).into()).collect();
            report.also_not = also_not.iter().map(|name| (*name).into()).collect();
            report.not_checked = open.iter().map(|name| (*name).into()).collect();
            Lattice::of(&about, &report).strongest()
        };
        assert_eq!(strongest(&[], &[], &[]), ["ser"]);
        assert_eq!(strongest(&["ser"], &[], &[]), ["si", "rr"]);
        assert_eq!(strongest(&["si"], &["ser"], &["rr"]), ["rc"], "open levels are not reported to hold");
        assert_eq!(strongest(&["ru"], &["rc", "si", "rr", "ser"], &[]), [""; 0]);
    }

    #[test]
    fn every_level_has_room_and_is_above_the_levels_it_implies() {
        assert_well_placed(&about(&[
            ("a", &["b", "c"]),
            ("b", &["d"]),
            ("c", &[]),
            ("d", &["e"]),
            ("e", &[]),
            ("f", &["e"]),
        ]));
        assert_well_placed(&history_core::Checker::about(&check_elle::list_append::ListAppend::default()));
    }

    #[test]
    fn ruled_out_levels_are_also_listed_as_text() {
        let about = about(&[
            ("strict", &["serial"]),
            ("serial", &["prefix", "committed"]),
            ("prefix", &[]),
            ("committed", &[]),
        ]);
        let mut report = Report::new("x", Verdict::Invalid);
        report.not = vec!["serial".into()];
        report.also_not = vec!["strict".into()];
        report.not_checked = vec!["prefix".into()];
        let svg = Lattice::of(&about, &report).draw().into_string();
        assert!(svg.contains("<g class=\"not\"><title>serial: ruled out by the anomalies found."), "{svg}");
        assert!(svg.contains("<g class=\"also-not\"><title>strict: ruled out, because a weaker level is"), "{svg}");
        assert!(svg.contains("Ruled out: serial. With them: strict. Not checked: prefix. Hold: "), "{svg}");
        assert!(svg.contains("<g class=\"unknown\"><title>prefix: not checked"), "{svg}");
        assert!(svg.contains("<g class=\"holds\"><title>committed: holds"), "{svg}");
    }

    #[test]
    fn levels_that_imply_each_other_are_drawn_nevertheless() {
        let about = about(&[("a", &["b"]), ("b", &["a"]), ("\u{202e}c", &["c"])]);
        let svg = Lattice::of(&about, &Report::new("x", Verdict::Valid)).draw().into_string();
        assert_eq!(svg.matches("<rect").count(), 3, "{svg}");
        assert!(!svg.contains('\u{202e}'), "{svg}");
    }
}
