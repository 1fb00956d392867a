//! A flash sale over HTTP: more shoppers than units, all at once, each from a cart to a paid order.
//!
//! Owns the course of the sale and what must have come of it. What one shopper does is in
//! `shopper.rs`, what was seen in `report.rs`.

mod report;
mod shopper;

use std::sync::Arc;
use std::time::{Duration, Instant};

use abasto_client::{Call, Client, Retry};
use anyhow::{Context, Result, bail};
use clap::Args;
use hyper::header::HeaderValue;
use serde_json::{Value, json};

use self::report::Report;
use self::shopper::{End, Sale, Shopper};
use crate::load::business::{Business, Identified};
use crate::load::place::Place;
use crate::load::say;
use crate::load::server::Server;

/// Longer than a hold and an unpaid order last.
const PAST_EXPIRY_MS: i64 = 2 * 3_600_000;
/// How long the expiry worker of the server may take, and how often it is asked.
const EXPIRY_TRIES: u32 = 600;
const EXPIRY_STEP: Duration = Duration::from_millis(100);

/// What is sold to whom.
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(flatten)]
    place: Place,

    /// Units of the one product.
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    units: u16,

    /// Shoppers, each with a connection; all come at once.
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    shoppers: u16,

    /// The secret with which the sandbox provider signs its messages: that of a running server,
    /// or the one that a started server shall have.
    #[arg(
        long,
        env = "ABASTO_SANDBOX_WEBHOOK_SECRET",
        hide_env_values = true,
        default_value = "whsec_Zmxhc2gtc2FsZS1mbGFzaC1zYWxlLWZsYXNoLXNhbGU="
    )]
    webhook_secret: String,
}

/// Sells, reports, and fails when it did not end as it must.
pub fn run(arguments: &Arguments) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(sell(arguments))
}

async fn sell(arguments: &Arguments) -> Result<()> {
    let variables = [
        ("ABASTO_SANDBOX_WEBHOOK_SECRET", &*arguments.webhook_secret),
        ("ABASTO_TEST_CLOCK", "1"),
    ];
    let server = arguments.place.server(&variables)?;
    say(format_args!("The server is at {}.", server.endpoint));
    let units = usize::from(arguments.units);
    let (sale, mut client) = prepare(&server, arguments).await?;
    let sale = Arc::new(sale);
    let mut report = Report::new(units, usize::from(arguments.shoppers))?;
    let began = Instant::now();
    let shoppers = (0..usize::from(arguments.shoppers)).map(|number| {
        let shopper = Shopper::new(Arc::clone(&sale), number);
        tokio::spawn(async move { shopper?.shop().await })
    });
    let mut orders = Vec::new();
    for shopper in shoppers.collect::<Vec<_>>() {
        let (end, seen) = shopper.await??;
        report.add(&seen)?;
        match end {
            End::Paid(order) => orders.push(order),
            End::SoldOut => report.refused += 1,
        }
    }
    report.seconds = began.elapsed().as_secs_f64();
    for order in &orders {
        let order: Value = client.get(&format!("/v1/orders/{order}")).await?;
        report.paid += usize::from(order["paymentStatus"] == "paid");
    }
    report.tell()?;
    let sold = units.min(usize::from(arguments.shoppers));
    if report.paid != sold || report.refused != usize::from(arguments.shoppers) - sold {
        bail!(
            "{} orders were paid and {} refused",
            report.paid,
            report.refused
        );
    }
    nothing_is_left(&server, &sale, &mut client, units - sold, sold).await?;
    if server.reconcile()? {
        say("The records agree with each other.");
    } else {
        say("The store is not ours to open: its records were not held against each other.");
    }
    server.end()
}

/// A business with one product and so many units of it.
async fn prepare(server: &Server, arguments: &Arguments) -> Result<(Sale, Client)> {
    let mut business = Business::open(server, "Flash").await?;
    let product = json!({"sku": "ONE", "name": "The one", "salePrice": "35.00"});
    let call = Call::post("/v1/products", &product)?;
    let product: Identified = business.client.call(&call).await?.json()?;
    let target = format!("/v1/branches/{}/inventory/adjustments", business.branch);
    let receipt = json!({"productId": product.id, "delta": arguments.units, "reason": "receipt"});
    let call = Call::post(&target, &json!({ "items": [receipt] }))?;
    business.client.call(&call.key("stock")).await?;
    let own: Identified = business.client.get("/v1/business").await?;
    let sale = Sale {
        endpoint: server.endpoint.clone(),
        authorization: HeaderValue::from_str(&format!("Bearer {}", business.key))?,
        business: own.id,
        branch: business.branch,
        product: product.id,
        webhook_secret: arguments.webhook_secret.clone(),
    };
    Ok((sale, business.client))
}

/// Long after every hold is over, what is reserved is what was paid for, and the rest is free.
async fn nothing_is_left(
    server: &Server,
    sale: &Sale,
    client: &mut Client,
    available: usize,
    reserved: usize,
) -> Result<()> {
    let platform = Some(&*server.platform_key);
    let mut operator = Client::new(server.endpoint.clone(), platform, Retry::PATIENT)?;
    let later = Call::post("/test/clock", &json!({ "advanceMs": PAST_EXPIRY_MS }))?;
    operator
        .call(&later)
        .await
        .context("the server's clock cannot be moved: it runs without ABASTO_TEST_CLOCK")?;
    let path = format!("/v1/branches/{}/inventory/{}", sale.branch, sale.product);
    let mut level = Value::Null;
    for _ in 0..EXPIRY_TRIES {
        level = client.get(&path).await?;
        if level["available"] == available && level["reserved"] == reserved {
            say(format_args!(
                "After every hold's end {available} units are available and {reserved} reserved."
            ));
            return Ok(());
        }
        tokio::time::sleep(EXPIRY_STEP).await;
    }
    bail!("holds are left: {level}");
}
