//! Who may do what: roles, permissions and how far each reaches, in one table.
//!
//! Owns the table and the sight of a principal. Must not know how a credential is checked.

use alloc::vec::Vec;

use crate::id::{ApiKeyId, BranchId, BusinessId, CustomerId, MemberId};

/// What a credential is in its business.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The whole business, credentials included.
    Owner,
    /// The whole business.
    Manager,
    /// The listed branches.
    Staff,
    /// Only orders assigned to them.
    Courier,
    /// Only what is their own.
    Customer,
    /// An integration, for the listed branches or all.
    Service,
}

/// One thing that a caller may want to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Permission {
    /// See the business and its settings.
    ReadBusiness,
    /// Change the business's name and settings.
    ChangeBusiness,
    /// See branches.
    ReadBranches,
    /// Create and change branches.
    ChangeBranches,
    /// List, create and revoke API keys.
    ManageKeys,
    /// See members.
    ReadMembers,
    /// Create and change members.
    ManageMembers,
    /// See products.
    ReadProducts,
    /// Create, change, delete, restore and import products.
    ChangeProducts,
    /// See customers.
    ReadCustomers,
    /// Create and change customers.
    ChangeCustomers,
    /// See stock levels and movements.
    ReadStock,
    /// Adjust, count and transfer stock.
    ChangeStock,
    /// See orders and their history.
    ReadOrders,
    /// Place orders.
    PlaceOrders,
    /// Set a delivery fee while placing an order.
    SetDeliveryFee,
    /// Confirm and prepare orders, assign a courier.
    WorkOrders,
    /// Dispatch and deliver orders.
    DeliverOrders,
    /// Cancel orders.
    CancelOrders,
    /// See coupons.
    ReadCoupons,
    /// Create and change coupons.
    ChangeCoupons,
    /// Give captured money back.
    RefundPayments,
    /// Take sold units back.
    TakeReturns,
    /// Learn how many units are available when an order is refused.
    SeeAvailability,
    /// See carts.
    ReadCarts,
    /// Make, edit and merge carts.
    EditCarts,
}

/// How far a permission reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Not at all.
    Nothing,
    /// Everything of the business.
    Business,
    /// The listed branches (all when none are listed).
    Branches,
    /// Only orders assigned to the caller.
    Assigned,
    /// Only what belongs to the calling customer.
    Own,
}

/// The table of roles and permissions: the only place that knows it.
pub const fn reach(role: Role, permission: Permission) -> Reach {
    use Permission as P;
    match role {
        Role::Owner => Reach::Business,
        Role::Manager => match permission {
            P::ManageKeys => Reach::Nothing,
            _ => Reach::Business,
        },
        Role::Staff => match permission {
            P::ReadBusiness | P::ReadBranches | P::ReadProducts => Reach::Business,
            P::ReadCustomers | P::ChangeCustomers | P::ReadMembers => Reach::Business,
            P::ReadStock | P::ChangeStock | P::ReadOrders | P::PlaceOrders => Reach::Branches,
            P::WorkOrders | P::DeliverOrders | P::CancelOrders => Reach::Branches,
            P::SetDeliveryFee | P::SeeAvailability | P::TakeReturns => Reach::Branches,
            P::ReadCoupons => Reach::Business,
            P::ChangeCoupons | P::RefundPayments => Reach::Nothing,
            P::ReadCarts | P::EditCarts => Reach::Branches,
            P::ChangeBusiness | P::ChangeBranches | P::ManageKeys => Reach::Nothing,
            P::ManageMembers | P::ChangeProducts => Reach::Nothing,
        },
        Role::Service => match permission {
            P::ReadBusiness | P::ReadBranches | P::ReadProducts => Reach::Business,
            P::ReadCustomers | P::ChangeCustomers => Reach::Business,
            P::ReadStock | P::ChangeStock | P::ReadOrders | P::PlaceOrders => Reach::Branches,
            P::WorkOrders | P::DeliverOrders | P::CancelOrders => Reach::Branches,
            P::SeeAvailability | P::TakeReturns => Reach::Branches,
            P::ReadCoupons => Reach::Business,
            P::ChangeCoupons | P::RefundPayments => Reach::Nothing,
            P::ReadCarts | P::EditCarts => Reach::Branches,
            P::ChangeBusiness | P::ChangeBranches | P::ManageKeys => Reach::Nothing,
            P::ManageMembers | P::ReadMembers | P::ChangeProducts => Reach::Nothing,
            P::SetDeliveryFee => Reach::Nothing,
        },
        Role::Courier => match permission {
            P::ReadOrders | P::DeliverOrders => Reach::Assigned,
            P::ReadBusiness | P::ReadBranches | P::ReadProducts => Reach::Business,
            _ => Reach::Nothing,
        },
        Role::Customer => match permission {
            P::ReadBusiness | P::ReadBranches | P::ReadProducts => Reach::Business,
            P::ReadOrders | P::PlaceOrders | P::CancelOrders => Reach::Own,
            P::ReadCustomers | P::ReadCarts | P::EditCarts => Reach::Own,
            _ => Reach::Nothing,
        },
    }
}

