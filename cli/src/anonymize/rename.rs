//! Replaces the content of a history: clients, names, and, if possible, numbers.
//!
//! Functions, types of ops, names of fields, indices and times remain: they determine what was done, and when.

use history_core::{Datum, History, HistoryBuilder, HistoryError, NewOp, Process};
use std::collections::{BTreeSet, HashMap};

/// The parts that are renamed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// Clients, names, and numbers by their rank.
    All,
    /// Clients and names.
    Names,
    /// Clients, and each letter and digit of names.
    Letters,
    /// Only clients and fields other than the value.
    Clients,
}

/// First elements of micro-ops, and keys of maps, which describe values and are not renamed.
const WORDS: [&str; 24] = [
    "r",
    "w",
    "append",
    "read",
    "write",
    "cas",
    "get",
    "put",
    "send",
    "poll",
    "assign",
    "subscribe",
    "unsubscribe",
    "commit",
    "abort",
    "inc",
    "add",
    "from",
    "to",
    "amount",
    "key",
    "value",
    "client",
    "fencing-token",
];

impl Way {
    /// All ways, from the one that hides most.
    pub(super) const ALL: [Way; 4] = [Way::All, Way::Names, Way::Letters, Way::Clients];

    /// A sentence on what this way renames.
    pub(super) fn hides(self) -> &'static str {
        match self {
            Way::All => "renamed clients, names and numbers (numbers by rank)",
            Way::Names => "renamed clients and names; numbers are unchanged, because the verdict depends on them",
            Way::Letters => {
                "renamed clients, and each letter and digit of names; numbers are unchanged, because the verdict depends on them"
            }
            Way::Clients => {
                "renamed only clients and fields other than the value, because the verdict depends on the values: check them before \
                 you share the file"
            }
        }
    }
}

/// Renames a history.
pub(super) fn rename(history: &History, way: Way) -> Result<History, HistoryError> {
    let mut names = Names::new(way, numbers(history));
    let mut builder = HistoryBuilder::new();
    for op in history.ops() {
        let new = NewOp::from(&op);
        let other;
        let process = match (op.process.is_client(), new.process) {
            // A name may be a client only because of the command line. A number always is one.
            (true, process) => Process::Client(names.client(&format!("{process:?}"))),
            (false, Process::Other(name)) => {
                other = names.bystander(name);
                Process::Other(&other)
            }
            (false, process) => process,
        };
        let value = if way == Way::Clients { new.value } else { names.value(new.value, false) };
        let extra = new.extra.into_iter().map(|(name, value)| {
            // Checkers use these fields like values.
            let is_value = ["key", "write-id", "prev-write-id", "client", "original-client"].contains(&name);
            let value = if way == Way::Clients && is_value { value } else { names.value(value, false) };
            (name, value)
        });
        let extra = extra.collect();
        builder.push_op(&NewOp { process, value, extra, ..new })?;
    }
    Ok(builder.build())
}

/// The different numbers of a history, in order.
fn numbers(history: &History) -> Vec<i64> {
    let mut all = BTreeSet::new();
    for op in history.ops() {
        collect(&op.value.to_datum(), &mut all);
        op.extra.iter().for_each(|(_, value)| collect(&value.to_datum(), &mut all));
    }
    all.into_iter().collect()
}

fn collect(value: &Datum, all: &mut BTreeSet<i64>) {
    match value {
        Datum::Int(number) => _ = all.insert(*number),
        Datum::Vector(items) | Datum::List(items) | Datum::Set(items) => {
            for item in items {
                collect(item, all);
            }
        }
        Datum::Map(entries) => entries.iter().for_each(|(key, value)| {
            collect(key, all);
            collect(value, all);
        }),
        Datum::Tagged(_, value) => collect(value, all),
        _ => {}
    }
}

/// The new names so far.
struct Names {
    way: Way,
    clients: HashMap<String, i64>,
    bystanders: HashMap<String, usize>,
    texts: HashMap<String, usize>,
    letters: HashMap<char, char>,
    numbers: Vec<i64>,
}

impl Names {
    fn new(way: Way, numbers: Vec<i64>) -> Names {
        Names {
            way,
            clients: HashMap::new(),
            bystanders: HashMap::new(),
            texts: HashMap::new(),
            letters: HashMap::new(),
            numbers,
        }
    }

    fn client(&mut self, name: &str) -> i64 {
        let next = i64::try_from(self.clients.len()).unwrap_or(i64::MAX);
        *self.clients.entry(name.to_owned()).or_insert(next)
    }

    /// A new name for a process that is not a client. It must not be taken for a client's.
    fn bystander(&mut self, name: &str) -> String {
        let next = self.bystanders.len() + 1;
        match *self.bystanders.entry(name.to_owned()).or_insert(next) {
            1 => "nemesis".to_owned(),
            number => format!("nemesis-{number}"),
        }
    }

