//! Reading the heads that units are decided against.
//!
//! Owns what the writer remembers from one group to the next. It is the only one that writes the
//! file, so what it wrote last is what is there; should another connection have written after all,
//! everything remembered is dropped. Must not decide anything.

use std::collections::HashMap;
use std::sync::Arc;

use abasto_domain::id::{BusinessId, RawId};
use abasto_domain::number::Series;
use abasto_domain::stock::Place;
use abasto_store::StoreError;
use abasto_store::heads::Heads;
use abasto_store::record::{Claim, DocumentKey, HeadKey, Kind, Unique};
use abasto_store::unit::UnitOfWork;
use rusqlite::{Connection, OptionalExtension, params};

use crate::cart::ReadStates;
use crate::document;
use crate::error::store_error;
use crate::level::{self, Numbered};
use crate::operation;
use crate::tally;

/// Most heads of each kind that are remembered: about 20 MiB.
const REMEMBERED_MAX: usize = 100_000;

/// What the writer remembers of the file.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    data_version: i64,
    levels: HashMap<(BusinessId, Place), Numbered>,
    versions: HashMap<(BusinessId, DocumentKey), i64>,
    series: HashMap<(BusinessId, Series), i64>,
    /// Of the present group only.
    carts: ReadStates,
}

impl Memory {
    /// Drops everything when another connection has changed the file since. To be called inside
    /// the transaction of a group.
    pub(crate) fn revalidate(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        let found = connection
            .prepare_cached("PRAGMA data_version")?
            .query_row([], |row| row.get(0))?;
        self.carts = ReadStates::default();
        if found != self.data_version {
            *self = Self {
                data_version: found,
                ..Self::default()
            };
        }
        Ok(())
    }

    /// Drops everything: the last group was rolled back.
    pub(crate) fn forget(&mut self) {
        *self = Self::default();
    }

    /// Remembers a level as written.
    pub(crate) fn keep_level(&mut self, numbered: Numbered) {
        let key = (numbered.level.business, numbered.level.place);
        keep(&mut self.levels, key, numbered);
    }

    /// Remembers the version of a document as written. Orders are not worth it: most are never
    /// touched again soon.
    pub(crate) fn keep_version(&mut self, business: BusinessId, key: DocumentKey, version: i64) {
        if key.kind != Kind::Order {
            keep(&mut self.versions, (business, key), version);
        }
    }

    /// Remembers the last number of a series as written.
    pub(crate) fn keep_series(&mut self, business: BusinessId, series: &Series, last: i64) {
        keep(&mut self.series, (business, series.clone()), last);
    }

    /// Sets every head of the unit that is not set yet.
    pub(crate) fn read(
        &mut self,
        connection: &Connection,
        heads: &mut Heads,
        unit: &UnitOfWork,
    ) -> Result<(), StoreError> {
        let business = unit.business;
        for key in heads.missing(unit) {
            match key {
                HeadKey::Document(key) => {
                    let version = self.version(connection, business, key)?;
                    heads.set_document(business, key, version);
                }
                HeadKey::Level(place) => {
                    let level = self.level(connection, business, place)?;
                    heads.set_level(business, place, level.map(|numbered| numbered.level));
                }
                HeadKey::Claim(claim) => {
                    let holder = holder(connection, business, &claim).map_err(store_error)?;
                    heads.set_claim(business, claim, holder);
                }
                HeadKey::Series(series) => {
                    let last = self.last(connection, business, &series)?;
                    heads.set_series(business, series, last);
                }
                HeadKey::Tally(key) => {
                    let value = tally::read(connection, business, key).map_err(store_error)?;
                    heads.set_tally(business, key, value);
                }
                HeadKey::Dot(dot) => {
                    let head = self.carts.dot(connection, business, dot)?;
                    heads.set_dot(business, dot, head);
                }
                HeadKey::CartState(cart) => {
                    let version = self.carts.version(connection, business, cart)?;
                    heads.set_cart_state(business, cart, version);
                }
                HeadKey::Operation(key) => {
                    let operation = operation::read(connection, business, &key)?;
                    heads.set_operation(business, key, operation.map(Arc::new));
                }
            }
        }
        Ok(())
    }

