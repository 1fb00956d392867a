//! The state machines as text, compared with the page that shows them.

use std::fmt::Debug;

use abasto_domain::checkout::CheckoutStatus;
use abasto_domain::order_state::Status;
use abasto_domain::payment::{PaymentState, RefundState};
use abasto_domain::payment_event::EventFate;

const PAGE: &str = include_str!("../../../../docs/checkout.md");

fn name(state: &impl Debug) -> String {
    let text = format!("{state:?}");
    let mut name = String::new();
    for letter in text.chars() {
        if letter.is_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.extend(letter.to_lowercase());
    }
    name
}

fn drawn<S: Debug + 'static>(all: &[S], allowed: impl Fn(&S) -> &'static [S]) -> String {
    let width = all.iter().map(|state| name(state).len()).max().unwrap_or(0);
    let lines = all.iter().map(|state| {
        let next: Vec<String> = allowed(state).iter().map(name).collect();
        let next = if next.is_empty() {
            "(ends)".to_owned()
        } else {
            format!("→ {}", next.join(" | "))
        };
        format!("{:width$} {next}\n", name(state))
    });
    lines.collect()
}

#[test]
fn the_page_shows_the_state_machines_of_the_code() {
    let diagrams = [
        drawn(&CheckoutStatus::ALL, |state| state.allowed()),
        drawn(&Status::ALL, |state| state.allowed()),
        drawn(&Status::ALL, |state| state.when_paid()),
        drawn(&PaymentState::ALL, |state| state.allowed()),
        drawn(&RefundState::ALL, |state| state.allowed()),
        drawn(&EventFate::ALL, |state| state.allowed()),
    ];
    for diagram in diagrams {
        let shown = format!("```text\n{diagram}```");
        assert!(PAGE.contains(&shown), "docs/checkout.md lacks:\n{shown}");
    }
}
