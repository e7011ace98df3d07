//! The models of consistency as a picture: each above those it implies, and which of them a history rules out.
//!
//! Layers are lengths of the longest path from above, and the order within a layer comes from the means of neighbours, as in
//! Sugiyama, Tagawa, Toda, "Methods for Visual Understanding of Hierarchical System Structures" (1981). Edges that cross
//! layers get a place in each.

use check_elle::model::{Model, ModelSet};
use history_core::Report;
use maud::{Markup, html};

const NODE: usize = 28;
const LAYER: usize = 64;
const BETWEEN: usize = 14;
const PADDING: usize = 8;
const LETTER_TENTHS: usize = 68;
/// Sweeps over the layers: more change nothing in this table.
const SWEEPS: usize = 8;

/// How a model stands to a history.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Standing {
    /// One of the weakest that are ruled out.
    Not,
    /// A stronger one.
    AlsoNot,
    /// Neither is known of it.
    Unknown,
    /// It is known to hold.
    Holds,
}

impl Standing {
    pub(super) fn class(self) -> &'static str {
        match self {
            Standing::Not => "not",
            Standing::AlsoNot => "also-not",
            Standing::Unknown => "unknown",
            Standing::Holds => "holds",
        }
    }

    pub(super) fn mark(self) -> &'static str {
        match self {
            Standing::Not | Standing::AlsoNot => "\u{2715}",
            Standing::Unknown => "?",
            Standing::Holds => "\u{25cb}",
        }
    }

    pub(super) fn words(self) -> &'static str {
        match self {
            Standing::Not => "ruled out by what was found",
            Standing::AlsoNot => "ruled out with it, being stronger",
            Standing::Unknown => "not checked, or not asked for: may hold or not",
            Standing::Holds => "holds, as far as this history shows",
        }
    }
}

/// The models that some anomaly could rule out: of the others these checkers know nothing.
pub(super) fn models() -> impl Iterator<Item = Model> {
    ModelSet::ALL.iter().filter(|model| !model.prohibited().is_empty())
}

pub(super) fn standing(report: &Report, model: Model) -> Standing {
    if report.not.iter().any(|name| name == model.name()) {
        Standing::Not
    } else if report.also_not.iter().any(|name| name == model.name()) {
        Standing::AlsoNot
    } else if report.not_checked.iter().any(|name| name == model.name()) {
        Standing::Unknown
    } else {
        Standing::Holds
    }
}

/// A model, or the place where an edge crosses a layer.
struct Node {
    model: Option<Model>,
    layer: usize,
    /// The middle.
    x: usize,
}

struct Layout {
    nodes: Vec<Node>,
    /// From above to the next layer.
    edges: Vec<(usize, usize)>,
    /// Nodes from left to right.
    layers: Vec<Vec<usize>>,
}

fn width(node: &Node) -> usize {
    node.model.map_or(6, |model| (model.name().len() + 2) * LETTER_TENTHS / 10 + 20)
}

