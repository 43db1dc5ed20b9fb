-- At most one message to a person in seven days.
\ir support.sql

SELECT pg_temp.refused(format('SELECT pushmta.set_frequency_cap(%L, %L, 1, %L, 181)', :'service', 'week', 'days'), 'PM310');
SELECT pushmta.set_frequency_cap(:'service', 'week', 1, 'days', 7);
SELECT pg_temp.require((SELECT max_messages = 1 AND per = 'days' AND length = 7 FROM pushmta.frequency_cap WHERE service = :'service'),
    'there is no cap');

SELECT pushmta.create_delivery('First', ARRAY[:'application'], '{"ios": {"title": "First"}}', category => 'marketing') AS first \gset
SELECT pushmta.start_delivery(:first);
CALL pg_temp.until_state(:first, 'finished');
SELECT sent AS reached FROM pushmta.delivery_progress WHERE id = :first \gset
SELECT pg_temp.require(:reached > 0, 'nobody was reached');

-- On another device a person is the same one.
SELECT count(*) AS left_out FROM pushmta.subscription s WHERE s.service = :'service' AND s.enabled AND (s.application = :'application'
    OR EXISTS (SELECT FROM pushmta.subscription t WHERE t.application = :'application' AND t.enabled AND t.user_key = s.user_key
        AND t.user_key <> '')) \gset
SELECT pushmta.create_delivery('Second', :'applications'::text[], '{"ios": {"title": "Second"}, "android": {"title": "Second"}}',
    category => 'marketing') AS second \gset
SELECT pushmta.start_delivery(:second);
CALL pg_temp.until_state(:second, 'finished');
SELECT pg_temp.require((SELECT sent = :subscribers - :left_out AND excluded = :left_out FROM pushmta.delivery_progress
    WHERE id = :second),
    'a person got two messages');
SELECT pg_temp.require((SELECT count(*) = :left_out FROM pushmta.exclusion_log WHERE delivery_id = :second AND reason = 'frequency_cap'),
    'those left out are not in the log');

-- What is transactional neither asks nor counts.
SELECT pushmta.create_delivery('Receipt', :'applications'::text[], '{"ios": {"title": "Paid"}, "android": {"title": "Paid"}}',
    category => 'transactional') AS receipt \gset
SELECT pushmta.start_delivery(:receipt);
CALL pg_temp.until_state(:receipt, 'finished');
SELECT pg_temp.require((SELECT sent = :subscribers FROM pushmta.delivery_progress WHERE id = :receipt), 'a cap held up a receipt');
SELECT pushmta.drop_frequency_cap(:'service', 'week');
SELECT pg_temp.refused(format('SELECT pushmta.drop_frequency_cap(%L, %L)', :'service', 'week'), 'PM311');
