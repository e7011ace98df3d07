//! The style of plots, like that of graphs. It uses no variables and other newer features of CSS, so that simple
//! renderers support it.

/// The rules of a plot.
pub(super) const CSS: &str = "\
.hcp{background:#fff;max-width:100%;min-width:640px;height:auto}\
.hcp text{font-family:ui-sans-serif,system-ui,sans-serif;font-size:12px;fill:#1f2328;stroke:none}\
.hcp .bg{fill:#fff}\
.hcp .h{font-size:15px;font-weight:bold}\
.hcp .t{font-weight:bold}\
.hcp .x,.hcp .y{fill:#59636e;font-size:11px}\
.hcp .s{fill:#59636e;font-size:11px}.hcp .x{text-anchor:middle}.hcp .y{text-anchor:end}\
.hcp .g{stroke:#d1d9e0;stroke-width:1}\
.hcp .f rect{fill:#b3261e;opacity:.13}.hcp .f text{fill:#b3261e;font-size:11px;font-weight:bold}\
.hcp .n rect{fill:#eee8fb;stroke:#6f42c1}.hcp .n text{font-size:10.5px}.hcp .d{stroke:#6f42c1;opacity:.35;stroke-dasharray:2 3}\
.hcp .l{fill:none;stroke-width:1.75;stroke-linejoin:round;stroke-linecap:round}\
.hcp .a{stroke:none}\
.hcp .o0 .a{fill:#0060a8}.hcp .o1 .a{fill:#a8467f}.hcp .o2 .a{fill:#c04d00}\
.hcp .op .a{fill:#1f2328}\
.hcp .o0 .l{stroke:#0060a8}.hcp .o1 .l{stroke:#a8467f;stroke-dasharray:7 4}.hcp .o2 .l{stroke:#c04d00;stroke-dasharray:2 4}\
.hcp .q0 .l{stroke:#0060a8}.hcp .q1 .l{stroke:#007a5a;stroke-dasharray:9 3}\
.hcp .q2 .l{stroke:#c04d00;stroke-dasharray:4 4}.hcp .q3 .l{stroke:#59636e;stroke-dasharray:1 4}\
@media(prefers-color-scheme:dark){\
.hcp,.hcp .bg{background:#0d1117;fill:#0d1117}\
.hcp text{fill:#e6edf3}\
.hcp .x,.hcp .y,.hcp .s{fill:#9198a1}\
.hcp .g{stroke:#30363d}\
.hcp .f rect{fill:#ff8f86;opacity:.18}.hcp .f text{fill:#ff8f86}\
.hcp .n rect{fill:#231a3a;stroke:#b392f0}.hcp .d{stroke:#b392f0}\
.hcp .o0 .a{fill:#5cb8f2}.hcp .o1 .a{fill:#e08fbf}.hcp .o2 .a{fill:#ff9a4d}\
.hcp .op .a{fill:#e6edf3}\
.hcp .o0 .l{stroke:#5cb8f2}.hcp .o1 .l{stroke:#e08fbf}.hcp .o2 .l{stroke:#ff9a4d}\
.hcp .q0 .l{stroke:#5cb8f2}.hcp .q1 .l{stroke:#2ec79b}.hcp .q2 .l{stroke:#ff9a4d}.hcp .q3 .l{stroke:#b1bac4}\
}";
