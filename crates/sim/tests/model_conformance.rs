//! The model store passes the suite that every adapter passes.

use std::sync::Arc;

use abasto_sim::model::ModelStore;
use abasto_store::Store;
use abasto_store::conformance::Backend;
use async_trait::async_trait;

struct Model(Arc<ModelStore>);

#[async_trait]
impl Backend for Model {
    async fn fresh() -> Self {
        Self(Arc::default())
    }

    fn store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.0) as Arc<dyn Store>
    }
}

abasto_store::conformance!(Model);
