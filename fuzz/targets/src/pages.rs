//! Pictures and pages of any text: well-formed, and without hidden characters.

use crate::markup::assert_well_formed;
use histcheck_draw::graph::{self, PlotOptions};
use histcheck_draw::plot::Performance;
use histcheck_draw::reads;
use histcheck_draw::timeline::{self, Bar, BarStatus, Order, Scale, Timeline};
use histcheck_draw::{Limits, draw_all};
use history_core::figure::{Content, Figure, KeyRead, LogCell, LogPart, LogRow};
use history_core::{Client, Datum, OpKind, Report, Step, Verdict, WitnessOp, visible};

/// Numbers and texts taken from bytes; after their end, zeros and empty texts.
struct Source<'a>(&'a [u8]);

impl Source<'_> {
    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    fn below(&mut self, end: usize) -> usize {
        usize::from(self.byte()) % end.max(1)
    }

    fn text(&mut self) -> String {
        let count = self.below(40).min(self.0.len());
        let (text, rest) = self.0.split_at(count);
        self.0 = rest;
        String::from_utf8_lossy(text).into_owned()
    }

    fn client(&mut self) -> Option<Client> {
        match self.below(3) {
            0 => None,
            1 => Some(Client::Number(self.byte().into())),
            _ => Some(Client::Name(self.text())),
        }
    }

    fn datum(&mut self, depth: usize) -> Datum {
        match self.below(if depth > 2 { 7 } else { 11 }) {
            0 => Datum::Nil,
            1 => Datum::Int(self.byte().into()),
            2 => Datum::Char(self.text().chars().next().unwrap_or('x')),
            3 => Datum::Keyword(self.text()),
            4 => Datum::Symbol(self.text()),
            5 | 6 => Datum::Str(self.text()),
            7 => Datum::Tagged(self.text(), Box::new(self.datum(depth + 1))),
            8 => Datum::Vector((0..self.below(4)).map(|_| self.datum(depth + 1)).collect()),
            9 => Datum::Map((0..self.below(3)).map(|_| (self.datum(depth + 1), self.datum(depth + 1))).collect()),
            _ => {
                let f = ["append", "r", "w"][self.below(3)];
                let mop = vec![Datum::keyword(f), self.datum(depth + 1), self.datum(depth + 1)];
                Datum::Vector(vec![Datum::Vector(mop)])
            }
        }
    }
}

fn assert_shown(text: &str) {
    let hidden = text.chars().find(|c| *c != '\n' && visible::is_hidden(*c));
    assert_eq!(hidden, None, "{text:?}");
}

fn picture(source: &mut Source<'_>) -> usize {
    let kinds = [OpKind::Ok, OpKind::Info, OpKind::Fail, OpKind::Invoke];
    let op = |source: &mut Source<'_>| WitnessOp {
        name: source.text(),
        index: source.byte().into(),
        process: source.client(),
        kind: kinds[source.below(4)],
        time_ns: None,
        value: source.datum(0),
    };
    let ops: Vec<WitnessOp> = (0..source.below(6)).map(|_| op(source)).collect();
    let step = |source: &mut Source<'_>| {
        let (from, to) = (source.below(ops.len() + 1), source.below(ops.len() + 1));
        let relation = [Some("ww"), Some("wr"), Some("rw"), None][source.below(4)];
        let relation = relation.map_or_else(|| source.text(), str::to_owned);
        let (key, value) = (source.datum(1), source.datum(1));
        Step::new(from, to, relation, source.text()).with_versions(Some(key), Some(value), None)
    };
    let steps: Vec<Step> = (0..source.below(8)).map(|_| step(source)).collect();
    let options = PlotOptions { title: source.text(), ..PlotOptions::default() };
    let Ok(svg) = graph::svg(&ops, &steps, &options) else { return 0 };
    assert_well_formed(&svg, false);
    assert_shown(&svg);
    svg.len()
}

