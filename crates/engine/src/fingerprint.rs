//! Fingerprints: what makes two requests under one key the same.
//!
//! Owns the canonical form: the name of the command and its typed fields, so key order, white
//! space and the spelling of an amount do not count.

use abasto_domain::idempotency::{Fingerprint, OperationKey};
use abasto_store::unit::OperationDraft;
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::context::Context;
use crate::error::Error;

/// The operation of a command under the caller's key. The scope is the business, and the customer
/// where the caller is one.
pub(crate) fn operation<C: Serialize>(
    context: &Context,
    key: &str,
    name: &'static str,
    command: &C,
) -> Result<OperationDraft, Error> {
    let canonical = serde_json::to_vec(&(name, command));
    let canonical = canonical.map_err(|error| Error::Internal(Box::new(error)))?;
    Ok(OperationDraft {
        key: OperationKey {
            customer: context.principal.customer,
            key: key.to_owned(),
        },
        fingerprint: Fingerprint(Sha256::digest(&canonical).into()),
    })
}
