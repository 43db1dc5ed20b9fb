-- Events: what happened, as a feed that other systems read, each from its own position.
--
-- A row holds all events of one kind that one transaction stored for one delivery or application, as arrays. It is written in the
-- transaction that stores the facts, so an event exists exactly if its fact does. 100,000 outcomes a second are some hundreds of rows a
-- second, at about 12 bytes a message. Kinds that no consumer wants are not recorded, so without consumers there are no rows: each
-- batch of outcomes, hits or registrations then reads one small row (event_switch), and that is all.
--
-- A position is no number. A transaction with a smaller id, or with events of smaller ids, may commit later, and "id > last" would miss
-- it. A position is a snapshot (pg_snapshot): everything that was committed then is read. A consumer reads what is committed now and
-- was not then, however long other transactions of the server run, and moves on to the snapshot of now. A backlog is read in the order
-- of ids, between two fixed snapshots.
--
-- A look costs what it gives, however much is stored or unread. Whether anything is unread, two look-ups in the index of transactions
-- say. Where it begins, the position says: transactions that began after its snapshot have events after a known row (event_now), and
-- those of the few that were under way then are looked up by their numbers.
--
-- The order: if one event was committed before another was recorded, it is given first. Events about one subscription that wait for
-- its row lock (registrations, opt-outs, tokens) are therefore given in the order in which they happened, even if the ids of their
-- transactions are the other way round: the second one draws its id after the first has committed. Within a transaction, events are
-- given in the order in which it recorded them. Two transactions that ran at the same time without waiting for each other, such as a
-- click and the answer of the gateway, may be given in either order.
--
-- A position moves in the reader's own transaction: what is rolled back is given again. One transaction at a time reads a consumer.
--
-- Events have ids, kinds and reasons, no token, address or text of a message. The user key is looked up when they are read. Events of a
-- forgotten subscription are no longer given, except device.forgotten itself; their rows keep its id, as logs do, until their day is
-- dropped.

CREATE TABLE pushmta_engine.event_kind (
    kind smallint PRIMARY KEY CHECK (kind BETWEEN 0 AND 30),
    name text NOT NULL UNIQUE,
    means text NOT NULL
);
COMMENT ON TABLE pushmta_engine.event_kind IS
    'The kinds of events. Those of messages have the number of their status in the broad log. A set of kinds is an integer with a bit for '
    'each.';
INSERT INTO pushmta_engine.event_kind (kind, name, means) VALUES
    (0, 'message.ignored', 'a message ended unsent, because its validity was over or another reason'),
    (1, 'message.sent', 'the gateway accepted a message'),
    (2, 'message.failed', 'a message failed, with the reason'),
    (7, 'message.canceled', 'a message was not sent, because its delivery was stopped'),
    (8, 'message.not_applicable', 'a message had no recipient any more, with the reason'),
    (9, 'message.unknown', 'a message may have been sent, and no answer is known'),
    (10, 'message.received', 'the device reported that it received a message'),
    (11, 'message.clicked', 'the user opened a message'),
    (12, 'device.registered', 'a subscription was created'),
    (13, 'device.renewed', 'a known subscription registered again'),
    (14, 'device.disabled', 'nothing is sent to a subscription any more, with the reason'),
    (15, 'device.enabled', 'a disabled subscription gets messages again'),
    (16, 'device.opted_out', 'the user wants no messages on a subscription, or none of the category that is the reason'),
    (17, 'device.opted_in', 'the user wants messages again, or those of the category that is the reason'),
    (18, 'device.quarantined', 'a subscription was put into quarantine, with the reason'),
    (19, 'device.released', 'a subscription left quarantine'),
    (20, 'device.forgotten', 'a subscription was emptied, because its user was forgotten'),
    (21, 'delivery.changed', 'a delivery has a new state');

CREATE VIEW pushmta.event_kind AS SELECT k.name, k.means FROM pushmta_engine.event_kind k;
COMMENT ON VIEW pushmta.event_kind IS 'The kinds of events that a consumer may ask for.';

CREATE TABLE pushmta_engine.event_switch (
    id integer PRIMARY KEY DEFAULT 1 CHECK (id = 1),
    kinds integer NOT NULL DEFAULT 0
);
COMMENT ON TABLE pushmta_engine.event_switch IS 'Which kinds of events are recorded, one row: those that any consumer wants.';
INSERT INTO pushmta_engine.event_switch DEFAULT VALUES;

CREATE TABLE pushmta_engine.event (
    -- Before id: a transaction gets its number before its first event gets one, on which event_now relies.
    xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
    id bigint GENERATED BY DEFAULT AS IDENTITY,
    occurred_at timestamptz NOT NULL DEFAULT now(),
    delivery_id bigint,
    application_id integer,
    log_day date NOT NULL,
    -- The number of events in the row.
    n integer NOT NULL CHECK (n > 0),
    kind smallint NOT NULL,
    http_status smallint NOT NULL DEFAULT 0,
    -- The reason; the state of a delivery.
    reason text,
    -- Each null, or with an element for each event. times: if they differ from occurred_at.
    sequences integer[],
    subscription_ids bigint[],
    times timestamptz[]
) PARTITION BY RANGE (log_day);
COMMENT ON TABLE pushmta_engine.event IS
    'Events: a row for those of one kind that a transaction stored for a delivery or application. log_day is the day on which they were '
    'stored, or the last day before it that has a partition.';
-- Compression would cost as much time as storing the outcomes, and saves little of arrays of ids.
ALTER TABLE pushmta_engine.event ALTER sequences SET STORAGE EXTERNAL, ALTER subscription_ids SET STORAGE EXTERNAL,
    ALTER times SET STORAGE EXTERNAL;

CREATE TABLE pushmta_engine.event_day (
    day date PRIMARY KEY
);
COMMENT ON TABLE pushmta_engine.event_day IS 'The days that have a partition of events.';

CREATE FUNCTION pushmta_engine.note_event_days() RETURNS void LANGUAGE sql SET search_path = pushmta_engine, pg_temp AS $$
    INSERT INTO event_day (day)
    SELECT to_date(right(c.relname, 8), 'YYYYMMDD') FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = 'pushmta_engine.event'::regclass ON CONFLICT DO NOTHING $$;
COMMENT ON FUNCTION pushmta_engine.note_event_days() IS 'Records the days whose partitions of events have just been created.';

CREATE FUNCTION pushmta_engine.event_day() RETURNS date LANGUAGE sql STABLE SET search_path = pushmta_engine, pg_temp AS $$
    SELECT coalesce((SELECT max(d.day) FROM event_day d WHERE d.day <= (now() AT TIME ZONE 'UTC')::date),
        (SELECT min(d.day) FROM event_day d)) $$;
COMMENT ON FUNCTION pushmta_engine.event_day() IS
    'The day under which events are stored now. If no process has created today''s partition, it is an earlier one, so that no '
    'registration fails because of events.';

CREATE FUNCTION pushmta_engine.records_event(of_kind integer) RETURNS boolean LANGUAGE sql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$ SELECT (s.kinds >> of_kind) & 1 = 1 FROM event_switch s WHERE s.id = 1 $$;
COMMENT ON FUNCTION pushmta_engine.records_event(integer) IS 'Whether events of a kind are recorded.';

