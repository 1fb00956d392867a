//! `--prepare`: the branches that the file names, and enough stock of every product.
//!
//! Owns keys made from the content, so that preparing for the same file again adds nothing. Must
//! not look at what stock there is: what is received is a function of the file alone.

use std::collections::BTreeMap;

use abasto_client::{Call, Client};
use indicatif::ProgressBar;
use serde_json::json;
use sha2::{Digest, Sha256};

use super::basket::Survey;
use super::catalogue::Catalogue;
use crate::exit::{During, Exit, Failure};
use crate::output::say;
use crate::secret::hex;

/// Items of one adjustment, a limit of the contract.
const ITEMS: usize = 200;
/// Largest quantity of the contract.
const QUANTITY_MAX: u64 = 1_000_000;

/// Creates the branches that are missing.
pub(super) async fn branches(
    client: &mut Client,
    survey: &Survey,
    mut found: Catalogue,
) -> Result<Catalogue, Failure> {
    for code in survey.branches.keys() {
        if found.branches.contains_key(code) {
            continue;
        }
        let branch = json!({"code": code, "name": code, "timeZone": found.time_zone});
        let created = client.call(&Call::post("/v1/branches", &branch)?).await;
        let created = created.during(|| format!("creating the branch {code}"))?;
        let created: serde_json::Value = created.json()?;
        let id = created.get("id").and_then(|id| id.as_str());
        let id = id.ok_or_else(|| Failure::new(Exit::Failure, "the new branch has no id"))?;
        found.branches.insert(code.clone(), id.to_owned());
        say(format_args!("Created the branch {code}."));
    }
    Ok(found)
}

/// Receives what the file will take out, branch by branch.
pub(super) async fn stock(
    client: &mut Client,
    survey: &Survey,
    found: &Catalogue,
) -> Result<(), Failure> {
    let pairs: usize = survey.demand.values().map(BTreeMap::len).sum();
    say(format_args!(
        "Receiving stock of {pairs} products in {} branches.",
        survey.demand.len()
    ));
    let bar = ProgressBar::new(pairs as u64);
    for (code, demand) in &survey.demand {
        let branch = &found.branches[code];
        let target = format!("/v1/branches/{branch}/inventory/adjustments");
        let demand: Vec<_> = demand.iter().collect();
        for chunk in demand.chunks(ITEMS) {
            let items: Vec<_> = chunk
                .iter()
                .map(|(sku, units)| {
                    let delta = (**units).min(QUANTITY_MAX);
                    json!({"productId": found.products[*sku], "delta": delta, "reason": "receipt"})
                })
                .collect();
            let call = Call::post(&target, &json!({ "items": items }))?;
            let key = key(&survey.digest, branch, &items);
            client
                .call(&call.key(key))
                .await
                .during(|| format!("receiving stock at {code}"))?;
            bar.inc(chunk.len() as u64);
        }
    }
    bar.finish_and_clear();
    Ok(())
}

fn key(digest: &str, branch: &str, items: &[serde_json::Value]) -> String {
    let mut hash = Sha256::new();
    hash.update(branch);
    for item in items {
        hash.update(item.to_string());
    }
    format!("replay-stock-{digest}-{}", hex(&hash.finalize()[..12]))
}
