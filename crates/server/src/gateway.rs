//! The payment providers that the configuration sets up.

use std::sync::Arc;

use abasto_relay::sandbox::Sandbox;
use abasto_relay::stripe::Stripe;
use abasto_relay::{Gateway, WebhookSecrets};

use crate::config::{Config, StoreUrl};
use crate::exit::{Exit, Failure};

const STRIPE_URL: &str = "https://api.stripe.com";

/// The sandbox is always there with the embedded store, elsewhere only when it has a secret.
pub(crate) fn gateway(config: &Config) -> Result<Gateway, Failure> {
    let embedded = matches!(config.store, StoreUrl::Sqlite(_));
    let secrets = [
        &config.sandbox_webhook_secret,
        &config.sandbox_webhook_secret_previous,
    ];
    let secrets: Vec<_> = secrets.into_iter().flatten().cloned().collect();
    let sandbox = embedded || !secrets.is_empty();
    Ok(Gateway {
        sandbox: sandbox.then(|| Sandbox::new(WebhookSecrets::shared(secrets))),
        stripe: stripe(config)?,
    })
}

fn stripe(config: &Config) -> Result<Option<Arc<Stripe>>, Failure> {
    let settings = &config.stripe;
    let Some(key) = settings.secret_key.clone() else {
        return Ok(None);
    };
    let secrets = [&settings.webhook_secret, &settings.webhook_secret_previous];
    let secrets = WebhookSecrets::shared(secrets.into_iter().flatten().cloned());
    let base = settings.base_url.as_deref().unwrap_or(STRIPE_URL);
    let stripe = Stripe::new(base, key, secrets, None);
    let stripe = stripe.map_err(|error| Failure::new(Exit::Failure, error))?;
    Ok(Some(Arc::new(stripe)))
}
