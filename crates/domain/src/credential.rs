//! Members and API keys as records: what a credential stands for, never its secret.
//!
//! Owns which combinations of role, branches and customer make sense. Must not hash or compare.

use alloc::string::String;
use alloc::vec::Vec;

use crate::access::Role;
use crate::fault::InvalidValue;
use crate::id::{ApiKeyId, BranchId, BusinessId, CustomerId, MemberId};
use crate::stamp::Stamp;
use crate::time::Timestamp;

/// A user's membership in a business. At most one active one per user and business.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Member {
    /// The tenant.
    pub business: BusinessId,
    /// Its id.
    pub id: MemberId,
    /// The user at the identity provider (`sub` of a JWT).
    pub user_id: String,
    /// What the user is.
    pub role: Role,
    /// The branches the member is limited to; `None` means all.
    pub branches: Option<Vec<BranchId>>,
    /// The customer record, for the role `customer`.
    pub customer: Option<CustomerId>,
    /// An inactive membership gives no rights.
    pub active: bool,
    /// Version and times.
    pub stamp: Stamp,
}

/// An API key. The secret is 256 random bits; only its SHA-256 is kept.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ApiKey {
    /// The tenant.
    pub business: BusinessId,
    /// Its id, part of the key's text.
    pub id: ApiKeyId,
    /// What it is for.
    pub name: String,
    /// What it is.
    pub role: Role,
    /// The branches it is limited to; `None` means all.
    pub branches: Option<Vec<BranchId>>,
    /// The customer it acts as, for the role `customer`.
    pub customer: Option<CustomerId>,
    /// SHA-256 of the secret.
    pub secret_hash: [u8; 32],
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
    /// Version and times.
    pub stamp: Stamp,
}

/// What a credential is asked to stand for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// The role.
    pub role: Role,
    /// Branch list; `None` means all.
    pub branches: Option<Vec<BranchId>>,
    /// The customer.
    pub customer: Option<CustomerId>,
}

impl Grant {
    /// Checks that role, branches and customer fit each other: staff have branches, customers a
    /// customer record, owners and managers neither.
    pub fn check(&self) -> Result<(), (&'static str, InvalidValue)> {
        let limited = matches!(self.role, Role::Staff | Role::Service | Role::Courier);
        if !limited && self.branches.is_some() {
            return Err((
                "/branchIds",
                InvalidValue::new("not-allowed", "this role is not limited to branches"),
            ));
        }
        if self.role == Role::Staff && self.branches.as_ref().is_none_or(Vec::is_empty) {
            return Err((
                "/branchIds",
                InvalidValue::new("required", "staff are limited to at least one branch"),
            ));
        }
        match (self.role == Role::Customer, self.customer.is_some()) {
            (true, false) => Err((
                "/customerId",
                InvalidValue::new("required", "the role customer needs a customer"),
            )),
            (false, true) => Err((
                "/customerId",
                InvalidValue::new("not-allowed", "only the role customer has a customer"),
            )),
            _ => Ok(()),
        }
    }
}
