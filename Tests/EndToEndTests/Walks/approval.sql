-- A delivery that a colleague has to approve, and its recall.
\ir support.sql

\c - :operator
SELECT pushmta.set_approval_rule(:'service', 10);
\c - :maker
\ir support.sql
SELECT pg_temp.require((SELECT above = 10 FROM pushmta.approval_rule WHERE service = :'service'), 'there is no rule');
SELECT pushmta.create_delivery('Sale', :'applications'::text[],
    '{"ios": {"title": "Sale", "collapse_id": "sale"}, "android": {"title": "Sale", "tag": "sale"}}') AS id \gset
SELECT pg_temp.refused('SELECT pushmta.start_delivery(' || :id || ')', 'PM180');
SELECT pushmta.analyze_delivery(:id);
CALL pg_temp.until_state(:id, 'ready');
SELECT pg_temp.refused('SELECT pushmta.start_delivery(' || :id || ')', 'PM181');
SELECT pg_temp.refused('SELECT pushmta.approve_delivery(' || :id || ')', 'PM183');
\c - :colleague
\ir support.sql
SELECT pg_temp.require((SELECT messages = :subscribers FROM pushmta.delivery_awaiting_approval WHERE delivery_id = :id),
    'it does not wait');
SELECT version AS seen FROM pushmta.delivery_awaiting_approval WHERE delivery_id = :id \gset
SELECT pg_temp.refused(format('SELECT pushmta.approve_delivery(%s, %L, expected => %L)', :id, '', 'another'), 'PM184');
SELECT pushmta.approve_delivery(:id, 'Checked', expected => :'seen') AS approval \gset
SELECT pg_temp.require((SELECT messages = :subscribers AND comment = 'Checked' AND voided_at IS NULL FROM pushmta.approval
    WHERE id = :approval), 'another size was approved');
\c - :maker
\ir support.sql

-- A change ends the approval.
SELECT pushmta.update_delivery(:id, priority => 3);
SELECT pg_temp.require((SELECT voided_at IS NOT NULL AND void_reason <> '' FROM pushmta.approval WHERE delivery_id = :id),
    'the approval outlives a change');
SELECT pushmta.analyze_delivery(:id);
CALL pg_temp.until_state(:id, 'ready');
SELECT pg_temp.refused('SELECT pushmta.start_delivery(' || :id || ')', 'PM181');

-- A colleague returns it; the same, analysed again, is approved.
\c - :colleague
SELECT pushmta.reject_delivery(:id, 'The price is wrong');
\c - :maker
\ir support.sql
SELECT pg_temp.require((SELECT state = 'editing' AND state_reason LIKE '%The price is wrong%' FROM pushmta.delivery_progress
    WHERE id = :id),
    'it was not returned');
SELECT pushmta.analyze_delivery(:id);
CALL pg_temp.until_state(:id, 'ready');
\c - :colleague
SELECT pushmta.approve_delivery(:id);
\c - :maker
\ir support.sql
SELECT pushmta.start_delivery(:id);
CALL pg_temp.until_state(:id, 'finished');
SELECT sent AS reached FROM pushmta.delivery_progress WHERE id = :id \gset

-- A request for the approval says when it starts, and the approval alone lets it go.
SELECT pushmta.create_delivery('Asked', :'applications'::text[], :'hello') AS asked \gset
SELECT pushmta.request_approval(:asked);
CALL pg_temp.until('SELECT starts_approved AND requested_by <> '''' FROM pushmta.delivery_awaiting_approval
    WHERE delivery_id = ' || :asked);
SELECT pg_temp.require((SELECT state = 'pending' AND start_at IS NULL FROM pushmta.delivery_progress WHERE id = :asked),
    'it does not wait');
SELECT pg_temp.refused(format('SELECT pushmta.request_approval(%s)', :asked), 'PM008');
\c - :colleague
SELECT pushmta.approve_delivery(:asked, 'Checked');
\c - :maker
\ir support.sql
CALL pg_temp.until_state(:asked, 'finished');

SELECT pg_temp.refused(format('SELECT pushmta.recall_delivery(%s, %L)', :id, ''), 'PM007');
SELECT pushmta.recall_delivery(:id, 'wrong price', 'replace', '{"ios": {"title": "Sorry"}, "android": {"title": "Sorry"},
    "locales": {"fr": {"ios": {"title": "Pardon"}, "android": {"title": "Pardon"}}}}') AS recall \gset
SELECT pg_temp.refused('SELECT pushmta.reschedule_delivery(' || :recall || ', NULL)', 'PM185');
-- Its text needs an approval, too.
CALL pg_temp.until('SELECT messages > 0 FROM pushmta.delivery_awaiting_approval WHERE delivery_id = ' || :recall);
\c - :colleague
SELECT pushmta.approve_delivery(:recall);
\c - :maker
\ir support.sql
CALL pg_temp.until('SELECT recall_state = ''finished'' FROM pushmta.recall_report WHERE delivery_id = ' || :id);
SELECT pg_temp.require((SELECT pending + unsent + replaced + removed + too_late = target AND pending + unreached = 0
    AND replaced + too_late = :reached AND replaced > 0 FROM pushmta.recall_report WHERE delivery_id = :id), 'the report does not add up');

-- What has not left stays.
SELECT pushmta.create_delivery('Slow', :'applications'::text[], '{"ios": {"title": "Slow"}, "android": {"title": "Slow"}}',
    messages_per_second => 1, category => 'marketing') AS slow \gset
SELECT pushmta.analyze_delivery(:slow);
CALL pg_temp.until_state(:slow, 'ready');
\c - :colleague
SELECT pushmta.approve_delivery(:slow);
\c - :maker
\ir support.sql
SELECT pushmta.start_delivery(:slow);
CALL pg_temp.until('SELECT sent > 0 FROM pushmta.delivery_progress WHERE id = ' || :slow);
SELECT pushmta.recall_delivery(:slow, 'too slow');
CALL pg_temp.until('SELECT pending = 0 AND unsent > 0 AND unsent + too_late = target
    FROM pushmta.recall_report WHERE delivery_id = ' || :slow);

-- What has left is removed by apps, which needs no approval. No device says here that it did.
SELECT pushmta.recall_delivery(:slow, 'too slow', 'remove') AS removal \gset
CALL pg_temp.until('SELECT recall_state = ''finished'' FROM pushmta.recall_report WHERE delivery_id = ' || :slow);
SELECT pg_temp.require((SELECT r.mode = 'remove' AND r.recall_delivery_id = :removal AND r.unsent + r.too_late = r.target
    AND r.too_late = p.sent AND r.too_late > 0 AND r.removed = 0
    FROM pushmta.recall_report r JOIN pushmta.delivery_progress p ON p.id = r.recall_delivery_id WHERE r.delivery_id = :slow),
    'not everybody who got it was asked to remove it');
-- Once that has ended, it can be recalled again. Nothing is left to stop.
SELECT pg_temp.refused(format('SELECT pushmta.recall_delivery(%s, %L)', :slow, 'again'), 'PM185');
SELECT pushmta.recall_delivery(:slow, 'again', 'remove') AS again \gset
SELECT pg_temp.require(:again <> :removal, 'the second removal is the first one');
CALL pg_temp.until('SELECT recall_state = ''finished'' AND recall_delivery_id = ' || :again || ' AND pending + unreached = 0
    AND unsent + replaced + removed + too_late = target FROM pushmta.recall_report WHERE delivery_id = ' || :slow);
\c - :operator
SELECT pushmta.set_approval_rule(:'service', NULL);
