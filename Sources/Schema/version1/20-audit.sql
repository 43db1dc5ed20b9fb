-- Changes from the command line, the API and plain SQL, in the same log as those from the console.

CREATE FUNCTION pushmta_engine.note_change(action text, subject text, detail text) RETURNS void LANGUAGE sql
    SET search_path = pushmta_engine, pg_temp AS $$
        SELECT note_audit(session_user, action, subject, detail,
            -- A web process chooses the name of its caller, and any program its application_name; the address is the server's.
            concat_ws(' ', CASE WHEN pg_has_role(session_user, 'pushmta_web', 'MEMBER') THEN
                    nullif(current_setting('pushmta.caller', true), '') || ' by' END,
                nullif(current_setting('application_name'), ''), host(inet_client_addr())))
        -- The console has logged it under the name of its user.
        WHERE NOT EXISTS (SELECT FROM (SELECT a.xmin AS made, a.* FROM audit_log a ORDER BY a.id DESC LIMIT 50) a
            WHERE a.made = pg_current_xact_id()::xid AND a.who <> session_user AND a.action = note_change.action
                AND a.subject = note_change.subject) $$;
COMMENT ON FUNCTION pushmta_engine.note_change(text, text, text) IS
    'Adds a row to the audit log under the session''s login and program, and the API key, unless the console has logged the same change.';

CREATE FUNCTION pushmta_engine.is_audited(kind text, done text, subject text, detail text) RETURNS boolean LANGUAGE sql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
        SELECT EXISTS (SELECT FROM (SELECT a.xmin AS made, a.* FROM audit_log a ORDER BY a.id DESC LIMIT 50) a
        WHERE a.made = pg_current_xact_id()::xid AND (
            a.subject = is_audited.subject AND (
                -- The same change again, or what an object gets in addition to its row when it is created.
                a.action = kind || '.' || done AND a.detail = is_audited.detail
                OR a.action = kind || '.add' AND done IN ('change', 'weight')
                -- Changes from the console, under the name of its user, which say what it changed of the object.
                OR a.who <> session_user AND (split_part(a.action, '.', 1) = kind
                    OR kind = 'rate' AND a.action IN ('application.add', 'application.copy', 'application.change', 'account.change')
                    OR kind = 'application' AND is_audited.detail = 'credential_id' AND a.action = 'credential.set'))
            -- A rate set while its delivery is created, begins to follow a signal or is a run, one that the console sets, and what it
            -- sets up for an analysis, a start or a proof.
            OR kind = 'rate' AND is_audited.subject = 'delivery ' || a.subject
                AND a.action IN ('delivery.add', 'delivery.follow', 'delivery.rate')
            OR kind = 'rate' AND done = 'add' AND a.action = 'recurrence.run'
            OR a.who <> session_user AND a.action IN ('delivery.analyze', 'delivery.start', 'delivery.request', 'delivery.proof')
                AND (kind = 'delivery' AND done IN ('add', 'proof', 'weight') OR kind = 'rate' AND is_audited.subject LIKE 'delivery %')
            -- Actions that the console logs under another name than that of the changed object.
            OR kind = 'credential' AND a.action = 'credential.set' OR kind = 'seed' AND a.action = 'subscriber.forget'
            OR kind = 'delivery' AND a.action = 'application.test' AND a.detail LIKE 'delivery ' || is_audited.subject || ',%')) $$;
COMMENT ON FUNCTION pushmta_engine.is_audited(text, text, text, text) IS
    'Whether this transaction has already logged a change to an object.';

CREATE FUNCTION pushmta_engine.is_requested(kind text, done text, subject text) RETURNS boolean LANGUAGE plpgsql STABLE
    SET search_path = pushmta_engine, pg_temp AS $$
BEGIN
    RETURN kind = 'delivery' AND done = 'start' AND EXISTS (SELECT FROM start_request r WHERE r.delivery_id = subject::bigint);
END $$;
COMMENT ON FUNCTION pushmta_engine.is_requested(text, text, text) IS
    'Whether a change is the start of a delivery whose approval was requested, which was logged with the request.';

