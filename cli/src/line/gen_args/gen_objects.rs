//! The options of `histcheck gen` for objects: registers, locks, queues and others.

pub(crate) mod logs;

use crate::line::gen_args::gen_parts::{
    bug_rate, destination, key_distribution, nemesis, number, share, small, two_columns,
};
use crate::line::help;
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use record_simulate::{Object, ObjectBug, Objects};

/// The command for an object, with the options that apply to it.
pub(crate) fn command(object: Object) -> Command {
    let d = Objects::of(object);
    let bugs: Vec<_> = ObjectBug::of(object).map(|bug| (bug.name(), bug.summary())).collect();
    let bug = ObjectBug::of(object).nth(1).map_or("", ObjectBug::name);
    let after = help::GEN_OBJECT.replace("WORKLOAD", object.name()).replace("BUGS", &two_columns(&bugs));
    Command::new(object.name())
        .about(object.summary())
        .after_help(after.replace("BUG", bug))
        .args_override_self(true)
        .args(load(&d))
        .args(keys(&d))
        .args(asks(&d))
        .args(mishaps(&d))
        .args(destination())
}

fn load(d: &Objects) -> [Arg; 4] {
    [
        number("ops", "N", d.ops, "Number of operations"),
        number("seed", "N", d.seed, "Seed of the random number generator"),
        small("clients", "N", d.clients, "Number of concurrent clients"),
        number(
            "think-ns",
            "NS",
            d.think_ns,
            "Average pause of a client between operations, in nanoseconds; 0 = none (an operation takes about 60000)",
        )
        .visible_alias("think"),
    ]
}

fn keys(d: &Objects) -> Vec<Arg> {
    let object = d.object;
    let how = if object == Object::VersionedRegister { "a field key" } else { "a value [key value]" };
    let keyed = Arg::new("keyed")
        .long("keyed")
        .action(ArgAction::SetTrue)
        .help(format!("Use several objects; each op names its object by {how}"));
    let (of, replaced) = if object.has_keys() {
        ("Number of keys in use at a time", "Number of operations on a key before a new key replaces it; 0 = never")
    } else {
        (
            "Number of keys in use at a time; more than one needs --keyed",
            "Number of operations on a key before a new key replaces it (with --keyed); 0 = never",
        )
    };
    if matches!(object, Object::LongFork | Object::Sequential) {
        return Vec::new();
    }
    let mut args = vec![small("keys", "N", d.keys, of).visible_alias("key-count")];
    if object != Object::MultiRegister {
        args.push(number("ops-per-key", "N", d.ops_per_key, replaced));
    }
    args.push(key_distribution());
    if !object.has_keys() {
        args.insert(0, keyed);
    }
    args
}

/// Options for the operations of clients.
fn asks(d: &Objects) -> Vec<Arg> {
    let object = d.object;
    let mut args = Vec::new();
    let values = match object {
        Object::Counter => "Largest amount to add",
        Object::Bank => "Number of accounts",
        Object::LongFork => "Number of keys per group",
        Object::Sequential => "Number of subkeys per key",
        _ => "Number of distinct values to write; 0 = each value is new",
    };
    if !object.is_lock() && object.values_range().1 > 0 {
        args.push(small("values", "N", d.values, values));
    }
    if !object.is_lock() && object != Object::UniqueIds {
        args.push(share(
            "read-fraction",
            d.read_fraction,
            match object {
                Object::MultiRegister => "Share of micro-operations that are reads, from 0 to 1",
                Object::Stack | Object::Deque => "Share of operations that are pops, from 0 to 1",
                Object::PriorityQueue => "Share of operations that are delete-mins, from 0 to 1",
                _ if object.is_sequence() => "Share of operations that are dequeues, from 0 to 1",
                _ => "Share of operations that are reads, from 0 to 1",
            },
        ));
    }
    args.extend(match object {
        Object::CasRegister => Some(share(
            "cas-fraction",
            d.cas_fraction,
            "Share of the other operations that are compare-and-sets, from 0 to 1",
        )),
        Object::Kv => {
            Some(share("put-fraction", d.put_fraction, "Share of the other operations that are puts, from 0 to 1"))
        }
        Object::MultiRegister => Some(
            small("ops-per-txn-max", "N", d.ops_per_txn_max, "Maximum number of micro-operations per transaction")
                .visible_alias("max-txn-length"),
        ),
        Object::Semaphore => Some(small(
            "permits",
            "N",
            d.permits,
            "Number of permits; if it is not 1, pass the same number to the checker with --initial N",
        )),
        Object::ReentrantMutex => {
            Some(small("permits", "N", d.permits, "Maximum number of times the owner can hold the lock at once"))
        }
        _ if object.is_sequence() => {
            Some(small("capacity", "N", d.capacity, "Number of elements at which clients stop adding"))
        }
        _ => None,
    });
    if object.may_show_nothing() {
        let take = match object {
            Object::Stack | Object::Deque => "pop",
            Object::PriorityQueue => "delete-min",
            _ => "dequeue",
        };
        let help = format!("Write a {take} that finds nothing as ok with nil, not as fail");
        args.push(Arg::new("empty-ok").long("empty-ok").action(ArgAction::SetTrue).help(help));
    }
    args
}

