//! What is read from both stores: every kind of read, with keys and filters of the run.

use abasto_domain::id::BranchId;
use abasto_domain::order_state::Status;
use abasto_domain::time::Timestamp;
use abasto_store::conformance::world::answer;
use abasto_store::query::{
    Deleted, LevelFilter, OrderFilter, Page, Position, ProductFilter, Query,
};
use abasto_store::record::{Document, DocumentKey, Kind, Record};

use super::workload::Workload;
use super::{Divergence, Run};

/// Most pages of one list.
const PAGES_MAX: usize = 400;

impl Workload {
    fn query(&mut self, town: usize) -> Option<Query> {
        let place = *self.dice.pick(&self.towns[town].places)?;
        Some(match self.dice.roll(9) {
            0 => Query::Branches,
            1 => Query::Members,
            2 => Query::ApiKeys,
            3 => Query::Customers,
            4 => Query::Products(self.product_filter()),
            5 => Query::Movements(place),
            6 => Query::Levels(LevelFilter {
                branch: place.branch,
                below_available: self.dice.chance(500).then(|| self.dice.between(0, 40)),
            }),
            7 => {
                let keys: Vec<&DocumentKey> = self.towns[town].present.keys().collect();
                Query::History(**self.dice.pick(&keys)?)
            }
            _ => Query::Orders(self.order_filter(town)),
        })
    }

    fn product_filter(&mut self) -> ProductFilter {
        let texts = ["pan", "-1", "%", "_", "á", "Á", "YUCA"];
        let text = self.dice.pick(&texts).copied();
        let shown = self.dice.chance(500);
        ProductFilter {
            text: text.filter(|_| self.dice.chance(400)).map(str::to_owned),
            active: self.dice.chance(400).then(|| self.dice.chance(500)),
            deleted: if shown {
                Deleted::Shown
            } else {
                Deleted::Hidden
            },
        }
    }

    fn order_filter(&mut self, town: usize) -> OrderFilter {
        let town = &self.towns[town];
        let dice = &mut self.dice;
        let some = |dice: &mut crate::dice::Dice, kind| {
            let documents = town.of_kind(kind);
            let wanted = dice.chance(300);
            dice.pick(&documents)
                .filter(|_| wanted)
                .map(|document| document.key().id)
        };
        let order = some(dice, Kind::Order);
        let order = order.and_then(|id| town.present.get(&DocumentKey::new(Kind::Order, id)));
        let time = order.map(Document::created_at);
        let branch = some(dice, Kind::Branch).map(BranchId);
        let second = some(dice, Kind::Branch).map(BranchId);
        OrderFilter {
            branches: branch.map(|branch| [branch].into_iter().chain(second).collect()),
            status: dice
                .pick(&Status::ALL)
                .copied()
                .filter(|_| dice.chance(300)),
            customer: some(dice, Kind::Customer).map(Into::into),
            courier: some(dice, Kind::Member).map(Into::into),
            from: time.filter(|_| dice.chance(500)),
            to: time.map(|time: Timestamp| time.plus_millis(dice.between(0, 60))),
        }
    }
}

impl Run<'_> {
    /// Compares reads of one business.
    pub(super) async fn read(&self, workload: &mut Workload) -> Result<(), Divergence> {
        let town = usize::try_from(workload.dice.roll(3)).unwrap_or(0);
        if let Some(query) = workload.query(town) {
            self.read_list(workload, town, &query).await?;
        }
        self.read_keys(workload, town).await?;
        self.read_credentials(workload, town).await
    }

    async fn read_list(
        &self,
        workload: &mut Workload,
        town: usize,
        query: &Query,
    ) -> Result<(), Divergence> {
        let business = workload.towns[town].tenant.business();
        let limit = u32::try_from(1 + workload.dice.roll(20)).unwrap_or(1);
        let mut after = None;
        for _ in 0..PAGES_MAX {
            let page = Page { after, limit };
            let left = answer(self.left.list(business, query, page).await);
            let right = answer(self.right.list(business, query, page).await);
            self.same(|| format!("{page:?} of {query:?}"), &left, &right)?;
            let wrong: Vec<&Record> = left.iter().filter(|row| !query.matches(row)).collect();
            self.same(|| format!("rows outside of {query:?}"), &wrong, &Vec::new())?;
            let Some(last) = left.last() else { break };
            after = Some(Position::of(last));
        }
        Ok(())
    }

    async fn read_keys(&self, workload: &mut Workload, town: usize) -> Result<(), Divergence> {
        let unknown = DocumentKey::new(Kind::Product, workload.world.id());
        let (dice, town) = (&mut workload.dice, &workload.towns[town]);
        let business = town.tenant.business();
        let known: Vec<DocumentKey> = town.present.keys().copied().collect();
        let mut keys = vec![unknown];
        keys.extend((0..5).filter_map(|_| dice.pick(&known).copied()));
        let left = answer(self.left.documents(business, &keys).await);
        let right = answer(self.right.documents(business, &keys).await);
        self.same(|| format!("documents {keys:?}"), &left, &right)?;
        let left = answer(self.left.levels(business, &town.places).await);
        let right = answer(self.right.levels(business, &town.places).await);
        self.same(|| "all levels".to_owned(), &left, &right)?;
        let skus: Vec<String> = (0..14).map(|number| format!("PAN-{number}")).collect();
        let left = answer(self.left.products_by_sku(business, &skus).await);
        let right = answer(self.right.products_by_sku(business, &skus).await);
        self.same(|| "products by sku".to_owned(), &left, &right)?;
        let orders = town.of_kind(Kind::Order);
        let Some(Document::Order(order)) = dice.pick(&orders) else {
            return Ok(());
        };
        let number = &order.number;
        let left = answer(self.left.order_by_number(business, number).await);
        let right = answer(self.right.order_by_number(business, number).await);
        self.same(|| format!("order {number}"), &left, &right)
    }

    async fn read_credentials(
        &self,
        workload: &mut Workload,
        town: usize,
    ) -> Result<(), Divergence> {
        let user = format!("user-{}", workload.dice.roll(5));
        let mut left = answer(self.left.memberships(&user).await);
        let mut right = answer(self.right.memberships(&user).await);
        left.sort_by_key(|member| member.id);
        right.sort_by_key(|member| member.id);
        self.same(|| format!("memberships of {user}"), &left, &right)?;
        let keys = workload.towns[town].of_kind(Kind::ApiKey);
        if let Some(key) = workload.dice.pick(&keys) {
            let id = key.key().id.into();
            let left = answer(self.left.api_key(id).await);
            let right = answer(self.right.api_key(id).await);
            self.same(|| format!("api key {id}"), &left, &right)?;
        }
        let operation = abasto_store::conformance::Tenant::operation(
            &format!("key-{}", workload.dice.roll(25)),
            0,
        );
        let business = workload.towns[town].tenant.business();
        let left = answer(self.left.operation(business, &operation.key).await);
        let right = answer(self.right.operation(business, &operation.key).await);
        self.same(|| format!("operation {:?}", operation.key), &left, &right)
    }
}
