-- Webhooks: consumers of events that the feedback worker posts to an HTTPS address.
--
-- A batch is taken from the consumer, with its position, in one transaction, and stays until the receiver has accepted it. So a worker
-- that dies in between posts the same batch again, under the same id: at least once. A webhook has one batch on its way, and the next one
-- follows it, which keeps the order; a batch that was refused too often becomes a dead letter, and others go on. Batches name events and
-- hold none: their bodies are made when they are posted, so that nothing is sent about a user who was forgotten meanwhile.

CREATE TABLE pushmta_engine.webhook (
    consumer_id integer PRIMARY KEY REFERENCES pushmta_engine.event_consumer ON DELETE CASCADE,
    url text NOT NULL CHECK (url ~ '^https://[^[:space:]/@?#]+([/?][^[:space:]#]*)?$' AND octet_length(url) <= 2000),
    max_events integer NOT NULL DEFAULT 100 CHECK (max_events BETWEEN 1 AND 1000),
    active boolean NOT NULL DEFAULT true,
    -- Why it is not active; empty if an operator has disabled it.
    inactive_reason text NOT NULL DEFAULT '',
    created_at timestamptz NOT NULL DEFAULT now(),
    accepted_at timestamptz,
    accepted bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);
COMMENT ON TABLE pushmta_engine.webhook IS 'Where the events of a consumer are posted.';

CREATE TABLE pushmta_engine.webhook_secret (
    -- From the sequence of credentials, because the key rotation knows sealed items by their id.
    id bigint PRIMARY KEY,
    consumer_id integer NOT NULL REFERENCES pushmta_engine.webhook ON DELETE CASCADE,
    seal_key_id text NOT NULL,
    sealed bytea NOT NULL CHECK (octet_length(sealed) <= 1000),
    created_at timestamptz NOT NULL DEFAULT now(),
    -- When an earlier secret ends; null for the present one.
    ends_at timestamptz
);
COMMENT ON TABLE pushmta_engine.webhook_secret IS
    'The secrets that sign what is posted, sealed: the present one, and earlier ones until they end.';
CREATE UNIQUE INDEX webhook_secret_present ON pushmta_engine.webhook_secret (consumer_id) WHERE ends_at IS NULL;
CREATE INDEX webhook_secret_webhook ON pushmta_engine.webhook_secret (consumer_id);

CREATE TABLE pushmta_engine.webhook_batch (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    consumer_id integer NOT NULL REFERENCES pushmta_engine.webhook ON DELETE CASCADE,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    slices pushmta_engine.event_slice[] NOT NULL,
    attempts integer NOT NULL DEFAULT 0,
    next_at timestamptz NOT NULL DEFAULT '-infinity',
    -- Null while it is on its way.
    dead_at timestamptz,
    -- Of the last answer; 0 if there was none.
    http_status smallint NOT NULL DEFAULT 0,
    trouble text NOT NULL DEFAULT ''
);
COMMENT ON TABLE pushmta_engine.webhook_batch IS
    'Batches of events that a receiver has not accepted: those on their way, and dead letters.';
CREATE INDEX webhook_batch_open ON pushmta_engine.webhook_batch (consumer_id, created_at, id) WHERE dead_at IS NULL;
CREATE INDEX webhook_batch_dead ON pushmta_engine.webhook_batch (dead_at) WHERE dead_at IS NOT NULL;

CREATE FUNCTION pushmta_engine.webhook_named(name text) RETURNS integer LANGUAGE plpgsql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    found integer := (SELECT w.consumer_id FROM event_consumer c JOIN webhook w ON w.consumer_id = c.id WHERE c.name = webhook_named.name);
BEGIN
    IF found IS NULL THEN
        RAISE EXCEPTION 'There is no webhook for a consumer "%".', left(coalesce(webhook_named.name, ''), 200)
            USING ERRCODE = 'PM164', HINT = 'pushmta.webhook lists them.';
    END IF;
    RETURN found;
