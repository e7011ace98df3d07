//! Longer help texts: usage, examples, exit codes, input formats.

pub(crate) const ABOUT: &str = "\
Check which consistency guarantees a recorded history satisfies, and show what violates them.";

pub(crate) const LONG_ABOUT: &str = "\
Check which consistency guarantees a recorded history satisfies, and show what violates them.

A history is a record of every request and response of the clients of a database, a queue or a lock. histcheck reads \
history files, such as those of Jepsen, and prints one line per file: its path and true (valid), false (invalid) or \
unknown.";

pub(crate) const USAGE: &str = "\
histcheck -m CHECKERS [OPTIONS] FILE...
       histcheck COMMAND ...";

pub(crate) const AFTER: &str = "\
Example:
  histcheck -m list-append history.edn

`histcheck --help` has more: examples, exit codes and the format of histories.";

pub(crate) const AFTER_LONG: &str = "\
Examples:
  histcheck -m list-append history.edn
      Check for strict serializability.
  histcheck -m list-append -v -c snapshot-isolation history.edn
      Check for snapshot isolation, and explain every anomaly.
  histcheck -m list-append --output json *.edn.gz store/latest -
      Print full reports of compressed files, a Jepsen test and standard input.
  histcheck -m bank,stats history.edn
      Run two checkers in one pass. The worst verdict counts; -v lists the verdict of each.
  histcheck -m list-append --keyed=auto history.edn
      Check each key separately if ops look like {:value [key value]}, as in tests with jepsen.independent.
  histcheck gen list-append --txns 1000 --bug lost-update | histcheck -m list-append -v -
      Generate a history with lost updates, and check it.
  histcheck --plugin ./libleader_lease.so -m leader-lease leases.edn
      Run a checker of your own. `histcheck plugin new leader-lease` creates the crate.
  histcheck -m list-append --timeout 60 --max-memory 8000000000 *.edn
      Limit the time and memory per history. A history that reaches a limit does not affect the others.
  histcheck -m list-append --jobs 4 store
      Check all tests in Jepsen's store, four in parallel.
  histcheck -m list-append --output junit --unknown fail *.edn > histories.xml
      Write a JUnit document for CI. docs/ci.md in the source has complete workflows.
  histcheck validate history.edn
      List errors and doubtful ops.

Exit codes:
  0    every history is valid
  1    some history is invalid
  2    some verdict is unknown, and none is invalid (0 with --unknown pass, 1 with --unknown fail)
  254  wrong usage
  255  some file could not be checked; the verdicts on the others are printed
  On an interrupt (Ctrl-C, SIGTERM), histcheck prints the verdicts known so far; histories that were not started are \
not checked. A second interrupt exits at once, with 130.

