//! The demo's business and its scripted day, as tables.
//!
//! Owns the content. Must not know how it gets into a store.

/// The business.
pub(super) const BUSINESS: &str = "Panadería La Espiga";
/// Its currency.
pub(super) const CURRENCY: &str = "COP";
/// Its time zone and that of its branches.
pub(super) const TIME_ZONE: &str = "America/Bogota";
/// Its products, as a file for the import.
pub(super) const PRODUCTS: &str = include_str!("products.csv");
/// Its branches: code and name.
pub(super) const BRANCHES: [(&str, &str); 3] = [
    ("BOG", "Chapinero"),
    ("MED", "El Poblado"),
    ("CAL", "San Antonio"),
];

/// One order of the day.
pub(super) struct Scene {
    pub(super) branch: &'static str,
    pub(super) customer: &'static str,
    /// Sku and quantity.
    pub(super) lines: &'static [(&'static str, u32)],
    /// Where it goes; nothing means that it is picked up.
    pub(super) address: Option<&'static str>,
    /// What happens to it, in order.
    pub(super) actions: &'static [Action],
}

/// What happens to an order.
#[derive(Clone, Copy)]
pub(super) enum Action {
    Confirm,
    Prepare,
    Dispatch,
    Deliver,
    Cancel(&'static str),
}

use Action::{Cancel, Confirm, Deliver, Dispatch, Prepare};

const DONE: &[Action] = &[Confirm, Prepare, Dispatch, Deliver];

/// The day, from opening to the afternoon.
pub(super) const DAY: &[Scene] = &[
    Scene {
        branch: "BOG",
        customer: "Ana Rojas",
        lines: &[("QUE-001", 6), ("BEB-002", 2)],
        address: None,
        actions: DONE,
    },
    Scene {
        branch: "BOG",
        customer: "Café del Parque",
        lines: &[("PAN-001", 20), ("PAN-002", 20), ("PAS-001", 12)],
        address: Some("Carrera 7 # 59-20, Bogotá"),
        actions: DONE,
    },
    Scene {
        branch: "MED",
        customer: "Julián Mejía",
        lines: &[("QUE-003", 4), ("BEB-004", 1)],
        address: None,
        actions: DONE,
    },
    Scene {
        branch: "CAL",
        customer: "Marta Lucía Ospina",
        lines: &[("PAS-012", 2), ("BEB-007", 2)],
        address: None,
        actions: DONE,
    },
    Scene {
        branch: "MED",
        customer: "Oficina Nutibara",
        lines: &[("PAS-003", 15), ("PAS-010", 15), ("BEB-001", 15)],
        address: Some("Calle 10 # 43-28, Medellín"),
        actions: &[Confirm, Prepare, Dispatch],
    },
    Scene {
        branch: "BOG",
        customer: "Samuel Pinto",
        lines: &[("PAN-012", 1), ("PAN-011", 2)],
        address: None,
        actions: &[Cancel("El cliente ya no viene")],
    },
    Scene {
        branch: "CAL",
        customer: "Colegio San Antonio",
        lines: &[("PAN-005", 30), ("BEB-006", 10)],
        address: Some("Carrera 10 # 2-40, Cali"),
        actions: &[Confirm, Prepare],
    },
    Scene {
        branch: "BOG",
        customer: "Ana Rojas",
        lines: &[("PAS-007", 3)],
        address: None,
        actions: &[Confirm],
    },
    Scene {
        branch: "MED",
        customer: "Luisa Fernanda Cano",
        lines: &[("QUE-007", 2), ("BEB-003", 2)],
        address: None,
        actions: &[],
    },
    Scene {
        branch: "CAL",
        customer: "Jorge Tovar",
        lines: &[("PAN-006", 1), ("PAN-007", 1), ("BEB-005", 1)],
        address: None,
        actions: &[],
    },
];

/// Units that a branch begins the day with: not the same everywhere, so that lists are worth
/// looking at.
pub(super) fn units(product: usize, branch: usize) -> usize {
    40 + (product * 7 + branch * 11) % 60
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::{BRANCHES, DAY, PRODUCTS, units};

    #[test]
    fn the_day_can_happen() {
        let mut reader = csv::Reader::from_reader(PRODUCTS.as_bytes());
        let skus: Vec<String> = reader
            .records()
            .map(|record| record.expect("a row")[0].to_owned())
            .collect();
        assert_eq!(skus.len(), 40);
        assert_eq!(skus.iter().collect::<BTreeSet<_>>().len(), 40);
        let mut left = BTreeMap::new();
        for (branch, (code, _)) in BRANCHES.iter().enumerate() {
            for (product, sku) in skus.iter().enumerate() {
                left.insert((*code, sku.as_str()), units(product, branch));
            }
        }
        for scene in DAY {
            for (sku, quantity) in scene.lines {
                let units = left.get_mut(&(scene.branch, *sku)).expect(sku);
                *units = units.checked_sub(*quantity as usize).expect(sku);
            }
        }
    }
}
