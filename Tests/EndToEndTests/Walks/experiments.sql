-- Two variants, a hold-out, a winner and a conversion.
\ir support.sql

SELECT pushmta.create_delivery('Sale', :'applications'::text[], '{"ios": {"title": "Plain"}, "android": {"title": "Plain"}}') AS id \gset
SELECT pg_temp.refused(format('SELECT pushmta.set_experiment(%s, %L)', :id, '[{"percent": 80}, {"percent": 30}]'), 'PM007');
SELECT pushmta.set_experiment(:id, '[{"label": "plain", "percent": 30},
    {"label": "emoji", "percent": 30, "content": {"ios": {"title": "Emoji"}, "android": {"title": "Emoji"}}}]',
    decide_after => '1 hour', hold_out_percent => 20, if_undecided => 'wait');
SELECT pg_temp.refused(format('SELECT pushmta.choose_winner(%s, 2)', :id), 'PM008');
SELECT pushmta.analyze_delivery(:id);
CALL pg_temp.until_state(:id, 'ready');
SELECT pg_temp.require((SELECT count(DISTINCT variant) = 3 FROM pushmta.delivery_count WHERE delivery_id = :id),
    'variants are not counted');
SELECT pushmta.start_delivery(:id);
CALL pg_temp.until('SELECT count(*) = 2 AND sum(sent) = sum(messages) AND sum(sent) > 0 FROM pushmta.experiment_variant WHERE variant < 9
    AND delivery_id = ' || :id);
SELECT pg_temp.require((SELECT state IN ('preparing', 'in_progress') FROM pushmta.delivery_progress WHERE id = :id),
    'the rest did not wait');
SELECT pg_temp.require((SELECT against_first <> '' FROM pushmta.experiment_variant WHERE delivery_id = :id AND variant = 2),
    'the results say nothing');
SELECT pushmta.choose_winner(:id, 2);
CALL pg_temp.until_state(:id, 'finished');
SELECT pg_temp.require((SELECT winner = 2 AND winner_label = 'emoji' FROM pushmta.experiment WHERE delivery_id = :id),
    'there is no winner');
SELECT pg_temp.require((SELECT sent = target AND sent + excluded = :subscribers AND excluded > 0
    FROM pushmta.delivery_progress WHERE id = :id),
    'the rest was not sent, or nobody was held out');
SELECT pg_temp.require((SELECT count(*) = p.excluded FROM pushmta.exclusion_log e JOIN pushmta.delivery_progress p ON p.id = e.delivery_id
    WHERE e.delivery_id = :id AND e.reason = 'hold_out' GROUP BY p.excluded), 'those held out are not in the log');

-- Somebody bought what a message offered.
SELECT message_id AS message FROM pushmta.message_status WHERE delivery_id = :id AND status = 'sent' ORDER BY sequence LIMIT 1 \gset
SELECT pg_temp.require(pushmta.record_conversion(:'message', 'purchase', 19.99), 'a conversion does not count');
SELECT pg_temp.require(NOT pushmta.record_conversion(:'message', 'purchase', 19.99), 'a conversion counts twice');
SELECT pg_temp.require((SELECT messages = 1 AND value = 19.99
    FROM pushmta.delivery_conversion WHERE delivery_id = :id AND name = 'purchase'),
    'the conversion is not shown');
