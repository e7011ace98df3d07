//! Laws of parts, which do not affect each other, and of registers, whose value is the one written last.

use super::{Broken, World};
use crate::Access;

impl World<'_> {
    fn part(&self, op: usize) -> Option<u64> {
        self.shortcuts.part(&op)
    }

    /// Operations are admitted by the object exactly if the operations of each part are admitted separately.
    pub(super) fn breaks_parts(&self) -> Option<Broken> {
        let init = self.model.init();
        let parted = self.which(|op| self.shortcuts.part(op).is_some());
        if self.shortcuts.states_are_of_parts() {
            let whole = (0..self.ops).find(|op| self.part(*op).is_none())?;
            let texts = ("a part, because each state is of one part".into(), "none".into());
            return Some(self.broken("states_are_of_parts", init, &[whole], texts));
        }
        for word in Self::words(&parted, 4) {
            let mut parts: Vec<Option<u64>> = word.iter().map(|op| self.part(*op)).collect();
            parts.sort_unstable();
            parts.dedup();
            let alone = |part: &Option<u64>| -> Vec<usize> {
                word.iter().copied().filter(|op| self.part(*op) == *part).collect()
            };
            let is_whole = self.admits(init, &word);
            let refused = parts.iter().find(|part| !self.admits(init, &alone(part)));
            let texts = match (is_whole, refused) {
                (true, Some(Some(part))) => {
                    let part = self.model.describe_part(*part);
                    ("the ops of each part are admitted alone".into(), format!("the ops of {part} are not"))
                }
                (false, None) => (
                    "all ops are admitted, because the ops of each part are admitted alone".into(),
                    "not admitted: parts see each other".into(),
                ),
                _ => continue,
            };
            return Some(self.broken("part", init, &word, texts));
        }
        None
    }

    /// Operations of a register are permitted if and only if each read returns the value written last.
    pub(super) fn breaks_access(&self) -> Option<Broken> {
        let init = self.model.init();
        let mut parts: Vec<Option<u64>> = (0..self.ops).map(|op| self.part(op)).collect();
        parts.sort_unstable();
        parts.dedup();
        for part in parts {
            let accesses = self.which(|op| self.shortcuts.access(op).is_some() && self.shortcuts.part(op) == part);
            for word in Self::words(&accesses, 4) {
                let mut held = self.shortcuts.initial_access();
                let mut is_register = Some(true);
                for op in &word {
                    match (self.shortcuts.access(op), held) {
                        (Some(Access::Write(value)), _) => held = Some(value),
                        (Some(Access::Read(value)), Some(held)) => {
                            is_register = is_register.map(|so_far| so_far && value == held);
                        }
                        // The initial value of the register is unknown.
                        _ => is_register = None,
                    }
                }
                let is_admitted = self.admits(init, &word);
                if is_register.is_some_and(|is_register| is_register != is_admitted) {
                    let say = |is: bool| if is { "admitted" } else { "not admitted" };
                    let expected = format!("{}, as in a register", say(!is_admitted));
                    return Some(self.broken("access", init, &word, (expected, say(is_admitted).into())));
                }
            }
        }
        None
    }
}