-- What other tables tell. Each trigger fires only for a change of a state.
CREATE FUNCTION pushmta_engine.note_devices(of_kind integer, ids bigint[], why text) RETURNS void LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
BEGIN
    IF records_event(of_kind) THEN
        INSERT INTO event (application_id, log_day, n, kind, reason, subscription_ids)
        SELECT s.application_id, event_day(), count(*), of_kind, nullif(why, ''), array_agg(s.id ORDER BY s.id)
        FROM subscription s WHERE s.id = ANY(ids) GROUP BY s.application_id ORDER BY 1;
    END IF;
END $$;
COMMENT ON FUNCTION pushmta_engine.note_devices(integer, bigint[], text) IS 'Records events of a kind about subscriptions.';

CREATE FUNCTION pushmta_engine.hit_application(of_delivery bigint, of_subscription bigint) RETURNS integer LANGUAGE sql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
    SELECT coalesce((SELECT s.application_id FROM subscription s WHERE s.id = of_subscription),
        (SELECT min(x.application_id) FROM delivery d JOIN delivery_application x ON x.delivery_id = coalesce(d.parent_delivery_id, d.id)
        WHERE d.id = of_delivery)) $$;
COMMENT ON FUNCTION pushmta_engine.hit_application(bigint, bigint) IS
    'The application of a receipt or click. One that was stored before its message''s outcome names no subscription: then it is one of the '
    'delivery''s applications, which tells the service.';

CREATE FUNCTION pushmta_engine.note_device_change() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    wanted integer := (SELECT s.kinds FROM event_switch s WHERE s.id = 1);
BEGIN
    -- forget_person records that itself.
    IF wanted >> 14 & 63 = 0 OR NEW.disabled_reason = 'forgotten' THEN
        RETURN NULL;
    END IF;
    INSERT INTO event (application_id, log_day, n, kind, reason, subscription_ids)
    SELECT NEW.application_id, event_day(), 1, k.kind, nullif(k.reason, ''), ARRAY[NEW.id]
    FROM (VALUES
        (14, OLD.enabled AND NOT NEW.enabled, NEW.disabled_reason), (15, NEW.enabled AND NOT OLD.enabled, ''),
        (16, NEW.opted_out AND OLD.opted_out IS NOT TRUE, ''), (17, OLD.opted_out AND NOT NEW.opted_out, ''),
        (18, NEW.quarantine_status >= 2 AND OLD.quarantine_status < 2, NEW.quarantine_reason),
        (19, OLD.quarantine_status >= 2 AND NEW.quarantine_status < 2, '')) k(kind, happened, reason)
    WHERE k.happened AND wanted >> k.kind & 1 = 1 ORDER BY k.kind;
    RETURN NULL;
END $$;
COMMENT ON FUNCTION pushmta_engine.note_device_change() IS
    'Records that a subscription was disabled or enabled, opted out or in, or entered or left quarantine, whatever changed it.';
CREATE TRIGGER subscription_event AFTER UPDATE OF enabled, opted_out, quarantine_status ON pushmta_engine.subscription FOR EACH ROW
    WHEN (OLD.enabled <> NEW.enabled OR OLD.opted_out <> NEW.opted_out
        OR (OLD.quarantine_status >= 2) <> (NEW.quarantine_status >= 2))
    EXECUTE FUNCTION pushmta_engine.note_device_change();
-- The app, or an import, has said so.
CREATE TRIGGER subscription_new_event AFTER INSERT ON pushmta_engine.subscription FOR EACH ROW WHEN (NEW.opted_out)
    EXECUTE FUNCTION pushmta_engine.note_device_change();

CREATE FUNCTION pushmta_engine.note_category_choices() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pushmta_engine, pg_temp SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off AS $$
DECLARE
    of_kind CONSTANT integer := CASE TG_OP WHEN 'INSERT' THEN 16 ELSE 17 END;
BEGIN
    IF records_event(of_kind) THEN
        INSERT INTO event (application_id, log_day, n, kind, reason, subscription_ids)
        SELECT s.application_id, event_day(), count(*), of_kind, k.name, array_agg(s.id ORDER BY s.id)
        FROM changed c JOIN category k ON k.id = c.category_id JOIN subscription s ON s.id = c.subscription_id
        GROUP BY s.application_id, k.name ORDER BY s.application_id, k.name;
    END IF;
    RETURN NULL;
END $$;
COMMENT ON FUNCTION pushmta_engine.note_category_choices() IS
    'Records that subscriptions were opted out of categories or in again, whatever changed it; the reason is the category.';
CREATE TRIGGER category_opt_out_event AFTER INSERT ON pushmta_engine.category_opt_out REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION pushmta_engine.note_category_choices();
CREATE TRIGGER category_opt_in_event AFTER DELETE ON pushmta_engine.category_opt_out REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION pushmta_engine.note_category_choices();

CREATE FUNCTION pushmta_engine.note_delivery_change() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pushmta_engine, pg_temp AS $$
BEGIN
    IF records_event(21) THEN
        -- The application only tells the service.
        INSERT INTO event (delivery_id, application_id, log_day, n, kind, reason)
        VALUES (NEW.id, (SELECT min(a.application_id) FROM delivery_application a
            WHERE a.delivery_id = coalesce(NEW.parent_delivery_id, NEW.id)), event_day(), 1, 21, NEW.state);
    END IF;
    RETURN NULL;
END $$;
COMMENT ON FUNCTION pushmta_engine.note_delivery_change() IS 'Records the new state of a delivery.';
CREATE TRIGGER delivery_event AFTER UPDATE OF state ON pushmta_engine.delivery FOR EACH ROW
    WHEN (OLD.state IS DISTINCT FROM NEW.state) EXECUTE FUNCTION pushmta_engine.note_delivery_change();

CREATE FUNCTION pushmta_engine.note_rest() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pushmta_engine, pg_temp SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off AS $$
BEGIN
    IF records_event(NEW.rest_status) THEN
        INSERT INTO event (delivery_id, application_id, log_day, n, kind, reason, sequences, subscription_ids)
        SELECT NEW.delivery_id, NEW.application_id, event_day(), count(*), NEW.rest_status, nullif(NEW.rest_reason, ''),
            array_agg(m.sequence ORDER BY m.sequence), array_agg(m.subscription_id ORDER BY m.sequence)
        FROM delivery_part_target t
        CROSS JOIN LATERAL (
            SELECT coalesce(u.sequence, t.first_sequence + u.place::integer - 1) AS sequence, u.subscription_id
            FROM unnest(t.subscription_ids, t.sequences) WITH ORDINALITY u(subscription_id, sequence, place)) m
        WHERE t.log_day = NEW.log_day AND t.part_id = NEW.id
            AND (SELECT true FROM broad_log b
                WHERE b.log_day = t.log_day AND b.delivery_id = t.delivery_id AND b.sequence = m.sequence) IS NULL
        HAVING count(*) > 0;
    END IF;
    RETURN NULL;
END $$;
COMMENT ON FUNCTION pushmta_engine.note_rest() IS
    'Records the outcome of the messages that end with their part, without a row of their own (rest_status).';
CREATE TRIGGER delivery_part_event AFTER UPDATE OF rest_status ON pushmta_engine.delivery_part FOR EACH ROW
    WHEN (OLD.rest_status IS NULL AND NEW.rest_status IS NOT NULL) EXECUTE FUNCTION pushmta_engine.note_rest();

