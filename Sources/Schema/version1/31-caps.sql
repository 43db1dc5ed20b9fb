-- Frequency caps: at most so many messages of some categories to a person of a service in a time.
--
-- A person is a user of a service, or a subscription without a user. Its number is the lowest id of its subscriptions
-- (subscription.person_id), so 4,096 neighbours are a block. The history has a bit for each person of a block: one row for each block and
-- delivery, and, for older days, rows for each block, category and day with bits of a binary number. Adding a bitmap to such a number
-- and comparing it takes a few operations on 512 bytes for all 4,096 persons. Sums of 8 and of 64 days keep long times cheap.
--
-- The table of the rules is in 02-applications.sql, the numbers of persons are in 03-devices.sql.

-- Deliveries that count, until their day is folded.
CREATE TABLE pushmta_engine.capped_delivery (
    delivery_id bigint NOT NULL,
    -- When its messages count: at its start, or when they were prepared if that was later or there is no start.
    counts_at timestamptz NOT NULL,
    service_id integer NOT NULL,
    -- 0: none.
    category_id integer NOT NULL,
    -- The day of counts_at in the time zone of the service.
    day date NOT NULL,
    PRIMARY KEY (delivery_id, service_id)
);
COMMENT ON TABLE pushmta_engine.capped_delivery IS
    'Deliveries whose messages count for frequency caps, with a row of the history for each block of persons that they reach.';
CREATE INDEX capped_delivery_day ON pushmta_engine.capped_delivery (service_id, day);

CREATE TABLE pushmta_engine.cap_history (
    -- 0: a folded day. -8 and -64: the sum of so many folded days from this day on.
    delivery_id bigint NOT NULL,
    -- Null for folded days.
    counts_at timestamptz,
    service_id integer NOT NULL,
    -- A person's number >> 12.
    block integer NOT NULL,
    day date NOT NULL,
    category_id integer NOT NULL,
    -- The bits of folded days are the digits of value 2 ^ digit. 0 for a delivery.
    digit smallint NOT NULL,
    -- Bit number & 4095: whether the delivery has a message to the person that has not ended unsent.
    persons bit varying NOT NULL CHECK (length(persons) = 4096),
    -- How many more such messages it has to the same person, the lowest digits first. Null for none.
    more bit varying[],
    -- The day first: what is new is at one place of the index, and neighbours of a day are read together.
    PRIMARY KEY (service_id, day, block, category_id, delivery_id, digit)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 0.05);
COMMENT ON TABLE pushmta_engine.cap_history IS
    'Which persons the deliveries of the last 180 days have messages to: a row for each block of 4,096 persons and delivery. Days that are '
    'over are folded: a row for each block, category and digit of the number of deliveries. Of 8 and of 64 folded days there is the sum, '
    'too.';

CREATE TABLE pushmta_engine.cap_lock (
    service_id integer NOT NULL,
    -- 4 blocks.
    persons integer NOT NULL,
    -- The delivery that asked last, and how often that was another one than before.
    delivery_id bigint NOT NULL DEFAULT 0,
    version bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (service_id, persons)
) WITH (fillfactor = 50);
COMMENT ON TABLE pushmta_engine.cap_lock IS
    'Who asks for persons and counts them locks the rows of their groups first, in rising order, so that two deliveries at once cannot '
    'both reach a person who may get one more message.';

-- Subscriptions are prepared by id, and a person's devices may have any ids: a delivery asks for the same block many times. Unlogged:
-- after a crash it is empty, and is made again.
CREATE UNLOGGED TABLE pushmta_engine.cap_reached (
    delivery_id bigint NOT NULL,
    service_id integer NOT NULL,
    block integer NOT NULL,
    -- That of the block's lock. With another one, other deliveries have counted messages since.
    version bigint NOT NULL,
    persons bit varying NOT NULL,
    PRIMARY KEY (delivery_id, service_id, block)
);
COMMENT ON TABLE pushmta_engine.cap_reached IS
    'Whom a delivery in preparation may not reach, for each block of persons that it has asked for.';

CREATE TABLE pushmta_engine.cap_sum (
    service_id integer NOT NULL,
    -- How many days a sum has: 8 of days, 64 of sums of 8.
    days integer NOT NULL CHECK (days IN (8, 64)),
    -- The days before this one are summed up. A multiple of so many days since 2000.
    through date NOT NULL,
    -- Of the next days, the blocks up to this one are, too.
    block integer NOT NULL DEFAULT -1,
    PRIMARY KEY (service_id, days)
);
COMMENT ON TABLE pushmta_engine.cap_sum IS 'How far the history of frequency caps is summed up, for each service and length of sums.';

CREATE FUNCTION pushmta_engine.sum_day(day date, days integer) RETURNS date LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN day + (days - 1 - (day - date '2000-01-01' + days - 1) % days);
COMMENT ON FUNCTION pushmta_engine.sum_day(date, integer) IS
    'The first day, from this one on, at which a sum of so many days of the history of frequency caps begins.';

-- Numbers in bits: for 4,096 persons at once.

CREATE AGGREGATE pushmta_engine.bits_at(place integer, value integer) (
    SFUNC = pg_catalog.set_bit, STYPE = pg_catalog.bit,
    -- 4,096 bits.
    INITCOND = 'X000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000'
        '000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000'
        '000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000'
        '000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000'
        '000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000'
        '000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000'
        '000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000'
        '000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000'
        '0000000000000000000000000000000000000000000000000000000000000000');
COMMENT ON AGGREGATE pushmta_engine.bits_at(integer, integer) IS 'A block of 4,096 bits with these values at these places.';

CREATE FUNCTION pushmta_engine.no_bits() RETURNS bit varying LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN 0::bit(4096);
COMMENT ON FUNCTION pushmta_engine.no_bits() IS 'A block of 4,096 bits that are all 0.';

CREATE FUNCTION pushmta_engine.any_bits(digits bit varying[]) RETURNS bit varying LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pushmta_engine, pg_temp AS $$
    SELECT coalesce(bit_or(d.bits::bit(4096)), no_bits()) FROM unnest(digits) d(bits) $$;
COMMENT ON FUNCTION pushmta_engine.any_bits(bit varying[]) IS 'Which of 4,096 numbers are not 0. The lowest digits come first.';

CREATE FUNCTION pushmta_engine.add_bits(digits bit varying[], bits bit varying, digit integer DEFAULT 0) RETURNS bit varying[]
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    none CONSTANT bit varying := no_bits();
    sums bit varying[] := coalesce(digits, '{}');
    carry bit varying := bits;
    rest bit varying;
    n integer := digit;
BEGIN
    WHILE carry <> none LOOP
        WHILE cardinality(sums) <= n LOOP
            sums := sums || none;
        END LOOP;
        n := n + 1;
        rest := sums[n];
        sums[n] := rest # carry;
        carry := rest & carry;
    END LOOP;
    RETURN sums;
END $$;
COMMENT ON FUNCTION pushmta_engine.add_bits(bit varying[], bit varying, integer) IS
    'Adds a bit of value 2 ^ digit to each of 4,096 numbers.';

CREATE FUNCTION pushmta_engine.plus_bits(digits bit varying[], more bit varying[]) RETURNS bit varying[] LANGUAGE plpgsql
    IMMUTABLE PARALLEL SAFE SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    sums bit varying[] := digits;
BEGIN
    FOR n IN 1..cardinality(more) LOOP
        sums := add_bits(sums, more[n], n - 1);
    END LOOP;
    RETURN sums;
END $$;
COMMENT ON FUNCTION pushmta_engine.plus_bits(bit varying[], bit varying[]) IS
    'Adds 4,096 numbers to 4,096 others. The lowest digits come first.';

CREATE FUNCTION pushmta_engine.less_bits(digits bit varying[], less bit varying[]) RETURNS bit varying[] LANGUAGE plpgsql
    IMMUTABLE PARALLEL SAFE SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    none CONSTANT bit varying := no_bits();
    rests bit varying[] := digits;
    borrow bit varying := none;
    old bit varying;
    minus bit varying;
