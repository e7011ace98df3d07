//! bank: money moves between accounts, and every read must show all of it.
//!
//! Clients transfer amounts between accounts and read all balances at once. Transfers keep the total, so under snapshot
//! isolation every read returns the same total, and no balance below zero if the store rejects such transfers. Each
//! `ok` read, a map from accounts to balances, is checked separately; it counts as the first of these errors that
//! applies:
//!
//! 1. `unexpected-key`: it contains an account that does not exist. Accounts are those of the first `ok` read, unless
//!    given.
//! 2. `nil-balance`: an account has no balance.
//! 3. `wrong-total`: the balances do not sum to the total, that of the first read whose accounts all exist and all have
//!    balances, unless given.
//! 4. `negative-value`: a balance is below zero, and that is not allowed.
//!
//! Transfers themselves are not checked. An `ok` read that contains an account is **observed**: without one the verdict
//! is unknown. After Jepsen's `jepsen.tests.bank`, in the form of elle-cli; balances may be of any size here. Time is
//! linear; memory grows with the number of accounts.

use crate::elements::{ElemId, Elements};
use crate::fold::{self, Workload, WorkloadRun};
use crate::witness::{self, Extremes, OpRef};
use history_core::cast::Cast as _;
use history_core::{
    About, Checker, Datum, Entries, Expected, HistoryError, KeptReads, Op, OpFault, OpKind, OpUse, OptionError,
    OptionKind, OptionSpec, Options, Parts, Report, Run, Value, Verdict, WhichReads, Witness,
};

/// The bank checker, and its options.
///
/// ```
/// use check_jepsen::bank::Bank;
/// use history_core::{Checker, History, Verdict};
///
/// let history = History::parse("
///     {:process 0, :type :invoke, :f :read} {:process 0, :type :ok, :f :read, :value {:a 7, :b 3}}
///     {:process 0, :type :invoke, :f :read} {:process 0, :type :ok, :f :read, :value {:a 5, :b 3}}
/// ")?;
/// let report = Bank::default().check(&history)?;
/// assert_eq!(report.verdict, Verdict::Invalid);
/// assert_eq!(report.anomaly_types().collect::<Vec<_>>(), ["wrong-total"]);
/// assert!(report.anomalies[0].witnesses[0].explanation.contains("sum to 8: 2 too little"));
/// # Ok::<(), history_core::HistoryError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bank {
    /// The sum of all balances; that of the first good read if absent.
    pub total_amount: Option<i64>,
    /// Whether balances may be below zero.
    pub allow_negative_balances: bool,
    /// The accounts; those of the first `ok` read if absent. Strings that are integers represent these.
    pub accounts: Option<Vec<Datum>>,
}

const TOTAL_AMOUNT: OptionSpec = OptionSpec::new("total-amount", OptionKind::Integer, "Expected sum of all balances.")
    .with_value_name("AMOUNT")
    .with_default("the sum in the first read that has all balances");

const ALLOW_NEGATIVE_BALANCES: OptionSpec =
    OptionSpec::new("allow-negative-balances", OptionKind::Flag, "Allow balances below zero.");

impl Checker for Bank {
    fn name(&self) -> &'static str {
        "bank"
    }

    fn summary(&self) -> &'static str {
        "Transfers between accounts: every read of all balances shows the same total."
    }

    fn options(&self) -> &[OptionSpec] {
        &[TOTAL_AMOUNT, ALLOW_NEGATIVE_BALANCES]
    }

    fn about(&self) -> About {
        let kept = |anomaly: &'static str, which, unless: Option<&'static str>| KeptReads {
            anomaly: anomaly.into(),
            which,
            unless: unless.map(Into::into),
        };
        let mut about = About::default().with_parts(Parts::Reads);
        about.reduction.kept_reads = vec![
            kept("unexpected-key", WhichReads::First, None),
            kept("wrong-total", WhichReads::FirstSum, Some(TOTAL_AMOUNT.name)),
        ];
        about
    }

    fn start(&self, options: &Options) -> Result<Box<dyn Run>, OptionError> {
        let mut settings = self.clone();
        settings.total_amount = options.integer(TOTAL_AMOUNT.name)?.or(self.total_amount);
        settings.allow_negative_balances |= options.flag(ALLOW_NEGATIVE_BALANCES.name);
        let run = BankRun::new(&settings).map_err(|error| OptionError::new("accounts", error.to_string()))?;
        Ok(Box::new(WorkloadRun::new(run)))
    }
}

