-- What Abasto keeps. Ids are 12 bytes, times are milliseconds since 1970 (UTC), money is inside the
-- records in minor units. An absent value is an empty blob or text, never NULL: a unique index does
-- not see NULL. Documents are kept whole as JSON in `record`; the columns beside it are what is
-- filtered, sorted or unique. `answered` says that an operation answered with this very version.

CREATE TABLE businesses (
    business   BLOB    NOT NULL CHECK (length(business) = 12),
    id         BLOB    NOT NULL CHECK (length(id) = 12),
    version    INTEGER NOT NULL CHECK (version >= 1),
    created_at INTEGER NOT NULL,
    answered   INTEGER NOT NULL CHECK (answered IN (0, 1)),
    record     TEXT    NOT NULL
) STRICT;
CREATE UNIQUE INDEX uq_businesses_id ON businesses (business, id);
CREATE INDEX businesses_newest ON businesses (created_at, id);

CREATE TABLE branches (
    business   BLOB    NOT NULL CHECK (length(business) = 12),
    id         BLOB    NOT NULL CHECK (length(id) = 12),
    version    INTEGER NOT NULL CHECK (version >= 1),
    created_at INTEGER NOT NULL,
    answered   INTEGER NOT NULL CHECK (answered IN (0, 1)),
    code       TEXT    NOT NULL CHECK (code <> ''),
    record     TEXT    NOT NULL
) STRICT;
CREATE UNIQUE INDEX uq_branches_id ON branches (business, id);
CREATE UNIQUE INDEX uq_branches_code ON branches (business, code);
CREATE INDEX branches_newest ON branches (business, created_at, id);

CREATE TABLE members (
    business   BLOB    NOT NULL CHECK (length(business) = 12),
    id         BLOB    NOT NULL CHECK (length(id) = 12),
    version    INTEGER NOT NULL CHECK (version >= 1),
    created_at INTEGER NOT NULL,
    answered   INTEGER NOT NULL CHECK (answered IN (0, 1)),
    user_id    TEXT    NOT NULL,
    active     INTEGER NOT NULL CHECK (active IN (0, 1)),
    record     TEXT    NOT NULL
) STRICT;
CREATE UNIQUE INDEX uq_members_id ON members (business, id);
CREATE UNIQUE INDEX uq_members_active_user ON members (business, user_id) WHERE active = 1;
CREATE INDEX members_newest ON members (business, created_at, id);
CREATE INDEX members_by_user ON members (user_id, business) WHERE active = 1;

CREATE TABLE api_keys (
    business   BLOB    NOT NULL CHECK (length(business) = 12),
    id         BLOB    NOT NULL CHECK (length(id) = 12),
    version    INTEGER NOT NULL CHECK (version >= 1),
    created_at INTEGER NOT NULL,
    answered   INTEGER NOT NULL CHECK (answered IN (0, 1)),
    record     TEXT    NOT NULL
) STRICT;
CREATE UNIQUE INDEX uq_api_keys_id ON api_keys (id);
CREATE INDEX api_keys_newest ON api_keys (business, created_at, id);

CREATE TABLE products (
    business   BLOB    NOT NULL CHECK (length(business) = 12),
    id         BLOB    NOT NULL CHECK (length(id) = 12),
    version    INTEGER NOT NULL CHECK (version >= 1),
    created_at INTEGER NOT NULL,
    answered   INTEGER NOT NULL CHECK (answered IN (0, 1)),
    active     INTEGER NOT NULL CHECK (active IN (0, 1)),
    deleted    INTEGER NOT NULL CHECK (deleted IN (0, 1)),
    sku        TEXT    NOT NULL,
    name       TEXT    NOT NULL,
    record     TEXT    NOT NULL
) STRICT;
CREATE UNIQUE INDEX uq_products_id ON products (business, id);
CREATE UNIQUE INDEX uq_products_sku ON products (business, sku) WHERE deleted = 0;
CREATE INDEX products_all_newest ON products (business, created_at, id);
CREATE INDEX products_all_active_newest ON products (business, active, created_at, id);
CREATE INDEX products_newest ON products (business, created_at, id) WHERE deleted = 0;
CREATE INDEX products_active_newest ON products (business, active, created_at, id) WHERE deleted = 0;