BEGIN
    FOR n IN 1..greatest(cardinality(digits), cardinality(less)) LOOP
        old := coalesce(digits[n], none);
        minus := coalesce(less[n], none);
        rests[n] := old # minus # borrow;
        borrow := ((~old) & (minus | borrow)) | (minus & borrow);
    END LOOP;
    -- Never below 0.
    RETURN CASE WHEN borrow = none THEN rests ELSE ARRAY(SELECT r.bits & ~borrow FROM unnest(rests) WITH ORDINALITY r(bits, n)
        ORDER BY r.n) END;
END $$;
COMMENT ON FUNCTION pushmta_engine.less_bits(bit varying[], bit varying[]) IS
    'Subtracts 4,096 numbers from 4,096 others; 0 where the first is greater. The lowest digits come first.';

CREATE FUNCTION pushmta_engine.sum_bits(maps bit varying[], digits smallint[]) RETURNS bit varying[] LANGUAGE plpgsql
    IMMUTABLE PARALLEL SAFE SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    none CONSTANT "bit" := no_bits();
    sums bit varying[] := ARRAY[]::bit varying[];
    place integer := 1;
    upto integer := 1;
    digit integer := 0;
    carries "bit"[] := ARRAY[]::"bit"[];
    level "bit"[];
    sum "bit"; half "bit"; map "bit"; part "bit"; carry "bit";
BEGIN
    WHILE place <= cardinality(maps) OR cardinality(carries) > 0 LOOP
        WHILE digits[upto] <= digit LOOP
            upto := upto + 1;
        END LOOP;
        level := carries || maps[place : upto - 1]::"bit"[];
        place := upto;
        carries := '{}';
        sum := none;
        half := NULL;
        -- Two at once: five operations turn three bits into the two digits of their sum. One by one, each would be carried to the top.
        FOREACH map IN ARRAY level LOOP
            IF half IS NULL THEN
                half := map;
                CONTINUE;
            END IF;
            part := sum # half;
            carry := (sum & half) | (part & map);
            sum := part # map;
            half := NULL;
            IF carry <> none THEN
                carries := carries || carry;
            END IF;
        END LOOP;
        IF half IS NOT NULL THEN
            carry := sum & half;
            sum := sum # half;
            IF carry <> none THEN
                carries := carries || carry;
            END IF;
        END IF;
        sums := sums || sum::bit varying;
        digit := digit + 1;
    END LOOP;
    RETURN sums;
END $$;
COMMENT ON FUNCTION pushmta_engine.sum_bits(bit varying[], smallint[]) IS
    'Adds up blocks of 4,096 bits, each a digit of value 2 ^ digit, in rising order of digits. Returns the digits of the 4,096 sums, the '
    'lowest first.';

CREATE FUNCTION pushmta_engine.reached_bits(maps bit varying[], digits smallint[], most integer) RETURNS bit varying LANGUAGE plpgsql
    IMMUTABLE PARALLEL SAFE SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    sums bit varying[];
    above bit varying := no_bits();
    equal bit varying := ~no_bits();
BEGIN
    IF maps IS NULL THEN
        RETURN above;
    END IF;
    sums := sum_bits(maps, digits);
    -- No sum is as large as 2 ^ cardinality(sums).
    IF most >> cardinality(sums) > 0 THEN
        RETURN above;
    END IF;
    FOR n IN REVERSE cardinality(sums)..1 LOOP
        IF (most >> (n - 1)) & 1 = 1 THEN
            equal := equal & sums[n];
        ELSE
            above := above | (equal & sums[n]);
        END IF;
    END LOOP;
    RETURN above | equal;
END $$;
COMMENT ON FUNCTION pushmta_engine.reached_bits(bit varying[], smallint[], integer) IS
    'Which of the 4,096 sums of sum_bits are at least this number.';

CREATE FUNCTION pushmta_engine.person_numbers(deliveries bigint[], services integer[], persons bigint[])
    RETURNS TABLE (delivery bigint, service integer, block integer, numbers bit varying[]) LANGUAGE sql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
    WITH person AS MATERIALIZED (
        SELECT u.delivery, u.service, (u.person >> 12)::integer AS block, (u.person & 4095)::integer AS spot, count(*) AS n
        FROM unnest(deliveries, services, persons) u(delivery, service, person) GROUP BY 1, 2, 3, 4
    ), digit AS (
        -- Digit by digit: a user key that says nothing may belong to any number of devices.
        SELECT p.delivery, p.service, p.block, d.n, bits_at(p.spot, ((p.n >> d.n) & 1)::integer)::bit varying AS bits
        FROM person p CROSS JOIN generate_series(0, (SELECT floor(log(2, max(x.n)))::integer FROM person x)) d(n) GROUP BY 1, 2, 3, 4
    )
    SELECT d.delivery, d.service, d.block, array_agg(d.bits ORDER BY d.n) FROM digit d GROUP BY 1, 2, 3 $$;
COMMENT ON FUNCTION pushmta_engine.person_numbers(bigint[], integer[], bigint[]) IS
    'How many elements there are of each delivery, service and person: numbers of each block of persons, the lowest digits first. Blocks '
    'without any are left out.';

-- Rules.

CREATE FUNCTION pushmta_engine.cap_rules(delivery bigint, service integer) RETURNS SETOF pushmta_engine.frequency_cap
    LANGUAGE plpgsql STABLE SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
BEGIN
    RETURN QUERY SELECT c.* FROM pushmta_engine.frequency_cap c JOIN pushmta_engine.delivery d ON d.id = delivery
    WHERE c.service_id = service AND d.kind = 'batch' AND NOT d.proof AND NOT EXISTS (SELECT FROM recall r
            WHERE d.id = ANY(r.earlier_ids || r.child_id))
        AND CASE WHEN c.categories IS NULL THEN NOT d.one_time_code AND NOT is_transactional(d.id, service)
            ELSE coalesce(delivery_category(d.id, service) = ANY(c.categories), false) END
    ORDER BY c.id;
END $$;
COMMENT ON FUNCTION pushmta_engine.cap_rules(bigint, integer) IS
    'The frequency caps of a service that a delivery is subject to. Proofs and deliveries that replace or remove recalled messages are '
    'not; one-time codes and transactional deliveries only to caps that name their category.';

CREATE FUNCTION pushmta_engine.cap_kind(delivery bigint) RETURNS smallint LANGUAGE plpgsql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    kind smallint;
BEGIN
    -- Nearly all services have none.
    IF NOT EXISTS (SELECT FROM frequency_cap) THEN
        RETURN 0;
    END IF;
    SELECT max(CASE r.per WHEN 'recipient_day' THEN 2 ELSE 1 END) INTO kind
    FROM (SELECT DISTINCT a.service_id FROM delivery_application x JOIN application a ON a.id = x.application_id
        WHERE x.delivery_id = delivery) v
    CROSS JOIN LATERAL cap_rules(delivery, v.service_id) r;
    RETURN coalesce(kind, 0);
END $$;
COMMENT ON FUNCTION pushmta_engine.cap_kind(bigint) IS
    '0: no frequency cap applies to a delivery. 1: some do. 2: some do, and one is for the day of the recipient.';

CREATE FUNCTION pushmta_engine.counted_categories(service integer, categories integer[]) RETURNS integer[] LANGUAGE plpgsql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
BEGIN
    RETURN coalesce(categories, ARRAY(SELECT k.id FROM pushmta_engine.category k
        WHERE k.service_id = service AND NOT k.is_transactional) || 0);
END $$;
COMMENT ON FUNCTION pushmta_engine.counted_categories(integer, integer[]) IS
    'The categories that a frequency cap counts; 0 is none. If it names no categories: all that are not transactional.';

-- Asking and counting.

