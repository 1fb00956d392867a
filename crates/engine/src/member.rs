//! Members: users of an identity provider and what they are in a business.

use std::sync::Arc;
use std::time::Duration;

use abasto_domain::access::{Actor, Permission, Principal, Role};
use abasto_domain::credential::{Grant, Member};
use abasto_domain::id::{BranchId, BusinessId, CustomerId, MemberId};
use abasto_domain::stamp::Stamp;
use abasto_store::query::{Page, Query};
use abasto_store::record::{DocumentKey, Kind};
use moka::sync::Cache;

use crate::Engine;
use crate::cache::Freshness;
use crate::context::Context;
use crate::document::{Change, Guarded, check_version, set};
use crate::error::Error;
use crate::last_owner::is_owner_member;

/// A membership to be made.
#[derive(Debug, Clone)]
pub struct NewMember {
    /// `sub` of the user's tokens.
    pub user_id: String,
    /// What the user is to be.
    pub grant: Grant,
    /// Whether it gives rights from now on.
    pub active: bool,
}

/// What is to change of a membership; `None` leaves a field as it is.
#[derive(Debug, Clone, Default)]
pub struct ChangeMember {
    /// The role.
    pub role: Option<Role>,
    /// The branches.
    pub branches: Option<Option<Vec<BranchId>>>,
    /// The customer record.
    pub customer: Option<Option<CustomerId>>,
    /// Whether it gives rights.
    pub active: Option<bool>,
}

/// The active memberships of users who have some.
pub(crate) type MembershipCache = Cache<String, Arc<[Member]>>;

pub(crate) fn membership_cache() -> MembershipCache {
    Cache::builder()
        .max_capacity(USERS_MAX)
        .time_to_live(AGE_MAX)
        .build()
}

/// How long another instance may still take an ended membership for good: below the 5 s of keys.
const AGE_MAX: Duration = Duration::from_secs(4);
const USERS_MAX: u64 = 10_000;

impl Engine {
    /// The caller that a user is, in the named business or in the only one; `None` when the user
    /// is nobody there, or somebody in several and none is named.
    pub async fn authenticate_user(
        &self,
        user_id: &str,
        business: Option<BusinessId>,
    ) -> Result<Option<Principal>, Error> {
        let mut memberships = match self.memberships.get(user_id) {
            Some(memberships) => memberships.to_vec(),
            None => {
                let memberships = self.store.memberships(user_id).await?;
                // Nothing is not kept: whoever becomes a member gets in at once, on every instance.
                if !memberships.is_empty() {
                    self.memberships
                        .insert(user_id.to_owned(), memberships.clone().into());
                }
                memberships
            }
        };
        memberships.retain(|member| business.is_none_or(|business| member.business == business));
        let member = if memberships.len() == 1 {
            memberships.pop()
        } else {
            None
        };
        Ok(member.map(|member| Principal {
            business: member.business,
            actor: Actor::Member(member.id),
            role: member.role,
            branches: member.branches,
            customer: member.customer,
        }))
    }

    /// Makes a membership.
    pub async fn create_member(
        &self,
        context: &Context,
        command: NewMember,
    ) -> Result<Arc<Member>, Error> {
        context.require(Permission::ManageMembers)?;
        self.guard_owner(context, command.grant.role)?;
        self.check_grant(context, &command.grant).await?;
        let now = self.now();
        let member = Arc::new(Member {
            business: context.business(),
            id: MemberId(self.new_id(now)),
            user_id: command.user_id,
            role: command.grant.role,
            branches: command.grant.branches,
            customer: command.grant.customer,
            active: command.active,
            stamp: Stamp::first(now),
        });
        let made = self
            .save::<Member, _, _, _>(context, move |_, _, _| {
                let next = Arc::clone(&member).into();
                async move {
                    Ok(Change {
                        base: None,
                        next,
                        event: "abasto.member.created",
                        at: now,
                    })
                }
            })
            .await?;
        self.memberships.invalidate(&made.user_id);
        Ok(made)
    }

    /// One page of the memberships, newest first.
    pub async fn members(&self, context: &Context, page: Page) -> Result<Vec<Arc<Member>>, Error> {
        context.require(Permission::ReadMembers)?;
        self.list_documents(context.business(), &Query::Members, page)
            .await
    }

    /// One membership.
    pub async fn member(&self, context: &Context, id: MemberId) -> Result<Arc<Member>, Error> {
        context.require(Permission::ReadMembers)?;
        self.find(context.business(), id, Freshness::Fresh).await
    }

    /// Changes a membership; the version is checked when the caller gives one.
    pub async fn change_member(
        &self,
        context: &Context,
        id: MemberId,
        expected_version: Option<i64>,
        command: ChangeMember,
    ) -> Result<Arc<Member>, Error> {
        // Who may not change a membership but sees it learns whether it exists.
        if context.principal.may(Permission::ReadMembers) {
            self.member(context, id).await?;
        }
        context.require(Permission::ManageMembers)?;
        let changed: Arc<Member> = self
            .save(context, move |engine, context, _| {
                let command = command.clone();
                async move {
                    let base: Arc<Member> = engine
                        .find(context.business(), id, Freshness::Fresh)
                        .await?;
                    if let Some(version) = expected_version {
                        check_version(&Arc::clone(&base).into(), version)?;
                    }
                    let at = engine.now();
                    let mut next = Member::clone(&base);
                    set(&mut next.role, &command.role);
                    set(&mut next.branches, &command.branches);
                    set(&mut next.customer, &command.customer);
                    set(&mut next.active, &command.active);
                    engine.guard_owner(&context, base.role)?;
                    engine.guard_owner(&context, next.role)?;
                    let grant = Grant {
                        role: next.role,
                        branches: next.branches.clone(),
                        customer: next.customer,
                    };
                    engine.check_grant(&context, &grant).await?;
                    let mut guards = Vec::new();
                    if is_owner_member(&base) && !is_owner_member(&next) {
                        let key = DocumentKey::new(Kind::Member, base.id);
                        guards.push(engine.another_owner(context.business(), key).await?);
                    }
                    if next != *base {
                        next.stamp = base.stamp.next(at);
                    }
                    let change = Change {
                        base: Some(base.into()),
                        next: next.into(),
                        event: "abasto.member.changed",
                        at,
                    };
                    Ok(Guarded { change, guards })
                }
            })
            .await?;
        self.memberships.invalidate(&changed.user_id);
        Ok(changed)
    }

    /// Only an owner makes, changes or unmakes an owner.
    fn guard_owner(&self, context: &Context, role: Role) -> Result<(), Error> {
        if role == Role::Owner && context.principal.role != Role::Owner {
            return Err(Error::Forbidden);
        }
        Ok(())
    }
}