END $$;
COMMENT ON FUNCTION pushmta_engine.webhook_named(text) IS 'The id of a consumer that has a webhook; raises an error if there is none.';

CREATE FUNCTION pushmta_engine.set_webhook_secret(of_consumer integer, secret_id bigint, key_id text, secret bytea, overlap interval)
    RETURNS void LANGUAGE plpgsql SET search_path = pushmta_engine, pg_temp AS $$
BEGIN
    -- One at a time, and after a change of the webhook.
    PERFORM FROM webhook w WHERE w.consumer_id = of_consumer FOR NO KEY UPDATE;
    -- Without an overlap, only the new one signs.
    DELETE FROM webhook_secret s WHERE s.consumer_id = of_consumer AND (overlap = interval '0' OR s.ends_at < now());
    UPDATE webhook_secret s SET ends_at = now() + overlap WHERE s.consumer_id = of_consumer AND s.ends_at IS NULL;
    IF (SELECT count(*) FROM webhook_secret s WHERE s.consumer_id = of_consumer) > 4 THEN
        RAISE EXCEPTION 'Four earlier secrets of the webhook for consumer "%" still sign.',
                (SELECT c.name FROM event_consumer c WHERE c.id = of_consumer)
            USING ERRCODE = 'PM169', HINT = 'Wait until one of them ends, or rotate with an overlap of 0, which ends all of them.';
    END IF;
    INSERT INTO webhook_secret (id, consumer_id, seal_key_id, sealed) VALUES (secret_id, of_consumer, key_id, secret);
END $$;
COMMENT ON FUNCTION pushmta_engine.set_webhook_secret(integer, bigint, text, bytea, interval) IS
    'Gives a webhook a new secret; the present one signs, too, for this time, and earlier ones until they end. Without an overlap all of '
    'them end.';

CREATE FUNCTION pushmta_engine.begin_webhook_secret() RETURNS bigint LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
BEGIN
    LOCK TABLE pushmta_engine.credential_key_lock IN ROW SHARE MODE;
    RETURN nextval(pg_get_serial_sequence('pushmta_engine.credential', 'id'));
END $$;
COMMENT ON FUNCTION pushmta_engine.begin_webhook_secret() IS
    'Reserves the id of a secret, which its seal authenticates, and keeps the key that seals from being changed until the end of the '
    'transaction, in which the secret is sealed and stored.';

CREATE FUNCTION pushmta_engine.check_webhook(consumer text, url text, max_events integer) RETURNS void LANGUAGE plpgsql
    SET search_path = pushmta_engine, pg_temp AS $$
BEGIN
    IF url !~ '^https://[^[:space:]/@?#]+([/?][^[:space:]#]*)?$' OR octet_length(url) > 2000 OR url IS NULL THEN
        RAISE EXCEPTION 'The address of the webhook for consumer "%" is not valid.', consumer
            USING ERRCODE = 'PM165', HINT = 'Give an https:// address of at most 2,000 bytes, without a user name and a fragment.';
    ELSIF max_events NOT BETWEEN 1 AND 1000 OR max_events IS NULL THEN
        RAISE EXCEPTION 'A webhook cannot post % events at once.', coalesce(max_events::text, 'null')
            USING ERRCODE = 'PM165', HINT = 'Give a number from 1 to 1,000.';
    END IF;
END $$;
COMMENT ON FUNCTION pushmta_engine.check_webhook(text, text, integer) IS
    'Raises an error unless a webhook may have this address and this number of events.';

CREATE FUNCTION pushmta_engine.create_webhook(consumer text, url text, max_events integer, secret_id bigint, key_id text, secret bytea)
    RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    of_consumer integer := (SELECT c.id FROM event_consumer c WHERE c.name = consumer);