/// A wrong read.
#[derive(Clone, Debug, PartialEq)]
struct Bad {
    op: OpRef,
    balances: Vec<(ElemId, Option<i128>)>,
}

#[derive(Clone)]
struct BankRun {
    allow_negative: bool,
    /// Accounts that exist come first; the others occur only in reads.
    accounts: Elements,
    /// The number of accounts that exist, once it is known.
    known: Option<usize>,
    /// Whether the read that would show the accounts cannot be decoded: then no account is unexpected.
    accounts_are_unread: bool,
    /// The sum of balances, once it is known, and the read from which it is.
    total: Option<(i128, Option<u64>)>,
    /// For each account, the last read that showed it, counted from 1.
    shown_by: Vec<u64>,
    reads: u64,
    /// Reads that show only some of the accounts.
    partial: u64,
    /// The first such read.
    first_partial: Option<u64>,
    /// The lowest and the highest total of any read whose accounts all exist and all have balances.
    range: Option<(i128, i128)>,
    unexpected_key: Extremes<usize, Bad>,
    nil_balance: Extremes<usize, Bad>,
    wrong_total: Extremes<u128, Bad>,
    negative_value: Extremes<u128, Bad>,
    balances: Vec<(ElemId, Option<i128>)>,
}

impl BankRun {
    fn new(options: &Bank) -> Result<BankRun, HistoryError> {
        let mut run = BankRun {
            allow_negative: options.allow_negative_balances,
            accounts: Elements::default(),
            known: None,
            accounts_are_unread: false,
            total: options.total_amount.map(|total| (total.into(), None)),
            shown_by: Vec::new(),
            reads: 0,
            partial: 0,
            first_partial: None,
            range: None,
            unexpected_key: Extremes::default(),
            nil_balance: Extremes::default(),
            wrong_total: Extremes::default(),
            negative_value: Extremes::default(),
            balances: Vec::new(),
        };
        if let Some(accounts) = &options.accounts {
            for account in accounts {
                if let Err(OpFault::Error(error)) = account.with_value(|account| run.account(account))? {
                    return Err(error);
                }
            }
            run.known = Some(run.accounts.len());
        }
        Ok(run)
    }

    /// The number of wrong reads.
    fn errors(&self) -> u64 {
        self.unexpected_key.count + self.nil_balance.count + self.wrong_total.count + self.negative_value.count
    }

    /// The account of a key: keys in JSON are strings, and those that contain an integer represent it.
    #[inline]
    fn account(&mut self, key: Value<'_>) -> Result<ElemId, OpFault> {
        match key {
            Value::Str(text) if let Some(int) = whole(text) => self.accounts.int(int),
            key => self.accounts.id(key),
        }
    }

    /// Decodes a read into `self.balances`.
    fn decode(&mut self, entries: Entries<'_>) -> Result<(), OpFault> {
        self.balances.clear();
        for (key, value) in entries {
            let account = self.account(key)?;
            let balance = match value {
                Value::Nil => None,
                Value::Int(balance) => Some(balance.into()),
                Value::Big(text) if let Ok(balance) = text.trim_end_matches('N').parse() => Some(balance),
                other => {
                    return Err(unreadable(format!(
                        "expected an integer of at most 128 bits as the balance of {key}, \
                        found {other}"
                    )));
                }
            };
            if account.at() >= self.shown_by.len() {
                self.shown_by.resize(account.at() + 1, 0);
            }
            if std::mem::replace(&mut self.shown_by[account.at()], self.reads) == self.reads {
                return Err(unreadable(format!("the read contains the account {key} twice")));
            }
            self.balances.push((account, balance));
        }
        Ok(())
    }

