//! The levels that have an axiom, and those to decide for a requested level.

use crate::model::{Model, ModelSet};
use crate::set::Row as _;
use check_isolation::{Axiom, Base, Level};
use std::sync::LazyLock;

/// The axiom and the base that define a level, if it has any.
pub(super) fn axiom_of(model: Model) -> Option<(Axiom, Base)> {
    static ALL: LazyLock<Vec<Option<(Axiom, Base)>>> = LazyLock::new(|| {
        ModelSet::ALL.iter().map(|model| model.name().parse::<Level>().ok().and_then(Level::decided_by)).collect()
    });
    ALL[model.index()]
}

/// The levels to decide for a level: itself or, if it has no axiom, those around it, the nearest weaker ones first.
pub(super) fn around(model: Model) -> Vec<Model> {
    if axiom_of(model).is_some() {
        return vec![model];
    }
    let of = |models: ModelSet| -> ModelSet { models.iter().filter(|other| axiom_of(*other).is_some()).collect() };
    let (below, above) = (of(model.weaker()), of(model.stronger()));
    let nearest_below = below.iter().filter(|one| one.stronger().is_disjoint(below));
    let nearest_above = above.iter().filter(|one| one.weaker().is_disjoint(above));
    nearest_below.chain(nearest_above).collect()
}

/// The levels that a broken axiom and base rule out.
pub(super) fn broken_by(axiom: Axiom, base: Base) -> ModelSet {
    let is_broken = |model: &Model| axiom_of(*model).is_some_and(|(a, b)| a.is_at_least(axiom) && b >= base);
    let broken: ModelSet = ModelSet::ALL.iter().filter(is_broken).collect();
    broken.iter().fold(broken, |all, model| all.union(model.stronger()))
}

/// The levels that hold if a level with this axiom and base does.
pub(super) fn implied_by(axiom: Axiom, base: Base) -> ModelSet {
    let is_implied = |model: &Model| axiom_of(*model).is_some_and(|(a, b)| axiom.is_at_least(a) && base >= b);
    ModelSet::ALL.iter().filter(is_implied).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(name: &str) -> Model {
        name.parse().unwrap()
    }

    /// The two tables use different names, but must agree on which level implies which.
    #[test]
    fn the_lattice_is_that_of_the_axioms() {
        for strong in ModelSet::ALL.iter() {
            let Some((axiom, base)) = axiom_of(strong) else { continue };
            for weak in ModelSet::ALL.iter().filter(|weak| axiom_of(*weak).is_some()) {
                let same = axiom_of(weak) == axiom_of(strong);
                let implied = same || strong.weaker().contains(weak);
                // Elle's table distinguishes consistent view and repeatable read from the equivalent levels without
                // predicates.
                let is_alias = |model: Model| ["consistent-view", "repeatable-read"].contains(&model.name());
                if !is_alias(strong) && !is_alias(weak) {
                    assert_eq!(implied_by(axiom, base).contains(weak), implied, "{strong}, {weak}");
                    assert_eq!(
                        broken_by(axiom_of(weak).unwrap().0, axiom_of(weak).unwrap().1).contains(strong),
                        implied
                    );
                }
            }
        }
    }

    #[test]
    fn levels_without_an_axiom_are_decided_by_those_around_them() {
        let names = |name: &str| around(model(name)).into_iter().map(Model::name).collect::<Vec<_>>();
        assert_eq!(names("read-atomic"), ["read-atomic"]);
        assert_eq!(names("update-atomic"), ["read-atomic", "parallel-snapshot-isolation"]);
        assert_eq!(names("PRAM"), ["strict-serializable"]);
        assert_eq!(names("update-serializable"), ["consistent-view", "serializable"]);
    }
}
