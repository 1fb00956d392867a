//! Roles over HTTP: their names, and the grant that keys and memberships share.

use std::collections::BTreeSet;

use abasto_domain::access::Role;
use abasto_domain::credential::Grant;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::value::{Id, ids};

/// What a credential is in its business.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = Role)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RoleName {
    Owner,
    Manager,
    Staff,
    Courier,
    Customer,
    Service,
}

impl From<RoleName> for Role {
    fn from(name: RoleName) -> Self {
        match name {
            RoleName::Owner => Self::Owner,
            RoleName::Manager => Self::Manager,
            RoleName::Staff => Self::Staff,
            RoleName::Courier => Self::Courier,
            RoleName::Customer => Self::Customer,
            RoleName::Service => Self::Service,
        }
    }
}

impl From<Role> for RoleName {
    fn from(role: Role) -> Self {
        match role {
            Role::Owner => Self::Owner,
            Role::Manager => Self::Manager,
            Role::Staff => Self::Staff,
            Role::Courier => Self::Courier,
            Role::Customer => Self::Customer,
            Role::Service => Self::Service,
        }
    }
}

/// A grant from its parts as they stand in a body.
pub(crate) fn grant(role: RoleName, branches: Option<BTreeSet<Id>>, customer: Option<Id>) -> Grant {
    Grant {
        role: role.into(),
        branches: branches.map(ids),
        customer: customer.map(Id::into),
    }
}