BEGIN
    IF of_consumer IS NULL THEN
        RAISE EXCEPTION 'There is no consumer "%".', left(coalesce(consumer, ''), 200)
            USING ERRCODE = 'PM160', HINT = 'pushmta.event_consumer lists them.';
    END IF;
    PERFORM check_webhook(consumer, url, max_events);
    INSERT INTO webhook (consumer_id, url, max_events) VALUES (of_consumer, url, max_events) ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'Consumer "%" already has a webhook.', consumer
            USING ERRCODE = 'PM162', HINT = 'Create another consumer for it, or remove this webhook.';
    END IF;
    PERFORM set_webhook_secret(of_consumer, secret_id, key_id, secret, interval '0');
    PERFORM note_change('webhook.add', consumer, substring(url FROM '^https://[^/?]+'));
END $$;
COMMENT ON FUNCTION pushmta_engine.create_webhook(text, text, integer, bigint, text, bytea) IS
    'Has the events of a consumer posted to an address, signed with a sealed secret. The audit log gets the host only: a path may hold a '
    'secret.';

CREATE FUNCTION pushmta_engine.rotate_webhook_secret(consumer text, secret_id bigint, key_id text, secret bytea, overlap interval)
    RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
BEGIN
    IF overlap NOT BETWEEN interval '0' AND interval '30 days' OR overlap IS NULL THEN
        RAISE EXCEPTION 'The overlap of two secrets cannot be %.', coalesce(overlap::text, 'ever')
            USING ERRCODE = 'PM165', HINT = 'Give a time from 0 to 30 days.';
    END IF;
    PERFORM set_webhook_secret(webhook_named(consumer), secret_id, key_id, secret, overlap);
    PERFORM note_change('webhook.secret', consumer, overlap::text);
END $$;
COMMENT ON FUNCTION pushmta_engine.rotate_webhook_secret(text, bigint, text, bytea, interval) IS
    'Gives a webhook a new sealed secret. For this time, both sign.';

CREATE FUNCTION pushmta.set_webhook(consumer text, url text, max_events integer DEFAULT NULL) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    of_consumer CONSTANT integer := webhook_named(consumer);
    wanted CONSTANT integer := coalesce(max_events, (SELECT w.max_events FROM webhook w WHERE w.consumer_id = of_consumer));
BEGIN
    PERFORM check_webhook(consumer, url, wanted);
    -- It is posted as a new batch: what the earlier receiver still answers does not concern the new one.
    UPDATE webhook_batch b SET id = gen_random_uuid(), attempts = 0, next_at = '-infinity', http_status = 0, trouble = ''
    WHERE b.consumer_id = of_consumer AND b.dead_at IS NULL;
    UPDATE webhook w SET url = set_webhook.url, max_events = wanted, active = w.active OR w.inactive_reason <> '', inactive_reason = ''
    WHERE w.consumer_id = of_consumer;
    PERFORM note_change('webhook.change', consumer, substring(url FROM '^https://[^/?]+'));
END $$;
COMMENT ON FUNCTION pushmta.set_webhook(text, text, integer) IS
    'Changes the address of a webhook, and how many events a batch has (null: as before). What waits is posted to the new address at once, '
    'with the same secrets; dead letters that are sent again go there, too. A webhook that its receiver had disabled is enabled.';

