//! Timelines: data in, page out.