    /// Records the first fault of the read in `self.balances`.
    fn judge(&mut self, op: &Op<'_>) -> Result<(), OpFault> {
        let known = if self.accounts_are_unread { usize::MAX } else { *self.known.get_or_insert(self.accounts.len()) };
        let balances = &self.balances;
        let bad = || Bad { op: OpRef::of(op), balances: balances.clone() };
        let unexpected = balances.iter().filter(|(account, _)| account.at() >= known).count();
        if unexpected > 0 {
            self.unexpected_key.push(unexpected, bad());
            return Ok(());
        }
        let nils = balances.iter().filter(|(_, balance)| balance.is_none()).count();
        if nils > 0 {
            self.nil_balance.push(nils, bad());
            return Ok(());
        }
        let sums = || {
            let mut each = balances.iter().filter_map(|(_, balance)| *balance);
            each.try_fold((0i128, 0i128), |(sum, below), balance| {
                Some((sum.checked_add(balance)?, below.checked_add(balance.min(0))?))
            })
        };
        let (sum, below) =
            sums().ok_or_else(|| unreadable("the sum of the read's balances does not fit 128 bits".into()))?;
        if !self.accounts_are_unread && balances.len() < known {
            self.partial += 1;
            self.first_partial.get_or_insert(op.index);
        }
        let (low, high) = self.range.unwrap_or((sum, sum));
        self.range = Some((low.min(sum), high.max(sum)));
        let (total, _) = *self.total.get_or_insert((sum, Some(op.index)));
        if sum != total {
            self.wrong_total.push(sum.abs_diff(total), bad());
        } else if below < 0 && !self.allow_negative {
            self.negative_value.push(below.unsigned_abs(), bad());
        }
        Ok(())
    }
}

#[cold]
fn unreadable(reason: String) -> OpFault {
    OpFault::Undecodable(reason)
}

/// The integer that a text represents, if it has the usual form of one.
fn whole(text: &str) -> Option<i64> {
    let int: i64 = text.parse().ok()?;
    let plain = matches!(text.as_bytes(), [b'0'] | [b'1'..=b'9', ..] | [b'-', b'1'..=b'9', ..]);
    plain.then_some(int)
}

impl Workload for BankRun {
    const EXPECTED: Expected = Expected {
        ops: ":read with a map of account to balance, and :transfer",
        observation: "ok :read that shows an account",
    };

    fn take(&mut self, op: &Op<'_>) -> Result<OpUse, OpFault> {
        match op.f {
            Some("read") if op.kind == OpKind::Ok => {}
            Some("read" | "transfer") => return Ok(OpUse::Understood),
            _ => return Ok(OpUse::PassedOver),
        }
        self.reads += 1;
        let decoded = match op.value {
            Value::Map(entries) => self.decode(entries),
            other => Err(unreadable(format!("expected a map of account to balance, found {}", other.kind()))),
        };
        if let Err(trouble) = decoded {
            // The accounts must not be inferred from a later read. Whatever they are, a read is wrong if its sum
            // differs from the total or from another read's, if a balance is missing, or if one is below 0: if its
            // accounts exist, for this reason, and otherwise because of an unexpected account.
            self.accounts_are_unread |= self.known.is_none() && matches!(trouble, OpFault::Undecodable(_));
            return Err(trouble);
        }
        self.judge(op)?;
        Ok(fold::observed_if(!self.balances.is_empty()))
    }

    fn is_violated(&self) -> bool {
        self.errors() > 0
    }

    fn report(self, _whole: bool) -> Report {
        let errors = self.errors();
        let mut report = Report::new("bank", if errors == 0 { Verdict::Valid } else { Verdict::Invalid });
        let anomalies = [
            self.unexpected_key.anomaly("unexpected-key", |bad| self.explain_unexpected_key(bad)),
            self.nil_balance.anomaly("nil-balance", |bad| self.explain_nil_balance(bad)),
            self.wrong_total.anomaly("wrong-total", |bad| self.explain_wrong_total(bad)),
            self.negative_value.anomaly("negative-value", |bad| self.explain_negative_value(bad)),
        ];
        witness::add_anomalies(&mut report, anomalies);
        report.notes = self.notes();
        report.counts = vec![
            ("read-count".into(), self.reads),
            ("error-count".into(), errors),
            ("partial-read-count".into(), self.partial),
            ("account-count".into(), self.known.unwrap_or(0).to_u64()),
        ];
        report
    }
}

