//! The payment providers that the configuration sets up.
//!
//! Owns which there are and where their secrets come from. Must not know what they say.

use std::sync::Arc;

use abasto_relay::sandbox::Sandbox;
use abasto_relay::signature::is_standard_secret;
use abasto_relay::stripe::Stripe;
use abasto_relay::{Gateway, WebhookSecrets};
use secrecy::{ExposeSecret, SecretString};

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
    let usable = |secret: &SecretString| is_standard_secret(secret.expose_secret());
    if !secrets.iter().all(usable) {
        let why = "sandbox_webhook_secret and its previous one are whsec_ and base64 of 24 bytes \
                   or more";
        return Err(Failure::new(Exit::Config, why));
    }
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
    let stripe = stripe.map_err(|error| Failure::new(Exit::Config, error))?;
    Ok(Some(Arc::new(stripe)))
}
