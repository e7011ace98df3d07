//! The style of pictures: colours that colour-blind readers can distinguish, in light and dark mode, and a dash pattern
//! for each.
//!
//! The hues are those of Okabe and Ito, darkened or lightened until they contrast with the background. For some
//! readers, the hues of process and realtime are similar, but a graph has edges of only one of the two. Relations of
//! predicates have the hue of those of items, with dots between the dashes.

/// The look of a relation: the classes of its edges, its dashes, and its text in the legend.
pub(super) struct Look {
    pub(super) class: &'static str,
    pub(super) relation: &'static str,
    pub(super) meaning: &'static str,
}

/// The known relations, in the order of the legend.
pub(super) const LOOKS: &[Look] = &[
    look("ww", "ww", "was overwritten by"),
    look("wr", "wr", "was read by"),
    look("rw", "rw", "did not see the write of"),
    look("ww wwp", "wwp", "was overwritten by, as a predicate shows"),
    look("wr wrp", "wrp", "was selected by the predicate of"),
    look("rw rwp", "rwp", "has a predicate that misses the write of"),
    look("pr", "process", "came before, in the same process"),
    look("rt", "realtime", "completed before the start of"),
];

/// The look of all other relations.
pub(super) const OTHER: Look = look("ot", "", "another relation");

const fn look(class: &'static str, relation: &'static str, meaning: &'static str) -> Look {
    Look { class, relation, meaning }
}

/// The look of a relation.
pub(super) fn of(relation: &str) -> &'static Look {
    LOOKS.iter().find(|look| look.relation == relation).unwrap_or(&OTHER)
}

/// The rules of a picture. They use no variables and other newer features of CSS, so that simple renderers support
/// them; these do not support `@media` either, and draw the light version.
pub(super) const CSS: &str = "\
.hc{background:#fff}\
.hc text{font-family:ui-sans-serif,system-ui,sans-serif;font-size:12px;fill:#1f2328;stroke:none}\
.hc .mop text{font-family:ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;font-size:13px;fill:#59636e}\
.hc .mop.on text{fill:#1f2328}\
.hc .name{font-size:14px;font-weight:bold}\
.hc .small{font-size:10.5px;fill:#59636e}\
.hc .h1{font-size:15px;font-weight:bold}\
.hc .bg{fill:#fff}\
.hc .box{fill:#f6f8fa;stroke:#818b98;stroke-width:1.5}\
.hc .info .box{stroke-dasharray:6 4}\
.hc .fail .box{stroke-width:3;stroke-dasharray:2 3}\
.hc .mop rect{fill:#fff;stroke:#d1d9e0}\
.hc .mop.on rect{stroke:#59636e}\
.hc .e path{fill:none;stroke-width:1.75;stroke-linejoin:round}\
.hc .e .to{stroke:none}\
.hc .e rect{fill:#fff;stroke-width:1}\
.hc .e text{font-weight:bold}\
.hc .m{text-anchor:middle}\
.hc .ww path,.hc .ww rect{stroke:#0060a8}.hc .ww text,.hc .ww .to{fill:#0060a8}\
.hc .wr path,.hc .wr rect{stroke:#007a5a}.hc .wr text,.hc .wr .to{fill:#007a5a}\
.hc .rw path,.hc .rw rect{stroke:#c04d00}.hc .rw text,.hc .rw .to{fill:#c04d00}\
.hc .pr path,.hc .pr rect{stroke:#a8467f}.hc .pr text,.hc .pr .to{fill:#a8467f}\
.hc .rt path,.hc .rt rect{stroke:#59636e}.hc .rt text,.hc .rt .to{fill:#59636e}\
.hc .ot path,.hc .ot rect{stroke:#1f2328}.hc .ot .to{fill:#1f2328}\
.hc .wr .l{stroke-dasharray:9 3}\
.hc .rw .l{stroke-dasharray:4 3}\
.hc .wwp .l{stroke-dasharray:14 3 2 3 2 3}\
.hc .wrp .l{stroke-dasharray:9 3 2 3 2 3}\
.hc .rwp .l{stroke-dasharray:4 3 2 3 2 3}\
.hc .pr .l{stroke-dasharray:1.5 3}\
.hc .rt .l{stroke-dasharray:10 3 2 3}\
@media(prefers-color-scheme:dark){\
.hc{background:#0d1117}\
.hc text,.hc .mop.on text{fill:#e6edf3}\
.hc .mop text,.hc .small{fill:#9198a1}\
.hc .bg,.hc .mop rect,.hc .e rect{fill:#0d1117}\
.hc .box{fill:#1c232c;stroke:#8b949e}\
.hc .mop rect{stroke:#3d444d}\
.hc .mop.on rect{stroke:#9198a1}\
.hc .ww path,.hc .ww rect{stroke:#5cb8f2}.hc .ww text,.hc .ww .to{fill:#5cb8f2}\
.hc .wr path,.hc .wr rect{stroke:#2ec79b}.hc .wr text,.hc .wr .to{fill:#2ec79b}\
.hc .rw path,.hc .rw rect{stroke:#ff9a4d}.hc .rw text,.hc .rw .to{fill:#ff9a4d}\
.hc .pr path,.hc .pr rect{stroke:#e08fbf}.hc .pr text,.hc .pr .to{fill:#e08fbf}\
.hc .rt path,.hc .rt rect{stroke:#b1bac4}.hc .rt text,.hc .rt .to{fill:#b1bac4}\
.hc .ot path,.hc .ot rect{stroke:#e6edf3}.hc .ot .to{fill:#e6edf3}\
}";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relations_of_predicates_have_a_separate_look() {
        for relation in ["wwp", "wrp", "rwp"] {
            let look = of(relation);
            let item = of(&relation[..2]);
            assert_eq!(look.relation, relation);
            assert_eq!(look.class, format!("{} {relation}", item.class), "the hue is that of items");
            assert!(CSS.contains(&format!(".hc .{relation} .l{{stroke-dasharray:")) && look.meaning != item.meaning);
        }
        assert_eq!(of("xx").class, OTHER.class);
    }
}