fn reads(source: &mut Source<'_>) -> usize {
    let read = |source: &mut Source<'_>| KeyRead {
        index: source.byte().into(),
        process: source.client(),
        kind: OpKind::Ok,
        list: (0..source.below(5)).map(|_| source.datum(1)).collect(),
    };
    let reads: Vec<KeyRead> = (0..source.below(5)).map(|_| read(source)).collect();
    let options = PlotOptions { title: source.text(), ..PlotOptions::default() };
    let page = reads::html(&source.datum(1), &reads, &options);
    assert_well_formed(&page, true);
    assert_shown(&page);
    page.len()
}

fn timeline(source: &mut Source<'_>) -> usize {
    let rows: Vec<String> = (0..1 + source.below(4)).map(|_| source.text()).collect();
    let statuses = [BarStatus::Placed, BarStatus::Pending, BarStatus::Refused, BarStatus::After, BarStatus::Failed];
    let bar = |source: &mut Source<'_>| {
        let start = i64::from(source.byte());
        Bar {
            row: source.below(rows.len()) as u32,
            index: source.byte().into(),
            completed: None,
            start,
            end: (source.below(2) == 0).then(|| start + i64::from(source.byte())),
            label: source.text(),
            detail: source.text(),
            status: statuses[source.below(5)],
        }
    };
    let bars: Vec<Bar> = (0..source.below(6)).map(|_| bar(source)).collect();
    let steps = (0..bars.len() as u32).map(|bar| timeline::Step { bar, state: source.text() }).collect();
    let orders = vec![Order { steps, refusal: source.text(), ..Order::default() }];
    let timeline = Timeline {
        title: source.text(),
        key: Some(source.text()),
        summary: source.text(),
        scale: if source.below(2) == 0 { Scale::Nanoseconds } else { Scale::Positions },
        extent: None,
        rows,
        bars,
        orders,
        note: Some(source.text()),
    };
    let content = || Content::Timeline(Box::new(timeline.clone()));
    let mut report = Report::new("fuzzed", Verdict::Unknown);
    report.figures =
        vec![Figure { name: "a".into(), content: content() }, Figure { name: "b".into(), content: content() }];
    let drawn = draw_all(&mut report, &Limits::default(), &Performance::default());
    let pages: Vec<_> = drawn.iter().filter(|drawing| drawing.path.ends_with(".html")).collect();
    for page in &pages {
        assert_well_formed(&page.content, true);
        assert_shown(&page.content);
    }
    pages.iter().map(|page| page.content.len()).sum()
}

fn log(source: &mut Source<'_>) -> usize {
    let offset = |source: &mut Source<'_>| [i64::MIN, -1, 0, 1, 2, 7, i64::MAX][source.below(7)];
    let kinds = [OpKind::Ok, OpKind::Info, OpKind::Fail, OpKind::Invoke];
    let row = |source: &mut Source<'_>| {
        let cell = |source: &mut Source<'_>| {
            let (offset, is_sent) = (offset(source), source.below(2) == 0);
            LogCell { offset, is_sent, message: source.text() }
        };
        let (name, kind) = (source.text(), kinds[source.below(4)]);
        LogRow { name, kind, cells: (0..source.below(5)).map(|_| cell(source)).collect() }
    };
    let offsets = (0..source.below(20)).map(|_| offset(source)).collect();
    let part = LogPart { title: source.text(), offsets, rows: (0..source.below(5)).map(|_| row(source)).collect() };
    let content = Content::Log(Box::new(part));
    let svg = histcheck_draw::draw(&Figure { name: "log/0".into(), content }, &Limits::default()).content;
    assert_well_formed(&svg, false);
    assert_shown(&svg);
    svg.len()
}

/// Any bytes as the texts of a witness, of reads, of a timeline and of a part of a log.
pub fn pages(data: &[u8]) -> String {
    let source = &mut Source(data);
    let sizes = match source.below(4) {
        0 => [picture(source), 0, 0, 0],
        1 => [0, reads(source), 0, 0],
        2 => [0, 0, timeline(source), 0],
        _ => [0, 0, 0, log(source)],
    };
    format!("{:?}", sizes.map(|size| size / 16))
}
