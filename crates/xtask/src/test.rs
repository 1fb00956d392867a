//! `cargo xtask test`: starts what the tests need, runs the gate, stops what it started.
//!
//! Owns the surroundings of the tests. Must not know what the gate checks.

use std::ffi::OsString;
use std::path::Path;

use abasto_testbed::mongo_cluster::{MongoCluster, PROGRAM_VARIABLE, Plan, URI_VARIABLE};
use anyhow::Result;

use crate::check::{Deny, Gate};
use crate::mongo;
use crate::step::step;

/// The set that tests share is as large as the smallest one in real use.
const NODES: usize = 3;

/// What the tests find around them; dropping it stops what runs.
#[derive(Debug, Default)]
pub(crate) struct Surroundings {
    /// Variables besides our own.
    pub(crate) environment: Vec<(&'static str, OsString)>,
    _set: Option<MongoCluster>,
}

/// Runs the whole gate with the surroundings that its tests need.
///
/// # Errors
/// When the surroundings cannot be made, or the first step that fails.
pub(crate) fn run(root: &Path) -> Result<()> {
    let program = mongo::install()?;
    let gate = Gate {
        root,
        deny: Deny::WhereInstalled,
    };
    gate.run(|| {
        let plan = Plan {
            nodes: NODES,
            program: Some(program.clone()),
            ..Plan::default()
        };
        let set = step("replica set", || Ok(plan.start()?))?;
        let environment = vec![
            (URI_VARIABLE, set.uri().into()),
            (PROGRAM_VARIABLE, program.into()),
        ];
        Ok(Surroundings {
            environment,
            _set: Some(set),
        })
    })
}