CREATE FUNCTION pushmta_engine.lock_persons(service integer, blocks integer[], delivery bigint) RETURNS void LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp SET enable_seqscan = off AS $$
#variable_conflict use_variable
DECLARE
    groups integer[] := ARRAY(SELECT DISTINCT b.n >> 2 FROM unnest(blocks) b(n) ORDER BY 1);
    changed integer[];
BEGIN
    INSERT INTO cap_lock (service_id, persons) SELECT service, g.n FROM unnest(groups) g(n) ORDER BY g.n ON CONFLICT DO NOTHING;
    changed := ARRAY(SELECT x.persons FROM (SELECT l.persons, l.delivery_id FROM cap_lock l
        WHERE l.service_id = service AND l.persons = ANY(groups) ORDER BY l.persons FOR NO KEY UPDATE) x WHERE x.delivery_id <> delivery);
    UPDATE cap_lock l SET delivery_id = delivery, version = l.version + 1 WHERE l.service_id = service AND l.persons = ANY(changed);
END $$;
COMMENT ON FUNCTION pushmta_engine.lock_persons(integer, integer[], bigint) IS
    'Locks the groups of persons in these blocks, in rising order, for a delivery (0: none). The caller''s next statement sees what was '
    'counted before.';

CREATE FUNCTION pushmta_engine.capped_delivery_of(delivery bigint, service integer) RETURNS pushmta_engine.capped_delivery
    LANGUAGE plpgsql SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    place capped_delivery;
BEGIN
    SELECT c.* INTO place FROM pushmta_engine.capped_delivery c WHERE c.delivery_id = delivery AND c.service_id = service;
    IF NOT FOUND THEN
        INSERT INTO pushmta_engine.capped_delivery (delivery_id, service_id, category_id, counts_at, day)
        SELECT d.id, v.id, coalesce(delivery_category(d.id, v.id), 0), m.moment, (m.moment AT TIME ZONE v.time_zone)::date
        FROM pushmta_engine.delivery d CROSS JOIN pushmta_engine.service v
        -- Days before are soon folded.
        CROSS JOIN LATERAL (SELECT greatest(d.filter_now, d.start_at, now() - interval '1 day')) m(moment)
        WHERE d.id = delivery AND v.id = service
        RETURNING * INTO place;
    END IF;
    RETURN place;
END $$;
COMMENT ON FUNCTION pushmta_engine.capped_delivery_of(bigint, integer) IS
    'When the messages of a delivery, which the caller has locked, count in a service, and as which category.';

CREATE FUNCTION pushmta_engine.cap_windows(service integer, moment timestamptz, zones text[])
    RETURNS TABLE (zone text, number integer, begins timestamptz, ends timestamptz) LANGUAGE plpgsql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY SELECT w.given, dense_rank() OVER (ORDER BY w.begins, w.ends)::integer, w.begins, w.ends
    FROM (SELECT g.given, date_trunc('day', moment AT TIME ZONE n.name) AT TIME ZONE n.name AS begins,
            (date_trunc('day', moment AT TIME ZONE n.name) + interval '1 day') AT TIME ZONE n.name AS ends
        FROM (SELECT DISTINCT u.given FROM unnest(zones) u(given)) g
        JOIN pushmta_engine.service v ON v.id = cap_windows.service
        LEFT JOIN time_zone z ON z.name = g.given
        CROSS JOIN LATERAL (SELECT coalesce(z.name, v.time_zone)) n(name)) w;
END $$;
COMMENT ON FUNCTION pushmta_engine.cap_windows(integer, timestamptz, text[]) IS
    'The day that contains a moment in each of these time zones. Zones with the same day have the same number. The service''s own stands '
    'for a zone that is not known.';

CREATE FUNCTION pushmta_engine.count_bits(place pushmta_engine.capped_delivery, blocks integer[], bits bit varying[]) RETURNS void
    LANGUAGE plpgsql SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_column
BEGIN
    INSERT INTO cap_history AS h (service_id, block, day, category_id, delivery_id, digit, counts_at, persons)
    SELECT place.service_id, b.n, place.day, place.category_id, place.delivery_id, 0, place.counts_at, b.bits
    FROM unnest(blocks, bits) b(n, bits) WHERE b.bits <> no_bits() ORDER BY b.n
    ON CONFLICT ON CONSTRAINT cap_history_pkey DO UPDATE SET persons = h.persons | excluded.persons,
        more = CASE WHEN h.persons & excluded.persons = no_bits() THEN h.more ELSE add_bits(h.more, h.persons & excluded.persons) END;
END $$;
COMMENT ON FUNCTION pushmta_engine.count_bits(pushmta_engine.capped_delivery, integer[], bit varying[]) IS
    'Counts a message of a delivery to each person whose bit is set.';

CREATE FUNCTION pushmta_engine.count_more(place pushmta_engine.capped_delivery, persons bigint[], blocks integer[], bits bit varying[])
    RETURNS void LANGUAGE plpgsql SET search_path = pushmta_engine, pg_temp SET enable_nestloop = off SET enable_mergejoin = off AS $$
#variable_conflict use_column
DECLARE
    -- Nearly all have one, so those with several are found first.
    further bigint[] := ARRAY(SELECT p.person FROM (SELECT u.person, count(*)::integer AS n FROM (SELECT unnest(persons) AS person) u
                GROUP BY 1 HAVING count(*) > 1) p
            JOIN unnest(blocks, bits) b(n, bits) ON b.n = (p.person >> 12)::integer CROSS JOIN generate_series(2, p.n)
        WHERE get_bit(b.bits, (p.person & 4095)::integer) = 1);
BEGIN
    UPDATE cap_history h SET more = plus_bits(h.more, n.numbers)
    FROM person_numbers(NULL, NULL, further) n
    WHERE h.service_id = place.service_id AND h.day = place.day AND h.block = ANY(blocks) AND h.block = n.block
        AND h.category_id = place.category_id AND h.delivery_id = place.delivery_id AND h.digit = 0;
END $$;
COMMENT ON FUNCTION pushmta_engine.count_more(pushmta_engine.capped_delivery, bigint[], integer[], bit varying[]) IS
    'Counts the second and further messages of a delivery to persons of these blocks who have several of these elements and whose bit is '
    'set. Their rows are there and locked.';

CREATE FUNCTION pushmta_engine.cap_days(service integer, per text, length integer, start date)
    RETURNS TABLE (day date, kind integer) LANGUAGE plpgsql STABLE SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_column
DECLARE
    -- Caps in hours, and for the recipient's day, read moments, which folded days do not have: see day_to_fold.
    first CONSTANT date := start + 1 - CASE per WHEN 'days' THEN length ELSE 5 END;
    last CONSTANT date := (SELECT max(h.day) FROM cap_history h WHERE h.service_id = cap_days.service);
    first_8 CONSTANT date := sum_day(first, 8);
    first_64 CONSTANT date := sum_day(first, 64);
    -- greatest ignores null.
    end_8 CONSTANT date := greatest(first_8, (SELECT s.through FROM cap_sum s WHERE s.service_id = cap_days.service AND s.days = 8));
    end_64 CONSTANT date := greatest(first_64, (SELECT s.through FROM cap_sum s WHERE s.service_id = cap_days.service AND s.days = 64));
BEGIN
    RETURN QUERY SELECT first + n, 0 FROM generate_series(0, last - first) n WHERE first + n < first_8 OR first + n >= end_8
    UNION ALL
    SELECT first_8 + n, -8 FROM generate_series(0, end_8 - first_8 - 8, 8) n WHERE first_8 + n < first_64 OR first_8 + n >= end_64
    UNION ALL
    SELECT first_64 + n, -64 FROM generate_series(0, end_64 - first_64 - 64, 64) n;
END $$;
COMMENT ON FUNCTION pushmta_engine.cap_days(integer, text, integer, date) IS
    'What of the history a frequency cap reads for a delivery of a day: days (kind 0), and the first days of sums (-8, -64).';

