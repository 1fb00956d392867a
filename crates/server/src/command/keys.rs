//! `abasto keys`: the API keys of a business, over HTTP.

use abasto_client::Call;
use serde::{Deserialize, Serialize};

use super::Dialer;
use crate::cli::{Keys, Role, Server};
use crate::exit::Failure;
use crate::output::{Format, say, show, table};

/// A key as the server tells it.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct Key {
    id: String,
    name: String,
    role: String,
    branch_ids: Option<Vec<String>>,
    revoked_at: Option<String>,
    #[serde(flatten)]
    more: serde_json::Map<String, serde_json::Value>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct NewKey {
    name: String,
    role: Role,
    branch_ids: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    customer_id: Option<String>,
}

pub(super) fn run(server: &Server, what: Keys, format: Format) -> Result<(), Failure> {
    let dialer = Dialer::new(server)?;
    super::block_on(async move {
        match what {
            Keys::List => list(&dialer, format).await,
            Keys::Create {
                name,
                role,
                branches,
                customer,
            } => {
                let branch_ids = Some(branches).filter(|branches| !branches.is_empty());
                let new = NewKey {
                    name,
                    role,
                    branch_ids,
                    customer_id: customer,
                };
                create(&dialer, &new, format).await
            }
            Keys::Revoke { id } => revoke(&dialer, &id).await,
        }
    })
}

async fn list(dialer: &Dialer, format: Format) -> Result<(), Failure> {
    let mut keys: Vec<Key> = Vec::new();
    dialer
        .client()?
        .walk("/v1/api-keys", |key| keys.push(key))
        .await?;
    show(format, &keys, |keys| {
        let row = |key: &Key| {
            let branches = key
                .branch_ids
                .as_ref()
                .map_or_else(|| "all".to_owned(), |ids| ids.join(" "));
            let revoked = key.revoked_at.clone().unwrap_or_default();
            [
                key.id.clone(),
                key.role.clone(),
                key.name.clone(),
                branches,
                revoked,
            ]
        };
        table(
            ["id", "role", "name", "branches", "revoked"],
            &keys.iter().map(row).collect::<Vec<_>>(),
        )
    })
}

async fn create(dialer: &Dialer, new: &NewKey, format: Format) -> Result<(), Failure> {
    let answer = dialer
        .client()?
        .call(&Call::post("/v1/api-keys", new)?)
        .await?;
    let created: serde_json::Value = answer.json()?;
    say("The key is shown this once; only its hash is kept.");
    show(format, &created, |created| {
        super::secret_of(created).to_owned()
    })
}

async fn revoke(dialer: &Dialer, id: &str) -> Result<(), Failure> {
    let target = format!("/v1/api-keys/{}", abasto_client::encode(id));
    dialer.client()?.call(&Call::delete(target)).await?;
    say(format_args!("{id} is revoked."));
    Ok(())
}
