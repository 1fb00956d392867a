//! Ids and names in paths. A text that is no id, or no text at all, names nothing: 404, as for an id
//! that does not exist.

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

/// The texts of a path, from left to right.
#[derive(Debug, Clone)]
pub(crate) struct PathTexts<const N: usize>(pub(crate) [String; N]);

impl<S: Send + Sync, const N: usize> FromRequestParts<S> for PathTexts<N> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let params = RawPathParams::from_request_parts(parts, state)
            .await
            .map_err(|_| Problem::not_found())?;
        let texts: Vec<String> = params.iter().map(|(_, text)| text.to_owned()).collect();
        let texts = texts.try_into().map_err(|_| Problem::internal())?;
        Ok(Self(texts))
    }
}

async fn read<S: Send + Sync, const N: usize>(
    parts: &mut Parts,
    state: &S,
) -> Result<[RawId; N], Problem> {
    let PathTexts(texts) = PathTexts::<N>::from_request_parts(parts, state).await?;
    let mut ids = [RawId::default(); N];
    for (id, text) in ids.iter_mut().zip(&texts) {
        *id = RawId::parse(text).map_err(|_| Problem::not_found())?;
    }
    Ok(ids)
}
