//! Statistics of the programs of a property test: which commands occur, and which of them concurrently.

use super::ParallelModel;
use super::draw::Drawn;
use super::parallel::Parallel;
use super::passed::Rejected;
use std::collections::BTreeMap;
use std::fmt;

/// Counts of the programs that a test draws.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Statistics {
    /// The number of programs.
    pub programs: u64,
    /// The number of commands of each name.
    pub commands: BTreeMap<String, u64>,
    /// The number of programs in which two commands with these names are in different branches; the lesser name is
    /// first.
    pub pairs: BTreeMap<(String, String), u64>,
    /// The number of programs by number of branches.
    pub branches: BTreeMap<usize, u64>,
    /// Commands that the programs lack.
    pub rejected: Rejected,
}

/// The name of a command: the first word of its `Debug` output.
fn name(command: &impl fmt::Debug) -> String {
    let text = format!("{command:?}");
    let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|end| *end > 0);
    end.map_or(text.clone(), |end| text[..end].to_owned())
}

impl<M: ParallelModel> Parallel<M> {
    /// The statistics of the programs of this test. A test that never runs two commands concurrently does not test
    /// their concurrency.
    pub fn statistics(&self) -> Statistics {
        let mut statistics = Statistics::default();
        for seed in self.seeds() {
            let drawn = Drawn::new(self.model(), self.sizes(), seed);
            let program = drawn.program(self.model());
            statistics.rejected.add_all(drawn.rejected());
            statistics.programs += 1;
            *statistics.branches.entry(program.branches.len()).or_default() += 1;
            for command in program.commands() {
                *statistics.commands.entry(name(command)).or_default() += 1;
            }
            let names: Vec<Vec<String>> =
                program.branches.iter().map(|commands| commands.iter().map(name).collect()).collect();
            let mut pairs = Vec::new();
            for (at, branch) in names.iter().enumerate() {
                let others = names[at + 1..].iter().flatten();
                let both = others.flat_map(|other| branch.iter().map(move |own| [own.clone(), other.clone()]));
                pairs.extend(both.map(|mut pair| {
                    pair.sort();
                    pair
                }));
            }
            pairs.sort();
            pairs.dedup();
            for [first, second] in pairs {
                *statistics.pairs.entry((first, second)).or_default() += 1;
            }
        }
        statistics
    }
}

impl fmt::Display for Statistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = |count: u64, of: u64| format!("{:>3} %", 100 * count / of.max(1));
        let commands = self.commands.values().sum();
        writeln!(f, "{} programs, {commands} commands", self.programs)?;
        if self.rejected.count() > 0 {
            writeln!(f, "  {}", self.rejected)?;
        }
        for (name, count) in &self.commands {
            writeln!(f, "  {} of the commands: {name}", percent(*count, commands))?;
        }
        for (branches, count) in &self.branches {
            writeln!(f, "  {} of the programs have {branches} branches", percent(*count, self.programs))?;
        }
        for ((first, second), count) in &self.pairs {
            writeln!(f, "  {} of the programs run {first} and {second} at once", percent(*count, self.programs))?;
        }
        Ok(())
    }
}