impl Layout {
    fn new() -> Layout {
        let models: Vec<Model> = models().collect();
        let implies = |a: &Model, b: &Model| a.weaker().contains(*b);
        // Without those that follow from others.
        let direct = |a: &Model, b: &Model| {
            implies(a, b) && !models.iter().any(|between| implies(a, between) && implies(between, b))
        };
        let mut layer = vec![0; models.len()];
        // As often as the longest path is long.
        for _ in 0..models.len() {
            for (above, a) in models.iter().enumerate() {
                for (below, b) in models.iter().enumerate() {
                    if direct(a, b) {
                        layer[below] = layer[below].max(layer[above] + 1);
                    }
                }
            }
        }
        let mut nodes: Vec<Node> =
            models.iter().zip(&layer).map(|(model, layer)| Node { model: Some(*model), layer: *layer, x: 0 }).collect();
        let mut edges = Vec::new();
        for (above, a) in models.iter().enumerate() {
            for (below, b) in models.iter().enumerate().filter(|(_, b)| direct(a, b)) {
                let mut from = above;
                for crossed in layer[above] + 1..layer[below] {
                    nodes.push(Node { model: None, layer: crossed, x: 0 });
                    edges.push((from, nodes.len() - 1));
                    from = nodes.len() - 1;
                }
                debug_assert!(implies(a, b));
                edges.push((from, below));
            }
        }
        let deepest = nodes.iter().map(|node| node.layer).max().unwrap_or(0);
        let in_layer = |wanted: usize| (0..nodes.len()).filter(|at| nodes[*at].layer == wanted).collect();
        let layers = (0..=deepest).map(in_layer).collect();
        let mut layout = Layout { nodes, edges, layers };
        for sweep in 0..SWEEPS {
            layout.sort(sweep % 2 == 0);
        }
        layout.place();
        layout
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

    /// Puts each layer in the order of the means of its neighbours' places.
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

    /// Gives each node a place: as near to its neighbours as the others in its layer allow.
    fn place(&mut self) {
        for layer in &self.layers {
            let mut x = PADDING;
            for node in layer {
                let width = width(&self.nodes[*node]);
                self.nodes[*node].x = x + width / 2;
                x += width + BETWEEN;
            }
        }
        for sweep in 0..SWEEPS {
            for at in 0..self.layers.len() {
                let layer = self.layers[at].clone();
                let wanted: Vec<usize> = layer.iter().map(|node| self.wanted(*node, sweep % 2 == 0)).collect();
                // What is wanted, with enough room between: the mean of pushing to the right and pushing to the left.
                let gap = |a: usize, b: usize| usize::midpoint(width(&self.nodes[a]), width(&self.nodes[b])) + BETWEEN;
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
                        PADDING + width(&self.nodes[layer[0]]) / 2
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

/// Draws the lattice for a report.
pub(super) fn draw(report: &Report) -> Markup {
    let layout = Layout::new();
    let leftmost = layout.nodes.iter().map(|node| node.x - width(node) / 2).min().unwrap_or(0);
    let shift = leftmost - PADDING.min(leftmost);
    let x = |node: usize| layout.nodes[node].x - shift;
    let right = (0..layout.nodes.len()).map(|at| x(at) + width(&layout.nodes[at]) / 2).max().unwrap_or(0) + PADDING;
    let height = 2 * PADDING + (layout.layers.len() - 1) * LAYER + NODE;
    let y = |node: usize| PADDING + layout.nodes[node].layer * LAYER;
    let names = |wanted: Standing| {
        let names: Vec<&str> = models().filter(|model| standing(report, *model) == wanted).map(Model::name).collect();
        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
    };
    html! {
        svg xmlns="http://www.w3.org/2000/svg" class="lattice" role="img" width=(right) height=(height) viewBox={ "0 0 " (right) " " (height) } {
            title { "Models of consistency, each above those that it implies" }
            desc { "Ruled out: " (names(Standing::Not)) ". With them: " (names(Standing::AlsoNot)) ". Not checked: " (names(Standing::Unknown)) ". Hold: " (names(Standing::Holds)) "." }
            @for (from, to) in &layout.edges {
                @let (x1, x2) = (x(*from), x(*to));
                @let (y1, y2) = (y(*from) + NODE, y(*to));
                @let bend = (y2 - y1) / 2;
                path d={ "M" (x1) " " (y1) "C" (x1) " " (y1 + bend) " " (x2) " " (y2 - bend) " " (x2) " " (y2) } {}
                @if layout.nodes[*to].model.is_none() { path d={ "M" (x2) " " (y2) "V" (y2 + NODE) } {} }
            }
            @for (at, node) in layout.nodes.iter().enumerate() {
                @if let Some(model) = node.model {
                    @let standing = standing(report, model);
                    g class=(standing.class()) {
                        title { (model.name()) ": " (standing.words()) ". " (model.summary()) }
                        rect x=(x(at) - width(node) / 2) y=(y(at)) width=(width(node)) height=(NODE) rx="6" {}
                        text x=(x(at)) y=(y(at) + NODE / 2 + 4) text-anchor="middle" { (standing.mark()) " " (model.name()) }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use history_core::Verdict;

    #[test]
    fn every_model_has_room_and_stands_above_what_it_implies() {
        let layout = Layout::new();
        for layer in &layout.layers {
            for pair in layer.windows(2) {
                let [a, b] = [&layout.nodes[pair[0]], &layout.nodes[pair[1]]];
                assert!(a.x + width(a) / 2 < b.x - width(b) / 2 + 2, "{:?} and {:?} overlap", a.model, b.model);
            }
        }
        let layer = |model: Model| layout.nodes.iter().find(|node| node.model == Some(model)).map(|node| node.layer);
        for model in models() {
            for weaker in models().filter(|other| model.weaker().contains(*other)) {
                assert!(layer(model) < layer(weaker), "{model} and {weaker}");
            }
        }
        assert!(layout.edges.iter().all(|(a, b)| layout.nodes[*a].layer + 1 == layout.nodes[*b].layer));
    }

    #[test]
    fn what_is_ruled_out_is_told_in_words_too() {
        let mut report = Report::new("list-append", Verdict::Invalid);
        report.not = vec!["serializable".into()];
        report.also_not = vec!["strict-serializable".into()];
        report.not_checked = vec!["prefix".into()];
        let svg = draw(&report).into_string();
        assert!(svg.contains("<g class=\"not\"><title>serializable: ruled out by what was found."), "{svg}");
        assert!(svg.contains("<g class=\"also-not\"><title>strict-serializable: ruled out with it"), "{svg}");
        assert!(
            svg.contains("Ruled out: serializable. With them: strict-serializable. Not checked: prefix. Hold: "),
            "{svg}"
        );
        assert!(svg.contains("<g class=\"unknown\"><title>prefix: not checked"), "{svg}");
        assert!(svg.contains("<g class=\"holds\"><title>read-committed: holds"), "{svg}");
    }
}
