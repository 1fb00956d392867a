//! The suite can fail: a store with one defect is caught by the case that is about it.
#![expect(clippy::expect_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use abasto_domain::business::Business;
use abasto_domain::credential::{ApiKey, Member};
use abasto_domain::id::{ApiKeyId, BusinessId, CartId, RawId};
use abasto_domain::idempotency::OperationKey;
use abasto_domain::number::OrderNumber;
use abasto_domain::order::Order;
use abasto_domain::stock::{Place, StockLevel};
use abasto_domain::time::Timestamp;
use abasto_sim::model::ModelStore;
use abasto_store::cart::CartContent;
use abasto_store::conformance::{self, World};
use abasto_store::port::Visitor;
use abasto_store::query::{Page, Query};
use abasto_store::record::{Claim, Document, DocumentKey, Kind, Record};
use abasto_store::unit::{Answer, UnitOfWork};
use abasto_store::verdict::{Operation, Skus, Verdict};
use abasto_store::{Store, StoreError};
use async_trait::async_trait;

/// What is wrong with a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Defect {
    ForgetsKeys,
    SkipsGuards,
    WritesInTwoSteps,
    AnswersBeforeWriting,
    ReadsOtherTenants,
    ReadsOldDocuments,
    PagesAreOutOfOrder,
    PagesSkipARow,
    SearchFoldsAllCase,
    WalkMissesARecord,
    WalkIgnoresItsVisitor,
    KeysAreFoldedToLowerCase,
    CustomersShareKeys,
    ShortUnitsAreCutDown,
}

/// The model with a defect.
#[derive(Debug)]
struct Suspect {
    inner: ModelStore,
    defect: Defect,
    documents: Mutex<BTreeMap<DocumentKey, Document>>,
}

impl Suspect {
    fn is(&self, defect: Defect) -> bool {
        self.defect == defect
    }

    fn remembered(&self, key: &DocumentKey) -> Option<Document> {
        self.documents
            .lock()
            .expect("no panic under the lock")
            .get(key)
            .cloned()
    }

    fn bent(&self, mut unit: UnitOfWork) -> UnitOfWork {
        if self.is(Defect::ForgetsKeys) {
            unit.operation = None;
        }
        if self.is(Defect::SkipsGuards) {
            unit.guards.clear();
        }
        if let Some(operation) = &mut unit.operation {
            if self.is(Defect::KeysAreFoldedToLowerCase) {
                operation.key.key = operation.key.key.to_lowercase();
            }
            if self.is(Defect::CustomersShareKeys) {
                operation.key.customer = None;
            }
        }
        unit
    }
}

#[async_trait]
impl Store for Suspect {
    async fn commit(&self, unit: UnitOfWork) -> Result<Verdict, StoreError> {
        let unit = self.bent(unit);
        for put in &unit.puts {
            let mut documents = self.documents.lock().expect("no panic under the lock");
            // Old answers are the first ever given.
            documents
                .entry(put.next.key())
                .or_insert_with(|| put.next.clone());
        }
        if self.is(Defect::WritesInTwoSteps) && !unit.puts.is_empty() && !unit.stock.is_empty() {
            let stock = UnitOfWork {
                puts: Vec::new(),
                operation: None,
                answer: Answer::Stock(Skus::new()),
                ..unit.clone()
            };
            let first = self
                .inner
                .commit(UnitOfWork {
                    stock: Vec::new(),
                    ..unit
                })
                .await?;
            let second = self.inner.commit(stock).await?;
            return Ok(match second {
                Verdict::Committed(_) => first,
                refused => refused,
            });
        }
        if self.is(Defect::AnswersBeforeWriting) && !unit.stock.is_empty() {
            // Decided on a store of its own, written nowhere.
            return ModelStore::new().commit(unit).await;
        }
        let verdict = self.inner.commit(unit.clone()).await?;
        if self.is(Defect::ShortUnitsAreCutDown) && matches!(verdict, Verdict::Rejected(_)) {
            let less = UnitOfWork {
                stock: Vec::new(),
                ..unit
            };
            return self.inner.commit(less).await;
        }
        Ok(verdict)
    }

    async fn documents(
        &self,
        business: BusinessId,
        keys: &[DocumentKey],
    ) -> Result<Vec<Option<Document>>, StoreError> {
        let found = self.inner.documents(business, keys).await?;
        let bent = keys.iter().zip(found).map(|(key, found)| match found {
            None if self.is(Defect::ReadsOtherTenants) => self.remembered(key),
            Some(_) if self.is(Defect::ReadsOldDocuments) => self.remembered(key),
            found => found,
        });
        Ok(bent.collect())
    }

    async fn levels(
        &self,
        business: BusinessId,
        places: &[Place],
    ) -> Result<Vec<Option<StockLevel>>, StoreError> {
        self.inner.levels(business, places).await
    }

    async fn operation(
        &self,
        business: BusinessId,
        key: &OperationKey,
    ) -> Result<Option<Operation>, StoreError> {
        self.inner.operation(business, key).await
    }

