//! The binary as a process.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::Arc;

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use super::Http;
use super::store::{Kept, StoreKind, migrate};

/// The platform key of every server that a test starts.
pub(crate) const PLATFORM_KEY: &str = "the platform key of the black-box tests";
const PLATFORM_KEY_VARIABLE: &str = "ABASTO_PLATFORM_KEY";
/// What all instances over one database must have in common.
const CURSOR_SECRET: (&str, &str) = (
    "ABASTO_CURSOR_SECRET",
    "the cursor secret of the black-box tests",
);

/// The binary, with nothing of the surrounding configuration.
pub(crate) fn abasto() -> Command {
    bare(env!("CARGO_BIN_EXE_abasto"))
}

fn bare(program: &str) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("ABASTO_") {
            command.env_remove(name);
        }
    }
    command.stdin(Stdio::null());
    command
}

/// A command that has ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs a command to its end.
pub(crate) fn run(command: &mut Command) -> Ran {
    let output = command.output().expect("the binary starts");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    Ran {
        code: output.status.code(),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    }
}

/// How servers are started over one store. Started twice on a replica set, it makes two instances
/// that share everything.
#[derive(Debug, Clone)]
pub(crate) struct Setup {
    folder: Arc<TempDir>,
    store: Arc<Kept>,
    command: &'static str,
    variables: Vec<(String, String)>,
    arguments: Vec<String>,
    bounds: FileBounds,
}

/// What happens to a server whose file would become larger than the system allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileBounds {
    /// The system ends it.
    Deadly,
    /// The write fails, as on a full disk.
    Ignored,
}

impl Setup {
    /// `abasto serve` on a store in a new folder, on a free port.
    pub(crate) fn new() -> Self {
        Self::on(StoreKind::Sqlite)
    }

    /// `abasto serve` on a new store of this kind, on a free port.
    pub(crate) fn on(kind: StoreKind) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Kept::new(kind, folder.path());
        let setup = Self::over(folder, store);
        match kind {
            StoreKind::Sqlite => setup,
            StoreKind::Mongo => setup.sharing_cursors(),
        }
    }

    /// The same on a database of a replica set of the test's own.
    pub(crate) fn on_set(url: &str) -> Self {
        migrate(url);
        let folder = tempfile::tempdir().expect("a folder");
        Self::over(folder, Kept::Elsewhere(url.to_owned())).sharing_cursors()
    }

    /// The same on a database of the shared set that was not migrated.
    pub(crate) fn before_migration() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        Self::over(folder, Kept::empty_database()).sharing_cursors()
    }

    fn sharing_cursors(self) -> Self {
        self.variable(CURSOR_SECRET.0, CURSOR_SECRET.1)
    }

    fn over(folder: TempDir, store: Kept) -> Self {
        Self {
            folder: Arc::new(folder),
            store: Arc::new(store),
            command: "serve",
            variables: vec![(PLATFORM_KEY_VARIABLE.to_owned(), PLATFORM_KEY.to_owned())],
            arguments: Vec::new(),
            bounds: FileBounds::Deadly,
        }
    }

    /// So that a write beyond `RLIMIT_FSIZE` fails as on a full disk.
    pub(crate) fn ignoring_file_bounds(mut self) -> Self {
        self.bounds = FileBounds::Ignored;
        self
    }

    /// Another command that serves.
    pub(crate) fn command(mut self, command: &'static str) -> Self {
        self.command = command;
        self
    }

    /// Without an operator.
    pub(crate) fn without_platform_key(mut self) -> Self {
        self.variables
            .retain(|(name, _)| name != PLATFORM_KEY_VARIABLE);
        self
    }

    /// With a variable.
    pub(crate) fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// With an argument.
    pub(crate) fn argument(mut self, argument: &str) -> Self {
        self.arguments.push(argument.to_owned());
        self
    }

    /// The folder, which lives as long as any setup or server of it.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The store as a URL.
    pub(crate) fn store(&self) -> &str {
        self.store.url()
    }

    /// The command as it would be started.
    pub(crate) fn line(&self) -> Command {
        let mut command = match self.bounds {
            FileBounds::Deadly => abasto(),
            FileBounds::Ignored => {
                let mut shell = bare("sh");
                let line = "trap '' XFSZ; exec \"$0\" \"$@\"";
                shell.args(["-c", line, env!("CARGO_BIN_EXE_abasto")]);
                shell
            }
        };
        let variables = self.variables.iter().map(|(name, value)| (name, value));
        command
            .arg(self.command)
            .args(["--listen", "127.0.0.1:0", "--store", self.store()])
            .args(&self.arguments)
            .envs(variables);
        command
    }

    /// Starts the server and waits until it says that it is ready.
    pub(crate) fn start(&self) -> Server {
        let log = self.folder().join("stderr.log");
        let append = File::options().create(true).append(true).open(&log);
        let mut command = self.line();
        command
            .stdout(Stdio::piped())
            .stderr(append.expect("a log"));
        let mut child = command.spawn().expect("the binary starts");
        let mut stdout = BufReader::new(child.stdout.take().expect("its stdout"));
        let mut line = String::new();
        stdout.read_line(&mut line).expect("a line");
        let url = line
            .split_whitespace()
            .find(|word| word.starts_with("http://"));
        let said = || std::fs::read_to_string(&log).unwrap_or_default();
        let url = url.unwrap_or_else(|| panic!("not ready: {line:?}, {}", said()));
        Server {
            url: url.to_owned(),
            child: Some(child),
            stdout,
            setup: self.clone(),
            log,
        }
    }
}