    /// Renames a value. `is_first` holds for the first element of a list and for a key of a map.
    fn value(&mut self, value: Datum, is_first: bool) -> Datum {
        let is_word = |name: &str| is_first && WORDS.contains(&name);
        match value {
            Datum::Str(name) if !is_word(&name) => Datum::Str(self.text(&name)),
            Datum::Keyword(name) if !is_word(&name) => Datum::Keyword(self.text(&name)),
            Datum::Symbol(name) => Datum::Symbol(self.text(&name)),
            Datum::Char(letter) => Datum::Char(self.letter(letter)),
            Datum::Int(number) => Datum::Int(self.number(number)),
            Datum::Vector(items) => Datum::Vector(self.items(items)),
            Datum::List(items) => Datum::List(self.items(items)),
            Datum::Set(items) => Datum::Set(items.into_iter().map(|item| self.value(item, false)).collect()),
            Datum::Map(entries) => {
                let entry = |(key, value)| (self.value(key, true), self.value(value, false));
                Datum::Map(entries.into_iter().map(entry).collect())
            }
            // A tag is kept, because it names a type.
            Datum::Tagged(tag, value) => Datum::Tagged(tag, Box::new(self.value(*value, is_first))),
            other => other,
        }
    }

    fn items(&mut self, items: Vec<Datum>) -> Vec<Datum> {
        items.into_iter().enumerate().map(|(at, item)| self.value(item, at == 0)).collect()
    }

    fn text(&mut self, name: &str) -> String {
        if self.way == Way::Letters {
            return name.chars().map(|letter| self.letter(letter)).collect();
        }
        // An empty text is kept, because it often means that there is no value.
        if name.is_empty() {
            return String::new();
        }
        let next = self.texts.len() + 1;
        format!("x{}", self.texts.entry(name.to_owned()).or_insert(next))
    }

    /// Replaces a letter: by the letters of the alphabet in order of first occurrence, then by others.
    fn letter(&mut self, letter: char) -> char {
        let next = u32::try_from(self.letters.len()).unwrap_or(u32::MAX);
        let other = match next {
            0..26 => char::from_u32(u32::from('a') + next),
            26..52 => char::from_u32(u32::from('A') + next - 26),
            // Visible letters of other scripts.
            _ => char::from_u32(0x4e00 + (next - 52) % 0x5000),
        };
        *self.letters.entry(letter).or_insert(other.unwrap_or('?'))
    }

    /// Returns the rank of a number among all numbers, if numbers are renamed. Ranks keep the order.
    fn number(&self, number: i64) -> i64 {
        match self.numbers.binary_search(&number) {
            Ok(rank) if self.way == Way::All => i64::try_from(rank).unwrap_or(i64::MAX) + 1,
            _ => number,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use history_core::{Format, Writer};

    fn renamed(text: &str, way: Way) -> String {
        let history = rename(&History::parse(text).unwrap(), way).unwrap();
        let mut writer = Writer::new(Vec::new(), Format::Edn);
        history.ops().for_each(|op| writer.write(&op).unwrap());
        String::from_utf8(writer.finish().unwrap()).unwrap()
    }

    const TEXT: &str = "
        {:process \"alice\", :type :invoke, :f :txn, :value [[:append :cart-7 1001] [:r \"r\" nil]], :host \"db1\"}
        {:process \"alice\", :type :ok, :f :txn, :value [[:append :cart-7 1001] [:r \"r\" [-3]]]}
        {:process :nemesis, :type :info, :f :kill, :value [\"db1\"]}";

    #[test]
    fn names_and_numbers_are_others_and_functions_stay() {
        let text = renamed(TEXT, Way::All);
        let invoked =
            "{:index 0, :type :invoke, :process 0, :f :txn, :value [[:append :x1 2] [:r \"x2\" nil]], :host \"x3\"}";
        assert_eq!(text.lines().next(), Some(invoked), "{text}");
        assert!(text.contains("[:r \"x2\" [1]]"), "{text}");
        assert!(text.contains(":process :nemesis, :f :kill, :value [\"x3\"]"), "{text}");
        assert!(renamed(TEXT, Way::Names).contains("[[:append :x1 1001] [:r \"x2\" [-3]]]"));
    }

    #[test]
    fn letters_keep_what_is_part_of_what() {
        let text = renamed(
            "{:process 0, :type :invoke, :f :append, :key \"k\", :value \"ab\"} {:process 0, :type :ok, :f :append, :value \"ab\"}
             {:process 0, :type :invoke, :f :get, :key \"k\"} {:process 0, :type :ok, :f :get, :value \"xab\"}",
            Way::Letters,
        );
        assert!(
            text.contains(":value \"ab\"") && text.contains(":key \"c\"") && text.contains(":value \"dab\""),
            "{text}"
        );
    }

    #[test]
    fn where_values_stay_other_fields_do_not() {
        let text = renamed(TEXT, Way::Clients);
        assert!(text.contains(":cart-7 1001") && text.contains(":host \"x1\"") && !text.contains("alice"), "{text}");
    }
}
