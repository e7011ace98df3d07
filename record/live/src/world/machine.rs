//! A node's machine that is this computer, or a part of it: directories, commands and daemons.

use super::clock::Clock;
use super::command::{run, words};
use super::host::{Host, Order};
use super::process::{Daemon, Within};
use crate::error::LiveError;
use crate::group::log::last_bytes;
use crate::group::undo_if_killed;
use crate::need::find;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::{env, fs};

/// A machine on this computer.
pub(crate) struct Machine {
    within: Within,
    /// The path of its data.
    data: PathBuf,
    logs: PathBuf,
    /// The file that determines the time of its clock.
    clock_file: PathBuf,
    clock: OnceLock<Clock>,
    daemons: Mutex<Vec<Daemon>>,
    has_filter: OnceLock<()>,
}

impl Machine {
    /// A machine whose processes run in this environment. Other files than data and logs are in a directory next to its
    /// data.
    pub(crate) fn new(within: Within, data: PathBuf, logs: PathBuf) -> Machine {
        let clock_file = data.with_extension("clock");
        Machine {
            within,
            data,
            logs,
            clock_file,
            clock: OnceLock::new(),
            daemons: Mutex::default(),
            has_filter: OnceLock::new(),
        }
    }

    /// The processes of its daemons, as far as they can be distinguished from others.
    pub(super) fn processes(&self) -> Vec<u32> {
        self.daemons().iter().flat_map(Daemon::processes).collect()
    }

    fn filter(&self, rules: &str) -> Result<(), LiveError> {
        _ = self.has_filter.set(());
        // The rules are removed even if this process is killed.
        undo_if_killed(REMOVE_FILTER);
        run(Command::new("nft").args(["-f", "-"]), &open_to_control(rules, env::var("SSH_CONNECTION").ok().as_deref()))
    }

    /// Removes the rules of its packet filter, if it was ever used.
    pub(crate) fn remove_filter(&self) -> Result<(), LiveError> {
        match self.has_filter.get() {
            None => Ok(()),
            Some(()) => run(Command::new("sh").args(["-c", REMOVE_FILTER]), ""),
        }
    }

    fn daemons(&self) -> MutexGuard<'_, Vec<Daemon>> {
        self.daemons.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn each(&self, what: impl FnMut(&mut Daemon) -> Result<(), LiveError>) -> Result<String, LiveError> {
        self.daemons().iter_mut().try_for_each(what).map(|()| String::new())
    }

    fn data(&self, name: &str, user: &str) -> Result<String, LiveError> {
        let path = self.data.join(name);
        fs::create_dir_all(&path).map_err(|source| LiveError::Write { path: path.clone(), source })?;
        if !as_user(user).is_empty() {
            run(Command::new("chown").arg(format!("{user}:")).arg(&path), "")?;
        }
        Ok(path.display().to_string())
    }

    fn start(&self, user: &str, name: &str, command: &[String]) -> Result<String, LiveError> {
        // Shared memory that the clock's library creates must belong to the user who needs it.
        let mut whole = as_user(user);
        whole.extend(self.clock.get().map(Clock::before).unwrap_or_default());
        whole.extend(command.iter().cloned());
        let daemon = Daemon::start(&self.within, &self.logs, name, whole)?;
        self.daemons().push(daemon);
        Ok(String::new())
    }

    fn make_clock(&self) -> Result<String, LiveError> {
        let clock = Clock::new(self.clock_file.clone())?;
        _ = self.clock.set(clock);
        Ok(String::new())
    }
}

impl Host for Arc<Machine> {
    fn obey(&self, order: &Order) -> Result<String, LiveError> {
        (**self).obey(order)
    }
}

impl Host for Machine {
    fn obey(&self, order: &Order) -> Result<String, LiveError> {
        let done = |()| String::new();
        match order {
            Order::Find { program } => Ok(find(program).map(|path| path.display().to_string()).unwrap_or_default()),
            Order::Data { name, user } => self.data(name, user),
            Order::Write { path, text } => {
                fs::write(path, text).map(done).map_err(|source| LiveError::Write { path: path.clone(), source })
            }
            Order::Run { user, command, input } => {
                let whole = [as_user(user), command.clone()].concat();
                let Some((program, arguments)) = whole.split_first() else { return Ok(String::new()) };
                // The user may not have access to the current directory.
                run(Command::new(program).args(arguments).current_dir("/"), input).map(done)
            }
            Order::Start { user, name, command } => self.start(user, name, command),
            Order::Stop => {
                let killed = self.each(Daemon::kill);
                self.daemons().clear();
                killed
            }
            Order::Kill => self.each(Daemon::kill),
            Order::Pause => self.each(Daemon::pause),
            Order::Resume => self.each(|daemon| daemon.resume().and_then(|()| daemon.restart())),
            Order::Check => self.each(Daemon::is_running),
            Order::LastLines => Ok(self.daemons().first().map(Daemon::last_lines).unwrap_or_default()),
            Order::Log { name } => Ok(last_bytes(&self.logs.join(format!("{name}.log")))),
            Order::MakeClock => self.make_clock(),
            Order::SetClock { is_late } => self.clock.get().map_or(Ok(()), |clock| clock.set(*is_late)).map(done),
            Order::Filter { rules } => self.filter(rules).map(done),
        }
    }
}

/// The placeholder in a chain of rules where the run's own connection is accepted.
pub(crate) const CONTROL: &str = "@control";
/// The command that removes the rules.
const REMOVE_FILTER: &str = "nft delete table inet histcheck_live 2> /dev/null";

/// The rules, with the connection in this text accepted: the value of `SSH_CONNECTION`.
fn open_to_control(rules: &str, connection: Option<&str>) -> String {
    let passes = |hook: &str| {
        let [client, port, _, own] = connection?.split(' ').collect::<Vec<_>>()[..] else { return None };
        let version = if client.contains(':') { "ip6" } else { "ip" };
        Some(match hook {
            "input" => format!("{version} saddr {client} tcp sport {port} tcp dport {own} accept;"),
            _ => format!("{version} daddr {client} tcp dport {port} tcp sport {own} accept;"),
        })
    };
    let line = |line: &str| match line.strip_prefix(CONTROL) {
        Some(hook) => passes(hook.trim()).unwrap_or_default(),
        None => line.to_owned(),
    };
    rules.lines().map(|text| line(text) + "\n").collect()
}

/// The words before a command that make this user run it, if this process runs as root: some servers do not run as
/// root.
fn as_user(user: &str) -> Vec<String> {
    if user.is_empty() || !rustix::process::getuid().is_root() {
        return Vec::new();
    }
    let mut before = words("setpriv --init-groups");
    before.extend([format!("--reuid={user}"), format!("--regid={user}"), "--".to_owned()]);
    before
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_connection_of_the_run_passes() {
        let rules = format!("a\n{CONTROL} input\n{CONTROL} output\nb\n");
        let open = open_to_control(&rules, Some("10.0.0.9 4711 10.0.0.1 22"));
        let expected = "a\nip saddr 10.0.0.9 tcp sport 4711 tcp dport 22 accept;\n\
                        ip daddr 10.0.0.9 tcp dport 4711 tcp sport 22 accept;\nb\n";
        assert_eq!(open, expected);
        assert_eq!(open_to_control(&rules, None), "a\n\n\nb\n");
    }
}