CREATE FUNCTION pushmta_engine.reached_persons(place pushmta_engine.capped_delivery, rules pushmta_engine.frequency_cap[],
    blocks integer[], zones text[]) RETURNS TABLE (block integer, begins timestamptz, persons bit varying) LANGUAGE plpgsql STABLE
    SET search_path = pushmta_engine, pg_temp SET enable_mergejoin = off SET enable_seqscan = off AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    WITH rule AS MATERIALIZED (
        SELECT r.id, r.max_messages, r.per, r.length, counted_categories(r.service_id, r.categories) AS counts FROM unnest(rules) r
    ), span AS MATERIALIZED (
        SELECT DISTINCT a.block, w.begins, w.ends
        FROM unnest(blocks, zones) a(block, zone) JOIN cap_windows(place.service_id, place.counts_at, zones) w ON w.zone = a.zone
    ), neighbours AS MATERIALIZED (
        SELECT min(g.block) AS first, max(g.block) AS last
        FROM (SELECT e.block, count(*) FILTER (WHERE e.gap > 4) OVER (ORDER BY e.block) AS n
            FROM (SELECT u.block, u.block - lag(u.block) OVER (ORDER BY u.block) AS gap
                FROM (SELECT DISTINCT x.block FROM unnest(blocks) x(block)) u) e) g
        GROUP BY g.n
    ), found AS (
        -- OFFSET 0: look-ups one by one, by the index.
        SELECT r.id, r.max_messages, r.per, h.block, h.counts_at, h.digit, h.persons
        FROM rule r CROSS JOIN LATERAL cap_days(place.service_id, r.per, r.length, place.day) d CROSS JOIN neighbours n
        CROSS JOIN LATERAL (SELECT x.* FROM cap_history x WHERE x.service_id = place.service_id AND x.day = d.day
            AND x.block >= n.first AND x.block <= n.last AND x.category_id = ANY(r.counts) AND x.delivery_id <> place.delivery_id
            AND least(x.delivery_id, 0) = d.kind
            AND (r.per <> 'hours' OR x.counts_at > place.counts_at - r.length * interval '1 hour') OFFSET 0) h
    ), counted AS (
        SELECT f.id, f.max_messages, f.block, s.begins, f.digit, f.persons
        FROM found f LEFT JOIN span s ON f.per = 'recipient_day' AND s.block = f.block AND f.counts_at >= s.begins AND f.counts_at < s.ends
        WHERE f.per <> 'recipient_day' OR s.block IS NOT NULL
        -- sum_bits needs digits in rising order.
        ORDER BY f.id, f.max_messages, f.block, s.begins, f.digit
    )
    SELECT g.block, g.begins, bit_or(g.bits)::bit varying
    FROM (SELECT c.block, c.begins, reached_bits(array_agg(c.persons), array_agg(c.digit), c.max_messages) AS bits
        FROM counted c GROUP BY c.id, c.max_messages, c.block, c.begins) g
    GROUP BY 1, 2;
END $$;
COMMENT ON FUNCTION pushmta_engine.reached_persons(pushmta_engine.capped_delivery, pushmta_engine.frequency_cap[], integer[], text[]) IS
    'Which persons of these blocks have as many messages as a rule allows, apart from those of the delivery: in the time before it, or '
    'planned for later. Days are those of the service, the delivery''s own included. begins: only in the zones whose day begins then.';

CREATE FUNCTION pushmta_engine.known_reached(place pushmta_engine.capped_delivery, rules pushmta_engine.frequency_cap[], blocks integer[])
    RETURNS TABLE (block integer, begins timestamptz, persons bit varying) LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp SET enable_mergejoin = off SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
    missing integer[] := ARRAY(SELECT b.block FROM unnest(blocks) b(block) CROSS JOIN LATERAL (SELECT l.version FROM cap_lock l
            WHERE l.service_id = place.service_id AND l.persons = b.block >> 2 OFFSET 0) l
        LEFT JOIN LATERAL (SELECT k.version FROM cap_reached k WHERE k.delivery_id = place.delivery_id
            AND k.service_id = place.service_id AND k.block = b.block OFFSET 0) k ON true
        WHERE k.version IS DISTINCT FROM l.version);
BEGIN
    IF missing <> '{}' THEN
        INSERT INTO cap_reached AS c (delivery_id, service_id, block, version, persons)
        SELECT place.delivery_id, place.service_id, m.block, l.version, coalesce(r.persons, no_bits())
        FROM unnest(missing) m(block) JOIN cap_lock l ON l.service_id = place.service_id AND l.persons = m.block >> 2
        LEFT JOIN reached_persons(place, rules, missing, NULL) r ON r.block = m.block
        ON CONFLICT ON CONSTRAINT cap_reached_pkey DO UPDATE SET version = excluded.version, persons = excluded.persons;
    END IF;
    RETURN QUERY SELECT b.block, NULL::timestamptz, k.persons FROM unnest(blocks) b(block)
        CROSS JOIN LATERAL (SELECT x.persons FROM cap_reached x WHERE x.delivery_id = place.delivery_id
            AND x.service_id = place.service_id AND x.block = b.block OFFSET 0) k;
END $$;
COMMENT ON FUNCTION pushmta_engine.known_reached(pushmta_engine.capped_delivery, pushmta_engine.frequency_cap[], integer[]) IS
    'Does what reached_persons does without time zones, for locked blocks. What no other delivery has changed since is not computed again.';

CREATE FUNCTION pushmta_engine.free_persons(place pushmta_engine.capped_delivery, rules pushmta_engine.frequency_cap[],
    INOUT blocks integer[], zones text[], INOUT bits bit varying[], OUT are_all boolean) LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp SET enable_mergejoin = off SET enable_seqscan = off AS $$
#variable_conflict use_column
BEGIN
    WITH asked AS MATERIALIZED (
        SELECT a.block, w.begins, bit_or(a.bits) AS bits
        FROM unnest(blocks, zones, bits) a(block, zone, bits)
        LEFT JOIN cap_windows(place.service_id, place.counts_at, zones) w ON w.zone = a.zone GROUP BY 1, 2
    ), reached AS MATERIALIZED (
        SELECT k.* FROM known_reached(place, rules, blocks) k WHERE zones IS NULL
        UNION ALL
        SELECT r.* FROM reached_persons(place, rules, blocks, zones) r WHERE zones IS NOT NULL
    ), free AS MATERIALIZED (
        -- Who has a message of this delivery already gets it on all devices.
        SELECT a.block, bit_or(a.bits & (coalesce(own.persons, no_bits())
            | ~(coalesce(m.persons, no_bits()) | coalesce(z.persons, no_bits())))) AS bits, bit_or(a.bits) AS asked
        FROM asked a
        LEFT JOIN reached m ON m.block = a.block AND m.begins IS NULL
        LEFT JOIN reached z ON z.block = a.block AND z.begins = a.begins
        LEFT JOIN LATERAL (SELECT x.persons FROM cap_history x WHERE x.service_id = place.service_id AND x.day = place.day
            AND x.block = a.block AND x.category_id = place.category_id AND x.delivery_id = place.delivery_id AND x.digit = 0
            OFFSET 0) own ON true
        GROUP BY a.block
    )
    SELECT array_agg(f.block ORDER BY f.block), array_agg(f.bits ORDER BY f.block), bool_and(f.bits = f.asked)
    INTO blocks, bits, are_all FROM free f;
END $$;
COMMENT ON FUNCTION pushmta_engine.free_persons(pushmta_engine.capped_delivery, pushmta_engine.frequency_cap[], integer[], text[],
    bit varying[]) IS 'Which of the persons with a set bit may get a message of a delivery, and whether all may.';

CREATE FUNCTION pushmta_engine.recipient_zones(service integer, ids bigint[], zones text[]) RETURNS text[] LANGUAGE plpgsql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
BEGIN
    IF NOT EXISTS (SELECT FROM application a WHERE a.service_id = service AND zone_column(a.subscription_parameters) IS NOT NULL) THEN
        RETURN zones;
    END IF;
    RETURN ARRAY(SELECT coalesce(z.name, column_value(a.column_name, s.recipient, s.parameters), u.zone)
        FROM unnest(ids, zones) WITH ORDINALITY u(id, zone, n)
        LEFT JOIN time_zone z ON z.name = u.zone
        LEFT JOIN subscription s ON s.id = u.id AND z.name IS NULL
        LEFT JOIN (SELECT x.id, zone_column(x.subscription_parameters) AS column_name FROM application x
            WHERE x.service_id = service) a ON a.id = s.application_id
        ORDER BY u.n);
