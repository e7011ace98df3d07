//! Collection: discards what no part needs any more, if there is much of it.

use super::AnyObject;
use crate::engine::kernel::WorldOf;
use crate::engine::ops::Event;
use crate::engine::part::Part;
use crate::engine::part::ledger::Ledger;
use crate::engine::paths::TRUNK;
use crate::violation::Violation;
use check_register::engine::paths::PathId;

impl AnyObject<'_> {
    /// Discards states, operations and paths that are no longer needed, if there are many.
    pub(super) fn collect(&mut self) {
        let WorldOf { table, ops, paths, uses, .. } = &mut self.world;
        if !(table.wants_collect() || ops.wants_collect() || paths.wants_prune() || uses.wants_collect()) {
            return;
        }
        let mut keep = vec![false; ops.len()];
        ops.in_flight().for_each(|op| keep[op.at()] = true);
        self.inputs.iter().flatten().for_each(|input| keep[input.op.at()] = true);
        self.ledger.iter().flat_map(Ledger::ops).for_each(|op| keep[op.at()] = true);
        let mut live: Vec<&mut PathId> = Vec::new();
        for part in &mut self.parts {
            part.ops().for_each(|op| keep[op.at()] = true);
            let mut ends = part.kernels_with_uses().flat_map(|kernel| &kernel.set.heads).map(|head| head.path);
            let first = ends.next();
            if let Some(trunk) = first.map(|first| ends.fold(first, |trunk, path| paths.common(trunk, path))) {
                paths.cut(trunk, TRUNK);
            }
            live.extend(part.kernels_mut().flat_map(|kernel| &mut kernel.set.heads).map(|head| &mut head.path));
        }
        paths.prune(live.into_iter(), |node| keep[node.op.at()] = true);
        let heads = || self.parts.iter().flat_map(Part::kernels).flat_map(|kernel| &kernel.set.heads);
        let with_uses = self.parts.iter().flat_map(Part::kernels_with_uses).flat_map(|kernel| &kernel.set.heads);
        uses.collect(with_uses.map(|head| head.uses));
        table.collect(|states, classes| {
            ops.collect(&keep, |class| classes.mark(class));
            heads().for_each(|head| states.mark(head.state));
            self.parts.iter().flat_map(|part| part.pile.classes()).for_each(|class| classes.mark(class));
            self.violations.iter().flat_map(Violation::classes).for_each(|class| classes.mark(class));
            for input in self.inputs.iter().flatten() {
                input.class.iter().for_each(|class| classes.mark(*class));
                if let Event::Completes(Some(class)) | Event::Crashes(Some(class)) = input.event {
                    classes.mark(class);
                }
            }
        });
    }
}
