//! The page of reads.

use super::rows::{Column, Rows};
use super::*;
use history_core::OpKind;

fn read(index: u64, list: &[i64]) -> KeyRead {
    let list = list.iter().map(|element| Datum::Int(*element)).collect();
    KeyRead { index, process: Some(4.into()), kind: OpKind::Ok, list }
}

fn page(reads: &[KeyRead], max_plot_bytes: usize) -> String {
    html(&7.into(), reads, &PlotOptions { max_plot_bytes, ..PlotOptions::default() })
}

fn lists(rows: &Rows<'_>) -> Vec<Vec<Datum>> {
    let list = |row: &Row| row.elements.iter().map(|element| rows.element(*element).clone()).collect();
    rows.all.iter().map(list).collect()
}

#[test]
fn the_longest_list_is_first_then_branches_then_prefixes() {
    let reads =
        [read(0, &[1, 3]), read(1, &[9]), read(2, &[1]), read(3, &[1, 2, 4]), read(4, &[1, 3, 5]), read(5, &[9])];
    let rows = Rows::new(&reads);
    let expected: [&[i64]; 5] = [&[1, 2, 4], &[1, 3, 5], &[9], &[1], &[1, 3]];
    assert_eq!(rows.branches, 3);
    assert_eq!(lists(&rows), expected.map(|list| list.iter().map(|element| Datum::Int(*element)).collect::<Vec<_>>()));
    assert_eq!(rows.all[2].reads, [1, 5]);
    let forks: Vec<_> = rows.forks.iter().copied().collect();
    assert_eq!(forks, [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (4, 1)]);
}

#[test]
fn elements_on_which_all_agree_are_only_counted() {
    let long: Vec<i64> = (0..50).collect();
    let mut other = long.clone();
    other[40] = 99;
    let reads = [read(0, &long), read(1, &other)];
    let columns = Rows::new(&reads).columns();
    let shown = (38..=42).map(Column::At);
    let mut expected = vec![Column::Gap { from: 0, to: 38 }];
    expected.extend(shown);
    expected.extend([Column::Gap { from: 43, to: 49 }, Column::At(49)]);
    assert_eq!(columns, expected);
}

#[test]
fn the_page_marks_the_positions_where_reads_differ() {
    let page = page(&[read(3, &[1, 2, 5]), read(6, &[1, 4, 5]), read(8, &[1])], 65_536);
    assert!(page.contains("<h1>Reads of key 7</h1>"));
    assert!(page.contains("3 reads saw 3 distinct lists"));
    let row = |start: &str| {
        let (_, after) = page.split_once(start).unwrap();
        let (_, cells) = after.split_once("</th>").unwrap();
        format!("{}</tr>", cells.split("</tr>").next().unwrap())
    };
    let same = "<td class=\"same\">1</td>";
    assert_eq!(row("index 3,"), format!("{same}<td class=\"fork\">2</td><td class=\"same\">5</td></tr>"));
    assert_eq!(row("index 6,"), format!("{same}<td class=\"fork\">4</td><td>5</td></tr>"));
    assert_eq!(row("index 8,"), format!("{same}<td></td><td></td></tr>"));
}

#[test]
fn reads_that_agree_are_reported_to_agree() {
    assert!(page(&[read(0, &[1]), read(1, &[1, 2])], 65_536).contains("they agree"));
    assert!(page(&[], 65_536).contains("0 reads saw 0 distinct lists"));
}

#[test]
fn a_page_is_bounded_and_states_the_omitted_parts() {
    let reads: Vec<KeyRead> = (0..500)
        .map(|at| read(at, &(0..200).map(|x| (x * (at.cast_signed() + 3)) % 211).collect::<Vec<_>>()))
        .collect();
    let whole = page(&reads, usize::MAX);
    assert!(whole.contains("<p>111 of 211 distinct lists were omitted.</p>"), "{}", &whole[whole.len() - 200..]);
    let bounded = page(&reads, 30_000);
    assert!(bounded.len() <= 30_000 && bounded.len() > 20_000, "{}", bounded.len());
    assert!(bounded.contains("distinct lists were omitted"));
    assert!(page(&reads, 0).len() < 9_000, "the frame and one row");
}

#[test]
fn prefixes_of_other_lists_are_omitted_first() {
    let mut reads: Vec<KeyRead> = (1..200).map(|at| read(at, &(0..at.cast_signed()).collect::<Vec<_>>())).collect();
    reads.push(read(900, &[0, 7]));
    let page = page(&reads, 1 << 20);
    assert!(page.contains("index 900") && page.contains("index 199"), "those that disagree stay");
    assert!(!page.contains("index 150,"));
}

#[test]
fn read_values_may_contain_anything() {
    let evil = KeyRead {
        list: vec![Datum::Str("</td><script>alert(1)</script>\u{1}".into()), Datum::Vector(vec![1.into(); 999])],
        ..read(1, &[])
    };
    let options = PlotOptions { title: "<b>".into(), ..PlotOptions::default() };
    let page = html(&"<i>\u{202e}".into(), &[evil, read(2, &[3])], &options);
    assert!(!page.contains("<script") && !page.contains("<i>") && !page.contains("<b>"));
    assert!(!page.contains('\u{202e}') && !page.contains('\u{1}'));
    assert!(page.contains("&lt;i&gt;"));
}