    async fn order_by_number(
        &self,
        business: BusinessId,
        number: &OrderNumber,
    ) -> Result<Option<Order>, StoreError> {
        self.inner.order_by_number(business, number).await
    }

    async fn holders(
        &self,
        business: BusinessId,
        claims: &[Claim],
    ) -> Result<Vec<Option<RawId>>, StoreError> {
        self.inner.holders(business, claims).await
    }

    async fn due(
        &self,
        business: Option<BusinessId>,
        kind: Kind,
        at: Timestamp,
        limit: u32,
    ) -> Result<Vec<Document>, StoreError> {
        self.inner.due(business, kind, at, limit).await
    }

    async fn cart_content(
        &self,
        business: BusinessId,
        cart: CartId,
    ) -> Result<CartContent, StoreError> {
        self.inner.cart_content(business, cart).await
    }

    async fn products_by_sku(
        &self,
        business: BusinessId,
        skus: &[String],
    ) -> Result<Vec<Option<Document>>, StoreError> {
        self.inner.products_by_sku(business, skus).await
    }

    async fn list(
        &self,
        business: BusinessId,
        query: &Query,
        page: Page,
    ) -> Result<Vec<Record>, StoreError> {
        let mut query = query.clone();
        if let Query::Products(filter) = &mut query
            && self.is(Defect::SearchFoldsAllCase)
        {
            filter.text = filter.text.as_ref().map(|text| text.to_lowercase());
        }
        let mut rows = self.inner.list(business, &query, page).await?;
        if self.is(Defect::PagesSkipARow) && page.after.is_some() && !rows.is_empty() {
            rows.remove(0);
        }
        if self.is(Defect::PagesAreOutOfOrder) && page.after.is_none() && rows.len() > 1 {
            rows.swap(0, 1);
        }
        Ok(rows)
    }

    async fn api_key(&self, id: ApiKeyId) -> Result<Option<ApiKey>, StoreError> {
        self.inner.api_key(id).await
    }

    async fn memberships(&self, user_id: &str) -> Result<Vec<Member>, StoreError> {
        self.inner.memberships(user_id).await
    }

    async fn businesses(&self, page: Page) -> Result<Vec<Business>, StoreError> {
        self.inner.businesses(page).await
    }

    async fn walk(&self, business: BusinessId, visitor: Visitor<'_>) -> Result<(), StoreError> {
        let mut records = Vec::new();
        let mut keep = |record| {
            records.push(record);
            Ok(())
        };
        self.inner.walk(business, &mut keep).await?;
        if self.is(Defect::WalkMissesARecord) {
            records.pop();
        }
        for record in records {
            let said = visitor(record);
            if !self.is(Defect::WalkIgnoresItsVisitor) {
                said.map_err(|why| StoreError::Backend(why.into()))?;
            }
        }
        Ok(())
    }

    async fn health(&self) -> Result<Vec<String>, StoreError> {
        self.inner.health().await
    }
}

/// A world over the model with the defect.
fn suspect(defect: Defect) -> World {
    World::new(Arc::new(Suspect {
        inner: ModelStore::new(),
        defect,
        documents: Mutex::default(),
    }))
}

macro_rules! caught {
    ($($name:ident: $defect:ident by $module:ident :: $case:ident),* $(,)?) => {$(
        #[tokio::test]
        async fn $name() {
            let world = suspect(Defect::$defect);
            let case = tokio::spawn(async move {
                conformance::$module::$case(world.clone()).await;
                world.must_hold().await;
            });
            let failed = case.await.is_err_and(|error| error.is_panic());
            assert!(failed, "{:?} passes", Defect::$defect);
        }
    )*};
}

caught! {
    forgotten_keys: ForgetsKeys by idempotency::a_key_answers_again,
    skipped_guards: SkipsGuards by guard::a_guard_on_another_version_is_stale,
    two_steps: WritesInTwoSteps by atomicity::a_rejected_unit_leaves_nothing,
    lost_writes: AnswersBeforeWriting by atomicity::a_unit_is_written_whole,
    other_tenants: ReadsOtherTenants by tenancy::another_tenants_ids_are_never_found,
    old_documents: ReadsOldDocuments by version::a_change_of_an_old_version_is_stale,
    rows_out_of_order: PagesAreOutOfOrder by list::every_list_holds_what_its_filter_says,
    skipped_rows: PagesSkipARow by list::pages_of_any_size_make_the_same_list,
    folded_search: SearchFoldsAllCase by list::a_search_takes_its_text_literally,
    missing_record: WalkMissesARecord by walk::a_walk_is_whole_and_in_order,
    deaf_walk: WalkIgnoresItsVisitor by walk::a_walk_ends_when_its_visitor_says_so,
    folded_keys: KeysAreFoldedToLowerCase by idempotency::keys_compare_bytes,
    shared_keys: CustomersShareKeys by idempotency::a_key_belongs_to_a_customer,
    cut_down_units: ShortUnitsAreCutDown by number::a_refused_order_uses_no_number,
}
