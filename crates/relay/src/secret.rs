//! The secrets that messages are signed with: of the installation, or of one business alone.
//!
//! Owns which secrets count for a business. Two at a time, so that one can be replaced without a
//! message lost. They are never printed.

use std::collections::BTreeMap;
use std::fmt;

use abasto_domain::id::BusinessId;
use secrecy::{ExposeSecret, SecretString};

/// Secrets by business.
#[derive(Clone, Default)]
pub struct WebhookSecrets {
    shared: Vec<SecretString>,
    own: BTreeMap<BusinessId, Vec<SecretString>>,
}

impl WebhookSecrets {
    /// Secrets for every business that has none of its own.
    pub fn shared(secrets: impl IntoIterator<Item = SecretString>) -> Self {
        Self {
            shared: secrets.into_iter().collect(),
            own: BTreeMap::new(),
        }
    }

    /// Adds secrets of one business, which then counts no shared ones.
    #[must_use]
    pub fn with_own(
        mut self,
        business: BusinessId,
        secrets: impl IntoIterator<Item = SecretString>,
    ) -> Self {
        self.own.insert(business, secrets.into_iter().collect());
        self
    }

    /// The secrets that count for a business.
    pub(crate) fn of(&self, business: BusinessId) -> impl Iterator<Item = &str> {
        let secrets = self.own.get(&business).unwrap_or(&self.shared);
        secrets.iter().map(ExposeSecret::expose_secret)
    }
}

impl fmt::Debug for WebhookSecrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebhookSecrets")
            .field("businesses", &self.own.len())
            .finish_non_exhaustive()
    }
}