END $$;
COMMENT ON FUNCTION pushmta_engine.recipient_zones(integer, bigint[], text[]) IS
    'The time zones of subscriptions of a service. Where one has none, that of the column which its application declares as the time zone.';

CREATE FUNCTION pushmta_engine.ask_caps(delivery bigint, service integer, ids bigint[], persons bigint[], zones text[],
    OUT passed bigint[], OUT capped bigint[]) LANGUAGE plpgsql SET search_path = pushmta_engine, pg_temp SET enable_nestloop = off
    SET enable_mergejoin = off SET lock_timeout = '2s' AS $$
#variable_conflict use_variable
DECLARE
    rules frequency_cap[] := ARRAY(SELECT r FROM cap_rules(delivery, service) r);
    place capped_delivery;
    asked record;
    free record;
    several integer[];
BEGIN
    IF ids IS NULL THEN
        RETURN;
    ELSIF rules = '{}' THEN
        passed := ARRAY(SELECT unnest(ids) AS id ORDER BY id);
        RETURN;
    END IF;
    -- Two lists in step take half the time of a table of both.
    IF zones IS NULL THEN
        SELECT array_agg(g.block) AS blocks, NULL::text[] AS zones, array_agg(g.bits) AS bits, array_agg(g.n) AS n INTO asked
        FROM (SELECT (u.person >> 12)::integer AS block, bits_at((u.person & 4095)::integer, 1)::bit varying AS bits, count(*) AS n
            FROM (SELECT unnest(persons) AS person) u GROUP BY 1) g;
    ELSE
        zones := recipient_zones(service, ids, zones);
        SELECT array_agg(g.block) AS blocks, array_agg(g.zone) AS zones, array_agg(g.bits) AS bits, array_agg(g.n) AS n INTO asked
        FROM (SELECT (u.person >> 12)::integer AS block, u.zone, bits_at((u.person & 4095)::integer, 1)::bit varying AS bits,
                count(*) AS n
            FROM (SELECT unnest(persons) AS person, unnest(zones) AS zone) u GROUP BY 1, 2) g;
    END IF;
    PERFORM lock_persons(service, asked.blocks, delivery);
    place := capped_delivery_of(delivery, service);
    SELECT f.* INTO free FROM free_persons(place, rules, asked.blocks, asked.zones, asked.bits) f;
    IF free.are_all THEN
        passed := ARRAY(SELECT unnest(ids) AS id ORDER BY id);
    ELSE
        SELECT array_agg(t.id ORDER BY t.id) FILTER (WHERE t.passes), array_agg(t.id) FILTER (WHERE NOT t.passes)
        INTO passed, capped
        FROM (SELECT u.id, get_bit(f.bits, (u.person & 4095)::integer) = 1 AS passes
            FROM (SELECT unnest(ids) AS id, unnest(persons) AS person) u
            JOIN (SELECT unnest(free.blocks) AS block, unnest(free.bits) AS bits) f ON f.block = (u.person >> 12)::integer) t;
    END IF;
    PERFORM count_bits(place, free.blocks, free.bits);
    -- Blocks in which a person has several of the devices.
    several := ARRAY(SELECT a.block FROM unnest(asked.blocks, asked.bits, asked.n) a(block, bits, n) GROUP BY a.block
        HAVING sum(a.n) > bit_count(bit_or(a.bits)::"bit"));
    IF several <> '{}' THEN
        PERFORM count_more(place, persons, array_agg(f.block), array_agg(f.bits)) FROM unnest(free.blocks, free.bits) f(block, bits)
        WHERE f.block = ANY(several);
    END IF;
END $$;
COMMENT ON FUNCTION pushmta_engine.ask_caps(bigint, integer, bigint[], bigint[], text[]) IS
    'Asks the frequency caps of a service for messages of a delivery, which the caller has locked, and counts those that may be sent: '
    'the subscriptions (ids), their persons, and, if a cap is for the day of the recipient, their time zones. Returns the subscriptions '
    'that get the message, in rising order, and those that do not.';

-- Giving back.

CREATE FUNCTION pushmta_engine.uncount_persons(deliveries bigint[], services integer[], persons bigint[]) RETURNS void LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp SET enable_seqscan = off AS $$
#variable_conflict use_column
BEGIN
    WITH found AS MATERIALIZED (
        SELECT h.service_id, h.block, h.day, h.category_id, h.delivery_id, b.numbers
        FROM person_numbers(deliveries, services, persons) b
        JOIN capped_delivery c ON c.delivery_id = b.delivery AND c.service_id = b.service
        JOIN cap_history h ON h.service_id = b.service AND h.block = b.block AND h.day = c.day AND h.category_id = c.category_id
            AND h.delivery_id = b.delivery AND h.digit = 0
        ORDER BY h.delivery_id, h.service_id, h.block FOR NO KEY UPDATE OF h
    )
    UPDATE cap_history h SET persons = any_bits(less_bits(add_bits(h.more, h.persons), f.numbers)),
        more = CASE WHEN h.more IS NOT NULL THEN less_bits(less_bits(add_bits(h.more, h.persons), f.numbers),
            ARRAY[any_bits(less_bits(add_bits(h.more, h.persons), f.numbers))]) END
    FROM found f
    WHERE h.service_id = f.service_id AND h.block = f.block AND h.day = f.day AND h.category_id = f.category_id
        AND h.delivery_id = f.delivery_id AND h.digit = 0;
END $$;
COMMENT ON FUNCTION pushmta_engine.uncount_persons(bigint[], integer[], bigint[]) IS
    'Takes messages that ended unsent out of the history, one for each element. Folded days stay as they are.';

CREATE FUNCTION pushmta_engine.give_back(parts bigint[], day date) RETURNS void LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    unsent bigint[] := ARRAY(SELECT p.id FROM delivery_part p WHERE p.id = ANY(parts)
        AND (p.ignored + p.failed + p.not_applicable + p.canceled > 0 OR p.rest_status <> 9)
        AND EXISTS (SELECT FROM capped_delivery c WHERE c.delivery_id = p.delivery_id));
    deliveries bigint[];
    services integer[];
    persons bigint[];
BEGIN
    IF unsent = '{}' THEN
        RETURN;
    END IF;
    EXECUTE format($sql$
        WITH part AS MATERIALIZED (
            SELECT p.id, p.delivery_id, p.rest_status, a.service_id, t.first_sequence, t.last_sequence, t.sequences, t.subscription_ids,
                -- The last numbers are those of seed addresses, which do not count and have no cell.
                CASE WHEN p.cell IS NULL THEN (d.target - d.seeds)::integer ELSE 2147483647 END AS last_counted
            FROM delivery_part p JOIN delivery_part_target t ON t.log_day = %1$L AND t.part_id = p.id
            JOIN delivery d ON d.id = p.delivery_id JOIN application a ON a.id = p.application_id
            WHERE p.id = ANY($1)
        ), outcome AS (
            SELECT p.delivery_id, p.service_id, b.subscription_id, b.sequence, p.last_counted, b.status
            FROM part p JOIN broad_log b ON b.log_day = %1$L AND b.delivery_id = p.delivery_id
                AND b.sequence BETWEEN p.first_sequence AND p.last_sequence AND b.part_id = p.id
            WHERE p.sequences IS NULL
            UNION ALL
            SELECT p.delivery_id, p.service_id, b.subscription_id, b.sequence, p.last_counted, b.status
            FROM part p CROSS JOIN LATERAL unnest(p.sequences) u(sequence)
            JOIN broad_log b ON b.log_day = %1$L AND b.delivery_id = p.delivery_id AND b.sequence = u.sequence AND b.part_id = p.id
            WHERE p.sequences IS NOT NULL
            UNION ALL
            SELECT p.delivery_id, p.service_id, u.subscription_id, n.sequence, p.last_counted, p.rest_status
            FROM part p CROSS JOIN LATERAL unnest(p.subscription_ids) WITH ORDINALITY u(subscription_id, place)
            CROSS JOIN LATERAL (SELECT coalesce(p.sequences[u.place], (p.first_sequence + u.place - 1)::integer)) n(sequence)
            WHERE p.rest_status IS NOT NULL AND NOT EXISTS (SELECT FROM broad_log b
                WHERE b.log_day = %1$L AND b.delivery_id = p.delivery_id AND b.sequence = n.sequence)
        )
        SELECT array_agg(o.delivery_id), array_agg(o.service_id), array_agg(coalesce(s.person_id, s.id))
        FROM outcome o JOIN subscription s ON s.id = o.subscription_id
        -- 1: sent. 9: unknown, so perhaps seen.
        WHERE o.status NOT IN (1, 9) AND o.sequence <= o.last_counted $sql$, day)
    INTO deliveries, services, persons USING unsent;
    PERFORM uncount_persons(deliveries, services, persons);
