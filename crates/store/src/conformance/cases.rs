//! The list of all cases, and the macro that makes each a test.
//!
//! Owns nothing else: the cases are in the modules it names.

/// Makes one test per case for a [`Backend`](crate::conformance::Backend).
///
/// The calling crate needs `tokio` with `macros` and `rt-multi-thread`.
#[macro_export]
macro_rules! conformance {
    ($backend:ty) => {
        $crate::conformance! { @play $backend;
            atomicity::a_unit_is_written_whole,
            atomicity::a_rejected_unit_leaves_nothing,
            atomicity::a_stale_unit_leaves_nothing,
            atomicity::a_refused_claim_leaves_nothing,
            atomicity::a_refused_unit_does_not_hurt_its_neighbours,
            atomicity::a_repeated_effect_is_refused_and_leaves_nothing,
            atomicity::a_unit_may_change_nothing,
            atomicity::reads_see_what_was_committed,
            version::a_new_document_needs_an_empty_place,
            version::a_change_of_an_old_version_is_stale,
            version::a_change_of_a_missing_document_is_stale,
            version::one_of_many_changes_of_a_version_wins,
            version::a_document_changes_twice_in_one_unit,
            version::documents_come_back_as_they_were_written,
            version::reads_keep_the_order_of_their_keys,
            guard::a_guard_on_the_present_version_holds,
            guard::a_guard_on_another_version_is_stale,
            guard::a_guard_on_nothing_is_version_zero,
            guard::a_guard_on_a_level_watches_its_movements,
            guard::a_guarded_order_never_misses_a_change,
            claim::a_claim_belongs_to_one_document,
            claim::every_rule_of_uniqueness_is_kept,
            claim::what_no_rule_names_may_repeat,
            claim::a_claim_is_free_when_its_holder_lets_go,
            claim::a_claim_moves_within_one_unit,
            claim::a_claim_moves_within_one_group,
            claim::the_same_claim_twice_in_one_unit_is_refused,
            claim::one_of_many_claimants_wins,
            claim::claims_compare_bytes,
            due::a_contended_number_keeps_its_bounds,
            due::a_bound_number_refuses_the_whole_unit,
            due::claims_lead_to_their_holders,
            due::what_is_due_is_found_in_order,
            due::coupons_are_listed_newest_first,
            idempotency::a_key_answers_again,
            idempotency::a_key_answers_again_with_movements,
            idempotency::a_key_with_other_content_is_refused,
            idempotency::a_refused_unit_frees_its_key,
            idempotency::the_same_key_twenty_times_at_once,
            idempotency::one_key_for_twenty_contents_at_once,
            idempotency::a_key_belongs_to_a_customer,
            idempotency::a_key_belongs_to_a_business,
            idempotency::a_key_is_looked_at_first,
            idempotency::keys_compare_bytes,
            number::five_hundred_numbers_in_two_branches,
            number::a_refused_order_uses_no_number,
            number::numbers_begin_anew_each_year,
            number::a_code_that_moves_goes_on_counting,
            number::two_orders_in_one_unit_get_two_numbers,
            number::an_order_is_found_by_its_number,
            stock::movements_are_numbered_and_balanced,
            stock::a_level_never_goes_below_zero,
            stock::all_short_levels_are_named,
            stock::only_the_sum_of_a_unit_decides,
            stock::plus_and_minus_a_thousand_times,
            stock::the_last_unit_goes_to_one_of_fifty,
            stock::opposite_orders_of_the_same_products,
            stock::a_transfer_moves_all_or_nothing,
            stock::a_life_of_an_order_conserves_units,
            stock::a_level_holds_so_many_units_and_no_more,
            event::events_are_numbered_per_subject,
            event::an_event_says_what_it_was_given,
            event::many_changes_of_many_subjects_leave_no_gap,
            tenancy::another_tenants_ids_are_never_found,
            tenancy::another_tenants_documents_are_never_changed,
            tenancy::a_credential_leads_to_its_own_tenant,
            tenancy::memberships_of_a_user_in_all_businesses,
            tenancy::businesses_are_listed_newest_first,
            list::every_list_holds_what_its_filter_says,
            list::pages_of_any_size_make_the_same_list,
            list::an_empty_choice_of_branches_lists_nothing,
            list::a_search_takes_its_text_literally,
            paging::pages_while_rows_are_inserted,
            paging::pages_while_rows_change_state,
            paging::pages_while_rows_are_deleted,
            paging::pages_of_movements_while_stock_moves,
            cart::edits_come_back_as_they_were_written,
            cart::an_edit_arrives_once,
            cart::edits_at_once_never_conflict,
            cart::a_fold_takes_edits_into_the_state,
            cart::one_of_many_folds_wins_and_hurts_no_edit,
            cart::no_edit_slips_in_behind_the_end_of_its_cart,
            cart::carts_are_due_when_they_say_so,
            walk::a_walk_is_whole_and_in_order,
            walk::a_walk_ends_when_its_visitor_says_so,
            walk::a_walk_of_an_unknown_business_is_empty,
            walk::a_walk_is_of_one_point_in_time,
            walk::a_healthy_store_says_so,
            limit::an_order_of_two_hundred_lines,
            limit::texts_at_their_limits,
            limit::numbers_at_their_limits,
            limit::many_keys_in_one_read,
        }
    };
    (@play $backend:ty; $($module:ident :: $case:ident),* $(,)?) => {$(
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $case() {
            $crate::conformance::play::<$backend, _>($crate::conformance::$module::$case).await;
        }
    )*};
}

/// Makes one test per case of a restart for a [`Durable`](crate::conformance::Durable) backend.
#[macro_export]
macro_rules! durability {
    ($backend:ty) => {
        $crate::durability! { @play $backend;
            what_was_committed_outlives_the_process,
            a_restart_under_load_loses_nothing_it_acknowledged,
        }
    };
    (@play $backend:ty; $($case:ident),* $(,)?) => {$(
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $case() {
            $crate::conformance::restart::$case::<$backend>().await;
        }
    )*};
}
