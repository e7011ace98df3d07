//! Longer help texts: what to type, what comes out, what can be read.

pub(crate) const ABOUT: &str = "\
Says which consistency guarantees a recorded history obeys, or proves which it broke.";

pub(crate) const LONG_ABOUT: &str = "\
Says which consistency guarantees a recorded history obeys, or proves which it broke.

A history is what clients of a database recorded while they used it: who invoked what, and what came back. histcheck \
reads such files, as Jepsen and its like write them, and prints a line a file: its path and true (valid), false \
(invalid) or unknown.";

pub(crate) const USAGE: &str = "\
histcheck -m MODEL [OPTIONS] FILE...
       histcheck COMMAND ...";

pub(crate) const AFTER: &str = "\
Example:
  histcheck -m list-append history.edn

`histcheck --help` says more: examples, exit codes, and what a history looks like.";

pub(crate) const AFTER_LONG: &str = "\
Examples:
  histcheck -m list-append history.edn
      Is this history strict serializable?
  histcheck -m list-append -v -c snapshot-isolation history.edn
      Does it at least obey snapshot isolation? If not, why not?
  histcheck -m list-append --output json *.edn.gz store/latest -
      Whole reports for compressed files, a directory of Jepsen's and standard input.
  histcheck -m bank,stats history.edn
      Several checkers over one pass: the worst verdict is that of all, and with -v each says its own.
  histcheck -m list-append --keyed=auto history.edn
      Each key on its own, if ops look like {:value [key value]}, as those of Jepsen's independent tests do.
  histcheck gen list-append --txns 1000 --bug lost-update | histcheck -m list-append -v -
      What does a lost update look like?
  histcheck --plugin ./libleader_lease.so -m leader-lease leases.edn
      A checker of your own: `histcheck plugin new leader-lease` writes one to begin with.
  histcheck -m list-append --timeout 60 --max-memory 8000000000 *.edn
      Histories that take longer, or more memory, are given up; the others are judged.
  histcheck -m list-append --jobs 4 store
      All tests in Jepsen's store, four at one time.
  histcheck -m list-append --output junit --unknown fail *.edn > histories.xml
      For CI: also sarif and github. `docs/ci.md` in the source has whole workflows.
  histcheck validate history.edn
      Is it a history at all, and does anything in it look doubtful?

Exit codes:
  0    every history is valid
  1    some history is invalid
  2    some verdict is unknown, and none is invalid (0 with --unknown pass, 1 with --unknown fail)
  254  wrong usage
  255  some file could not be judged; the others are, and are printed
  An interrupt (Ctrl-C, SIGTERM) ends with what is known by then; what was not begun is not judged. A second one ends at once, with 130.

