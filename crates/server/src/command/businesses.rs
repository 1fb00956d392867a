//! `abasto businesses`: the tenants of an installation, over HTTP.

use abasto_client::Call;
use serde::{Deserialize, Serialize};

use super::Dialer;
use crate::cli::{Businesses, Server};
use crate::exit::Failure;
use crate::output::{Format, say, show, table};

/// A business as the server tells it.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct Business {
    id: String,
    name: String,
    currency: String,
    time_zone: String,
    #[serde(flatten)]
    more: serde_json::Map<String, serde_json::Value>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct NewBusiness {
    name: String,
    currency: String,
    time_zone: String,
}

pub(super) fn run(server: &Server, what: Businesses, format: Format) -> Result<(), Failure> {
    let dialer = Dialer::new(server)?;
    super::block_on(async move {
        match what {
            Businesses::List => list(&dialer, format).await,
            Businesses::Create {
                name,
                currency,
                time_zone,
            } => {
                create(
                    &dialer,
                    &NewBusiness {
                        name,
                        currency,
                        time_zone,
                    },
                    format,
                )
                .await
            }
        }
    })
}

async fn list(dialer: &Dialer, format: Format) -> Result<(), Failure> {
    let mut businesses: Vec<Business> = Vec::new();
    dialer
        .client()?
        .walk("/v1/businesses", |business| businesses.push(business))
        .await?;
    show(format, &businesses, |businesses| {
        let row = |business: &Business| {
            let Business {
                id,
                currency,
                time_zone,
                name,
                ..
            } = business;
            [
                id.clone(),
                currency.clone(),
                time_zone.clone(),
                name.clone(),
            ]
        };
        let rows: Vec<_> = businesses.iter().map(row).collect();
        table(["id", "currency", "time zone", "name"], &rows)
    })
}

async fn create(dialer: &Dialer, new: &NewBusiness, format: Format) -> Result<(), Failure> {
    let answer = dialer
        .client()?
        .call(&Call::post("/v1/businesses", new)?)
        .await?;
    let created: serde_json::Value = answer.json()?;
    say("The owner key is shown this once; only its hash is kept.");
    show(format, &created, |created| {
        super::secret_of(created).to_owned()
    })
}
