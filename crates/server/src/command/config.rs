//! `abasto config`: whether the configuration can be used, and what holds.

use crate::cli::{ConfigAction, Sources};
use crate::config::Secrets;
use crate::exit::Failure;
use crate::output::{Format, say, show, table};
use crate::{gateway, tokens};

pub(super) fn run(of: &Sources, what: ConfigAction, format: Format) -> Result<(), Failure> {
    let sources = super::sources(of, Vec::new())?;
    match what {
        ConfigAction::Check => {
            let config = sources.config()?;
            tokens::keys(&config.jwt)?;
            gateway::gateway(&config)?;
            say("The configuration can be used.");
            Ok(())
        }
        ConfigAction::Show { redacted } => {
            let secrets = if redacted {
                Secrets::Redacted
            } else {
                Secrets::Shown
            };
            show(format, &sources.settings(secrets), |settings| {
                let row = |setting: &crate::config::Setting| {
                    [
                        setting.key.clone(),
                        setting.value.clone(),
                        setting.source.clone(),
                    ]
                };
                let rows: Vec<_> = settings.iter().map(row).collect();
                table(["key", "value", "from"], &rows)
            })
        }
    }
}