-- Consumers and their positions.
CREATE TABLE pushmta_engine.event_consumer (
    id integer GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE CONSTRAINT event_consumer_name_form CHECK (pushmta_engine.is_name(name)),
    service_id integer REFERENCES pushmta_engine.service,
    kinds integer NOT NULL CHECK (kinds <> 0),
    max_age interval NOT NULL CHECK (max_age BETWEEN interval '1 minute' AND interval '30 days'),
    max_bytes bigint NOT NULL CHECK (max_bytes >= 1048576),
    -- Who alone may read it: a role whose members may, or key: and the name of an API key. Null: all who may read events.
    reader text CHECK (octet_length(reader) BETWEEN 1 AND 204),
    created_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE pushmta_engine.event_consumer IS
    'The consumers of events: the kinds that each gets, of one service or all, how far it may fall behind before it loses events, and who '
    'may read it.';

CREATE TABLE pushmta_engine.event_position (
    consumer_id integer PRIMARY KEY REFERENCES pushmta_engine.event_consumer ON DELETE CASCADE,
    -- Everything that was committed in this snapshot is read.
    seen pg_snapshot NOT NULL,
    -- Rows of transactions that began after seen have greater ids.
    seen_id bigint NOT NULL DEFAULT 0,
    -- While it reads what was committed between seen and this snapshot: seen_id of until, the last row that may be in it, and the next
    -- event, by its row and its number in it.
    until pg_snapshot,
    until_at timestamptz,
    until_id bigint,
    until_last_id bigint,
    at_id bigint NOT NULL DEFAULT 0,
    at_item integer NOT NULL DEFAULT 0,
    -- Rows up to this one are lost to the consumer, because it was away for too long.
    lost_through bigint NOT NULL DEFAULT 0,
    -- All events before this time are read, except those of transactions that took long to commit.
    position_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    read_at timestamptz,
    given bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);
COMMENT ON TABLE pushmta_engine.event_position IS 'How far each consumer has read.';

CREATE TABLE pushmta_engine.event_gap (
    id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    consumer_id integer NOT NULL REFERENCES pushmta_engine.event_consumer ON DELETE CASCADE,
    why text NOT NULL CHECK (why IN ('age', 'size', 'restored')),
    from_id bigint NOT NULL,
    through_id bigint NOT NULL,
    from_at timestamptz NOT NULL,
    through_at timestamptz NOT NULL,
    lost bigint NOT NULL,
    noted_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON TABLE pushmta_engine.event_gap IS
    'Events that consumers lost: because they were away for too long (age, size), or because the database was restored from a dump into '
    'another server.';
CREATE INDEX event_gap_consumer ON pushmta_engine.event_gap (consumer_id, id);

CREATE TYPE pushmta_engine.event_slice AS (log_day date, event_id bigint, first_item integer, last_item integer);
COMMENT ON TYPE pushmta_engine.event_slice IS 'Some consecutive events of a row, numbered from 1.';

CREATE TABLE pushmta_engine.event_returned (
    consumer_id integer REFERENCES pushmta_engine.event_consumer ON DELETE CASCADE,
    id bigint GENERATED BY DEFAULT AS IDENTITY,
    log_day date NOT NULL,
    event_id bigint NOT NULL,
    first_item integer NOT NULL,
    last_item integer NOT NULL,
    returned_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (consumer_id, id)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);
COMMENT ON TABLE pushmta_engine.event_returned IS
    'Events behind which a consumer''s position is, and which nobody has processed: they are given first, in the order of the ids.';

CREATE FUNCTION pushmta_engine.return_events(of_consumer integer, slices pushmta_engine.event_slice[]) RETURNS void LANGUAGE sql
    SET search_path = pushmta_engine, pg_temp AS $$
    WITH rest AS (DELETE FROM event_returned r WHERE r.consumer_id = of_consumer RETURNING r.*)
    INSERT INTO event_returned (consumer_id, log_day, event_id, first_item, last_item)
    SELECT of_consumer, s.log_day, s.event_id, s.first_item, s.last_item FROM (
        SELECT false AS is_rest, w.* FROM unnest(slices) WITH ORDINALITY w(log_day, event_id, first_item, last_item, place)
        UNION ALL
        SELECT true, r.log_day, r.event_id, r.first_item, r.last_item, r.id FROM rest r) s
    ORDER BY s.is_rest, s.place $$;
COMMENT ON FUNCTION pushmta_engine.return_events(integer, pushmta_engine.event_slice[]) IS
    'Gives events back to their consumer, before those that it got back earlier: it had taken them before these.';

CREATE FUNCTION pushmta_engine.take_returned(of_consumer integer, most integer) RETURNS pushmta_engine.event_slice[] LANGUAGE sql
    SET search_path = pushmta_engine, pg_temp SET enable_seqscan = off SET jit = off AS $$
    WITH due AS (
        SELECT r.*, sum(r.last_item - r.first_item + 1) OVER (ORDER BY r.id) AS through
        FROM (SELECT x.* FROM event_returned x WHERE x.consumer_id = of_consumer ORDER BY x.id LIMIT most) r
    ), chosen AS (
        SELECT d.id, d.log_day, d.event_id, d.first_item, least(d.last_item, d.last_item - (d.through - most))::integer AS last_item,
            d.through > most AS is_cut
        FROM due d WHERE d.through - (d.last_item - d.first_item + 1) < most
    ), gone AS (
        DELETE FROM event_returned x USING chosen c WHERE x.consumer_id = of_consumer AND x.id = c.id AND NOT c.is_cut
    ), cut AS (
        UPDATE event_returned x SET first_item = c.last_item + 1 FROM chosen c
        WHERE x.consumer_id = of_consumer AND x.id = c.id AND c.is_cut
    )
    SELECT coalesce(array_agg(ROW(c.log_day, c.event_id, c.first_item, c.last_item)::event_slice ORDER BY c.id), '{}') FROM chosen c $$;
COMMENT ON FUNCTION pushmta_engine.take_returned(integer, integer) IS
    'Takes up to the given number of the events that went back to a consumer, the first ones first.';

CREATE FUNCTION pushmta_engine.last_event() RETURNS bigint LANGUAGE sql VOLATILE SET search_path = pushmta_engine, pg_temp AS $$
    SELECT coalesce(pg_sequence_last_value('pushmta_engine.event_id_seq'), 0) $$;
COMMENT ON FUNCTION pushmta_engine.last_event() IS 'The last id that a row of events got, by any transaction; 0 if none did.';

CREATE FUNCTION pushmta_engine.event_now(of_consumer integer, OUT present pg_snapshot, OUT first_id bigint, OUT last_id bigint,
    OUT number bigint) LANGUAGE plpgsql SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    own CONSTANT bigint := pg_current_xact_id()::text::bigint;
    span CONSTANT bigint := 4294967296;
    highest bigint;
    through bigint;
BEGIN
    -- A block with a handler is a subtransaction, which gets a number of its own, and only with its first change.
    BEGIN
        first_id := last_event();
        UPDATE event_position x SET seen = x.seen WHERE x.consumer_id = of_consumer RETURNING x.xmin::text::bigint INTO STRICT number;
    EXCEPTION WHEN no_data_found THEN
        RAISE;
    END;
    number := own + (number - own % span + span) % span;
    present := pg_current_snapshot();
    last_id := last_event();
    highest := pg_snapshot_xmax(present)::text::bigint;
    through := greatest(number, highest);
    IF through - highest > 10000 THEN
        -- This transaction is an old one in REPEATABLE READ, or another one has very many subtransactions.
        first_id := NULL;
        through := highest;
    END IF;
    present := (SELECT (least(pg_snapshot_xmin(present)::text::bigint, own) || ':' || through || ':'
            || coalesce(string_agg(x.xid::text, ',' ORDER BY x.xid), ''))::pg_snapshot
        FROM (SELECT y.xid::text::bigint AS xid FROM pg_snapshot_xip(present) y(xid)
            UNION SELECT own WHERE own < through
            UNION SELECT z.xid FROM generate_series(highest, through - 1) z(xid)) x);
END $$;
COMMENT ON FUNCTION pushmta_engine.event_now(integer) IS
    'The present position of a consumer: the snapshot of this statement, in which this transaction itself is not committed, because it may '
    'still record events; and the last id of events before and after it. The snapshot names all transactions that it does not have, up to '
    'a number that this function draws after it has read first_id. So those with greater numbers have events after first_id. It is null '
    'if there are too many to name.';

CREATE FUNCTION pushmta_engine.event_kinds(names text[]) RETURNS integer LANGUAGE plpgsql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    unknown text := (SELECT u.name FROM unnest(names) u(name)
        WHERE NOT EXISTS (SELECT FROM event_kind k WHERE u.name IN (k.name, split_part(k.name, '.', 1))) LIMIT 1);
    found integer := (SELECT bit_or(1 << k.kind) FROM event_kind k
        WHERE names IS NULL OR k.name = ANY(names) OR split_part(k.name, '.', 1) = ANY(names));
BEGIN
    IF unknown IS NOT NULL OR array_position(names, NULL) IS NOT NULL THEN
        RAISE EXCEPTION 'There is no kind of events "%".', left(coalesce(unknown, ''), 100)
            USING ERRCODE = 'PM161', HINT = 'pushmta.event_kind lists them; message, device and delivery stand for all of theirs.';
    ELSIF found IS NULL THEN
        RAISE EXCEPTION 'A consumer needs at least one kind of events.'
            USING ERRCODE = 'PM161', HINT = 'Name some kinds of pushmta.event_kind, or give null for all.';
    END IF;
    RETURN found;
END $$;
COMMENT ON FUNCTION pushmta_engine.event_kinds(text[]) IS
    'The set of the named kinds of events; message, device and delivery name all of theirs, and null all.';

CREATE FUNCTION pushmta_engine.event_names(kinds integer) RETURNS text[] LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path = pushmta_engine, pg_temp AS $$
    SELECT array_agg(k.name ORDER BY k.kind) FROM event_kind k WHERE kinds >> k.kind & 1 = 1 $$;
COMMENT ON FUNCTION pushmta_engine.event_names(integer) IS 'The names of a set of kinds of events.';

CREATE FUNCTION pushmta_engine.switch_events() RETURNS void LANGUAGE sql SET search_path = pushmta_engine, pg_temp AS $$
    UPDATE event_switch s SET kinds = w.kinds
    FROM (SELECT coalesce(bit_or(c.kinds), 0) AS kinds FROM event_consumer c) w WHERE s.kinds <> w.kinds $$;
COMMENT ON FUNCTION pushmta_engine.switch_events() IS
    'Has those kinds of events recorded that a consumer wants. The caller has locked the switch, so that no other consumer is missed.';

CREATE FUNCTION pushmta_engine.require_reader(reader text) RETURNS void LANGUAGE plpgsql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
BEGIN
    IF reader LIKE 'key:%' AND NOT EXISTS (SELECT FROM api_key k WHERE k.name = substring(reader FROM 5) AND k.revoked_at IS NULL) THEN
        RAISE EXCEPTION 'There is no API key "%", so it cannot read a consumer.', left(substring(reader FROM 5), 200)
            USING ERRCODE = 'PM168', HINT = 'pushmta key list shows the keys.';
    ELSIF reader NOT LIKE 'key:%' AND NOT EXISTS (SELECT FROM pg_roles r WHERE r.rolname = reader) THEN
        RAISE EXCEPTION 'There is no role "%", so it cannot read a consumer.', left(reader, 200)
            USING ERRCODE = 'PM168', HINT = 'Name a role of the database, or key: and the name of an API key.';
    END IF;
END $$;
COMMENT ON FUNCTION pushmta_engine.require_reader(text) IS
    'Raises an error unless the reader of a consumer exists: a role, or key: and the name of an API key.';

CREATE FUNCTION pushmta_engine.is_reader(reader text) RETURNS boolean LANGUAGE sql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
    SELECT reader IS NULL OR CASE WHEN reader LIKE 'key:%' THEN a.kind = 'key' AND a.name = substring(reader FROM 5)
        ELSE a.kind = 'login' AND EXISTS (SELECT FROM pg_roles r WHERE r.rolname = reader AND pg_has_role(session_user, r.oid, 'MEMBER'))
        END
    FROM acting_login() a $$;
COMMENT ON FUNCTION pushmta_engine.is_reader(text) IS
    'Whether the session reads for this reader of a consumer: its login is a member of that role, or the API key is that one. Null: '
    'everybody does.';

CREATE FUNCTION pushmta.create_consumer(name text, kinds text[] DEFAULT NULL, service text DEFAULT NULL,
    max_age interval DEFAULT '3 days', max_bytes bigint DEFAULT 10737418240, reader text DEFAULT NULL) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    of_service integer := (SELECT v.id FROM pushmta_engine.service v WHERE v.name = create_consumer.service);
    wanted integer := event_kinds(create_consumer.kinds);
    made integer;
    present record;
BEGIN
    PERFORM require_name('consumer', create_consumer.name, 'PM007');
    IF create_consumer.service IS NOT NULL AND of_service IS NULL THEN
        RAISE EXCEPTION 'There is no service "%".', left(create_consumer.service, 200)
            USING ERRCODE = 'PM071', HINT = 'pushmta.service lists them.';
    ELSIF create_consumer.max_age NOT BETWEEN interval '1 minute' AND interval '30 days' OR create_consumer.max_age IS NULL THEN
        RAISE EXCEPTION 'A consumer cannot keep events for %.', coalesce(create_consumer.max_age::text, 'ever')
            USING ERRCODE = 'PM007', HINT = 'Give a time from 1 minute to 30 days.';
    ELSIF create_consumer.max_bytes < 1048576 OR create_consumer.max_bytes IS NULL THEN
        RAISE EXCEPTION 'A consumer cannot keep % bytes of events.', create_consumer.max_bytes
            USING ERRCODE = 'PM007', HINT = 'Give at least 1048576, which is 1 MiB.';
    END IF;
    PERFORM require_reader(create_consumer.reader);
    PERFORM FROM event_switch FOR UPDATE;
    INSERT INTO event_consumer (name, service_id, kinds, max_age, max_bytes, reader)
    VALUES (create_consumer.name, of_service, wanted, create_consumer.max_age, create_consumer.max_bytes, create_consumer.reader)
    ON CONFLICT DO NOTHING RETURNING id INTO made;
    IF made IS NULL THEN
        RAISE EXCEPTION 'There is already a consumer "%".', create_consumer.name
            USING ERRCODE = 'PM162', HINT = 'Choose another name; pushmta.event_consumer lists them.';
    END IF;
    PERFORM switch_events();
    INSERT INTO event_position (consumer_id, seen) VALUES (made, pg_current_snapshot());
    SELECT n.* INTO present FROM event_now(made) n;
    UPDATE event_position x SET seen = present.present, seen_id = coalesce(present.first_id, 0) WHERE x.consumer_id = made;
    PERFORM note_change('consumer.add', create_consumer.name, coalesce(array_to_string(create_consumer.kinds, ', '), 'all kinds')
        || coalesce(', for ' || create_consumer.reader, ''));
    RETURN made;
END $$;
COMMENT ON FUNCTION pushmta.create_consumer(text, text[], text, interval, bigint, text) IS
    'Creates a consumer of events: of the named kinds (null: all; message, device and delivery stand for all of theirs), of one service or '
    'of all. It gets what happens from now on. A process that stores outcomes notices within 5 s that a kind is wanted that nobody '
    'wanted before. Events that it has not read for longer than max_age, or beyond max_bytes, are lost to it, which an alarm and '
    'pushmta.event_gap report. reader: the role whose members alone read it, or key: and the name of the API key that alone reads it; '
    'null: all who may read events. Returns its id.';

CREATE FUNCTION pushmta.drop_consumer(name text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
BEGIN
    PERFORM FROM event_switch FOR UPDATE;
    DELETE FROM event_consumer c WHERE c.name = drop_consumer.name;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'There is no consumer "%".', left(coalesce(drop_consumer.name, ''), 200)
            USING ERRCODE = 'PM160', HINT = 'pushmta.event_consumer lists them.';
    END IF;
    PERFORM switch_events();
    PERFORM note_change('consumer.remove', drop_consumer.name, '');
END $$;
COMMENT ON FUNCTION pushmta.drop_consumer(text) IS
    'Removes a consumer with its position, its gaps, and its webhook if it has one. Kinds of events that no other consumer wants are no '
    'longer recorded.';

-- The rows between two snapshots.
CREATE FUNCTION pushmta_engine.has_unread(seen pg_snapshot) RETURNS boolean LANGUAGE sql VOLATILE SECURITY DEFINER
    SET search_path = pushmta_engine, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
    SELECT EXISTS (SELECT FROM event e WHERE e.xid >= pg_snapshot_xmax(seen))
        OR EXISTS (SELECT FROM event e WHERE e.xid = ANY(ARRAY(SELECT pg_snapshot_xip(seen)))) $$;
COMMENT ON FUNCTION pushmta_engine.has_unread(pg_snapshot) IS
    'Whether events are stored that were not committed in a snapshot. It reads the first entry of an index that says so.';

CREATE FUNCTION pushmta_engine.open_window(p pushmta_engine.event_position) RETURNS pushmta_engine.event_position LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    now_at timestamptz := clock_timestamp();
    n record;
BEGIN
    SELECT x.* INTO n FROM event_now(p.consumer_id) x;
    IF pg_snapshot_xmax(p.seen)::text::bigint > greatest(n.number, pg_snapshot_xmax(n.present)::text::bigint) THEN
        -- Another server counts its transactions from another number, so that nothing tells what was read.
        INSERT INTO event_gap (consumer_id, why, from_id, through_id, from_at, through_at, lost)
        VALUES (p.consumer_id, 'restored', p.at_id, n.last_id, p.position_at, now_at, 0);
        p.seen := n.present;
        p.seen_id := coalesce(n.first_id, 0);
        p.lost_through := n.last_id;
    ELSIF n.first_id IS NULL AND pg_snapshot_xmax(n.present) >= pg_snapshot_xmax(p.seen) THEN
        n.first_id := p.seen_id;
    END IF;
    p.at_item := 0;
    IF has_unread(p.seen) THEN
        p.until := n.present;
        p.until_at := now_at;
        p.until_id := coalesce(n.first_id, 0);
        p.until_last_id := n.last_id;
        p.at_id := p.lost_through + 1;
    ELSE
        p.seen := n.present;
        p.seen_id := coalesce(n.first_id, 0);
        p.position_at := now_at;
    END IF;
    RETURN p;
END $$;
COMMENT ON FUNCTION pushmta_engine.open_window(pushmta_engine.event_position) IS
    'The position of a consumer that has read everything up to a snapshot, with the present one as the next goal, if anything was stored '
    'since.';

CREATE FUNCTION pushmta_engine.service_events(of_service integer) RETURNS integer[] LANGUAGE sql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
    SELECT CASE WHEN of_service IS NOT NULL THEN ARRAY(SELECT a.id FROM application a WHERE a.service_id = of_service) END $$;
COMMENT ON FUNCTION pushmta_engine.service_events(integer) IS
    'The applications whose events a consumer of this service gets; null, all, for one of all services.';

CREATE FUNCTION pushmta_engine.window_rows(p pushmta_engine.event_position, kinds integer, apps integer[], through bigint, most integer)
    RETURNS TABLE (id bigint, log_day date, n integer, occurred_at timestamptz) LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
#variable_conflict use_column
BEGIN
    IF p.at_id <= p.seen_id THEN
        -- Of the transactions that were under way then. No other index can serve this comparison, whatever the statistics say.
        RETURN QUERY SELECT r.id, r.log_day, r.n, r.occurred_at
            FROM pg_snapshot_xip(p.seen) x(xid)
            CROSS JOIN LATERAL (SELECT e.id, e.log_day, e.n, e.occurred_at FROM event e
                WHERE (e.xid, e.id) >= (x.xid, p.at_id) AND (e.xid, e.id) <= (x.xid, p.seen_id)
                    AND kinds >> e.kind & 1 = 1 AND (apps IS NULL OR e.application_id = ANY(apps))
                ORDER BY e.xid, e.id LIMIT most) r
            WHERE pg_visible_in_snapshot(x.xid, p.until) ORDER BY r.id LIMIT most;
    ELSE
        RETURN QUERY SELECT e.id, e.log_day, e.n, e.occurred_at FROM event e
            WHERE e.id BETWEEN p.at_id AND through
                AND NOT pg_visible_in_snapshot(e.xid, p.seen) AND pg_visible_in_snapshot(e.xid, p.until)
                AND kinds >> e.kind & 1 = 1 AND (apps IS NULL OR e.application_id = ANY(apps))
            ORDER BY e.id LIMIT most;
    END IF;
END $$;
COMMENT ON FUNCTION pushmta_engine.window_rows(pushmta_engine.event_position, integer, integer[], bigint, integer) IS
    'The next rows that a consumer reads, up to a number of rows: first those of transactions that were under way at its position, then, '
    'once those are read, the others up to a row.';

CREATE TYPE pushmta_engine.event_window AS (reached pushmta_engine.event_position, slices pushmta_engine.event_slice[], total integer,
    has_ended boolean);
COMMENT ON TYPE pushmta_engine.event_window IS
    'What a consumer takes at once of the events between two snapshots, how many they are, and its position then. has_ended: there are no '
    'more.';

CREATE FUNCTION pushmta_engine.read_window(p pushmta_engine.event_position, c pushmta_engine.event_consumer, most integer)
    RETURNS pushmta_engine.event_window LANGUAGE plpgsql SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    -- A look passes over so many rows at most that the consumer does not want.
    page CONSTANT bigint := 200000;
    apps CONSTANT integer[] := service_events(c.service_id);
    slices event_slice[] := ARRAY[]::event_slice[];
    total integer := 0;
    found record;
    first_item integer;
    through bigint;
BEGIN
    LOOP
        through := least(p.until_last_id, p.at_id + page - 1);
        -- One more, because the row at the position may be read.
        FOR found IN SELECT r.* FROM window_rows(p, c.kinds, apps, through, most - total + 1) r LOOP
            first_item := CASE WHEN found.id = p.at_id THEN p.at_item ELSE 0 END;
            CONTINUE WHEN first_item >= found.n;
            p.at_id := found.id;
            p.at_item := least(found.n, first_item + most - total);
            p.position_at := greatest(p.position_at, least(found.occurred_at, p.until_at));
            slices := slices || ROW(found.log_day, found.id, first_item + 1, p.at_item)::event_slice;
            total := total + p.at_item - first_item;
            IF total >= most THEN
                RETURN ROW(p, slices, total, false)::event_window;
            END IF;
        END LOOP;
        EXIT WHEN p.at_id > p.seen_id;
        p.at_id := p.seen_id + 1;
        p.at_item := 0;
    END LOOP;
    p.at_id := through + 1;
    p.at_item := 0;
    RETURN ROW(p, slices, total, through >= p.until_last_id)::event_window;
END $$;
COMMENT ON FUNCTION pushmta_engine.read_window(pushmta_engine.event_position, pushmta_engine.event_consumer, integer) IS
    'Takes up to the given number of the events between the two snapshots of a position.';

CREATE FUNCTION pushmta_engine.take_events(of_consumer integer, most integer, OUT slices pushmta_engine.event_slice[])
    LANGUAGE plpgsql SET search_path = pushmta_engine, pg_temp SET lock_timeout = '2s' AS $$
#variable_conflict use_column
DECLARE
    c event_consumer;
    p event_position;
    w event_window;
    total integer := 0;
BEGIN
    SELECT x.* INTO p FROM event_position x WHERE x.consumer_id = of_consumer FOR NO KEY UPDATE;
    slices := take_returned(of_consumer, most);
    IF slices <> '{}' THEN
        UPDATE event_position x SET read_at = clock_timestamp() WHERE x.consumer_id = of_consumer;
        RETURN;
    END IF;
    -- Nothing new: a reader that looks every second writes its position every ten.
    IF p.until IS NULL AND pg_snapshot_xmax(p.seen) <= pg_snapshot_xmax(pg_current_snapshot())
        AND p.read_at > clock_timestamp() - interval '10 seconds' AND NOT has_unread(p.seen) THEN
        RETURN;
    END IF;
    SELECT x.* INTO c FROM event_consumer x WHERE x.id = of_consumer;
    -- What was left of the last window, and one more.
    FOR step IN 1..2 LOOP
        IF p.until IS NULL THEN
            p := open_window(p);
            EXIT WHEN p.until IS NULL;
        END IF;
        w := read_window(p, c, most);
        p := w.reached;
        slices := w.slices;
        total := w.total;
        EXIT WHEN NOT w.has_ended;
        p.seen := p.until;
        p.seen_id := p.until_id;
        p.until := NULL;
        p.position_at := greatest(p.position_at, p.until_at);
        EXIT WHEN total > 0;
    END LOOP;
    UPDATE event_position x SET seen = p.seen, seen_id = p.seen_id, until = p.until, until_at = p.until_at, until_id = p.until_id,
        until_last_id = p.until_last_id, at_id = p.at_id, at_item = p.at_item, lost_through = p.lost_through,
        position_at = p.position_at, read_at = clock_timestamp(), given = p.given + total
    WHERE x.consumer_id = of_consumer;
EXCEPTION WHEN lock_not_available THEN
    RAISE EXCEPTION 'Another transaction is reading consumer "%".', (SELECT x.name FROM event_consumer x WHERE x.id = of_consumer)
        USING ERRCODE = 'PM163', HINT = 'One reads at a time, until its transaction ends. Try again, or create a consumer for each reader.';
END $$;
COMMENT ON FUNCTION pushmta_engine.take_events(integer, integer) IS
    'Takes up to the given number of a consumer''s next events, first those that it got back, and moves its position behind them, which '
    'holds if the transaction commits. Waits up to 2 s for another reader.';

CREATE FUNCTION pushmta_engine.event_items(slices pushmta_engine.event_slice[])
    RETURNS TABLE (id text, kind text, occurred_at timestamptz, service text, application text, delivery_id bigint, sequence integer,
        subscription_id bigint, user_key text, reason text, http_status smallint, state text)
    LANGUAGE sql STABLE SET search_path = pushmta_engine, pg_temp
    SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
    SELECT e.id || '-' || w.first_item + i.item - 1, k.name, coalesce(i.happened, e.occurred_at), v.name,
        CASE WHEN e.kind <> 21 THEN a.name END, e.delivery_id, i.sequence, i.subscription_id, nullif(s.user_key, ''),
        CASE WHEN e.kind <> 21 THEN e.reason END, nullif(e.http_status, 0), CASE WHEN e.kind = 21 THEN e.reason END
    FROM unnest(slices) WITH ORDINALITY w(log_day, event_id, first_item, last_item, place)
    JOIN event e ON e.log_day = w.log_day AND e.id = w.event_id
    JOIN event_kind k ON k.kind = e.kind
    LEFT JOIN application a ON a.id = e.application_id
    LEFT JOIN service v ON v.id = a.service_id
    -- A slice reads each array once; the state of a delivery has none.
    CROSS JOIN LATERAL unnest(coalesce(e.subscription_ids[w.first_item:w.last_item], ARRAY[NULL::bigint]),
        e.sequences[w.first_item:w.last_item], e.times[w.first_item:w.last_item])
        WITH ORDINALITY i(subscription_id, sequence, happened, item)
    LEFT JOIN subscription s ON s.id = i.subscription_id
    WHERE e.kind = 20 OR NOT EXISTS (SELECT FROM forgotten_subscription f WHERE f.subscription_id = i.subscription_id)
    ORDER BY w.place, i.item $$;
COMMENT ON FUNCTION pushmta_engine.event_items(pushmta_engine.event_slice[]) IS
    'Events as they are given to a consumer, in their order, with the present user key; without those of forgotten subscriptions.';

CREATE TABLE pushmta_engine.event_page (
    consumer_id integer PRIMARY KEY REFERENCES pushmta_engine.event_consumer ON DELETE CASCADE,
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    slices pushmta_engine.event_slice[] NOT NULL,
    given_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON TABLE pushmta_engine.event_page IS
    'Events that the API gave to the reader of a consumer, who has not said yet that they are processed.';

CREATE FUNCTION pushmta_engine.readable_consumer(name text) RETURNS integer LANGUAGE plpgsql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    found integer := (SELECT c.id FROM event_consumer c WHERE c.name = readable_consumer.name);
BEGIN
    IF found IS NULL THEN
        RAISE EXCEPTION 'There is no consumer "%".', left(coalesce(readable_consumer.name, ''), 200)
            USING ERRCODE = 'PM160', HINT = 'pushmta.event_consumer lists them.';
    ELSIF EXISTS (SELECT FROM webhook w WHERE w.consumer_id = found) THEN
        RAISE EXCEPTION 'The events of consumer "%" are posted by its webhook.', readable_consumer.name
            USING ERRCODE = 'PM163', HINT = 'Create another consumer to read them here, too; pushmta.webhook lists webhooks.';
    ELSIF NOT is_reader((SELECT c.reader FROM event_consumer c WHERE c.id = found)) THEN
        RAISE EXCEPTION 'Consumer "%" has another reader.', readable_consumer.name
            USING ERRCODE = 'PM167', HINT = 'pushmta.event_consumer says who reads it; ask an operator to create a consumer for you.';
    END IF;
    RETURN found;
END $$;
COMMENT ON FUNCTION pushmta_engine.readable_consumer(text) IS
    'The id of a consumer; raises an error if there is none, if a webhook reads it, or if another reader alone may.';

CREATE FUNCTION pushmta.next_events(consumer text, most integer DEFAULT 1000)
    RETURNS TABLE (id text, kind text, occurred_at timestamptz, service text, application text, delivery_id bigint, sequence integer,
        subscription_id bigint, user_key text, reason text, http_status smallint, state text)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_column
DECLARE
    found_id integer := readable_consumer(next_events.consumer);
    waiting event_slice[];
BEGIN
    IF most NOT BETWEEN 1 AND 100000 OR most IS NULL THEN
        RAISE EXCEPTION 'next_events cannot give % events.', coalesce(most::text, 'null')
            USING ERRCODE = 'PM007', HINT = 'Give a number from 1 to 100,000.';
    END IF;
    -- What the API gave, and nobody has processed.
    DELETE FROM event_page p WHERE p.consumer_id = found_id RETURNING p.slices INTO waiting;
    IF waiting IS NULL THEN
        -- A statement of its own: the next one also sees what was committed while this one waited.
        waiting := take_events(found_id, most);
    END IF;
    RETURN QUERY SELECT i.* FROM event_items(waiting) i;
END $$;
COMMENT ON FUNCTION pushmta.next_events(text, integer) IS
    'The next events of a consumer, up to the given number. They count as read when the transaction commits: process them in it, or make '
    'the processing repeatable. None: it has read everything, or all that it would have read belonged to forgotten users, or it passed '
    'over 200,000 rows of events that it does not want; is_behind of pushmta.event_consumer tells. id is unique and stays the same if an '
    'event is given again. A second transaction that reads the same consumer waits for the first, up to 2 s.';

CREATE FUNCTION pushmta_engine.api_events(consumer text, most integer, processed uuid)
    RETURNS TABLE (page uuid, id text, kind text, occurred_at timestamptz, service text, application text, delivery_id bigint,
        sequence integer, subscription_id bigint, user_key text, reason text, http_status smallint, state text)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_column
DECLARE
    found_id integer := readable_consumer(api_events.consumer);
    taken event_slice[];
BEGIN
    DELETE FROM event_page p WHERE p.consumer_id = found_id AND p.id = processed;
    -- A page may be empty, because its users were forgotten.
    FOR step IN 1..20 LOOP
        IF NOT EXISTS (SELECT FROM event_page p WHERE p.consumer_id = found_id) THEN
            taken := take_events(found_id, least(greatest(most, 1), 10000));
            EXIT WHEN taken = '{}';
            -- Another request may have given one meanwhile: then this one has waited for it, and its events go there, too.
            INSERT INTO event_page AS p (consumer_id, slices) VALUES (found_id, taken)
            ON CONFLICT (consumer_id) DO UPDATE SET slices = p.slices || excluded.slices, id = gen_random_uuid();
        END IF;
        RETURN QUERY SELECT p.id, i.* FROM event_page p CROSS JOIN LATERAL event_items(p.slices) i WHERE p.consumer_id = found_id;
        EXIT WHEN FOUND;
        DELETE FROM event_page p WHERE p.consumer_id = found_id;
    END LOOP;
END $$;
COMMENT ON FUNCTION pushmta_engine.api_events(text, integer, uuid) IS
    'A page of a consumer''s events. It is given again until its id is passed as processed; then the next one is given.';

-- A consumer that is away keeps events only within its bounds, and days are dropped when no consumer needs them.
CREATE FUNCTION pushmta_engine.event_before_bytes(most bigint) RETURNS bigint LANGUAGE plpgsql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    place record;
    lowest bigint;
    highest bigint;
    left_bytes bigint := most;
BEGIN
    FOR place IN SELECT c.relname::text AS name, pg_total_relation_size(c.oid) AS bytes
        FROM event_day d JOIN pg_class c ON c.oid = to_regclass('pushmta_engine.event_' || to_char(d.day, 'YYYYMMDD')) ORDER BY d.day DESC
    LOOP
        IF place.bytes > left_bytes THEN
            EXECUTE format('SELECT min(e.id), max(e.id) FROM pushmta_engine.%I e', place.name) INTO lowest, highest;
            RETURN coalesce(highest - floor((highest - lowest + 1) * (left_bytes::double precision / place.bytes))::bigint, 0);
        END IF;
        left_bytes := left_bytes - place.bytes;
    END LOOP;
    RETURN 0;
END $$;
COMMENT ON FUNCTION pushmta_engine.event_before_bytes(bigint) IS
    'The row of events behind which this many bytes are stored, estimated from the sizes of the days; 0 if there are fewer bytes.';

CREATE FUNCTION pushmta_engine.event_before_age(since bigint, older interval) RETURNS bigint LANGUAGE sql STABLE
    SET search_path = pushmta_engine, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
    SELECT coalesce((SELECT e.id - 1 FROM event e WHERE e.id >= since AND e.occurred_at >= now() - older ORDER BY e.id LIMIT 1),
        (SELECT max(e.id) FROM event e), 0) $$;
COMMENT ON FUNCTION pushmta_engine.event_before_age(bigint, interval) IS
    'The last row of events, from a row on, before the first one that is younger than this.';

CREATE FUNCTION pushmta_engine.lose_events(p pushmta_engine.event_position, c pushmta_engine.event_consumer, through bigint, because text)
    RETURNS bigint LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
DECLARE
    apps CONSTANT integer[] := service_events(c.service_id);
    -- Also if none of the rows was for it: otherwise their days would be kept for it.
    passed_at CONSTANT timestamptz := (SELECT e.occurred_at FROM event e WHERE e.id <= through ORDER BY e.id DESC LIMIT 1);
    gone record;
BEGIN
    SELECT coalesce(sum(e.n - CASE WHEN e.id = p.at_id THEN p.at_item ELSE 0 END), 0) AS lost, min(e.id) AS first_id,
        min(e.occurred_at) AS first_at, max(e.occurred_at) AS last_at INTO gone
    FROM (SELECT x.* FROM pg_snapshot_xip(p.seen) y(xid)
            JOIN event x ON (x.xid, x.id) >= (y.xid, p.at_id) AND (x.xid, x.id) <= (y.xid, least(through, p.seen_id))
        UNION ALL SELECT x.* FROM event x
            WHERE x.id BETWEEN greatest(p.at_id, p.seen_id + 1) AND through AND NOT pg_visible_in_snapshot(x.xid, p.seen)) e
    WHERE c.kinds >> e.kind & 1 = 1 AND (apps IS NULL OR e.application_id = ANY(apps));
    UPDATE event_position x SET lost_through = through, position_at = greatest(p.position_at, passed_at),
        at_id = CASE WHEN p.until IS NULL THEN p.at_id ELSE through + 1 END, at_item = CASE WHEN p.until IS NULL THEN p.at_item ELSE 0 END
    WHERE x.consumer_id = p.consumer_id;
    IF gone.lost = 0 THEN
        RETURN 0;
    END IF;
    -- One gap for each absence.
    UPDATE event_gap g SET through_id = through, through_at = gone.last_at, lost = g.lost + gone.lost, noted_at = clock_timestamp()
    WHERE g.id = (SELECT max(o.id) FROM event_gap o WHERE o.consumer_id = p.consumer_id)
        AND g.why = because AND g.noted_at > coalesce(p.read_at, '-infinity');
    IF NOT FOUND THEN
        INSERT INTO event_gap (consumer_id, why, from_id, through_id, from_at, through_at, lost)
        VALUES (p.consumer_id, because, gone.first_id, through, gone.first_at, gone.last_at, gone.lost);
    END IF;
    RETURN gone.lost;
END $$;
COMMENT ON FUNCTION pushmta_engine.lose_events(pushmta_engine.event_position, pushmta_engine.event_consumer, bigint, text) IS
    'Moves a consumer behind a row of events that it has not read. Returns how many events it would have got, and records the gap if there '
    'are any.';

CREATE FUNCTION pushmta_engine.bound_consumers() RETURNS bigint LANGUAGE plpgsql SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    c event_consumer;
    p event_position;
    by_age bigint;
    by_size bigint;
    bound bigint := 0;
BEGIN
    FOR c IN SELECT x.* FROM event_consumer x ORDER BY x.id LOOP
        SELECT x.* INTO p FROM event_position x WHERE x.consumer_id = c.id FOR NO KEY UPDATE SKIP LOCKED;
        -- Somebody is reading it.
        CONTINUE WHEN NOT FOUND;
        IF p.until IS NULL THEN
            CONTINUE WHEN NOT has_unread(p.seen);
            p.at_id := p.lost_through + 1;
            p.at_item := 0;
        END IF;
        by_age := CASE WHEN p.position_at < now() - c.max_age THEN event_before_age(greatest(p.at_id, p.seen_id + 1), c.max_age) ELSE 0 END;
        by_size := event_before_bytes(c.max_bytes);
        IF greatest(by_age, by_size) >= p.at_id
            AND lose_events(p, c, greatest(by_age, by_size), CASE WHEN by_age >= by_size THEN 'age' ELSE 'size' END) > 0 THEN
            bound := bound + 1;
        END IF;
    END LOOP;
    DELETE FROM event_gap g WHERE g.noted_at < now() - interval '180 days';
    RETURN bound;
END $$;
COMMENT ON FUNCTION pushmta_engine.bound_consumers() IS
    'Moves consumers that are away for longer, or further behind, than they may be, and records what they lost. Skips those that are '
    'being read. Returns how many lost events. Gaps are kept for 180 days.';

CREATE FUNCTION pushmta_engine.drop_old_events() RETURNS text LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = pushmta_engine, pg_temp SET lock_timeout = '300ms' AS $$
DECLARE
    thing CONSTANT text := 'partitions of event';
    today CONSTANT date := (now() AT TIME ZONE 'UTC')::date;
    needed date := least(today - 3,
        (SELECT min((p.position_at AT TIME ZONE 'UTC')::date) - 1 FROM event_position p));
    days date[] := ARRAY(SELECT d.day FROM event_day d WHERE d.day < needed ORDER BY d.day LIMIT 5);
BEGIN
    IF NOT retention_passes(thing, cardinality(days) > 4, true) OR cardinality(days) = 0 THEN
        RETURN NULL;
    END IF;
    DELETE FROM event_day d WHERE d.day = days[1];
    EXECUTE format('DROP TABLE IF EXISTS pushmta_engine.%I', 'event_' || to_char(days[1], 'YYYYMMDD'));
    PERFORM note_retention(thing, 1);
    RETURN 'event_' || to_char(days[1], 'YYYYMMDD');
EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
    RETURN NULL;
END $$;
COMMENT ON FUNCTION pushmta_engine.drop_old_events() IS
    'Drops the oldest day of events if it is more than three days old and every consumer has read it. Returns its name, null if there is '
    'none. If more than four days are due at once, it first drops none, and later one in a round.';

CREATE FUNCTION pushmta_engine.keep_events() RETURNS bigint LANGUAGE plpgsql SET search_path = pushmta_engine, pg_temp AS $$
BEGIN
    RETURN bound_consumers() + CASE WHEN drop_old_events() IS NULL THEN 0 ELSE 1 END + drop_old_letters();
END $$;
COMMENT ON FUNCTION pushmta_engine.keep_events() IS
    'Keeps consumers within their bounds, and drops a day of events that none needs, and dead letters without events; returns how many '
    'consumers lost events, and days and letters were dropped.';

CREATE VIEW pushmta.event_consumer AS
SELECT c.name, pushmta_engine.event_names(c.kinds) AS kinds, v.name AS service, c.max_age, c.max_bytes, c.reader, c.created_at, p.read_at,
    p.given, p.position_at, u.is_behind,
    CASE WHEN u.is_behind THEN greatest(extract(epoch FROM clock_timestamp() - p.position_at), 0) ELSE 0 END::double precision
        AS lag_seconds,
    coalesce(g.lost, 0)::bigint AS lost
FROM pushmta_engine.event_consumer c
JOIN pushmta_engine.event_position p ON p.consumer_id = c.id
LEFT JOIN pushmta_engine.service v ON v.id = c.service_id
CROSS JOIN LATERAL (SELECT p.until IS NOT NULL OR EXISTS (SELECT FROM pushmta_engine.event_returned r WHERE r.consumer_id = c.id)
    OR pushmta_engine.has_unread(p.seen) AS is_behind) u
LEFT JOIN LATERAL (SELECT sum(x.lost) AS lost FROM pushmta_engine.event_gap x WHERE x.consumer_id = c.id) g ON true;
COMMENT ON VIEW pushmta.event_consumer IS
    'The consumers of events: what they want, who alone reads each (reader; null: all who may read events), when they last read, how many '
    'events they were given, how far they are behind, and how many they lost in the last 180 days. is_behind and lag_seconds also count '
    'events that they do not want.';

CREATE VIEW pushmta.event_gap AS
SELECT c.name AS consumer, g.why, g.from_at, g.through_at, g.lost, g.noted_at
FROM pushmta_engine.event_gap g JOIN pushmta_engine.event_consumer c ON c.id = g.consumer_id;
COMMENT ON VIEW pushmta.event_gap IS
    'What consumers lost, and why: age or size, the bounds of the consumer; restored, the database is from a dump, so that the position no '
    'longer meant anything (lost is then 0, unknown).';
