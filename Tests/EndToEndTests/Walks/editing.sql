-- Changes, counts, previews, copies and moves a delivery.
\ir support.sql

SELECT pushmta.create_delivery('Draft', :'applications'::text[], :'hello') AS id \gset
SELECT pushmta.update_delivery(:id, label => 'Winter', content => '{"ios": {"title": "Winter {{n|0}}"}, "android": {"title": "Winter"}}',
    priority => 7, validity => '2 hours', max_retries => 3);
SELECT pg_temp.require((SELECT label = 'Winter' AND priority = 7 FROM pushmta.delivery_progress WHERE id = :id), 'the change is lost');
SELECT pg_temp.refused(format('SELECT pushmta.update_delivery(%s, validity => %L, ends_at => %L)', :id, '2 hours',
    now() + interval '1 day'),
    'PM007');

CALL pg_temp.until('SELECT bool_and(state = ''answered'') FROM pushmta.count_target(' || :id || ')');
SELECT pg_temp.require((SELECT sum(messages) = :subscribers AND NOT bool_or(estimate) FROM pushmta.count_target(:id)),
    'the target is not the number of subscribers');
SELECT min(id) AS device FROM pushmta.subscription WHERE application = :'application' \gset
CALL pg_temp.until(format('SELECT state = ''answered'' FROM pushmta.preview_message(%s, %s)', :id, :device));
SELECT pg_temp.require((SELECT payload LIKE '%Winter 0%' AND bytes BETWEEN 1 AND max_bytes AND problem = ''
    FROM pushmta.preview_message(:id, :device)), 'the preview is not what the phone gets');

SELECT pushmta.start_delivery(:id, now() + interval '3 days');
SELECT pushmta.reschedule_delivery(:id, now() + interval '5 days');
SELECT pg_temp.require((SELECT start_at > now() + interval '4 days' FROM pushmta.delivery_progress WHERE id = :id),
    'the start is not later');
SELECT pushmta.reschedule_delivery(:id, now() + interval '2 days');
SELECT pg_temp.require((SELECT start_at < now() + interval '3 days' FROM pushmta.delivery_progress WHERE id = :id),
    'the start is not earlier');
SELECT pushmta.reschedule_delivery(:id, NULL);
SELECT pg_temp.require((SELECT state = 'editing' FROM pushmta.delivery_progress WHERE id = :id), 'it is not edited again');

SELECT pushmta.copy_delivery(:id, 'Winter, again') AS copy \gset
SELECT pushmta.start_delivery(:copy);
CALL pg_temp.until_state(:copy, 'finished');
SELECT pg_temp.require((SELECT sent = :subscribers AND label = 'Winter, again' AND priority = 7 AND copied_from = :id
    FROM pushmta.delivery_progress WHERE id = :copy),
    'the copy is another delivery');
SELECT pg_temp.refused(format('SELECT pushmta.update_delivery(%s, label => %L)', :copy, 'late'), 'PM006');
SELECT pg_temp.require((SELECT sent = 0 FROM pushmta.delivery_progress WHERE id = :id), 'the original was sent');