CREATE TABLE customers (
    business       BLOB    NOT NULL CHECK (length(business) = 12),
    id             BLOB    NOT NULL CHECK (length(id) = 12),
    version        INTEGER NOT NULL CHECK (version >= 1),
    created_at     INTEGER NOT NULL,
    answered       INTEGER NOT NULL CHECK (answered IN (0, 1)),
    phone          TEXT    NOT NULL,
    verified_email TEXT    NOT NULL,
    record         TEXT    NOT NULL
) STRICT;
CREATE UNIQUE INDEX uq_customers_id ON customers (business, id);
CREATE UNIQUE INDEX uq_customers_phone ON customers (business, phone) WHERE phone <> '';
CREATE UNIQUE INDEX uq_customers_verified_email ON customers (business, verified_email)
    WHERE verified_email <> '';
CREATE INDEX customers_newest ON customers (business, created_at, id);

CREATE TABLE orders (
    business   BLOB    NOT NULL CHECK (length(business) = 12),
    id         BLOB    NOT NULL CHECK (length(id) = 12),
    version    INTEGER NOT NULL CHECK (version >= 1),
    created_at INTEGER NOT NULL,
    answered   INTEGER NOT NULL CHECK (answered IN (0, 1)),
    branch     BLOB    NOT NULL CHECK (length(branch) = 12),
    -- The place of the state in its life: 0 pending_payment … 6 cancelled.
    status     INTEGER NOT NULL CHECK (status BETWEEN 0 AND 6),
    customer   BLOB    NOT NULL CHECK (length(customer) IN (0, 12)),
    courier    BLOB    NOT NULL CHECK (length(courier) IN (0, 12)),
    code       TEXT    NOT NULL,
    year       INTEGER NOT NULL,
    sequence   INTEGER NOT NULL CHECK (sequence >= 1),
    checkout_id BLOB   NOT NULL CHECK (length(checkout_id) IN (0, 12)),
    cart_id    BLOB    NOT NULL CHECK (length(cart_id) IN (0, 12)),
    due_at     INTEGER NOT NULL,
    record     TEXT    NOT NULL
) STRICT;
CREATE UNIQUE INDEX uq_orders_checkout ON orders (business, checkout_id) WHERE checkout_id <> x'';
CREATE UNIQUE INDEX uq_orders_cart ON orders (business, cart_id) WHERE cart_id <> x'';
CREATE INDEX orders_due ON orders (due_at, id) WHERE due_at > 0;
CREATE INDEX orders_business_due ON orders (business, due_at, id) WHERE due_at > 0;
CREATE UNIQUE INDEX uq_orders_id ON orders (business, id);
CREATE UNIQUE INDEX uq_orders_number ON orders (business, code, year, sequence);
CREATE INDEX orders_newest ON orders (business, created_at, id);
CREATE INDEX orders_branch_newest ON orders (business, branch, created_at, id);
CREATE INDEX orders_status_newest ON orders (business, status, created_at, id);
CREATE INDEX orders_branch_status_newest ON orders (business, branch, status, created_at, id);
CREATE INDEX orders_customer_newest ON orders (business, customer, created_at, id)
    WHERE customer <> x'';
CREATE INDEX orders_courier_newest ON orders (business, courier, created_at, id)
    WHERE courier <> x'';

-- Checkouts, coupons, payments, their messages and returns. `due_at` is when a record wants to be
-- looked at again (0: never); `open_cart_id` is the cart while the checkout is open.
CREATE TABLE checkouts (
    business   BLOB    NOT NULL CHECK (length(business) = 12),
    id         BLOB    NOT NULL CHECK (length(id) = 12),
    version    INTEGER NOT NULL CHECK (version >= 1),
    created_at INTEGER NOT NULL,
    answered   INTEGER NOT NULL CHECK (answered IN (0, 1)),
    open_cart_id TEXT  NOT NULL,
    due_at     INTEGER NOT NULL,
    record     TEXT    NOT NULL
) STRICT;
CREATE UNIQUE INDEX uq_checkouts_id ON checkouts (business, id);
CREATE UNIQUE INDEX uq_checkouts_open_cart ON checkouts (business, open_cart_id)
    WHERE open_cart_id <> '';
CREATE INDEX checkouts_due ON checkouts (due_at, id) WHERE due_at > 0;
CREATE INDEX checkouts_business_due ON checkouts (business, due_at, id) WHERE due_at > 0;

