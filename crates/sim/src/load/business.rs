//! A new business with one branch on the server that is measured.
//!
//! Owns its opening. What it sells is made by each measurement.

use abasto_client::{Call, Client, Retry};
use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::{Value, json};

use super::server::Server;

/// A business of its own for one measurement.
pub(crate) struct Business {
    /// The owner's key.
    pub(crate) key: String,
    /// The id of its branch.
    pub(crate) branch: String,
    /// Acts as the owner.
    pub(crate) client: Client,
}

/// An answer of which only the id matters.
#[derive(Debug, Deserialize)]
pub(crate) struct Identified {
    pub(crate) id: String,
}

impl Business {
    /// Opens a business and a branch of this name.
    pub(crate) async fn open(server: &Server, name: &str) -> Result<Self> {
        let client = |key: &str| Client::new(server.endpoint.clone(), Some(key), Retry::PATIENT);
        let business = json!({"name": name, "currency": "USD", "timeZone": "UTC"});
        let call = Call::post("/v1/businesses", &business)?;
        let opened: Value = client(&server.platform_key)?.call(&call).await?.json()?;
        let key = opened.pointer("/apiKey/secret").and_then(Value::as_str);
        let key = key.context("the new business has no key")?.to_owned();
        let mut client = client(&key)?;
        let branch = json!({"code": name.to_uppercase(), "name": name, "timeZone": "UTC"});
        let branch = client.call(&Call::post("/v1/branches", &branch)?).await?;
        Ok(Self {
            key,
            branch: branch.json::<Identified>()?.id,
            client,
        })
    }
}
