//! The context of a use case: who asks, and in which request.
//!
//! Owns the two checks every use case begins with. The tenant comes from here and nowhere else.

use abasto_domain::access::{Permission, Principal};
use abasto_domain::id::{BranchId, BusinessId};

use crate::error::Error;

/// Who asks, and in which request.
#[derive(Debug, Clone)]
pub struct Context {
    /// The caller.
    pub principal: Principal,
    /// The request's id, kept with everything it writes.
    pub request: String,
}

impl Context {
    /// The tenant.
    pub fn business(&self) -> BusinessId {
        self.principal.business
    }

    /// Refuses a caller whose role does not have the permission at all.
    pub fn require(&self, permission: Permission) -> Result<(), Error> {
        if self.principal.may(permission) {
            Ok(())
        } else {
            Err(Error::Forbidden)
        }
    }

    /// Refuses a caller whose permission does not reach the branch.
    pub fn require_at(&self, permission: Permission, branch: BranchId) -> Result<(), Error> {
        if self.principal.may_at(permission, branch) {
            Ok(())
        } else {
            Err(Error::Forbidden)
        }
    }
}