END $$;
COMMENT ON FUNCTION pushmta_engine.give_back(bigint[], date) IS
    'Takes the messages of done parts of one day that ended unsent out of the history of frequency caps. The caller marks the parts as '
    'counted in the same transaction, so this happens once for each.';

CREATE FUNCTION pushmta_engine.uncount_subscriptions(delivery bigint, ids bigint[]) RETURNS void LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    services integer[];
    persons bigint[];
BEGIN
    IF NOT EXISTS (SELECT FROM pushmta_engine.capped_delivery c WHERE c.delivery_id = delivery) THEN
        RETURN;
    END IF;
    SELECT array_agg(a.service_id), array_agg(coalesce(s.person_id, s.id)) INTO services, persons
    FROM unnest(ids) u(id) JOIN subscription s ON s.id = u.id JOIN application a ON a.id = s.application_id;
    PERFORM uncount_persons(array_fill(delivery, ARRAY[cardinality(persons)]), services, persons);
END $$;
COMMENT ON FUNCTION pushmta_engine.uncount_subscriptions(bigint, bigint[]) IS
    'Takes messages of a delivery out of the history that its preparation has counted and then not made, one for each element. The caller '
    'is the transaction that asked the caps for them.';

CREATE FUNCTION pushmta_engine.drop_caps(delivery bigint) RETURNS void LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp SET enable_seqscan = off AS $$
#variable_conflict use_variable
BEGIN
    DELETE FROM cap_history h USING pushmta_engine.capped_delivery c
    WHERE c.delivery_id = delivery AND h.day = c.day AND h.service_id = c.service_id AND h.delivery_id = delivery;
    DELETE FROM pushmta_engine.capped_delivery c WHERE c.delivery_id = delivery;
    DELETE FROM cap_reached r WHERE r.delivery_id = delivery;
END $$;
COMMENT ON FUNCTION pushmta_engine.drop_caps(bigint) IS
    'Takes all messages of a delivery out of the history of frequency caps: they were prepared and dropped.';

-- Keeping it compact.

CREATE FUNCTION pushmta_engine.day_to_fold(moment timestamptz, OUT service integer, OUT day date) LANGUAGE sql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
    -- Caps of up to three days read moments, which a folded day no longer has: those of the days before any delivery that is prepared
    -- now.
    SELECT c.service_id, c.day FROM capped_delivery c JOIN pushmta_engine.service v ON v.id = c.service_id
    WHERE c.day < least((moment AT TIME ZONE v.time_zone)::date, (SELECT min(o.day) FROM capped_delivery o
            JOIN delivery d ON d.id = o.delivery_id WHERE o.service_id = c.service_id AND NOT d.prepared
                AND d.state IN ('analysing', 'pending', 'preparing', 'paused'))) - 4
        AND NOT EXISTS (SELECT FROM capped_delivery o JOIN delivery d ON d.id = o.delivery_id
            WHERE o.service_id = c.service_id AND o.day = c.day AND (d.state NOT IN ('finished', 'stopped', 'recalled')
                OR EXISTS (SELECT FROM open_part p WHERE p.delivery_id = o.delivery_id)))
    ORDER BY c.day, c.service_id LIMIT 1 $$;
COMMENT ON FUNCTION pushmta_engine.day_to_fold(timestamptz) IS
    'The oldest day of the history of frequency caps whose deliveries have all ended and been counted, and that no cap in hours reads.';

CREATE FUNCTION pushmta_engine.fold_caps(most integer, moment timestamptz DEFAULT now()) RETURNS bigint LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off AS $$
DECLARE
    goal record;
    blocks integer[];
    folded bigint;
BEGIN
    SELECT f.service, f.day INTO goal FROM day_to_fold(moment) f;
    IF goal.day IS NULL THEN
        RETURN 0;
    END IF;
    blocks := ARRAY(SELECT DISTINCT h.block FROM cap_history h
        WHERE h.day = goal.day AND h.service_id = goal.service AND h.delivery_id > 0 ORDER BY 1 LIMIT most);
    IF blocks = '{}' THEN
        DELETE FROM capped_delivery c WHERE c.service_id = goal.service AND c.day = goal.day;
        RETURN 1;
    END IF;
    PERFORM lock_persons(goal.service, blocks, 0);
    WITH gone AS (
        DELETE FROM cap_history h WHERE h.service_id = goal.service AND h.block = ANY(blocks) AND h.day = goal.day
        RETURNING h.block, h.category_id, h.digit, h.persons
    ), total AS (
        SELECT g.block, g.category_id, sum_bits(array_agg(g.persons ORDER BY g.digit), array_agg(g.digit ORDER BY g.digit)) AS digits
        FROM gone g GROUP BY 1, 2
    ), kept AS (
        INSERT INTO cap_history (service_id, block, day, category_id, delivery_id, digit, persons)
        SELECT goal.service, t.block, goal.day, t.category_id, 0, u.place - 1, u.bits
        FROM total t CROSS JOIN LATERAL unnest(t.digits) WITH ORDINALITY u(bits, place)
        WHERE u.bits <> no_bits() ORDER BY 2, 4, 6
    )
    SELECT count(*) INTO folded FROM gone;
    RETURN folded;
END $$;
COMMENT ON FUNCTION pushmta_engine.fold_caps(integer, timestamptz) IS
    'Replaces the rows of deliveries of one day, for up to the given number of blocks of persons, by their sums. Returns how many rows it '
    'read, 0 if there is nothing to fold.';

CREATE FUNCTION pushmta_engine.sum_to_make(moment timestamptz, OUT service integer, OUT days integer) LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp SET enable_seqscan = off AS $$
#variable_conflict use_column
BEGIN
    INSERT INTO cap_sum (service_id, days, through)
    SELECT v.id, l.days, sum_day(f.day - l.days + 1, l.days) FROM pushmta_engine.service v
    CROSS JOIN LATERAL (SELECT min(h.day) AS day FROM cap_history h WHERE h.service_id = v.id) f
    CROSS JOIN (VALUES (8), (64)) l(days)
    WHERE f.day IS NOT NULL AND NOT EXISTS (SELECT FROM cap_sum s WHERE s.service_id = v.id)
        AND EXISTS (SELECT FROM cap_lock l WHERE l.service_id = v.id)
    ON CONFLICT DO NOTHING;
    SELECT s.service_id, s.days INTO service, days FROM cap_sum s JOIN pushmta_engine.service v ON v.id = s.service_id
    WHERE CASE s.days WHEN 8 THEN s.through + 12 < (moment AT TIME ZONE v.time_zone)::date
            AND NOT EXISTS (SELECT FROM capped_delivery c WHERE c.service_id = s.service_id AND c.day < s.through + 8)
        ELSE s.through + s.days <= (SELECT e.through FROM cap_sum e WHERE e.service_id = s.service_id AND e.days = 8) END
    ORDER BY s.through, s.days LIMIT 1;
