//! The making of the demo, over HTTP like any client.
//!
//! Owns the calls. Each can be made again: a start that was cut off goes on where it was.

use std::collections::BTreeMap;
use std::path::Path;

use abasto_client::{Call, Client, Endpoint, Retry};
use serde::Deserialize;
use serde_json::{Value, json};

use super::day::{self, Action, Scene};
use super::state::State;
use crate::command::secret_of;
use crate::exit::{During, Exit, Failure};

#[derive(Deserialize)]
struct Named {
    id: String,
    #[serde(alias = "sku")]
    code: String,
}

/// A demo that is complete, and whose owner key nobody has seen yet.
#[derive(Debug)]
pub(super) struct Made {
    /// The owner key.
    pub(super) key: String,
    business_id: String,
}

impl Made {
    /// The key has been shown: it is kept no longer.
    pub(super) fn shown(self, path: &Path) -> Result<(), Failure> {
        let state = State {
            business_id: self.business_id,
            key: None,
        };
        state.save(path)
    }
}

/// Makes what is not made yet; nothing when an earlier start has made all and shown the key.
pub(super) async fn seed(
    endpoint: Endpoint,
    platform_key: &str,
    path: &Path,
) -> Result<Option<Made>, Failure> {
    let state = match State::load(path)? {
        Some(State { key: None, .. }) => return Ok(None),
        Some(state) => state,
        None => open_business(endpoint.clone(), platform_key, path).await?,
    };
    let key = state.key.unwrap_or_default();
    let mut client = Client::new(endpoint, Some(&key), Retry::PATIENT)?;
    let branches = branches(&mut client)
        .await
        .during(|| "making the branches")?;
    let products = products(&mut client)
        .await
        .during(|| "importing the products")?;
    stock(&mut client, &branches, &products)
        .await
        .during(|| "receiving stock")?;
    for (index, scene) in day::DAY.iter().enumerate() {
        let played = play(&mut client, index, scene, &branches, &products).await;
        played.during(|| format!("playing the order of {}", scene.customer))?;
    }
    let business_id = state.business_id;
    Ok(Some(Made { key, business_id }))
}

async fn open_business(
    endpoint: Endpoint,
    platform_key: &str,
    path: &Path,
) -> Result<State, Failure> {
    let mut operator = Client::new(endpoint, Some(platform_key), Retry::PATIENT)?;
    let business = json!({
        "name": day::BUSINESS, "currency": day::CURRENCY, "timeZone": day::TIME_ZONE,
    });
    let opened = operator
        .call(&Call::post("/v1/businesses", &business)?)
        .await;
    let opened: Value = opened.during(|| "opening the business")?.json()?;
    let id = opened.get("id").and_then(Value::as_str);
    let state = State {
        business_id: id.unwrap_or_default().to_owned(),
        key: Some(secret_of(&opened).to_owned()),
    };
    state.save(path)?;
    Ok(state)
}

/// Ids by code.
async fn branches(client: &mut Client) -> Result<BTreeMap<String, String>, Failure> {
    let mut found = named(client, "/v1/branches").await?;
    for (code, name) in day::BRANCHES {
        if !found.contains_key(code) {
            let branch = json!({"code": code, "name": name, "timeZone": day::TIME_ZONE});
            let made: Named = client
                .call(&Call::post("/v1/branches", &branch)?)
                .await?
                .json()?;
            found.insert(made.code, made.id);
        }
    }
    Ok(found)
}

/// Ids by sku.
async fn products(client: &mut Client) -> Result<BTreeMap<String, String>, Failure> {
    let import = Call::post_bytes("/v1/products:import", "text/csv", day::PRODUCTS);
    client.call(&import.repeatable()).await?;
    named(client, "/v1/products").await
}

async fn named(client: &mut Client, path: &str) -> Result<BTreeMap<String, String>, Failure> {
    let mut found = BTreeMap::new();
    let each = |named: Named| {
        found.insert(named.code, named.id);
    };
    client.walk(path, each).await?;
    Ok(found)
}

fn id<'a>(ids: &'a BTreeMap<String, String>, name: &str) -> Result<&'a str, Failure> {
    let id = ids.get(name).map(String::as_str);
    id.ok_or_else(|| Failure::new(Exit::Failure, format_args!("{name} is not in the demo")))
}

async fn stock(
    client: &mut Client,
    branches: &BTreeMap<String, String>,
    products: &BTreeMap<String, String>,
) -> Result<(), Failure> {
    for (branch, (code, _)) in day::BRANCHES.iter().enumerate() {
        let item = |(product, id): (usize, &String)| json!({"productId": id, "delta": day::units(product, branch), "reason": "receipt"});
        // By sku, as the rows of the file are.
        let items: Vec<_> = products.values().enumerate().map(item).collect();
        let target = format!("/v1/branches/{}/inventory/adjustments", id(branches, code)?);
        let call = Call::post(target, &json!({ "items": items }))?;
        client.call(&call.key(format!("demo-stock-{code}"))).await?;
    }
    Ok(())
}

async fn play(
    client: &mut Client,
    index: usize,
    scene: &Scene,
    branches: &BTreeMap<String, String>,
    products: &BTreeMap<String, String>,
) -> Result<(), Failure> {
    let mut items = Vec::new();
    for (sku, quantity) in scene.lines {
        items.push(json!({"productId": id(products, sku)?, "quantity": quantity}));
    }
    let fulfilment = match scene.address {
        Some(address) => json!({"type": "delivery", "address": address}),
        None => json!({"type": "pickup"}),
    };
    let order = json!({
        "branchId": id(branches, scene.branch)?,
        "items": items,
        "customer": {"name": scene.customer},
        "fulfilment": fulfilment,
        "paymentMethod": "on_delivery",
    });
    let call = Call::post("/v1/orders", &order)?.key(format!("demo-order-{index}"));
    let placed: Value = client.call(&call).await?.json()?;
    let order = placed.get("id").and_then(Value::as_str).unwrap_or_default();
    for (step, action) in scene.actions.iter().enumerate() {
        let (name, body) = match action {
            Action::Confirm => ("confirm", json!({})),
            Action::Prepare => ("prepare", json!({})),
            Action::Dispatch => ("dispatch", json!({})),
            Action::Deliver => ("deliver", json!({})),
            Action::Cancel(reason) => ("cancel", json!({ "reason": reason })),
        };
        let call = Call::post(format!("/v1/orders/{order}/{name}"), &body)?;
        client
            .call(&call.key(format!("demo-order-{index}-{step}")))
            .await?;
    }
    Ok(())
}
