//! The table of roles, printed and compared with what it must be.

use abasto_domain::access::{Actor, Permission, Principal, Reach, Role, Sight, reach};
use abasto_domain::id::{ApiKeyId, BranchId, BusinessId, CustomerId, MemberId};

use crate::sample::raw;

const ROLES: [Role; 6] = [
    Role::Owner,
    Role::Manager,
    Role::Staff,
    Role::Service,
    Role::Courier,
    Role::Customer,
];

macro_rules! permissions {
    ($($name:ident),* $(,)?) => {
        const PERMISSIONS: &[Permission] = &[$(Permission::$name),*];

        /// Stops compiling when a permission is added that the table does not show.
        const fn listed(permission: Permission) {
            match permission {
                $(Permission::$name => {})*
            }
        }
    };
}

permissions! {
    ReadBusiness, ChangeBusiness, ReadBranches, ChangeBranches, ManageKeys, ReadMembers,
    ManageMembers, ReadProducts, ChangeProducts, ReadCustomers, ChangeCustomers, ReadStock,
    ChangeStock, ReadOrders, PlaceOrders, SetDeliveryFee, WorkOrders, DeliverOrders, CancelOrders,
    ReadCoupons, ChangeCoupons, RefundPayments, TakeReturns, SeeAvailability,
    ReadCarts, EditCarts,
}

/// Owner, manager, staff, service, courier, customer.
const TABLE: &str = "\
ReadBusiness     all  all  all  all  all  all
ChangeBusiness   all  all  -    -    -    -
ReadBranches     all  all  all  all  all  all
ChangeBranches   all  all  -    -    -    -
ManageKeys       all  -    -    -    -    -
ReadMembers      all  all  all  -    -    -
ManageMembers    all  all  -    -    -    -
ReadProducts     all  all  all  all  all  all
ChangeProducts   all  all  -    -    -    -
ReadCustomers    all  all  all  all  -    own
ChangeCustomers  all  all  all  all  -    -
ReadStock        all  all  at   at   -    -
ChangeStock      all  all  at   at   -    -
ReadOrders       all  all  at   at   mine own
PlaceOrders      all  all  at   at   -    own
SetDeliveryFee   all  all  at   -    -    -
WorkOrders       all  all  at   at   -    -
DeliverOrders    all  all  at   at   mine -
CancelOrders     all  all  at   at   -    own
ReadCoupons      all  all  all  all  -    -
ChangeCoupons    all  all  -    -    -    -
RefundPayments   all  all  -    -    -    -
TakeReturns      all  all  at   at   -    -
SeeAvailability  all  all  at   at   -    -
ReadCarts        all  all  at   at   -    own
EditCarts        all  all  at   at   -    own
";

const fn word(reach: Reach) -> &'static str {
    match reach {
        Reach::Nothing => "-",
        Reach::Business => "all",
        Reach::Branches => "at",
        Reach::Assigned => "mine",
        Reach::Own => "own",
    }
}

#[test]
fn the_table_of_roles() {
    let mut table = String::new();
    for permission in PERMISSIONS {
        listed(*permission);
        let reaches = ROLES.map(|role| format!("{:<5}", word(reach(role, *permission))));
        let name = format!("{permission:?}");
        let line = format!("{name:<17}{}", reaches.concat());
        table.push_str(line.trim_end());
        table.push('\n');
    }
    assert_eq!(table, TABLE);
}

fn principal(role: Role, actor: Actor) -> Principal {
    Principal {
        business: BusinessId(raw(1)),
        actor,
        role,
        branches: None,
        customer: None,
    }
}

fn key() -> Actor {
    Actor::Key(ApiKeyId(raw(9)))
}

#[test]
fn sight_follows_reach_and_never_widens_it() {
    let (here, there) = (BranchId(raw(2)), BranchId(raw(3)));
    for role in ROLES {
        for permission in PERMISSIONS {
            let mut caller = principal(role, key());
            caller.branches = Some(vec![here]);
            let reach = reach(role, *permission);
            let expected = match reach {
                Reach::Nothing | Reach::Own => Sight::Nothing,
                // A key is no member, so nothing can be assigned to what it looks for.
                Reach::Assigned => Sight::Assigned(MemberId(raw(9))),
                Reach::Business => Sight::All,
                Reach::Branches => Sight::Branches(&[here]),
            };
            // This one is no customer: nothing is its own.
            assert_eq!(
                caller.sight(*permission),
                expected,
                "{role:?} {permission:?}"
            );
            assert_eq!(caller.may(*permission), expected != Sight::Nothing);
            let far = matches!(reach, Reach::Business);
            assert_eq!(
                caller.may_at(*permission, there),
                far,
                "{role:?} {permission:?}"
            );
            let near = matches!(reach, Reach::Business | Reach::Branches);
            assert_eq!(
                caller.may_at(*permission, here),
                near,
                "{role:?} {permission:?}"
            );
        }
    }
}

#[test]
fn a_courier_sees_what_is_assigned_and_a_customer_what_is_theirs() {
    let member = MemberId(raw(5));
    let courier = principal(Role::Courier, Actor::Member(member));
    assert_eq!(
        courier.sight(Permission::ReadOrders),
        Sight::Assigned(member)
    );
    assert!(!courier.may_at(Permission::ReadOrders, BranchId(raw(2))));
    let mut customer = principal(Role::Customer, key());
    assert_eq!(customer.sight(Permission::ReadOrders), Sight::Nothing);
    customer.customer = Some(CustomerId(raw(6)));
    assert_eq!(
        customer.sight(Permission::ReadOrders),
        Sight::Own(CustomerId(raw(6)))
    );
    assert!(customer.may_at(Permission::PlaceOrders, BranchId(raw(2))));
    assert!(!customer.may_at(Permission::WorkOrders, BranchId(raw(2))));
}

#[test]
fn no_listed_branch_is_no_branch() {
    let mut staff = principal(Role::Staff, key());
    staff.branches = Some(Vec::new());
    assert!(!staff.may_at(Permission::ReadOrders, BranchId(raw(2))));
    staff.branches = None;
    assert!(staff.may_at(Permission::ReadOrders, BranchId(raw(2))));
}
