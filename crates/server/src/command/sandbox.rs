//! `abasto sandbox`: the payment provider that calls nobody, played by hand.
//!
//! Owns the wait until the server has told the provider of an attempt, and the signed message. Must
//! not know what the server makes of it.

use std::time::Duration;

use abasto_client::{Call, Client, encode};
use abasto_relay::signature::{is_standard_secret, sign_standard};
use serde::{Deserialize, Serialize};

use super::Dialer;
use crate::cli::{Sandbox, SandboxEvent};
use crate::exit::{Exit, Failure};
use crate::output::{Format, show};

/// How often it is looked whether the server has told the provider of the attempt, and the pause
/// between two looks.
const LOOKS: u32 = 20;
const PAUSE: Duration = Duration::from_millis(250);

#[derive(Debug, Deserialize)]
struct Business {
    id: String,
}

#[derive(Debug, Deserialize)]
struct Attempts {
    items: Vec<Attempt>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Attempt {
    provider: String,
    provider_ref: Option<String>,
    amount: String,
    currency: String,
    created_at: String,
}

/// The message as the contract has it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Message {
    event_id: String,
    #[serde(rename = "type")]
    event: &'static str,
    provider_ref: String,
    amount: String,
    currency: String,
    occurred_at: String,
}

pub(super) fn run(arguments: &Sandbox, format: Format) -> Result<(), Failure> {
    if !is_standard_secret(&arguments.secret) {
        let why = "the secret is not whsec_ and the base64 of at least 24 bytes";
        return Err(Failure::new(Exit::Usage, why));
    }
    let dialer = Dialer::new(&arguments.server)?;
    super::block_on(async {
        let mut client = dialer.client()?;
        let business: Business = client.get("/v1/business").await?;
        let (attempt, provider_ref) = attempt(&mut client, &arguments.order).await?;
        let now = jiff::Timestamp::now();
        let message = Message {
            event_id: format!("evt-{provider_ref}-{}", now.as_millisecond()),
            event: name(arguments.event),
            provider_ref,
            amount: arguments.amount.clone().unwrap_or(attempt.amount),
            currency: attempt.currency,
            occurred_at: now.to_string(),
        };
        client
            .call(&signed(
                &business,
                &message,
                now.as_second(),
                &arguments.secret,
            )?)
            .await?;
        show(format, &message, |message| {
            let Message {
                event,
                amount,
                currency,
                ..
            } = message;
            format!("{event} of {amount} {currency} was told.\n")
        })
    })
}

const fn name(event: SandboxEvent) -> &'static str {
    match event {
        SandboxEvent::Captured => "payment.captured",
        SandboxEvent::Authorized => "payment.authorized",
        SandboxEvent::Failed => "payment.failed",
        SandboxEvent::RefundSucceeded => "refund.succeeded",
        SandboxEvent::RefundFailed => "refund.failed",
    }
}

/// The newest attempt with the sandbox and what the provider calls it, once the server has asked.
async fn attempt(client: &mut Client, order: &str) -> Result<(Attempt, String), Failure> {
    let target = format!("/v1/orders/{}/payments", encode(order));
    for _ in 0..LOOKS {
        let attempts: Attempts = client.get(&target).await?;
        let own = attempts.items.into_iter();
        let own = own.filter(|attempt| attempt.provider == "sandbox");
        let newest = own.max_by(|one, other| one.created_at.cmp(&other.created_at));
        let newest = newest.ok_or_else(|| {
            Failure::new(Exit::Failure, "the order has no payment with the sandbox")
        })?;
        if let Some(reference) = newest.provider_ref.clone() {
            return Ok((newest, reference));
        }
        tokio::time::sleep(PAUSE).await;
    }
    let why = "the server has not told the provider of the payment yet; try again";
    Err(Failure::new(Exit::Unavailable, why))
}

fn signed(
    business: &Business,
    message: &Message,
    sent_s: i64,
    secret: &str,
) -> Result<Call, Failure> {
    let body = serde_json::to_vec(message).map_err(|why| Failure::new(Exit::Failure, why))?;
    let signature = sign_standard(&message.event_id, sent_s, &body, secret);
    let signature =
        signature.ok_or_else(|| Failure::new(Exit::Usage, "the secret signs nothing"))?;
    let target = format!("/v1/webhooks/payments/sandbox/{}", encode(&business.id));
    let call = Call::post_bytes(target, "application/json", body);
    // The same message twice does no harm.
    Ok(call
        .repeatable()
        .header("webhook-id", &message.event_id)
        .header("webhook-timestamp", sent_s.to_string())
        .header("webhook-signature", signature))
}