END $$;
COMMENT ON FUNCTION pushmta_engine.sum_to_make(timestamptz) IS
    'A service that has 8 more folded days of the history of frequency caps, or 8 more sums of 8 days, and the days of the new sum.';

CREATE FUNCTION pushmta_engine.sum_caps(most integer, moment timestamptz DEFAULT now()) RETURNS bigint LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off AS $$
DECLARE
    wanted record;
    goal cap_sum;
    -- Of what the sum is made.
    kind integer;
    blocks integer[];
    summed bigint;
BEGIN
    SELECT w.* INTO wanted FROM sum_to_make(moment) w;
    SELECT s.* INTO goal FROM cap_sum s WHERE s.service_id = wanted.service AND s.days = wanted.days FOR UPDATE;
    IF NOT FOUND THEN
        RETURN 0;
    END IF;
    kind := CASE goal.days WHEN 8 THEN 0 ELSE -8 END;
    blocks := ARRAY(SELECT DISTINCT h.block FROM cap_history h WHERE h.day >= goal.through AND h.day < goal.through + goal.days
        AND h.service_id = goal.service_id AND h.delivery_id = kind AND h.block > goal.block ORDER BY 1 LIMIT most);
    IF blocks = '{}' THEN
        UPDATE cap_sum s SET through = s.through + s.days, block = -1 WHERE s.service_id = goal.service_id AND s.days = goal.days;
        RETURN 1;
    END IF;
    PERFORM lock_persons(goal.service_id, blocks, 0);
    WITH total AS (
        SELECT h.block, h.category_id, count(*) AS n,
            sum_bits(array_agg(h.persons ORDER BY h.digit), array_agg(h.digit ORDER BY h.digit)) AS digits
        FROM cap_history h WHERE h.service_id = goal.service_id AND h.block = ANY(blocks) AND h.day >= goal.through
            AND h.day < goal.through + goal.days AND h.delivery_id = kind
        GROUP BY 1, 2
    ), kept AS (
        INSERT INTO cap_history (service_id, block, day, category_id, delivery_id, digit, persons)
        SELECT goal.service_id, t.block, goal.through, t.category_id, -goal.days, u.place - 1, u.bits
        FROM total t CROSS JOIN LATERAL unnest(t.digits) WITH ORDINALITY u(bits, place)
        WHERE u.bits <> no_bits() ORDER BY 2, 4, 6
    )
    SELECT sum(t.n) INTO summed FROM total t;
    UPDATE cap_sum s SET block = blocks[cardinality(blocks)] WHERE s.service_id = goal.service_id AND s.days = goal.days;
    RETURN summed;
END $$;
COMMENT ON FUNCTION pushmta_engine.sum_caps(integer, timestamptz) IS
    'Adds the sums of 8 folded days, or of eight such sums, for up to the given number of blocks of persons. Returns how many rows it '
    'read, 0 if there is nothing to sum up.';

CREATE FUNCTION pushmta_engine.purge_caps(most integer) RETURNS bigint LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp SET enable_seqscan = off AS $$
DECLARE
    -- The longest cap is 180 days, and a sum is read only if all of its days count.
    oldest CONSTANT date := (now() AT TIME ZONE 'UTC')::date - 190;
    purged bigint;
BEGIN
    IF NOT retention_passes('history of frequency caps', EXISTS (SELECT FROM pushmta_engine.service v
        JOIN cap_history h ON h.service_id = v.id AND h.day < oldest - 3), false) THEN
        RETURN 0;
    END IF;
    DELETE FROM cap_history h WHERE h.ctid = ANY(ARRAY(SELECT x.ctid FROM pushmta_engine.service v
        JOIN cap_history x ON x.service_id = v.id AND x.day < oldest AND x.delivery_id <= 0
        ORDER BY x.service_id, x.day LIMIT most FOR UPDATE OF x SKIP LOCKED));
    GET DIAGNOSTICS purged = ROW_COUNT;
    PERFORM note_retention('history of frequency caps', purged);
    RETURN purged;
END $$;
COMMENT ON FUNCTION pushmta_engine.purge_caps(integer) IS
    'Deletes up to the given number of rows of the history of frequency caps that no cap can read any more; returns how many. If one is '
    'more than three days older, all are held for a day.';

CREATE FUNCTION pushmta_engine.keep_caps(most integer) RETURNS bigint LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp SET lock_timeout = '2s' AS $$
DECLARE
    changed bigint := fold_caps(most);
BEGIN
    DELETE FROM cap_reached r WHERE r.delivery_id = ANY(ARRAY(
        SELECT x.delivery_id FROM (SELECT DISTINCT k.delivery_id FROM cap_reached k) x
        JOIN pushmta_engine.delivery d ON d.id = x.delivery_id
        WHERE d.prepared OR d.state NOT IN ('analysing', 'pending', 'preparing', 'paused')));
    IF changed = 0 THEN
        changed := sum_caps(most);
    END IF;
    IF changed = 0 THEN
        changed := purge_caps(4 * most);
    END IF;
    RETURN changed;
END $$;
COMMENT ON FUNCTION pushmta_engine.keep_caps(integer) IS
    'Folds, sums up or deletes a piece of the history of frequency caps: about this many blocks of persons. Returns how many rows it read '
    'or deleted, 0 if nothing is left to do.';

CREATE FUNCTION pushmta_engine.forget_caps(apps integer[], ids bigint[]) RETURNS void LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp SET enable_seqscan = off AS $$
DECLARE
    found record;
BEGIN
    FOR found IN SELECT a.service_id AS service, array_agg(DISTINCT coalesce(s.person_id, s.id)) AS persons
        FROM subscription s JOIN application a ON a.id = s.application_id
        WHERE s.id = ANY(ids) AND s.application_id = ANY(apps) GROUP BY 1 ORDER BY 1
    LOOP
        CONTINUE WHEN NOT EXISTS (SELECT FROM cap_lock l WHERE l.service_id = found.service);
        PERFORM lock_persons(found.service, ARRAY(SELECT (u.person >> 12)::integer FROM unnest(found.persons) u(person)), 0);
        UPDATE cap_history h SET persons = h.persons & ~b.bits,
            more = CASE WHEN h.more IS NOT NULL THEN ARRAY(SELECT m.bits & ~b.bits FROM unnest(h.more) WITH ORDINALITY m(bits, n)
                ORDER BY m.n) END
        FROM (SELECT (u.person >> 12)::integer AS n, bits_at((u.person & 4095)::integer, 1)::bit varying AS bits
            FROM unnest(found.persons) u(person) GROUP BY 1) b
        -- All days one by one, because they come first in the index.
        WHERE h.service_id = found.service AND h.block = b.n AND h.persons & b.bits <> no_bits()
            AND h.day = ANY(ARRAY(SELECT f.first + n FROM (SELECT min(x.day) AS first, max(x.day) AS last FROM cap_history x
                WHERE x.service_id = found.service) f CROSS JOIN generate_series(0, f.last - f.first) n));
    END LOOP;
END $$;
COMMENT ON FUNCTION pushmta_engine.forget_caps(integer[], bigint[]) IS
    'Takes the persons of subscriptions, which are forgotten now, out of the history of frequency caps.';

-- What operators and marketing set for a service.

CREATE FUNCTION pushmta.set_frequency_cap(service text, name text, max_messages integer, per text, length integer DEFAULT 1,
    categories text[] DEFAULT NULL) RETURNS integer LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    of_service integer := service_named(service);
    unknown text;
    ids integer[];
    made integer;