/// Who acts, for the record of what was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", tag = "type", content = "id")]
pub enum Actor {
    /// An API key.
    Key(ApiKeyId),
    /// A member, by JWT.
    Member(MemberId),
    /// The operator of the installation.
    Platform,
    /// The system itself (expiry, repair).
    System,
}

impl core::fmt::Display for Actor {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Key(id) => write!(f, "key:{id}"),
            Self::Member(id) => write!(f, "member:{id}"),
            Self::Platform => f.write_str("platform"),
            Self::System => f.write_str("system"),
        }
    }
}

/// A caller whose credential was checked: the only source of the tenant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Principal {
    /// The tenant.
    pub business: BusinessId,
    /// Who it is.
    pub actor: Actor,
    /// What it is.
    pub role: Role,
    /// The branches it is limited to; `None` means all.
    pub branches: Option<Vec<BranchId>>,
    /// The customer it acts as, for [`Role::Customer`].
    pub customer: Option<CustomerId>,
}

/// What a caller may touch of the orders of its business.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sight<'a> {
    /// All of them.
    All,
    /// Those of the listed branches.
    Branches(&'a [BranchId]),
    /// Those assigned to the member.
    Assigned(MemberId),
    /// Those of the customer.
    Own(CustomerId),
    /// None.
    Nothing,
}

impl Principal {
    /// How far the permission reaches for this caller.
    pub fn sight(&self, permission: Permission) -> Sight<'_> {
        match (reach(self.role, permission), self.actor) {
            (Reach::Nothing, _) => Sight::Nothing,
            (Reach::Business, _) => Sight::All,
            (Reach::Branches, _) => self.branches.as_deref().map_or(Sight::All, Sight::Branches),
            (Reach::Assigned, Actor::Member(member)) => Sight::Assigned(member),
            // Orders are assigned to members. A courier's key has the rights of a courier to whom
            // nothing is assigned: empty lists, and orders that it does not find.
            (Reach::Assigned, Actor::Key(key)) => Sight::Assigned(MemberId(key.0)),
            (Reach::Assigned, Actor::Platform | Actor::System) => Sight::Nothing,
            (Reach::Own, _) => self.customer.map_or(Sight::Nothing, Sight::Own),
        }
    }

    /// Whether the caller has the permission for anything at all.
    pub fn may(&self, permission: Permission) -> bool {
        self.sight(permission) != Sight::Nothing
    }

    /// Whether the permission reaches this branch. A customer's orders may be at any branch.
    pub fn may_at(&self, permission: Permission, branch: BranchId) -> bool {
        match self.sight(permission) {
            Sight::All | Sight::Own(_) => true,
            Sight::Branches(branches) => branches.contains(&branch),
            Sight::Assigned(_) | Sight::Nothing => false,
        }
    }
}
