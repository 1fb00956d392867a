//! Which combinations of role, branches and customer make sense.

use abasto_domain::access::Role;
use abasto_domain::credential::Grant;
use abasto_domain::id::{BranchId, CustomerId};

use crate::sample::raw;

/// Role; no list, an empty list, one branch; without and with a customer.
#[test]
fn the_table_of_grants() {
    const OK: &str = "";
    let table = [
        (Role::Owner, [OK, "/branchIds", "/branchIds"], "/customerId"),
        (
            Role::Manager,
            [OK, "/branchIds", "/branchIds"],
            "/customerId",
        ),
        (Role::Staff, ["/branchIds", "/branchIds", OK], "/customerId"),
        (Role::Service, [OK, OK, OK], "/customerId"),
        (Role::Courier, [OK, OK, OK], "/customerId"),
        (
            Role::Customer,
            ["/customerId", "/branchIds", "/branchIds"],
            OK,
        ),
    ];
    let lists = [None, Some(Vec::new()), Some(vec![BranchId(raw(2))])];
    for (role, without, with) in table {
        for (branches, expected) in lists.iter().zip(without) {
            let mut grant = Grant {
                role,
                branches: branches.clone(),
                customer: None,
            };
            let place = |grant: &Grant| grant.check().err().map_or(OK, |(pointer, _)| pointer);
            assert_eq!(place(&grant), expected, "{grant:?}");
            grant.customer = Some(CustomerId(raw(3)));
            // A fault of the branches is named first.
            let expected = if expected == "/branchIds" {
                expected
            } else {
                with
            };
            assert_eq!(place(&grant), expected, "{grant:?}");
        }
    }
}