CREATE FUNCTION pushmta.drop_webhook(consumer text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp SET lock_timeout = '2s' AS $$
#variable_conflict use_variable
DECLARE
    of_consumer CONSTANT integer := webhook_named(consumer);
    slices event_slice[];
BEGIN
    -- No batch is made meanwhile.
    PERFORM FROM event_position p WHERE p.consumer_id = of_consumer FOR NO KEY UPDATE;
    WITH gone AS (DELETE FROM webhook_batch b WHERE b.consumer_id = of_consumer RETURNING b.id, b.created_at, b.slices)
    SELECT array_agg(ROW(s.log_day, s.event_id, s.first_item, s.last_item)::event_slice ORDER BY g.created_at, g.id, s.place) INTO slices
    FROM gone g CROSS JOIN LATERAL unnest(g.slices) WITH ORDINALITY s(log_day, event_id, first_item, last_item, place);
    IF slices IS NOT NULL THEN
        PERFORM return_events(of_consumer, slices);
    END IF;
    DELETE FROM webhook w WHERE w.consumer_id = of_consumer;
    PERFORM note_change('webhook.remove', consumer, '');
EXCEPTION WHEN lock_not_available THEN
    RAISE EXCEPTION 'The events of consumer "%" are being read.', consumer
        USING ERRCODE = 'PM163', HINT = 'Try again.';
END $$;
COMMENT ON FUNCTION pushmta.drop_webhook(text) IS
    'Removes the webhook of a consumer, with its secrets. The consumer stays, and gets back what the receiver has not accepted, also dead '
    'letters: its next reader or webhook is given that first. Remove the consumer with pushmta.drop_consumer.';

CREATE FUNCTION pushmta.enable_webhook(consumer text, enabled boolean) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
BEGIN
    UPDATE webhook w SET active = enabled, inactive_reason = '' WHERE w.consumer_id = webhook_named(consumer);
    -- It is tried at once.
    UPDATE webhook_batch b SET next_at = '-infinity' WHERE enabled AND b.consumer_id = webhook_named(consumer) AND b.dead_at IS NULL;
    PERFORM note_change(CASE WHEN enabled THEN 'webhook.enable' ELSE 'webhook.disable' END, consumer, '');
END $$;
COMMENT ON FUNCTION pushmta.enable_webhook(text, boolean) IS
    'Enables a webhook that was disabled, and tries what waits at once; or disables it. Its events are kept for the consumer meanwhile, '
    'within its bounds.';

CREATE FUNCTION pushmta.resend_dead_letter(id uuid) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    found webhook_batch;
BEGIN
    SELECT b.* INTO found FROM webhook_batch b WHERE b.id = resend_dead_letter.id AND b.dead_at IS NOT NULL FOR UPDATE;
    IF found.id IS NULL THEN
        RAISE EXCEPTION 'There is no dead letter %.', coalesce(resend_dead_letter.id::text, 'null')
            USING ERRCODE = 'PM166', HINT = 'pushmta.dead_letter lists them.';
    END IF;
    UPDATE webhook_batch b SET dead_at = NULL, attempts = 0, next_at = '-infinity' WHERE b.id = found.id;
    PERFORM note_change('webhook.resend', (SELECT c.name FROM event_consumer c WHERE c.id = found.consumer_id), found.id::text);
END $$;
COMMENT ON FUNCTION pushmta.resend_dead_letter(uuid) IS
    'Posts a dead letter again, under its id, before the events that follow.';

-- What the feedback worker does with them.
CREATE FUNCTION pushmta_engine.next_webhook_batch(of_consumer integer, OUT id uuid, OUT attempts integer, OUT wait double precision,
    OUT url text, OUT events integer, OUT body text) LANGUAGE plpgsql SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_column
DECLARE
    w webhook;
    b webhook_batch;
    page event_slice[];
BEGIN
    SELECT x.* INTO w FROM webhook x WHERE x.consumer_id = of_consumer AND x.active;
    IF w.consumer_id IS NULL THEN
        RETURN;
    END IF;
    SELECT x.* INTO b FROM webhook_batch x WHERE x.consumer_id = of_consumer AND x.dead_at IS NULL ORDER BY x.created_at, x.id LIMIT 1;
    IF b.id IS NULL THEN
        -- What a reader over HTTP was given before the webhook was made, and did not process.
        DELETE FROM event_page p WHERE p.consumer_id = of_consumer RETURNING p.slices INTO page;
        IF page IS NOT NULL THEN
            PERFORM return_events(of_consumer, page);
        END IF;
        b.slices := take_events(of_consumer, w.max_events);
        IF b.slices = '{}' THEN
            RETURN;
        END IF;
        INSERT INTO webhook_batch (consumer_id, slices) VALUES (of_consumer, b.slices) RETURNING * INTO b;
    END IF;
    id := b.id;
    attempts := b.attempts;
    url := w.url;
    wait := CASE WHEN b.next_at > clock_timestamp() THEN extract(epoch FROM b.next_at - clock_timestamp()) ELSE 0 END;
    IF wait = 0 THEN
        SELECT count(*), coalesce(json_agg(json_strip_nulls(json_build_object('specversion', '1.0', 'id', i.id,
                'source', 'urn:uuid:' || n.id, 'type', 'io.pushmta.' || i.kind,
                'subject', coalesce(i.delivery_id || '-' || i.sequence, i.delivery_id::text, i.subscription_id::text),
                'time', to_char(i.occurred_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'datacontenttype', 'application/json',
                'data', json_build_object('service', i.service, 'application', i.application, 'delivery_id', i.delivery_id,
                    'sequence', i.sequence, 'subscription_id', i.subscription_id, 'user_key', i.user_key, 'reason', i.reason,
                    'http_status', i.http_status, 'state', i.state))))::text, '[]')
        INTO events, body FROM event_items(b.slices) i CROSS JOIN installation n;
    END IF;
END $$;
COMMENT ON FUNCTION pushmta_engine.next_webhook_batch(integer) IS
    'The batch that a webhook posts next: the one on its way, or a new one; nothing if there are no events or it is not active. wait is '
    'how many seconds to wait first; if it is 0, body is a batch of CloudEvents 1.0.';

CREATE FUNCTION pushmta_engine.end_webhook_batch(batch uuid, decision text, status integer, words text, pause double precision) RETURNS void
    LANGUAGE plpgsql SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    of_consumer integer := (SELECT b.consumer_id FROM webhook_batch b WHERE b.id = batch);
BEGIN
    IF decision = 'accepted' THEN
        DELETE FROM webhook_batch b WHERE b.id = batch;
        UPDATE webhook w SET accepted_at = clock_timestamp(), accepted = w.accepted + 1 WHERE w.consumer_id = of_consumer;
        RETURN;
    END IF;
    UPDATE webhook_batch b SET attempts = b.attempts + 1, http_status = status, trouble = left(words, 500),
        next_at = clock_timestamp() + make_interval(secs => pause),
        dead_at = CASE WHEN decision = 'dead' THEN clock_timestamp() END
    WHERE b.id = batch;
    IF decision = 'gone' THEN
        UPDATE webhook w SET active = false, inactive_reason = left(words, 500) WHERE w.consumer_id = of_consumer;
    END IF;
END $$;
COMMENT ON FUNCTION pushmta_engine.end_webhook_batch(uuid, text, integer, text, double precision) IS
    'Records what became of a posted batch: accepted, again (after the pause), dead, or gone: the receiver wants no more, so that the '
    'webhook is disabled.';

CREATE FUNCTION pushmta_engine.drop_old_letters() RETURNS bigint LANGUAGE plpgsql SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    dropped bigint;
BEGIN
    WITH gone AS (
        DELETE FROM webhook_batch b WHERE (SELECT min(s.log_day) FROM unnest(b.slices) s) < (SELECT min(d.day) FROM event_day d)
        RETURNING b.consumer_id, b.slices, b.created_at, b.dead_at
    ), lost AS (
        -- A dead letter was reported before.
        INSERT INTO event_gap (consumer_id, why, from_id, through_id, from_at, through_at, lost)
        SELECT g.consumer_id, 'age', min(s.event_id), max(s.event_id), g.created_at, g.created_at, sum(s.last_item - s.first_item + 1)
        FROM gone g CROSS JOIN LATERAL unnest(g.slices) s WHERE g.dead_at IS NULL GROUP BY g.consumer_id, g.created_at
    ), pages AS (
        DELETE FROM event_page p WHERE (SELECT min(s.log_day) FROM unnest(p.slices) s) < (SELECT min(d.day) FROM event_day d)
        RETURNING p.consumer_id, p.slices, p.given_at
    ), returned AS (
        DELETE FROM event_returned r WHERE r.log_day < (SELECT min(d.day) FROM event_day d)
        RETURNING r.consumer_id, r.event_id, r.first_item, r.last_item, r.returned_at
    ), unread AS (
        INSERT INTO event_gap (consumer_id, why, from_id, through_id, from_at, through_at, lost)
        SELECT g.consumer_id, 'age', min(g.event_id), max(g.event_id), min(g.at), max(g.at), sum(g.last_item - g.first_item + 1)
        FROM (SELECT p.consumer_id, s.event_id, s.first_item, s.last_item, p.given_at AS at
            FROM pages p CROSS JOIN LATERAL unnest(p.slices) s
            UNION ALL SELECT r.* FROM returned r) g GROUP BY g.consumer_id
    )
    SELECT count(*) INTO dropped FROM gone;
    DELETE FROM webhook_secret s WHERE s.ends_at < now();
    RETURN dropped;
END $$;
COMMENT ON FUNCTION pushmta_engine.drop_old_letters() IS
    'Deletes batches, pages and returned events whose days were dropped, and secrets that have ended. What was still on its way is a gap '
    'of its consumer.';

CREATE VIEW pushmta.webhook AS
SELECT c.name AS consumer, w.url, substring(w.url FROM '^https://([^/?]+)') AS host, w.max_events, w.active, w.inactive_reason,
    w.created_at, w.accepted_at, w.accepted,
    b.attempts, b.next_at, b.http_status, b.trouble,
    (SELECT count(*) FROM pushmta_engine.webhook_batch d WHERE d.consumer_id = w.consumer_id AND d.dead_at IS NOT NULL) AS dead_letters,
    (SELECT max(s.ends_at) FROM pushmta_engine.webhook_secret s WHERE s.consumer_id = w.consumer_id AND s.ends_at > now())
        AS earlier_secret_ends_at
FROM pushmta_engine.webhook w
JOIN pushmta_engine.event_consumer c ON c.id = w.consumer_id
LEFT JOIN LATERAL (SELECT x.attempts, x.next_at, x.http_status, x.trouble FROM pushmta_engine.webhook_batch x
    WHERE x.consumer_id = w.consumer_id AND x.dead_at IS NULL ORDER BY x.created_at, x.id LIMIT 1) b ON true;
COMMENT ON VIEW pushmta.webhook IS
    'Webhooks: where the events of consumers are posted, how many batches were accepted, and the one on its way with its last trouble.';

CREATE VIEW pushmta.dead_letter AS
SELECT b.id, c.name AS consumer, b.created_at, b.dead_at, b.attempts, b.http_status, b.trouble,
    (SELECT sum(s.last_item - s.first_item + 1) FROM unnest(b.slices) s)::bigint AS events
FROM pushmta_engine.webhook_batch b JOIN pushmta_engine.event_consumer c ON c.id = b.consumer_id
WHERE b.dead_at IS NOT NULL;
COMMENT ON VIEW pushmta.dead_letter IS
    'Batches of events that a receiver did not accept after all attempts. pushmta.resend_dead_letter posts one again, as long as its '
    'events are stored: at least three days.';

-- What administrators do in the console.

CREATE FUNCTION pushmta_engine.console_create_consumer(caller pushmta_engine.console_caller, name text, kinds text[], service text,
    max_age interval, max_bytes bigint, reader text) RETURNS void LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
BEGIN
    -- First, as in the following functions, so that it is not logged again under the console's login.
    PERFORM note_audit(console_user_of(caller, ARRAY['admin']), 'consumer.add', name,
        coalesce(array_to_string(kinds, ', '), 'all kinds') || coalesce(', for ' || reader, ''), caller.address);
    PERFORM pushmta.create_consumer(name, kinds, service, max_age, max_bytes, reader);
END $$;
COMMENT ON FUNCTION pushmta_engine.console_create_consumer(pushmta_engine.console_caller, text, text[], text, interval, bigint, text) IS
    'Creates a consumer of events, for a signed-in administrator.';

CREATE FUNCTION pushmta_engine.console_begin_secret(caller pushmta_engine.console_caller) RETURNS bigint LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
BEGIN
    PERFORM console_user_of(caller, ARRAY['admin']);
    RETURN begin_webhook_secret();
END $$;
COMMENT ON FUNCTION pushmta_engine.console_begin_secret(pushmta_engine.console_caller) IS
    'Does what begin_webhook_secret does, for a signed-in administrator.';

CREATE FUNCTION pushmta_engine.console_create_webhook(caller pushmta_engine.console_caller, consumer text, url text, max_events integer,
    secret_id bigint, key_id text, secret bytea) RETURNS void LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
BEGIN
    PERFORM note_audit(console_user_of(caller, ARRAY['admin']), 'webhook.add', consumer, substring(url FROM '^https://[^/?]+'),
        caller.address);
    PERFORM create_webhook(consumer, url, max_events, secret_id, key_id, secret);
END $$;
COMMENT ON FUNCTION pushmta_engine.console_create_webhook(pushmta_engine.console_caller, text, text, integer, bigint, text, bytea) IS
    'Creates a webhook that posts the events of a consumer to an address, for a signed-in administrator.';

CREATE FUNCTION pushmta_engine.console_set_webhook(caller pushmta_engine.console_caller, consumer text, url text, max_events integer)
    RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
BEGIN
    PERFORM note_audit(console_user_of(caller, ARRAY['admin']), 'webhook.change', consumer, substring(url FROM '^https://[^/?]+'),
        caller.address);
    PERFORM pushmta.set_webhook(consumer, url, max_events);
END $$;
COMMENT ON FUNCTION pushmta_engine.console_set_webhook(pushmta_engine.console_caller, text, text, integer) IS
    'Changes the address of a webhook, for a signed-in administrator.';

CREATE FUNCTION pushmta_engine.console_rotate_secret(caller pushmta_engine.console_caller, consumer text, secret_id bigint, key_id text,
    secret bytea, overlap interval) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
BEGIN
    PERFORM note_audit(console_user_of(caller, ARRAY['admin']), 'webhook.secret', consumer, overlap::text, caller.address);
    PERFORM rotate_webhook_secret(consumer, secret_id, key_id, secret, overlap);
END $$;
COMMENT ON FUNCTION pushmta_engine.console_rotate_secret(pushmta_engine.console_caller, text, bigint, text, bytea, interval) IS
    'Gives a webhook a new secret, for a signed-in administrator.';

CREATE FUNCTION pushmta_engine.console_control_events(caller pushmta_engine.console_caller, action text, consumer text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    who text := console_user_of(caller, CASE WHEN action IN ('webhook.enable', 'webhook.disable') THEN ARRAY['operate', 'admin']
        ELSE ARRAY['admin'] END);
BEGIN
    PERFORM note_audit(who, action, consumer, '', caller.address);
    CASE action
        WHEN 'consumer.remove' THEN PERFORM pushmta.drop_consumer(consumer);
        WHEN 'webhook.remove' THEN PERFORM pushmta.drop_webhook(consumer);
        WHEN 'webhook.enable' THEN PERFORM pushmta.enable_webhook(consumer, true);
        WHEN 'webhook.disable' THEN PERFORM pushmta.enable_webhook(consumer, false);
    END CASE;
END $$;
COMMENT ON FUNCTION pushmta_engine.console_control_events(pushmta_engine.console_caller, text, text) IS
    'Enables or disables a webhook for a signed-in operator; removes it, or a consumer, for an administrator.';

CREATE FUNCTION pushmta_engine.console_resend_letter(caller pushmta_engine.console_caller, letter uuid) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pushmta_engine, pg_temp AS $$
BEGIN
    PERFORM note_audit(console_user_of(caller, ARRAY['operate', 'admin']), 'webhook.resend',
        coalesce((SELECT d.consumer FROM pushmta.dead_letter d WHERE d.id = letter), ''), letter::text, caller.address);
    PERFORM pushmta.resend_dead_letter(letter);
END $$;
COMMENT ON FUNCTION pushmta_engine.console_resend_letter(pushmta_engine.console_caller, uuid) IS
    'Posts a dead letter again, for a signed-in operator.';