CREATE FUNCTION pushmta_engine.audit_change() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pushmta_engine, pg_temp AS $$
DECLARE
    program text := current_setting('application_name');
    before jsonb := CASE WHEN TG_OP <> 'INSERT' THEN to_jsonb(OLD) END;
    after jsonb := CASE WHEN TG_OP <> 'DELETE' THEN to_jsonb(NEW) END;
    place jsonb := coalesce(after, before);
    subject text := coalesce(CASE WHEN TG_ARGV[0] NOT IN ('delivery', 'host') THEN place ->> 'name' END, place ->> 'id');
    changed text := '';
    done text := coalesce(TG_ARGV[1], CASE TG_OP WHEN 'INSERT' THEN 'add' WHEN 'DELETE' THEN 'remove' ELSE 'change' END);
BEGIN
    -- What the processes do on their own is no person's change. They are recognised by program name, which others may use, too, and
    -- by login, which others may not.
    IF program ~ '^pushmta/' AND program !~ '^pushmta/(admin|web|console)/' AND EXISTS (
        SELECT FROM pg_roles r WHERE (r.rolname = 'pushmta_runtime' OR r.oid = (SELECT c.relowner FROM pg_class c WHERE c.oid = TG_RELID))
            AND pg_has_role(session_user, r.oid, 'MEMBER'))
    THEN
        RETURN NULL;
    END IF;
    IF TG_OP = 'UPDATE' AND TG_ARGV[1] IS NULL THEN
        -- The names of the columns without their values: keys and secrets are among them.
        SELECT string_agg(n.key, ', ' ORDER BY n.key) INTO changed FROM jsonb_each(after) n
        WHERE n.value IS DISTINCT FROM before -> n.key AND n.key !~ '(changed|used)_at$'
            AND NOT (TG_ARGV[0] = 'signal' AND n.key IN ('look', 'next_at', 'value', 'sampled_at', 'error'));
        IF changed IS NULL THEN
            RETURN NULL;
        END IF;
    END IF;
    IF TG_ARGV[0] = 'rate' THEN
        changed := concat(place ->> 'messages_per_second', '/s');
        subject := coalesce('delivery ' || (place ->> 'delivery_id'), 'project ' || (place ->> 'project'),
            (SELECT a.name FROM application a WHERE a.id = (place ->> 'application_id')::integer),
            (SELECT e.name FROM external_account e WHERE e.id = (place ->> 'external_account_id')::integer));
        -- The rate was deleted with its object, which is logged itself.
        IF subject IS NULL OR TG_OP = 'DELETE' AND NOT EXISTS (SELECT FROM delivery d WHERE d.id = (place ->> 'delivery_id')::bigint)
            AND place ->> 'delivery_id' IS NOT NULL THEN
            RETURN NULL;
        END IF;
    END IF;
    IF TG_ARGV[0] = 'host' THEN
        changed := place ->> 'name';
    ELSIF TG_ARGV[0] = 'import' THEN
        changed := place ->> 'source';
    ELSIF TG_ARGV[1] = 'resume' THEN
        subject := (SELECT a.name FROM application a WHERE a.id = (place ->> 'application_id')::integer);
    END IF;
    IF TG_ARGV[1] = 'weight' THEN
        changed := place ->> 'weight';
    ELSIF TG_ARGV[0] = 'delivery' THEN
        done := CASE WHEN TG_OP = 'INSERT' THEN CASE WHEN (place ->> 'proof')::boolean THEN 'proof' ELSE 'add' END
            WHEN before ->> 'state' IN ('editing', 'analysing', 'ready') AND after ->> 'state' IN ('pending', 'preparing', 'in_progress')
                THEN 'start'
            WHEN after ->> 'state' = 'paused' THEN 'pause' WHEN after ->> 'state' = 'stopped' THEN 'stop' ELSE 'resume' END;
        changed := place ->> 'label';
    END IF;
    IF NOT is_audited(TG_ARGV[0], done, subject, changed) AND NOT is_requested(TG_ARGV[0], done, subject) THEN
        PERFORM note_change(TG_ARGV[0] || '.' || done, subject, changed);
    END IF;
    RETURN NULL;
END $$;
COMMENT ON FUNCTION pushmta_engine.audit_change() IS
    'Logs a change, unless the same transaction has logged it: the changed object, of the kind that the trigger names, the login and '
    'program, and the changed columns.';

