-- Looks at a delivery before it leaves, fixes what is found, and releases it.
\ir support.sql

SELECT pushmta.create_delivery('Analysed', :'applications'::text[],
    '{"ios": {"title": "{{#vip}}Hello", "sound": "bell"}, "android": {"title": "Hello"}}',
    messages_per_second => 1000) AS id \gset
SELECT pushmta.analyze_delivery(:id);
CALL pg_temp.until_state(:id, 'editing');
CALL pg_temp.until('SELECT count(*) > 0 FROM pushmta.delivery_problem WHERE delivery_id = ' || :id);
SELECT pg_temp.require(bool_and(pointer LIKE '/ios/%' AND problem <> '' AND remedy <> ''),
    'a problem does not say where it is, or what to do')
FROM pushmta.delivery_problem WHERE delivery_id = :id;
SELECT pg_temp.require((SELECT sent = 0 AND failed = 0 FROM pushmta.delivery_progress WHERE id = :id), 'something left');

SELECT pushmta.update_delivery(:id, content => :'hello');
SELECT pushmta.analyze_delivery(:id);
CALL pg_temp.until_state(:id, 'ready');
CALL pg_temp.until('SELECT finished_at IS NOT NULL FROM pushmta.delivery_analysis WHERE delivery_id = ' || :id);
SELECT pg_temp.require((SELECT messages = :subscribers AND rendered = :subscribers AND refused = 0 AND largest >= smallest AND seconds > 0
    AND ends_at > now() AND limited_by <> '' AND bound ->> 'kind' = 'rate' AND frozen_until > now()
    FROM pushmta.delivery_analysis WHERE delivery_id = :id), 'the analysis is not complete');
SELECT pg_temp.require((SELECT sum(messages) = :subscribers AND count(DISTINCT application) = 2 FROM pushmta.delivery_count
    WHERE delivery_id = :id), 'the counts by application, locale and time zone do not add up');
SELECT pg_temp.require((SELECT sent = 0 AND target = :subscribers FROM pushmta.delivery_progress WHERE id = :id), 'something left');

-- It says when the last message leaves, with the waits of the plan.
SELECT pushmta.create_delivery('Planned', :'applications'::text[], :'hello') AS planned \gset
SELECT pushmta.set_waves(:planned, '[{"percent": 50}, {"after": "1 hour"}]');
SELECT pushmta.analyze_delivery(:planned);
CALL pg_temp.until_state(:planned, 'ready');
SELECT pg_temp.require((SELECT seconds >= 3600 AND ends_at > now() + interval '59 minutes' AND limited_by LIKE 'wave 2: begins at %'
    FROM pushmta.delivery_analysis WHERE delivery_id = :planned), 'the analysis ignores the plan');
SELECT pushmta.stop_delivery(:planned);

-- A start without an analysis finds the same before anything is sent.
SELECT pushmta.create_delivery('Not analysed', ARRAY[:'application'],
    '{"ios": {"title": "{{#vip}}Hello", "sound": "bell"}}') AS faulty \gset
SELECT pushmta.start_delivery(:faulty);
CALL pg_temp.until('SELECT count(*) > 0 FROM pushmta.delivery_problem WHERE delivery_id = ' || :faulty);
CALL pg_temp.until_state(:faulty, 'editing');
SELECT pg_temp.require((SELECT sent = 0 AND failed = 0 FROM pushmta.delivery_progress WHERE id = :faulty), 'it left with its faults');

-- Who opts out after the analysis gets nothing.
SELECT min(id) AS device FROM pushmta.subscription WHERE application = :'application' AND enabled \gset
SELECT pushmta.set_opt_out(:device, true);
SELECT pushmta.start_delivery(:id);
CALL pg_temp.until_state(:id, 'finished');
SELECT pg_temp.require((SELECT target = :subscribers AND sent = :subscribers - 1 FROM pushmta.delivery_progress WHERE id = :id),
    'not all of the others got their message');
SELECT pg_temp.require(NOT EXISTS (SELECT FROM pushmta.message_status WHERE delivery_id = :id AND subscription_id = :device
    AND status = 'sent'), 'an opt-out after the analysis did not count');
SELECT pushmta.set_opt_out(:device, false);