Histories:
  EDN    maps one after another, or in one vector or list; with any record tag
         {:process 0, :type :invoke, :f :txn, :value [[:append 7 1] [:r 7 nil]]}
         {:process 0, :type :ok,     :f :txn, :value [[:append 7 1] [:r 7 [1]]]}
  JSON   one object per line, objects one after another, or in one array
         {\"process\": 0, \"type\": \"ok\", \"f\": \"txn\", \"value\": [[\"append\", 7, 1]]}
  intervals  one operation per line, with its call and return times, in any order
         {\"client\": 0, \"call\": 10, \"return\": 25, \"input\": [\"write\", 3], \"output\": null}
  txt    Jepsen's history.txt, or its log
  plume, awdit, dbcop, dbcop-json, hist, cobra, chronos  formats of other checkers of transactions: `histcheck convert --help`
  The format and compression (gzip, zstd) are detected from the content. :index and :time are optional. The directory \
of a test in Jepsen's store means its history. Any other directory means all histories in it and below: tests, and files \
named *.edn, *.json, *.jsonl or *.ndjson, optionally with .gz or .zst. A - means standard input. See docs/formats.md in \
the source.

Plugins:
  histcheck loads checkers from the libraries given with --plugin and --plugin-dir, from the files and directories in \
HISTCHECK_PLUGINS (separated as in PATH), and from ~/.local/share/histcheck/plugins (or under XDG_DATA_HOME; on macOS \
~/Library/Application Support/histcheck/plugins, on Windows %APPDATA%\\histcheck\\plugins). A plugin runs with your \
permissions. A library that other users can write to is refused unless --trust is given. If two checkers have the same name, \
FILE:NAME selects one; FILE is histcheck for built-in checkers.

To check a file that is named like a command, write ./validate, or put it after -m.

";

pub(crate) const REPORT_USAGE: &str = "histcheck report -m CHECKERS [OPTIONS] -d DIR FILE...";

pub(crate) const REPORT: &str = "\
Prints the same lines as `histcheck -m`, with the same exit codes, and writes an HTML page about each history: the verdict and \
what it means, the consistency levels ruled out, each anomaly with a picture and the operations around it, and statistics. A page \
is one file that needs neither a network nor scripts. A file that cannot be read as a history gets a page with the error.

Examples:
  histcheck report -m list-append history.edn -d report
      Write report/report.html.
  histcheck report -m cas-register --keyed=auto runs/*.edn -d reports
      Write reports/index.html, and a page per history in a subdirectory each.";

pub(crate) const MINIMIZE_USAGE: &str = "histcheck minimize -m CHECKER [OPTIONS] FILE [-o FILE]";

pub(crate) const MINIMIZE: &str = "\
The output contains whole operations (invocation and completion) with their original indices; of transactions, only the relevant \
micro-operations. It also contains every operation that another one depends on, such as the write of a value that a read returns. An \
anomaly in the output is therefore an anomaly in the whole history. No single operation can be removed from the output. If no smaller part \
shows the anomaly, the whole history is written, with a message. If the name of the output file ends in .gz or .zst, it is compressed.

Exits with 1 if the history is invalid and a part was written, 0 if it is valid, 2 if the verdict is unknown.

Examples:
  histcheck minimize -m list-append history.edn -o small.edn
      Write small.edn. `histcheck -v -m list-append small.edn` explains it.
  histcheck minimize -m list-append --anomaly lost-update history.edn -o small.edn
      Keep another anomaly instead of the first one.";

pub(crate) const ANONYMIZE_USAGE: &str = "histcheck anonymize -m CHECKERS [OPTIONS] FILE [-o FILE]";

pub(crate) const ANONYMIZE: &str = "\
Replaces client names, keywords and strings by others, and numbers by their rank, as far as the report stays the same: the verdict, the \
types of anomalies, and their counts. A message lists what was renamed. The names of functions and fields, indices and times do not change.

Exits with 0 if the history was written, 255 if not.

Example:
  histcheck anonymize -m list-append history.edn -o shared.edn
      Write a history that shows the same anomalies, without your data.";

pub(crate) const WATCH_USAGE: &str = "\
histcheck watch -m CHECKERS [OPTIONS] [FILE]
       histcheck watch -m CHECKERS [OPTIONS] --listen ADDRESS";

pub(crate) const WATCH: &str = "\
Prints a violation with its witness as soon as it is certain, and exits with 1. Otherwise the history ends at the end of standard \
input, or with an interrupt (Ctrl-C, SIGTERM), and the verdict on all of it is printed. A second interrupt stops the search for \
the verdict.

A file is followed by name, through truncation and rotation. It need not exist yet, and several clients may append lines to it. \
With --listen, clients connect and write one op per line. After each invoke, a client waits for the line {\"ack\":PROCESS} before it \
calls the store; a single client need not wait. Messages to unix-datagram:PATH, one op each, need no acknowledgement. \
A client that sends a line that is not an op is refused; checking continues, and the verdict is not true. If ops arrive faster than \
they are checked, their writers block.

Checkers that find violations only at the end report them at the end. Ops are ordered by arrival, also for versioned-register, \
which otherwise orders them by time. If a checker of transactions may need more and more memory, a note at the start lists what it \
keeps. At a limit (--timeout, --max-memory) the watch ends: the verdict is false if a violation was found, else unknown.

Examples:
  histcheck watch -m cas-register history.jsonl
      Stop at the first op that makes the history not linearizable.
  ./test-harness | histcheck watch -m bank --keep-going
      Print the first violation when it happens, and the verdict at the end.
  histcheck watch -m list-append --listen 127.0.0.1:7000 --until-closed
      Receive one history from several clients, until all close their connections.";

pub(crate) const CONVERT_USAGE: &str = "histcheck convert [OPTIONS] --to FORMAT FILE [-o FILE]";

pub(crate) const CONVERT: &str = "\
edn, json (one array), jsonl (one object per line), txt and intervals hold any history, or nearly. The others are formats of \
checkers of transactions, and hold sessions of transactions that read and write registers:
  plume       Plume, PolySI, AWDIT: lines such as w(3,17,0,5)
  awdit       AWDIT: lines such as w 3 17
  dbcop       dbcop of 2019, PolySI, AWDIT, VeriStrong: history.bincode
  dbcop-json  dbcop 0.2: JSON
  hist        dbcop 0.2: text such as [x:=1 y==2]
  cobra       Cobra, PolySI, AWDIT: a directory of T0.log, T1.log, ...
  chronos     Chronos, Aion: JSON with timestamps, from the fields start-ts and commit-ts of completions

An op that the output format cannot hold is an error that names it; no file is written, and standard output ends before it. With --lossy, an operation of unknown \
outcome is committed if its writes were read and aborted otherwise, and transactions that the format cannot hold are omitted. \
Formats of other checkers have no real-time order; a note reports what was omitted.

Exits with 0 if the history was written, 255 if not.

Examples:
  histcheck convert history.edn --to plume -o history.plume
      Write a history for Plume, PolySI or AWDIT.
  histcheck convert store/latest --to dbcop --renumber --lossy -o run/history.bincode
      Convert a Jepsen test with keywords as keys and operations of unknown outcome.
  histcheck convert cobra-logs/ --to jsonl -o history.jsonl.zst
      Read Cobra's logs, and write JSON Lines.";

pub(crate) const VALIDATE: &str = "\
Lists all errors that prevent a file from being read as a history, and warns of ops that are legal but doubtful: a completion with another \
function or other micro-operations than its invocation, the same write twice, keys of several types. For each file, but not for standard \
input, it names the checkers that accept its first ops.

Exits with 0 if there are no errors (warnings are allowed), 1 if there are errors, 255 if a file cannot be read.";

pub(crate) const OUTPUT: &str = "\
Output format: a line per file (text), a full report as one JSON object or EDN map per line (json, edn), one document for \
all files (junit, sarif, markdown), or workflow commands for GitHub Actions (github). With =FILE, write to this file; may be given \
several times [default: text]";

/// WORKLOAD, LEVELS and BUGS are placeholders that the command replaces.
pub(crate) const GEN: &str = "\
Equal arguments give equal histories, byte for byte. A bug changes what the store does; a short history may still be \
valid. If only one end of a range is given, the other end adapts to it.

Examples:
  histcheck gen WORKLOAD --txns 1000 --bug stale-read -o history.edn
      A store whose read-only transactions may see an old state.
  histcheck gen WORKLOAD --txns 100000 --key-dist zipf --max-txn-length 8 -o large.jsonl.gz
      A correct store under load, with most of the load on a few keys.
  histcheck gen WORKLOAD --txns 100000 --bug planted-G1c -o cycle.edn
      One bad read, and a cycle through the whole history.

--bug also accepts the isolation level that a store with the bug provides; a level that is not listed here has the name of its bug. Repeatable \
read is missing: it differs from serializable only in reads by predicate.

Levels:
LEVELS

Bugs:
BUGS";

/// The paragraph before the options for transactions, if the help is not for one workload.
pub(crate) const GEN_ALL: &str = "\
Workloads are transactions (list-append and rw-register), logs (kafka), or operations on single objects. The rest of this text is about \
transactions; `histcheck gen WORKLOAD --help` lists the options and bugs of each workload.

";

/// BUGS is a placeholder that the command replaces.
pub(crate) const GEN_LOGS: &str = "\
Clients assign all logs to themselves, send messages to them and poll them; at the end they poll all remaining messages. Without a bug, every \
message is polled once by each client, in order. Equal arguments give equal histories, byte for byte. A bug changes what the store \
does; a short history may still be valid.

Examples:
  histcheck gen kafka --ops 1000 --bug lost-write -o history.edn
      A history with lost messages.
  histcheck gen kafka --ops 100000 --ops-per-txn-max 1 -o large.jsonl.gz
      A correct history without transactions.

Bugs:
BUGS";

/// WORKLOAD, BUGS and BUG are placeholders that the command replaces.
pub(crate) const GEN_OBJECT: &str = "\
Without a bug, every operation takes effect at one instant between its invocation and its completion, so the history is \
linearizable. Equal arguments give equal histories, byte for byte. A bug changes what the object does; a short history \
may still be valid.

Examples:
  histcheck gen WORKLOAD --ops 1000 --bug BUG -o history.edn
      A history with a bug.
  histcheck gen WORKLOAD --ops 100000 --think 0 --info-rate 0.01 -o large.jsonl.gz
      A correct history, with no pauses between operations and one percent of crashed operations.

Bugs:
BUGS";