-- At commit, when it is known which functions have logged their changes themselves.
DO $$
DECLARE
    audited text[];
BEGIN
    FOREACH audited SLICE 1 IN ARRAY ARRAY[['service', 'service'], ['application', 'application'], ['account', 'external_account'],
        ['credential', 'credential'], ['mapping', 'target_mapping'], ['key', 'api_key'], ['list', 'exclusion_list'],
        ['template', 'delivery_template'], ['seed', 'seed']]
    LOOP
        EXECUTE format('CREATE CONSTRAINT TRIGGER %I AFTER INSERT OR UPDATE OR DELETE ON pushmta_engine.%I '
            'DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION pushmta_engine.audit_change(%L)',
            audited[1] || '_audit', audited[2], audited[1]);
    END LOOP;
END $$;
-- For rows that processes write all the time: only what people ask for.
CREATE CONSTRAINT TRIGGER host_drain_audit AFTER UPDATE OF drain_requested ON pushmta_engine.mta_host
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NOT OLD.drain_requested AND NEW.drain_requested)
    EXECUTE FUNCTION pushmta_engine.audit_change('host', 'drain');
CREATE CONSTRAINT TRIGGER host_remove_audit AFTER DELETE ON pushmta_engine.mta_host
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION pushmta_engine.audit_change('host');
CREATE CONSTRAINT TRIGGER application_resume_audit AFTER INSERT OR UPDATE OF resumed_at ON pushmta_engine.application_health
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.resumed_at IS NOT NULL)
    EXECUTE FUNCTION pushmta_engine.audit_change('application', 'resume');
CREATE CONSTRAINT TRIGGER import_audit AFTER INSERT ON pushmta_engine.subscription_import
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION pushmta_engine.audit_change('import');
CREATE CONSTRAINT TRIGGER import_undo_audit AFTER UPDATE OF undone_at ON pushmta_engine.subscription_import
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (OLD.undone_at IS NULL AND NEW.undone_at IS NOT NULL)
    EXECUTE FUNCTION pushmta_engine.audit_change('import', 'undo');
-- Children write to other columns of rates all the time.
CREATE CONSTRAINT TRIGGER rate_audit AFTER INSERT OR UPDATE OF messages_per_second OR DELETE ON pushmta_engine.rate_limit
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION pushmta_engine.audit_change('rate');
-- A signal's row gets a value every second.
CREATE CONSTRAINT TRIGGER signal_audit AFTER INSERT OR UPDATE OF name, kind, source, selector, good, interval_seconds, timeout_ms,
        reaction_seconds, stale_after_seconds OR DELETE ON pushmta_engine.health_signal
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION pushmta_engine.audit_change('signal');
-- Days of continuous deliveries are created by messages, and runs by the engine or by a call that is logged itself.
CREATE CONSTRAINT TRIGGER delivery_add_audit AFTER INSERT ON pushmta_engine.delivery
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.recurrence_of IS NULL AND (NEW.kind = 'batch' OR NEW.parent_delivery_id IS NULL))
    EXECUTE FUNCTION pushmta_engine.audit_change('delivery');
-- A day has the weight of its continuous delivery.
CREATE CONSTRAINT TRIGGER delivery_weight_audit AFTER UPDATE OF weight ON pushmta_engine.delivery
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
    WHEN (OLD.weight <> NEW.weight AND (NEW.kind = 'batch' OR NEW.parent_delivery_id IS NULL))
    EXECUTE FUNCTION pushmta_engine.audit_change('delivery', 'weight');
-- Only decisions of people: a pause by a child has a reason, and days follow their continuous delivery.
CREATE CONSTRAINT TRIGGER delivery_audit AFTER UPDATE OF state ON pushmta_engine.delivery
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (OLD.state IS DISTINCT FROM NEW.state AND NEW.parent_delivery_id IS NULL AND (
        OLD.state IN ('editing', 'analysing', 'ready') AND NEW.state IN ('pending', 'preparing', 'in_progress')
            AND NEW.recurrence_of IS NULL
        OR NEW.state IN ('paused', 'stopped') AND NEW.state_reason = ''
        OR OLD.state = 'paused' AND NEW.state IN ('pending', 'preparing', 'in_progress')))
    EXECUTE FUNCTION pushmta_engine.audit_change('delivery');
