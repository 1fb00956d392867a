//! Pages of lists: `limit` and `cursor` in, `items`, `nextCursor` and `Link` out.
//!
//! Owns how a list is walked over HTTP. The order of rows is the store's.

use std::sync::Arc;

use abasto_domain::id::BusinessId;
use abasto_domain::limits::PAGE_ROWS;
use abasto_store::event::Event;
use abasto_store::query::{Page, Position};
use abasto_store::record::{Document, Record};
use axum::Json;
use axum::extract::FromRequestParts;
use axum::http::header::LINK;
use axum::http::request::Parts;
use axum::http::{HeaderValue, Uri};
use axum::response::{IntoResponse, Response};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use crate::app::Ready;
use crate::edge::Exchange;
use crate::problem::{Code, Problem};
use crate::query;

/// How much of a list, and from where.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct PageParams {
    /// Most rows of the page.
    #[param(minimum = 1, maximum = 200, default = 50, required = false)]
    limit: Option<u32>,
    /// `nextCursor` of the page before.
    #[param(required = false)]
    cursor: Option<String>,
}

/// One page of a list.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ListPage<T> {
    /// The rows.
    pub(crate) items: Vec<T>,
    /// Where the next page begins; null on the last one.
    #[schema(required = true)]
    pub(crate) next_cursor: Option<String>,
}

/// A request for a page, checked: filter `F`, position and size.
#[derive(Debug)]
pub(crate) struct Listing<F> {
    /// The filter.
    pub(crate) filter: F,
    limit: usize,
    cursor: Option<String>,
    canonical: String,
    uri: Uri,
    route: String,
}

/// A list without a filter.
#[derive(Debug, Deserialize)]
pub(crate) struct NoFilter {}

impl<F: DeserializeOwned> FromRequestParts<Arc<Ready>> for Listing<F> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<Ready>) -> Result<Self, Problem> {
        let values = query::take(parts)?;
        let canonical = query::canonical(&values);
        let values = Value::Object(values);
        let page = PageParams::deserialize(&values).map_err(|_| Problem::internal())?;
        let filter = F::deserialize(values).map_err(|_| Problem::internal())?;
        let exchange = parts.extensions.get::<Arc<Exchange>>();
        let operation = exchange.and_then(|exchange| exchange.operation.as_ref());
        Ok(Self {
            filter,
            limit: usize::try_from(page.limit.unwrap_or(PAGE_ROWS.1)).unwrap_or(1),
            cursor: page.cursor,
            canonical,
            uri: parts.uri.clone(),
            route: operation.map_or_else(String::new, |operation| operation.route.clone()),
        })
    }
}

impl<F> Listing<F> {
    /// The page to read: one row more than wanted, which tells whether another page follows.
    pub(crate) fn page(&self, ready: &Ready, tenant: Option<BusinessId>) -> Result<Page, Problem> {
        let after = match &self.cursor {
            None => None,
            Some(cursor) => {
                let position = ready.cursor_key.open(cursor, &self.scope(tenant));
                Some(position.ok_or_else(invalid_cursor)?)
            }
        };
        Ok(Page {
            after,
            limit: u32::try_from(self.limit + 1).unwrap_or(PAGE_ROWS.2),
        })
    }

    /// Answers all of so many rows in one page.
    pub(crate) fn take_whole(&mut self, rows: usize) {
        self.limit = rows;
        self.cursor = None;
    }

    /// What a cursor is bound to: tenant, path (with the ids in it) and filter.
    fn scope(&self, tenant: Option<BusinessId>) -> String {
        let tenant = tenant.map(|tenant| tenant.to_string()).unwrap_or_default();
        let (path, route, filter) = (self.uri.path(), &self.route, &self.canonical);
        format!("{tenant}\n{route}\n{path}\n{filter}")
    }

    /// The answer with the rows read for [`Self::page`].
    pub(crate) fn answer<R: Listed, T: Serialize>(
        &self,
        ready: &Ready,
        tenant: Option<BusinessId>,
        mut rows: Vec<R>,
        show: impl Fn(&R) -> T,
    ) -> Response {
        let more = rows.len() > self.limit;
        rows.truncate(self.limit);
        let last = rows.last().filter(|_| more).map(Listed::position);
        let next_cursor = last.map(|last| ready.cursor_key.seal(last, &self.scope(tenant)));
        let link = next_cursor.as_deref().and_then(|cursor| self.link(cursor));
        let items = rows.iter().map(show).collect();
        let mut response = Json(ListPage { items, next_cursor }).into_response();
        if let Some(link) = link {
            response.headers_mut().insert(LINK, link);
        }
        response
    }

    fn link(&self, cursor: &str) -> Option<HeaderValue> {
        let kept = self.uri.query().unwrap_or_default().split('&');
        let mut query: Vec<&str> = kept
            .filter(|pair| !pair.is_empty() && !pair.starts_with("cursor="))
            .collect();
        let cursor = format!("cursor={cursor}");
        query.push(&cursor);
        let target = format!("<{}?{}>; rel=\"next\"", self.uri.path(), query.join("&"));
        HeaderValue::try_from(target).ok()
    }
}

fn invalid_cursor() -> Problem {
    Problem::new(
        Code::InvalidCursor,
        "This list, with this filter, did not give this cursor. Start without one.",
    )
}

/// A row of a list: it knows its position.
pub(crate) trait Listed {
    /// What the next page goes on after.
    fn position(&self) -> Position;
}

impl<T> Listed for Arc<T>
where
    Document: From<Arc<T>>,
{
    fn position(&self) -> Position {
        Position::of(&Record::Document(self.clone().into()))
    }
}

impl Listed for abasto_domain::business::Business {
    fn position(&self) -> Position {
        Position::of(&Record::Document(self.clone().into()))
    }
}

impl Listed for abasto_domain::stock::Movement {
    fn position(&self) -> Position {
        Position {
            order: self.sequence,
            id: self.id.0,
        }
    }
}

impl Listed for Event {
    fn position(&self) -> Position {
        Position {
            order: self.sequence,
            id: self.id.0,
        }
    }
}

impl Listed for abasto_engine::stock::LevelView {
    fn position(&self) -> Position {
        Position::of(&Record::Level(self.level))
    }
}
