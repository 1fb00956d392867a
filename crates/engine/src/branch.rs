//! Branches: opening and changing them.

use std::sync::Arc;

use abasto_domain::access::Permission;
use abasto_domain::branch::{Branch, BranchCode};
use abasto_domain::id::BranchId;
use abasto_domain::stamp::Stamp;
use abasto_store::query::{Page, Query};

use crate::Engine;
use crate::cache::Freshness;
use crate::context::Context;
use crate::document::{Change, check_version, set};
use crate::error::Error;

/// A branch to be opened.
#[derive(Debug, Clone)]
pub struct NewBranch {
    /// Unique in the business.
    pub code: BranchCode,
    /// Its name.
    pub name: String,
    /// IANA zone, checked by [`crate::zone::check`].
    pub time_zone: String,
    /// Whether it takes orders.
    pub active: bool,
}

/// What is to change of a branch; `None` leaves a field as it is.
#[derive(Debug, Clone, Default)]
pub struct ChangeBranch {
    /// The code.
    pub code: Option<BranchCode>,
    /// The name.
    pub name: Option<String>,
    /// The zone.
    pub time_zone: Option<String>,
    /// Whether it takes orders.
    pub active: Option<bool>,
}

impl Engine {
    /// Opens a branch.
    pub async fn create_branch(
        &self,
        context: &Context,
        command: NewBranch,
    ) -> Result<Arc<Branch>, Error> {
        context.require(Permission::ChangeBranches)?;
        let now = self.now();
        let branch = Arc::new(Branch {
            business: context.business(),
            id: BranchId(self.new_id(now)),
            code: command.code,
            name: command.name,
            time_zone: command.time_zone,
            active: command.active,
            stamp: Stamp::first(now),
        });
        self.save(context, move |_, _, _| {
            let next = Arc::clone(&branch).into();
            async move {
                Ok(Change {
                    base: None,
                    next,
                    event: "abasto.branch.created",
                    at: now,
                })
            }
        })
        .await
    }

    /// One page of the branches, newest first.
    pub async fn branches(&self, context: &Context, page: Page) -> Result<Vec<Arc<Branch>>, Error> {
        context.require(Permission::ReadBranches)?;
        self.list_documents(context.business(), &Query::Branches, page)
            .await
    }

    /// One branch.
    pub async fn branch(&self, context: &Context, id: BranchId) -> Result<Arc<Branch>, Error> {
        context.require(Permission::ReadBranches)?;
        self.find(context.business(), id, Freshness::Fresh).await
    }

    /// Changes the version of a branch that the caller saw.
    pub async fn change_branch(
        &self,
        context: &Context,
        id: BranchId,
        seen_version: i64,
        command: ChangeBranch,
    ) -> Result<Arc<Branch>, Error> {
        // Who may not change a branch still learns whether it exists: branches are in their sight.
        self.branch(context, id).await?;
        context.require(Permission::ChangeBranches)?;
        self.save(context, move |engine, context, _| {
            let command = command.clone();
            async move {
                let base: Arc<Branch> = engine
                    .find(context.business(), id, Freshness::Fresh)
                    .await?;
                check_version(&Arc::clone(&base).into(), seen_version)?;
                let at = engine.now();
                let mut next = Branch::clone(&base);
                set(&mut next.code, &command.code);
                set(&mut next.name, &command.name);
                set(&mut next.time_zone, &command.time_zone);
                set(&mut next.active, &command.active);
                if next != *base {
                    next.stamp = base.stamp.next(at);
                }
                let event = "abasto.branch.changed";
                Ok(Change {
                    base: Some(base.into()),
                    next: next.into(),
                    event,
                    at,
                })
            }
        })
        .await
    }
}
