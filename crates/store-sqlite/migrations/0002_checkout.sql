-- Checkouts, coupons, payments, their messages and returns. `claim` is what a record alone may have
-- (an open checkout's cart, a coupon's code, a provider's name of an attempt or a message), `parent`
-- is the order, `due_at` is when the record wants to be looked at again (0: never).

ALTER TABLE orders ADD COLUMN checkout BLOB NOT NULL DEFAULT x'' CHECK (length(checkout) IN (0, 12));
ALTER TABLE orders ADD COLUMN cart BLOB NOT NULL DEFAULT x'' CHECK (length(cart) IN (0, 12));
ALTER TABLE orders ADD COLUMN due_at INTEGER NOT NULL DEFAULT 0;
CREATE UNIQUE INDEX uq_orders_checkout ON orders (business, checkout) WHERE checkout <> x'';
CREATE UNIQUE INDEX uq_orders_cart ON orders (business, cart) WHERE cart <> x'';
CREATE INDEX orders_due ON orders (due_at, id) WHERE due_at > 0;
CREATE INDEX orders_business_due ON orders (business, due_at, id) WHERE due_at > 0;

CREATE TABLE checkouts (
    business   BLOB    NOT NULL CHECK (length(business) = 12),
    id         BLOB    NOT NULL CHECK (length(id) = 12),
    version    INTEGER NOT NULL CHECK (version >= 1),
    created_at INTEGER NOT NULL,
    answered   INTEGER NOT NULL CHECK (answered IN (0, 1)),
    claim      TEXT    NOT NULL,
    due_at     INTEGER NOT NULL,
    record     TEXT    NOT NULL
) STRICT;
CREATE UNIQUE INDEX uq_checkouts_id ON checkouts (business, id);
CREATE UNIQUE INDEX uq_checkouts_open_cart ON checkouts (business, claim) WHERE claim <> '';
CREATE INDEX checkouts_due ON checkouts (due_at, id) WHERE due_at > 0;
CREATE INDEX checkouts_business_due ON checkouts (business, due_at, id) WHERE due_at > 0;

CREATE TABLE coupons (
    business   BLOB    NOT NULL CHECK (length(business) = 12),
    id         BLOB    NOT NULL CHECK (length(id) = 12),
    version    INTEGER NOT NULL CHECK (version >= 1),
    created_at INTEGER NOT NULL,
    answered   INTEGER NOT NULL CHECK (answered IN (0, 1)),
    claim      TEXT    NOT NULL CHECK (claim <> ''),
    record     TEXT    NOT NULL
) STRICT;
CREATE UNIQUE INDEX uq_coupons_id ON coupons (business, id);
CREATE UNIQUE INDEX uq_coupons_code ON coupons (business, claim);
CREATE INDEX coupons_newest ON coupons (business, created_at, id);

CREATE TABLE payments (
    business   BLOB    NOT NULL CHECK (length(business) = 12),
    id         BLOB    NOT NULL CHECK (length(id) = 12),
    version    INTEGER NOT NULL CHECK (version >= 1),
    created_at INTEGER NOT NULL,
    answered   INTEGER NOT NULL CHECK (answered IN (0, 1)),
    claim      TEXT    NOT NULL,
    parent     BLOB    NOT NULL CHECK (length(parent) = 12),
    due_at     INTEGER NOT NULL,
    record     TEXT    NOT NULL
) STRICT;
CREATE UNIQUE INDEX uq_payments_id ON payments (business, id);
CREATE UNIQUE INDEX uq_payments_provider_ref ON payments (business, claim) WHERE claim <> '';
CREATE INDEX payments_order_newest ON payments (business, parent, created_at, id);
CREATE INDEX payments_due ON payments (due_at, id) WHERE due_at > 0;
CREATE INDEX payments_business_due ON payments (business, due_at, id) WHERE due_at > 0;

CREATE TABLE payment_events (
    business   BLOB    NOT NULL CHECK (length(business) = 12),
    id         BLOB    NOT NULL CHECK (length(id) = 12),
    version    INTEGER NOT NULL CHECK (version >= 1),
    created_at INTEGER NOT NULL,
    answered   INTEGER NOT NULL CHECK (answered IN (0, 1)),
    claim      TEXT    NOT NULL CHECK (claim <> ''),
    due_at     INTEGER NOT NULL,
    record     TEXT    NOT NULL
) STRICT;
CREATE UNIQUE INDEX uq_payment_events_id ON payment_events (business, id);
CREATE UNIQUE INDEX uq_payment_events_event ON payment_events (business, claim);
CREATE INDEX payment_events_due ON payment_events (due_at, id) WHERE due_at > 0;
CREATE INDEX payment_events_business_due ON payment_events (business, due_at, id) WHERE due_at > 0;

CREATE TABLE order_returns (
    business   BLOB    NOT NULL CHECK (length(business) = 12),
    id         BLOB    NOT NULL CHECK (length(id) = 12),
    version    INTEGER NOT NULL CHECK (version >= 1),
    created_at INTEGER NOT NULL,
    answered   INTEGER NOT NULL CHECK (answered IN (0, 1)),
    parent     BLOB    NOT NULL CHECK (length(parent) = 12),
    record     TEXT    NOT NULL
) STRICT;
CREATE UNIQUE INDEX uq_order_returns_id ON order_returns (business, id);
CREATE INDEX order_returns_order_newest ON order_returns (business, parent, created_at, id);

-- Contended numbers: redemptions of coupons (kind 0), open checkouts (1). `by_id` is zeros when
-- anybody counts.
CREATE TABLE tallies (
    business BLOB    NOT NULL CHECK (length(business) = 12),
    kind     INTEGER NOT NULL CHECK (kind >= 0),
    subject  BLOB    NOT NULL CHECK (length(subject) = 12),
    by_id    BLOB    NOT NULL CHECK (length(by_id) = 12),
    value    INTEGER NOT NULL CHECK (value >= 0),
    PRIMARY KEY (business, kind, subject, by_id)
) STRICT, WITHOUT ROWID;