CREATE TABLE coupons (
    business   BLOB    NOT NULL CHECK (length(business) = 12),
    id         BLOB    NOT NULL CHECK (length(id) = 12),
    version    INTEGER NOT NULL CHECK (version >= 1),
    created_at INTEGER NOT NULL,
    answered   INTEGER NOT NULL CHECK (answered IN (0, 1)),
    code       TEXT    NOT NULL CHECK (code <> ''),
    record     TEXT    NOT NULL
) STRICT;
CREATE UNIQUE INDEX uq_coupons_id ON coupons (business, id);
CREATE UNIQUE INDEX uq_coupons_code ON coupons (business, code);
CREATE INDEX coupons_newest ON coupons (business, created_at, id);

CREATE TABLE payments (
    business   BLOB    NOT NULL CHECK (length(business) = 12),
    id         BLOB    NOT NULL CHECK (length(id) = 12),
    version    INTEGER NOT NULL CHECK (version >= 1),
    created_at INTEGER NOT NULL,
    answered   INTEGER NOT NULL CHECK (answered IN (0, 1)),
    provider_key TEXT  NOT NULL,
    order_id   BLOB    NOT NULL CHECK (length(order_id) = 12),
    due_at     INTEGER NOT NULL,
    record     TEXT    NOT NULL
) STRICT;
CREATE UNIQUE INDEX uq_payments_id ON payments (business, id);
CREATE UNIQUE INDEX uq_payments_provider_ref ON payments (business, provider_key)
    WHERE provider_key <> '';
CREATE INDEX payments_order_newest ON payments (business, order_id, created_at, id);
CREATE INDEX payments_due ON payments (due_at, id) WHERE due_at > 0;
CREATE INDEX payments_business_due ON payments (business, due_at, id) WHERE due_at > 0;

CREATE TABLE payment_events (
    business   BLOB    NOT NULL CHECK (length(business) = 12),
    id         BLOB    NOT NULL CHECK (length(id) = 12),
    version    INTEGER NOT NULL CHECK (version >= 1),
    created_at INTEGER NOT NULL,
    answered   INTEGER NOT NULL CHECK (answered IN (0, 1)),
    provider_key TEXT  NOT NULL CHECK (provider_key <> ''),
    due_at     INTEGER NOT NULL,
    record     TEXT    NOT NULL
) STRICT;
CREATE UNIQUE INDEX uq_payment_events_id ON payment_events (business, id);
CREATE UNIQUE INDEX uq_payment_events_event ON payment_events (business, provider_key);
CREATE INDEX payment_events_due ON payment_events (due_at, id) WHERE due_at > 0;
CREATE INDEX payment_events_business_due ON payment_events (business, due_at, id) WHERE due_at > 0;

CREATE TABLE order_returns (
    business   BLOB    NOT NULL CHECK (length(business) = 12),
    id         BLOB    NOT NULL CHECK (length(id) = 12),
    version    INTEGER NOT NULL CHECK (version >= 1),
    created_at INTEGER NOT NULL,
    answered   INTEGER NOT NULL CHECK (answered IN (0, 1)),
    order_id   BLOB    NOT NULL CHECK (length(order_id) = 12),
    record     TEXT    NOT NULL
) STRICT;
CREATE UNIQUE INDEX uq_order_returns_id ON order_returns (business, id);
CREATE INDEX order_returns_order_newest ON order_returns (business, order_id, created_at, id);

-- Contended numbers: redemptions of coupons (kind 0), open checkouts (1). `by_id` is zeros when
-- anybody counts.
CREATE TABLE tallies (
    business BLOB    NOT NULL CHECK (length(business) = 12),
    kind     INTEGER NOT NULL CHECK (kind >= 0),
    subject_id BLOB  NOT NULL CHECK (length(subject_id) = 12),
    by_id    BLOB    NOT NULL CHECK (length(by_id) = 12),
    value    INTEGER NOT NULL CHECK (value >= 0),
    PRIMARY KEY (business, kind, subject_id, by_id)
) STRICT, WITHOUT ROWID;

-- A version of a document that an operation answered with and that a later one replaced.
CREATE TABLE past_documents (
    business BLOB    NOT NULL CHECK (length(business) = 12),
    kind     INTEGER NOT NULL CHECK (kind >= 0),
    id       BLOB    NOT NULL CHECK (length(id) = 12),
    version  INTEGER NOT NULL CHECK (version >= 1),
    record   TEXT    NOT NULL
) STRICT;
CREATE UNIQUE INDEX uq_past_documents_version ON past_documents (business, kind, id, version);