/// A server that is ready.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) url: String,
    child: Option<Child>,
    stdout: BufReader<ChildStdout>,
    setup: Setup,
    log: PathBuf,
}

impl Server {
    /// One with the usual setup.
    pub(crate) fn start() -> Self {
        Self::on(StoreKind::Sqlite)
    }

    /// One with the usual setup on a store of this kind.
    pub(crate) fn on(kind: StoreKind) -> Self {
        Setup::on(kind).start()
    }

    /// How it was started; starts it again on the same store.
    pub(crate) fn setup(&self) -> &Setup {
        &self.setup
    }

    /// A client with a credential.
    pub(crate) fn http(&self, key: &str) -> Http {
        Http::new(&self.url, Some(key))
    }

    /// A client with the platform key.
    pub(crate) fn operator(&self) -> Http {
        self.http(PLATFORM_KEY)
    }

    /// A client without a credential.
    pub(crate) fn nobody(&self) -> Http {
        Http::new(&self.url, None)
    }

    /// A command that acts on this server.
    pub(crate) fn command(&self, key: &str) -> Command {
        let mut command = abasto();
        command.env("ABASTO_URL", &self.url).env("ABASTO_KEY", key);
        command
    }

    /// A command that opens the store of this server.
    pub(crate) fn store_command(&self, name: &str) -> Command {
        let mut command = abasto();
        command.args([name, "--store", self.setup.store()]);
        command
    }

    /// What it has written to stderr so far.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(&self.log).expect("the log")
    }

    /// The next line on stdout; empty when there is no more.
    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        self.stdout.read_line(&mut line).expect("a line");
        line
    }

    /// Sends a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).expect("signalled");
    }

    /// Its process.
    pub(crate) fn pid(&self) -> Pid {
        Pid::from_child(self.child.as_ref().expect("it runs"))
    }

    /// Whether it has ended.
    pub(crate) fn has_ended(&mut self) -> bool {
        let child = self.child.as_mut().expect("it was started");
        child.try_wait().expect("its state").is_some()
    }

    /// Waits for its end.
    pub(crate) fn wait(mut self) -> ExitStatus {
        let mut child = self.child.take().expect("it runs");
        child.wait().expect("its end")
    }

    /// Ends it in order.
    pub(crate) fn stop(self) -> ExitStatus {
        self.signal(Signal::TERM);
        self.wait()
    }

    /// Ends it as a power cut would.
    pub(crate) fn kill(self) -> Setup {
        let setup = self.setup.clone();
        self.signal(Signal::KILL);
        self.wait();
        setup
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