/// Options for faults.
fn mishaps(d: &Objects) -> Vec<Arg> {
    let bugs = ObjectBug::of(d.object).map(ObjectBug::name).collect::<Vec<_>>();
    let mut args = vec![
        share("fail-rate", d.fail_rate, "Share of operations that fail, from 0 to 1"),
        share("info-rate", d.info_rate, "Share of operations that end in info, from 0 to 1"),
        share("lost-rate", d.lost_rate, "Share of operations that never complete, from 0 to 1"),
        Arg::new("bug")
            .long("bug")
            .value_name("BUG")
            .value_parser(PossibleValuesParser::new(bugs))
            .hide_possible_values(true)
            .default_value(d.bug.name())
            .help("Bug of the object; see the list below"),
        bug_rate("Share of operations that the bug affects, from 0 to 1 [default: depends on the bug]"),
    ];
    if ObjectBug::of(d.object).any(|bug| bug == ObjectBug::WrongRead) {
        let at = Arg::new("bug-at").long("bug-at").value_name("SHARE").allow_negative_numbers(true);
        args.push(
            at.value_parser(value_parser!(f64))
                .help("Position of a bug that occurs once, from 0 (start) to 1 (end) [default: 0.9]"),
        );
    }
    args.push(nemesis());
    args
}

/// Parses the words after the name of an object.
pub(crate) fn parameters(object: Object, matches: &ArgMatches) -> Objects {
    let d = Objects::of(object);
    Objects {
        object,
        ops: get(matches, "ops").unwrap_or(d.ops),
        seed: get(matches, "seed").unwrap_or(d.seed),
        clients: get(matches, "clients").unwrap_or(d.clients),
        think_ns: get(matches, "think-ns").unwrap_or(d.think_ns),
        keyed: get(matches, "keyed").unwrap_or(d.keyed),
        keys: get(matches, "keys").unwrap_or(d.keys),
        ops_per_key: get(matches, "ops-per-key").unwrap_or(d.ops_per_key),
        key_distribution: get(matches, "key-distribution").unwrap_or(d.key_distribution),
        values: get(matches, "values").unwrap_or(d.values),
        read_fraction: get(matches, "read-fraction").unwrap_or(d.read_fraction),
        cas_fraction: get(matches, "cas-fraction").unwrap_or(d.cas_fraction),
        put_fraction: get(matches, "put-fraction").unwrap_or(d.put_fraction),
        ops_per_txn_max: get(matches, "ops-per-txn-max").unwrap_or(d.ops_per_txn_max),
        permits: get(matches, "permits").unwrap_or(d.permits),
        capacity: get(matches, "capacity").unwrap_or(d.capacity),
        empty_ok: get(matches, "empty-ok").unwrap_or(d.empty_ok),
        fail_rate: get(matches, "fail-rate").unwrap_or(d.fail_rate),
        info_rate: get(matches, "info-rate").unwrap_or(d.info_rate),
        lost_rate: get(matches, "lost-rate").unwrap_or(d.lost_rate),
        bug: get::<String>(matches, "bug").and_then(|name| name.parse().ok()).unwrap_or(d.bug),
        bug_rate: get(matches, "bug-rate"),
        bug_at: get(matches, "bug-at"),
        nemesis: get(matches, "nemesis").unwrap_or(d.nemesis),
    }
}

/// The value of an option; `None` if the object does not have the option.
fn get<T: Clone + Send + Sync + 'static>(matches: &ArgMatches, name: &str) -> Option<T> {
    matches.try_get_one(name).ok().flatten().cloned()
}