    fn version(
        &mut self,
        connection: &Connection,
        business: BusinessId,
        key: DocumentKey,
    ) -> Result<i64, StoreError> {
        if let Some(version) = self.versions.get(&(business, key)) {
            return Ok(*version);
        }
        let version = document::version(connection, business, key).map_err(store_error)?;
        if version > 0 {
            self.keep_version(business, key, version);
        }
        Ok(version)
    }

    /// The level of a place.
    pub(crate) fn level(
        &mut self,
        connection: &Connection,
        business: BusinessId,
        place: Place,
    ) -> Result<Option<Numbered>, StoreError> {
        if let Some(known) = self.levels.get(&(business, place)) {
            return Ok(Some(*known));
        }
        let read = level::read(connection, business, place)?;
        if let Some(numbered) = read {
            self.keep_level(numbered);
        }
        Ok(read)
    }

    fn last(
        &mut self,
        connection: &Connection,
        business: BusinessId,
        series: &Series,
    ) -> Result<i64, StoreError> {
        const LAST: &str =
            "SELECT last FROM counters WHERE business = ?1 AND code = ?2 AND year = ?3";
        let scoped = (business, series.clone());
        if let Some(last) = self.series.get(&scoped) {
            return Ok(*last);
        }
        let values = params![business.0.0, series.code.as_str(), series.year];
        let last = connection
            .prepare_cached(LAST)
            .and_then(|mut statement| statement.query_row(values, |row| row.get(0)).optional())
            .map_err(store_error)?
            .unwrap_or_default();
        keep(&mut self.series, scoped, last);
        Ok(last)
    }
}

fn keep<K: Eq + std::hash::Hash, V>(map: &mut HashMap<K, V>, key: K, value: V) {
    if map.len() >= REMEMBERED_MAX && !map.contains_key(&key) {
        map.clear();
    }
    map.insert(key, value);
}

/// The document that holds a claim.
pub(crate) fn holder(
    connection: &Connection,
    business: BusinessId,
    claim: &Claim,
) -> rusqlite::Result<Option<RawId>> {
    let sql = match claim.rule {
        Unique::BranchCode => "SELECT id FROM branches WHERE business = ?1 AND code = ?2",
        Unique::ActiveMember => {
            "SELECT id FROM members WHERE business = ?1 AND user_id = ?2 AND active = 1"
        }
        Unique::Sku => "SELECT id FROM products WHERE business = ?1 AND sku = ?2 AND deleted = 0",
        Unique::Phone => {
            "SELECT id FROM customers WHERE business = ?1 AND phone = ?2 AND phone <> ''"
        }
        Unique::VerifiedEmail => {
            "SELECT id FROM customers WHERE business = ?1 AND verified_email = ?2 \
             AND verified_email <> ''"
        }
        Unique::OpenCheckout => {
            "SELECT id FROM checkouts WHERE business = ?1 AND open_cart_id = ?2 \
             AND open_cart_id <> ''"
        }
        Unique::CouponCode => "SELECT id FROM coupons WHERE business = ?1 AND code = ?2",
        Unique::ProviderReference => {
            "SELECT id FROM payments WHERE business = ?1 AND provider_key = ?2 \
             AND provider_key <> ''"
        }
        Unique::ProviderEvent => {
            "SELECT id FROM payment_events WHERE business = ?1 AND provider_key = ?2"
        }
        Unique::ActiveCart => {
            "SELECT id FROM carts WHERE business = ?1 AND active_for = ?2 AND active_for <> ''"
        }
        Unique::OrderOfCheckout => {
            "SELECT id FROM orders WHERE business = ?1 AND checkout_id = unhex(?2) \
             AND checkout_id <> x''"
        }
        Unique::OrderOfCart => {
            "SELECT id FROM orders WHERE business = ?1 AND cart_id = unhex(?2) AND cart_id <> x''"
        }
    };
    connection
        .prepare_cached(sql)?
        .query_row(params![business.0.0, claim.value], |row| {
            row.get::<_, [u8; 12]>(0).map(RawId)
        })
        .optional()
}