Histories:
  EDN    maps one after another, or in one vector or list; any record tag
         {:process 0, :type :invoke, :f :txn, :value [[:append 7 1] [:r 7 nil]]}
         {:process 0, :type :ok,     :f :txn, :value [[:append 7 1] [:r 7 [1]]]}
  JSON   one object a line, objects one after another, or in one array
         {\"process\": 0, \"type\": \"ok\", \"f\": \"txn\", \"value\": [[\"append\", 7, 1]]}
  intervals  an operation a line, with the times of its call and its return, in any order
         {\"client\": 0, \"call\": 10, \"return\": 25, \"input\": [\"write\", 3], \"output\": null}
  txt    the history.txt of Jepsen, or its log
  Formats are told apart by content; gzip and zstd are seen through. :index and :time are optional. A directory of a \
test in Jepsen's store stands for its history, any other directory for all in it and below (tests, and files named .edn, .json, .jsonl or \
.ndjson, perhaps with .gz or .zst behind), and - for standard input. docs/formats.md in the source says all of it.

Plugins:
  Libraries with checkers are loaded from --plugin and --plugin-dir, from the files and directories in HISTCHECK_PLUGINS (separated \
as in PATH), and from ~/.local/share/histcheck/plugins (XDG_DATA_HOME counts; on macOS ~/Library/Application Support/histcheck/plugins, on \
Windows %APPDATA%\\histcheck\\plugins). A plugin can do all that you can; what others can write is refused unless --trust is given. Of two \
checkers with one name, FILE:NAME chooses; those that are built in have the file histcheck.

A file named like a command can be given as ./validate, or after -m.

";

pub(crate) const REPORT_USAGE: &str = "histcheck report -m MODEL [OPTIONS] -d DIR FILE...";

pub(crate) const REPORT: &str = "\
Prints what judging prints, with the same exit codes, and writes a page about each history: the verdict and what it means, what is \
ruled out, each anomaly with its picture and the operations around it, and numbers about the history. A page is one file; it needs \
neither a network nor a script. What is no history gets a page, too, which says what is wrong with it.

Examples:
  histcheck report -m list-append history.edn -d report
      Writes report/report.html.
  histcheck report -m cas-register --keyed=auto runs/*.edn -d reports
      Writes reports/index.html, and a page in a folder for each.";

pub(crate) const MINIMIZE_USAGE: &str = "histcheck minimize -m MODEL [OPTIONS] FILE [-o FILE]";

pub(crate) const MINIMIZE: &str = "\
What is written are whole operations, invocation with completion, with the indices that they have in the history; of transactions, \
those of their micro-ops that matter. Whatever an operation needs to be explained is kept (a read, the writes of what it saw), so \
what is wrong with less is wrong with the whole, too. No single operation could be left out. Where no part will do, the whole \
history is written, and that is said. A FILE after -o that ends in .gz or .zst is compressed.

Exits as judging does: with 1 if the history is invalid, and something was written; with 0 if it is valid, with 2 if that is unknown.

Examples:
  histcheck minimize -m list-append history.edn -o small.edn
      What is left of it is read with `histcheck -v -m list-append small.edn`.
  histcheck minimize -m list-append --anomaly lost-update history.edn -o small.edn
      Another anomaly than the first.";

pub(crate) const WATCH_USAGE: &str = "\
histcheck watch -m MODEL [OPTIONS] [FILE]
       histcheck watch -m MODEL [OPTIONS] --listen ADDRESS";

pub(crate) const WATCH: &str = "\
Prints the violation, with its witness, as soon as it is certain, and ends with exit code 1. Otherwise the history ends where \
standard input does, or with an interrupt (Ctrl-C, SIGTERM): then the verdict on all of it is printed. A second interrupt gives \
up the search for it.

A file is followed by its name, through truncation and rotation, and may come into being later; several clients may append \
lines to it. Clients that connect write an op a line. After each invoke they wait for a line {\"ack\":PROCESS} before they call \
the store; a client that is the only one need not wait. Messages to unix-datagram:PATH, an op each, need no acknowledgement. \
A client whose line is not an op is refused, and the others are judged on; the verdict is then not true. Where ops come faster \
than they are judged, those who write them wait.

Checkers that know of a violation only at the end say so then. Ops count in the order in which they come, also for \
versioned-register, which goes by their times otherwise.

Examples:
  histcheck watch -m cas-register history.jsonl
      Ends as soon as the register was not linearizable.
  ./test-harness | histcheck watch -m bank --keep-going
      Says what is wrong when it happens, and sums up at the end.
  histcheck watch -m list-append --listen 127.0.0.1:7000 --until-closed
      Several clients write into one history, which ends when all have closed their connections.";

pub(crate) const VALIDATE: &str = "\
Reports everything in a file that keeps it from being a history, all at once, and as warnings what is legal but \
doubtful: a completion that does not match its invocation, the same write twice, keys of several types.

Exits with 0 if there are no errors (there may be warnings), 1 if there are, 255 if a file cannot be read.";

pub(crate) const OUTPUT: &str = "\
How to write results: a line a file; the whole report as one JSON object or EDN map a line; for CI one document on all \
files (junit, sarif), or GitHub's workflow commands (github)";

/// WORKLOAD, LEVELS and BUGS stand for what the command fills in.
pub(crate) const GEN: &str = "\
Equal arguments give equal histories, byte for byte. A bug is what the store does wrong, not what a checker must find: \
in a short history it may do no harm. Where only one end of a range is given, the other makes room for it.

Examples:
  histcheck gen WORKLOAD --txns 1000 --bug stale-read -o history.edn
      A store that lets clients read what was overwritten long ago.
  histcheck gen WORKLOAD --txns 100000 --key-dist zipf --max-txn-length 8 -o large.jsonl.gz
      A correct store under load, most of it on a few keys.
  histcheck gen WORKLOAD --txns 100000 --bug planted-G1c -o cycle.edn
      One bad read, and a cycle through the whole history.

Levels of isolation, and the bugs that they are; --bug takes either name. The other levels are bugs of their own name. \
Repeatable read would be serializable: no transaction reads by predicate.
LEVELS

Bugs:
BUGS";

/// Before what is said of transactions, where it is not said of one workload.
pub(crate) const GEN_ALL: &str = "\
Workloads are transactions, list-append and rw-register, or operations on single objects. What follows is about \
transactions; `histcheck gen WORKLOAD --help` tells the options and bugs of each workload.

";

/// WORKLOAD, BUGS and BUG stand for what the command fills in.
pub(crate) const GEN_OBJECT: &str = "\
Every operation takes effect at one instant between its invocation and its completion, unless there is a bug; so the \
history is linearizable. Equal arguments give equal histories, byte for byte. A bug is what goes wrong, not what a \
checker must find: in a short history it may do no harm.

Examples:
  histcheck gen WORKLOAD --ops 1000 --bug BUG -o history.edn
      Something is wrong with it now and then.
  histcheck gen WORKLOAD --ops 100000 --think 0 --info-rate 0.01 -o large.jsonl.gz
      A correct one, clients that ask without a pause, and every hundredth operation crashed.

Bugs:
BUGS";