/// The explanations.
impl BankRun {
    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if let (Some((low, high)), Some((total, _))) = (self.range, self.total)
            && (low, high) != (total, total)
        {
            notes.push(format!("Totals range from {low} to {high}; expected {total}."));
        }
        if let Some(first) = self.first_partial {
            let reads = if self.partial == 1 { "1 read shows" } else { &format!("{} reads show", self.partial) };
            notes.push(format!(
                "{reads} only some of the accounts (the first at index {first}); their sums were checked too."
            ));
        }
        notes
    }

    fn witness(&self, bad: &Bad, mut facts: Vec<(&'static str, Datum)>, sentence: String) -> Witness {
        if let Some((total, _)) = self.total {
            facts.push(("expected-total", total.into()));
        }
        let balance = |(account, balance): &(ElemId, Option<i128>)| {
            (self.accounts.datum(*account), balance.map_or(Datum::Nil, Datum::from))
        };
        let value = Datum::Map(bad.balances.iter().map(balance).collect());
        witness::witness(vec![bad.op.named("R1", OpKind::Ok, value)], facts, &[sentence])
    }

    /// The accounts of a read that satisfy a condition.
    fn those(&self, bad: &Bad, is: impl Fn(ElemId, Option<i128>) -> bool) -> Vec<Datum> {
        let all = bad.balances.iter().filter(|(account, balance)| is(*account, *balance));
        all.map(|(account, _)| self.accounts.datum(*account)).collect()
    }

    fn explain_unexpected_key(&self, bad: &Bad) -> Witness {
        let known = self.known.unwrap_or(0);
        let unexpected = self.those(bad, |account, _| account.at() >= known);
        let exist: Vec<Datum> = (0..known.min(LISTED_MAX)).map(|at| self.accounts.datum(ElemId::new(at))).collect();
        let sentence = format!(
            "R1 shows {}, but the accounts are {}",
            listed("account", &unexpected),
            if known == 0 { "none".to_owned() } else { list(&exist, known) }
        );
        self.witness(bad, vec![("unexpected", Datum::Vector(unexpected))], sentence)
    }

    fn explain_nil_balance(&self, bad: &Bad) -> Witness {
        let nils = self.those(bad, |_, balance| balance.is_none());
        let sentence = format!("R1 lacks the balance of {}", listed("account", &nils));
        self.witness(bad, vec![("nils", Datum::Vector(nils))], sentence)
    }

    fn explain_wrong_total(&self, bad: &Bad) -> Witness {
        let sum: i128 = bad.balances.iter().filter_map(|(_, balance)| *balance).sum();
        let (total, from) = self.total.unwrap_or((sum, None));
        let off = sum.abs_diff(total);
        let off = if sum > total { format!("{off} too much") } else { format!("{off} too little") };
        let says = from.map(|index| format!(", as the read at index {index} says")).unwrap_or_default();
        let sentence = format!("R1 shows balances that sum to {sum}: {off}. The total is {total}{says}");
        let (low, high) = self.range.unwrap_or((sum, sum));
        let facts = vec![("total", sum.into()), ("lowest-total", low.into()), ("highest-total", high.into())];
        self.witness(bad, facts, sentence)
    }

    fn explain_negative_value(&self, bad: &Bad) -> Witness {
        let negative = self.those(bad, |_, balance| balance.is_some_and(|balance| balance < 0));
        let sentence = format!("R1 shows a negative balance of {}", listed("account", &negative));
        self.witness(bad, vec![("negative", Datum::Vector(negative))], sentence)
    }
}

/// The maximum number of accounts that a sentence lists.
const LISTED_MAX: usize = 16;

/// The values in a sentence; `count` is the number of all.
fn list(values: &[Datum], count: usize) -> String {
    let mut text: Vec<String> = values.iter().take(LISTED_MAX).map(Datum::to_string).collect();
    if count > text.len() {
        text.push(format!("and {} more", count - text.len()));
    }
    text.join(" ")
}

fn listed(noun: &str, values: &[Datum]) -> String {
    let plural = if values.len() == 1 { "" } else { "s" };
    format!("{noun}{plural} {}", list(values, values.len()))
}
