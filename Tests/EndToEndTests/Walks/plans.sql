-- Waves with guards, the recipient's time, and sending hours.
\ir support.sql

SELECT pushmta.create_delivery('In waves', :'applications'::text[], :'hello')
    AS id \gset
SELECT pg_temp.refused(format('SELECT pushmta.set_local_time(%s, %L)', :id, '2036-12-01 09:00'), 'PM007');
SELECT pushmta.set_waves(:id, '[{"percent": 10, "max_failed": 0.5}, {"count": 20}, {}]');
SELECT pushmta.start_delivery(:id);
CALL pg_temp.until_state(:id, 'finished');
SELECT pg_temp.require((SELECT sum(messages) = :subscribers AND sum(sent) = :subscribers
    AND array_agg(state ORDER BY number) = '{passed,passed,open}' AND bool_and(opened_at >= earlier)
    FROM (SELECT *, coalesce(lag(opened_at) OVER (ORDER BY number), opened_at) AS earlier FROM pushmta.delivery_wave
        WHERE delivery_id = :id) w), 'the waves did not leave one after the other');

-- Ten persons opt out after the first wave, so the rest is held until somebody has looked.
SELECT pushmta.copy_delivery(:id, 'Guarded') AS guarded \gset
SELECT pushmta.set_waves(:guarded, '[{"percent": 50, "max_opt_outs": 0.05}, {"after": "6 s"}]');
SELECT pushmta.start_delivery(:guarded);
CALL pg_temp.until('SELECT sent = messages AND sent >= 10 FROM pushmta.delivery_wave WHERE number = 1 AND delivery_id = ' || :guarded);
SELECT array_agg(subscription_id) AS devices FROM (SELECT subscription_id FROM pushmta.message_status
    WHERE delivery_id = :guarded AND status = 'sent' ORDER BY sequence LIMIT 10) m \gset
SELECT pushmta.set_opt_out(d, true) FROM unnest(:'devices'::bigint[]) d;
CALL pg_temp.until_state(:guarded, 'paused');
SELECT pg_temp.require((SELECT state_reason LIKE '%opt%' FROM pushmta.delivery_progress WHERE id = :guarded)
    AND (SELECT array_agg(state ORDER BY number) = '{held,waiting}' AND sum(sent) = max(messages) FILTER (WHERE number = 1)
        FROM pushmta.delivery_wave WHERE delivery_id = :guarded), 'the guard did not hold the second wave, or does not say why');
SELECT pushmta.resume_delivery(:guarded);
CALL pg_temp.until_state(:guarded, 'finished');
SELECT pg_temp.require((SELECT sent = :subscribers FROM pushmta.delivery_progress WHERE id = :guarded), 'the rest was not sent');
SELECT pushmta.set_opt_out(d, false) FROM unnest(:'devices'::bigint[]) d;

-- Where the moment has passed: everywhere.
SELECT pushmta.copy_delivery(:id, 'Over') AS late \gset
SELECT pushmta.set_plan(:late, '{"local_time": "2026-01-01 09:00", "on_past": "skip"}');
SELECT pushmta.start_delivery(:late);
CALL pg_temp.until_state(:late, 'finished');
SELECT pg_temp.require((SELECT sent = 0 AND ignored = :subscribers FROM pushmta.delivery_progress WHERE id = :late),
    'what is over was sent');

-- The next day is after its end.
SELECT pushmta.copy_delivery(:id, 'Too short') AS short \gset
SELECT pushmta.set_plan(:short, '{"local_time": "2026-01-01 09:00", "on_past": "next_day"}');
SELECT pushmta.update_delivery(:short, validity => '14 hours');
SELECT pg_temp.refused(format('SELECT pushmta.start_delivery(%s)', :short), 'PM009');

SELECT pushmta.copy_delivery(:id, 'At nine') AS nine \gset
SELECT pushmta.set_plan(:nine, NULL);
SELECT pushmta.update_delivery(:nine, validity => '3 days');
SELECT pushmta.set_local_time(:nine, (now() AT TIME ZONE 'UTC')::timestamp + interval '1 day', 'now');
SELECT pushmta.start_delivery(:nine);
CALL pg_temp.until(format('SELECT planned_messages = %s AND next_at > now() + interval ''23 h'' FROM pushmta.delivery_plan
    WHERE delivery_id = %s', :subscribers, :nine));
SELECT pushmta.stop_delivery(:nine);

-- A day off is an operator's to set.
\c - :operator
SELECT pushmta.set_sending_hours(:'service', '{1,2,3,4,5,6,7}', '00:00', '24:00');
SELECT pushmta.set_days_off(:'service', ARRAY(SELECT current_date + n FROM generate_series(-1, 1) n));
\c - :maker
\ir support.sql
SELECT pg_temp.require((SELECT count(*) = 3 FROM pushmta.day_off WHERE service = :'service'), 'there are no days off');
SELECT pushmta.copy_delivery(:id, 'On a day off') AS off \gset
SELECT pushmta.set_plan(:off, NULL);
SELECT pushmta.start_delivery(:off);
CALL pg_temp.until(format('SELECT planned_messages = %s FROM pushmta.delivery_plan WHERE delivery_id = %s', :subscribers, :off));
SELECT pg_temp.require((SELECT sent = 0 FROM pushmta.delivery_progress WHERE id = :off), 'it left on a day off');
\c - :operator
SELECT pushmta.set_days_off(:'service', '{}');
SELECT pushmta.set_service_hours(:'service', '{}');
\c - :maker
\ir support.sql
CALL pg_temp.until_state(:off, 'finished');
SELECT pg_temp.require((SELECT sent = :subscribers FROM pushmta.delivery_progress WHERE id = :off), 'it did not leave afterwards');