-- A level knows its last movement. The number is short because every movement carries it.
CREATE TABLE stock_levels (
    number        INTEGER NOT NULL PRIMARY KEY,
    business      BLOB    NOT NULL CHECK (length(business) = 12),
    branch        BLOB    NOT NULL CHECK (length(branch) = 12),
    product       BLOB    NOT NULL CHECK (length(product) = 12),
    available     INTEGER NOT NULL CHECK (available BETWEEN 0 AND 1000000000000),
    reserved      INTEGER NOT NULL CHECK (reserved BETWEEN 0 AND 1000000000000),
    version       INTEGER NOT NULL CHECK (version >= 0),
    last_movement INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL,
    v             INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX uq_stock_levels_place ON stock_levels (business, branch, product);

-- Kept in the order of arrival, so that a sale of many products writes few pages. The history of a
-- level is a chain: each movement names the one before it (0: none), and every sixteenth is in an
-- index, so that any place of the chain is at most fifteen steps from a known one.
CREATE TABLE stock_movements (
    number          INTEGER NOT NULL PRIMARY KEY,
    level           INTEGER NOT NULL REFERENCES stock_levels (number),
    sequence        INTEGER NOT NULL CHECK (sequence >= 1),
    previous        INTEGER NOT NULL CHECK ((previous = 0) = (sequence = 1)),
    business        BLOB    NOT NULL CHECK (length(business) = 12),
    id              BLOB    NOT NULL CHECK (length(id) = 12),
    -- 0 receipt, 1 adjustment, 2 count, 3 transfer_out, 4 transfer_in, 5 hold, 6 hold_release,
    -- 7 reservation, 8 release, 9 dispatch, 10 return.
    kind            INTEGER NOT NULL CHECK (kind BETWEEN 0 AND 10),
    available       INTEGER NOT NULL,
    reserved        INTEGER NOT NULL,
    available_after INTEGER NOT NULL CHECK (available_after >= 0),
    reserved_after  INTEGER NOT NULL CHECK (reserved_after >= 0),
    -- Source (12 bytes), step (1), line (2).
    operation       BLOB    NOT NULL CHECK (length(operation) = 15),
    order_id        BLOB    NOT NULL CHECK (length(order_id) IN (0, 12)),
    checkout        BLOB    NOT NULL CHECK (length(checkout) IN (0, 12)),
    -- JSON with `reason` and `reference`, or empty when there is neither.
    why             TEXT    NOT NULL,
    -- One byte for the kind, then the id of a key or a member.
    actor           BLOB    NOT NULL CHECK (length(actor) IN (1, 13)),
    at              INTEGER NOT NULL,
    v               INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX uq_stock_movements_operation ON stock_movements (business, operation);
CREATE UNIQUE INDEX uq_stock_movements_milestone ON stock_movements (level, sequence)
    WHERE sequence % 16 = 0;

-- The history and the outbox in one, kept in the order of a document's history.
CREATE TABLE events (
    business BLOB    NOT NULL CHECK (length(business) = 12),
    kind     INTEGER NOT NULL CHECK (kind >= 0),
    subject  BLOB    NOT NULL CHECK (length(subject) = 12),
    sequence INTEGER NOT NULL CHECK (sequence >= 1),
    id       BLOB    NOT NULL CHECK (length(id) = 12),
    name     TEXT    NOT NULL,
    actor    BLOB    NOT NULL CHECK (length(actor) IN (1, 13)),
    request  TEXT    NOT NULL,
    at       INTEGER NOT NULL,
    v        INTEGER NOT NULL,
    data     TEXT    NOT NULL,
    PRIMARY KEY (business, kind, subject, sequence)
) STRICT, WITHOUT ROWID;

CREATE TABLE counters (
    business BLOB    NOT NULL CHECK (length(business) = 12),
    code     TEXT    NOT NULL,
    year     INTEGER NOT NULL,
    last     INTEGER NOT NULL CHECK (last >= 1),
    PRIMARY KEY (business, code, year)
) STRICT, WITHOUT ROWID;

-- Finished operations. The answer is either the version of a document (`kind`, `document`,
-- `version`; `reply` is empty) or kept here as JSON (`version` is 0).
CREATE TABLE operations (
    business    BLOB    NOT NULL CHECK (length(business) = 12),
    customer    BLOB    NOT NULL CHECK (length(customer) IN (0, 12)),
    key         TEXT    NOT NULL CHECK (key <> ''),
    fingerprint BLOB    NOT NULL CHECK (length(fingerprint) = 32),
    at          INTEGER NOT NULL,
    kind        INTEGER NOT NULL,
    document    BLOB    NOT NULL CHECK (length(document) IN (0, 12)),
    version     INTEGER NOT NULL CHECK (version >= 0),
    reply       TEXT    NOT NULL,
    PRIMARY KEY (business, customer, key)
) STRICT, WITHOUT ROWID;

-- Carts. The document says whose a cart is and how far it has come; edits never touch it. What is in
-- it is a state, and the edits since: each under its dot, so that an edit arrives once. The bytes are
-- those of the cart type. `rid` is eight bytes, because it uses all 64 bits.

CREATE TABLE carts (
    business   BLOB    NOT NULL CHECK (length(business) = 12),
    id         BLOB    NOT NULL CHECK (length(id) = 12),
    version    INTEGER NOT NULL CHECK (version >= 1),
    created_at INTEGER NOT NULL,
    answered   INTEGER NOT NULL CHECK (answered IN (0, 1)),
    -- Customer and branch with a colon between them while a customer's cart is active, else empty.
    active_for TEXT    NOT NULL,
    -- When the clean-up looks at it next; 0 means never.
    due_at     INTEGER NOT NULL,
    record     TEXT    NOT NULL
) STRICT;
CREATE UNIQUE INDEX uq_carts_id ON carts (business, id);
CREATE UNIQUE INDEX uq_carts_active ON carts (business, active_for) WHERE active_for <> '';
CREATE INDEX carts_due ON carts (due_at, id) WHERE due_at > 0;
CREATE INDEX carts_business_due ON carts (business, due_at, id) WHERE due_at > 0;

CREATE TABLE cart_states (
    business  BLOB    NOT NULL CHECK (length(business) = 12),
    cart_id   BLOB    NOT NULL CHECK (length(cart_id) = 12),
    version   INTEGER NOT NULL CHECK (version >= 1),
    state     BLOB    NOT NULL,
    -- The last operations, 24 bytes each: author, sequence, fingerprint.
    recent    BLOB    NOT NULL CHECK (length(recent) % 24 = 0),
    -- What products cost when they were last put in, 28 bytes each: product, time, minor units.
    prices    BLOB    NOT NULL CHECK (length(prices) % 28 = 0),
    edited_at INTEGER NOT NULL,
    v         INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX uq_cart_states_cart ON cart_states (business, cart_id);

CREATE TABLE cart_appends (
    business    BLOB    NOT NULL CHECK (length(business) = 12),
    cart_id     BLOB    NOT NULL CHECK (length(cart_id) = 12),
    rid         BLOB    NOT NULL CHECK (length(rid) = 8),
    sequence    INTEGER NOT NULL CHECK (sequence >= 1),
    fingerprint INTEGER NOT NULL,
    delta       BLOB    NOT NULL,
    -- The same of the product that the edit put in, or empty.
    price       BLOB    NOT NULL CHECK (length(price) IN (0, 28)),
    at          INTEGER NOT NULL,
    v           INTEGER NOT NULL,
    PRIMARY KEY (business, cart_id, rid, sequence)
) STRICT, WITHOUT ROWID;

-- The history of carts that keep one.
CREATE TABLE cart_logs (
    business  BLOB    NOT NULL CHECK (length(business) = 12),
    cart_id   BLOB    NOT NULL CHECK (length(cart_id) = 12),
    at        INTEGER NOT NULL,
    id        BLOB    NOT NULL CHECK (length(id) = 12),
    actor     BLOB    NOT NULL CHECK (length(actor) IN (1, 13)),
    request   TEXT    NOT NULL,
    operation TEXT    NOT NULL,
    -- Author and sequence in sixteen bytes, or empty.
    dot       BLOB    NOT NULL CHECK (length(dot) IN (0, 16)),
    delta     BLOB    NOT NULL,
    v         INTEGER NOT NULL,
    PRIMARY KEY (business, cart_id, at, id)
) STRICT, WITHOUT ROWID;