BEGIN
    PERFORM require_name('frequency cap', name, 'PM310');
    IF max_messages IS NULL OR max_messages NOT BETWEEN 1 AND 1000 THEN
        RAISE EXCEPTION 'Frequency cap "%" of service "%" allows % messages.', name, service, coalesce(max_messages::text, 'no number of')
            USING ERRCODE = 'PM310', HINT = 'Give a number from 1 to 1,000.';
    ELSIF per IS NULL OR per NOT IN ('hours', 'days', 'recipient_day') OR length IS NULL
        OR length NOT BETWEEN 1 AND (CASE per WHEN 'hours' THEN 72 WHEN 'days' THEN 180 ELSE 1 END) THEN
        RAISE EXCEPTION 'Frequency cap "%" of service "%" is for % %.', name, service, coalesce(length::text, '?'), coalesce(per, '?')
            USING ERRCODE = 'PM310', HINT = 'Give 1 to 72 hours, 1 to 180 days, or recipient_day, which is one day.';
    ELSIF categories IS NOT NULL THEN
        -- So that they stay: drop_category looks for caps that name its category.
        PERFORM FROM pushmta_engine.category k WHERE k.service_id = of_service AND k.name = ANY(categories) ORDER BY k.id FOR KEY SHARE;
        SELECT array_agg(k.id ORDER BY k.id), min(c.name) FILTER (WHERE k.id IS NULL) INTO ids, unknown
        FROM (SELECT DISTINCT u.name FROM unnest(categories) u(name)) c
        LEFT JOIN pushmta_engine.category k ON k.service_id = of_service AND k.name = c.name;
        IF ids IS NULL OR unknown IS NOT NULL OR array_position(categories, NULL) IS NOT NULL THEN
            RAISE EXCEPTION 'Frequency cap "%" of service "%" names category "%", which the service does not have.', name, service,
                coalesce(unknown, '') USING ERRCODE = 'PM310',
                HINT = 'pushmta.category lists them; null means all that are not transactional.';
        END IF;
    END IF;
    INSERT INTO frequency_cap AS c (service_id, name, max_messages, per, length, categories)
    VALUES (of_service, name, max_messages, per, length, ids)
    ON CONFLICT ON CONSTRAINT frequency_cap_name_key DO UPDATE SET max_messages = excluded.max_messages, per = excluded.per,
        length = excluded.length, categories = excluded.categories, changed_at = now()
    RETURNING c.id INTO made;
    PERFORM note_change('cap.set', service || '/' || name, format('%s in %s %s, %s', max_messages, length, per,
        coalesce(array_to_string(categories, ', '), 'all categories that are not transactional')));
    RETURN made;
END $$;
COMMENT ON FUNCTION pushmta.set_frequency_cap(text, text, integer, text, integer, text[]) IS
    'Adds a frequency cap to a service, or replaces it: at most so many messages to a person in so many hours or days, or on the day of '
    'the recipient, in these categories. Null means all categories that are not transactional. Only messages of deliveries that a cap '
    'applied to are counted, so one for a new category begins at 0. Returns its id.';

CREATE FUNCTION pushmta.drop_frequency_cap(service text, name text) RETURNS void LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
BEGIN
    DELETE FROM frequency_cap c WHERE c.service_id = service_named(service) AND c.name = name;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'Service "%" has no frequency cap "%".', service, name
            USING ERRCODE = 'PM311', HINT = 'pushmta.frequency_cap lists them.';
    END IF;
    PERFORM note_change('cap.drop', service || '/' || name, '');
END $$;
COMMENT ON FUNCTION pushmta.drop_frequency_cap(text, text) IS
    'Removes a frequency cap of a service. Deliveries that are prepared from now on are not subject to it.';

CREATE VIEW pushmta.frequency_cap AS
SELECT c.id, v.name AS service, c.name, c.max_messages, c.per, c.length,
    CASE WHEN c.categories IS NOT NULL THEN ARRAY(SELECT k.name FROM pushmta_engine.category k WHERE k.id = ANY(c.categories)
        ORDER BY k.name) END AS categories, c.changed_at
FROM pushmta_engine.frequency_cap c JOIN pushmta_engine.service v ON v.id = c.service_id;
COMMENT ON VIEW pushmta.frequency_cap IS
    'How many messages a person of each service may get in a time: max_messages in length hours, days, or one day of the recipient '
    '(per), of these categories (null: all that are not transactional). Who is left out is in pushmta.exclusion_log, as frequency_cap.';

CREATE FUNCTION pushmta_engine.api_frequency_caps(wanted text) RETURNS SETOF pushmta.frequency_cap
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
        SELECT c.* FROM pushmta.frequency_cap c WHERE c.service = wanted ORDER BY c.name $$;
COMMENT ON FUNCTION pushmta_engine.api_frequency_caps(text) IS 'pushmta.frequency_cap of one service.';

CREATE FUNCTION pushmta_engine.caps_of(wanted bigint) RETURNS SETOF pushmta.frequency_cap
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
        SELECT c.* FROM (SELECT DISTINCT a.service_id FROM delivery_application x JOIN application a ON a.id = x.application_id
            WHERE x.delivery_id = wanted) v
        CROSS JOIN LATERAL cap_rules(wanted, v.service_id) r
        JOIN pushmta.frequency_cap c ON c.id = r.id ORDER BY c.service, c.name $$;
COMMENT ON FUNCTION pushmta_engine.caps_of(bigint) IS 'The frequency caps that a delivery is subject to.';

CREATE FUNCTION pushmta_engine.cap_holders(wanted bigint, most integer)
    RETURNS TABLE (delivery_id bigint, label text, caps text[], messages bigint, deliveries bigint) LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path = pushmta_engine, pg_temp AS $$
    WITH left_out AS MATERIALIZED (
        -- A sample. What preparation leaves out first are neighbours, so these are few blocks.
        SELECT a.service_id, (p.id >> 12)::integer AS block, bits_at((p.id & 4095)::integer, 1)::bit varying AS persons
        FROM (SELECT x.subscription_id FROM pushmta_engine.delivery d
            JOIN exclusion_log x ON x.log_day = d.log_day AND x.delivery_id = d.id
            WHERE d.id = wanted AND x.reason = 'frequency_cap' LIMIT 1000) x
        JOIN subscription s ON s.id = x.subscription_id
        JOIN application a ON a.id = s.application_id
        CROSS JOIN LATERAL (SELECT coalesce(s.person_id, s.id)) p(id)
        GROUP BY 1, 2
    )
    SELECT o.id, o.label, array_agg(DISTINCT r.name ORDER BY r.name), o.target, count(*) OVER ()
    FROM capped_delivery p
    CROSS JOIN LATERAL cap_rules(wanted, p.service_id) r
    -- As in reached_persons. A folded day has no delivery that could still be stopped.
    JOIN capped_delivery h ON h.service_id = p.service_id AND h.delivery_id <> p.delivery_id
        AND h.day > p.day - CASE r.per WHEN 'days' THEN r.length ELSE 5 END
        AND h.category_id = ANY(counted_categories(p.service_id, r.categories))
        AND (r.per <> 'hours' OR h.counts_at > p.counts_at - r.length * interval '1 hour')
        AND (r.per <> 'recipient_day' OR abs(h.day - p.day) <= 1)
    JOIN pushmta_engine.delivery o ON o.id = h.delivery_id AND o.started_at IS NULL
        AND o.state IN ('analysing', 'ready', 'pending', 'paused')
    WHERE p.delivery_id = wanted AND EXISTS (SELECT FROM left_out l
        JOIN cap_history b ON b.service_id = l.service_id AND b.day = h.day AND b.block = l.block AND b.category_id = h.category_id
            AND b.delivery_id = h.delivery_id AND b.digit = 0
        WHERE l.service_id = h.service_id AND b.persons & l.persons <> no_bits())
    GROUP BY o.id, o.label, o.target ORDER BY o.target DESC, o.id LIMIT most $$;
COMMENT ON FUNCTION pushmta_engine.cap_holders(bigint, integer) IS
    'The deliveries that have not left and count for frequency caps of people whom an analysed delivery leaves out, the largest first: '
    'with the names of the caps, their own messages, and how many such deliveries there are.';
