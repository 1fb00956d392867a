//! Ids in paths. A text that is no id names nothing: 404, as for an id that does not exist.

use abasto_domain::id::RawId;
use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::request::Parts;

use crate::problem::Problem;

/// The one id of a path.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PathId<A>(pub(crate) A);

/// The two ids of a path, from left to right.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PathIds<A, B>(pub(crate) A, pub(crate) B);

impl<S: Send + Sync, A: From<RawId>> FromRequestParts<S> for PathId<A> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let [id] = read(parts, state).await?;
        Ok(Self(id.into()))
    }
}

impl<S: Send + Sync, A: From<RawId>, B: From<RawId>> FromRequestParts<S> for PathIds<A, B> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let [first, second] = read(parts, state).await?;
        Ok(Self(first.into(), second.into()))
    }
}

async fn read<S: Send + Sync, const N: usize>(
    parts: &mut Parts,
    state: &S,
) -> Result<[RawId; N], Problem> {
    let params = RawPathParams::from_request_parts(parts, state)
        .await
        .map_err(|_| Problem::not_found())?;
    let mut ids = [RawId::default(); N];
    let mut values = params.iter();
    for id in &mut ids {
        let (_, text) = values.next().ok_or_else(Problem::internal)?;
        *id = RawId::parse(text).map_err(|_| Problem::not_found())?;
    }
    Ok(ids)
}
