-- Finds deliveries, compares two, archives one, and reads what its page shows.
\ir support.sql

SELECT pushmta.create_delivery('Autumn 100%', :'applications'::text[], '{"ios": {"title": "a"}, "android": {"title": "a"}}',
    category => 'news') AS first \gset
SELECT pushmta.start_delivery(:first);
SELECT pushmta.copy_delivery(:first, 'Autumn, again') AS second \gset
SELECT pushmta.start_delivery(:second);
CALL pg_temp.until_state(:first, 'finished');
CALL pg_temp.until_state(:second, 'finished');
SELECT pg_temp.require(ARRAY(SELECT delivery FROM pushmta.list_deliveries(label => 'autumn', service => :'service', state => 'finished',
    category => 'news', author => :'maker')) = ARRAY[:second, :first]::bigint[], 'the list is another one');
SELECT pg_temp.require((SELECT array_agg(measure) = '{sent,failed,received,clicked}' FROM pushmta.compare_deliveries(:first, :second)),
    'the comparison has other measures');
SELECT pg_temp.require((SELECT a_rate = 1 AND b_rate = 1 AND NOT is_clear FROM pushmta.compare_deliveries(:first, :second)
    WHERE measure = 'sent'), 'two deliveries that are alike differ');
SELECT pg_temp.require(pushmta.archive_delivery(:first), 'it was not archived');
SELECT pg_temp.require(ARRAY(SELECT delivery FROM pushmta.list_deliveries(label => 'autumn')) = ARRAY[:second]::bigint[]
    AND ARRAY(SELECT delivery FROM pushmta.list_deliveries(label => 'autumn', archived => true)) = ARRAY[:first]::bigint[],
    'the list shows what is archived');
SELECT pushmta.archive_delivery(:first, false);
SELECT pg_temp.require((SELECT target = :subscribers AND sent = :subscribers AND started_at <= finished_at FROM pushmta.delivery_statistics
    WHERE delivery_id = :first), 'the numbers are wrong after the end');
CALL pg_temp.until(format('SELECT sum(sent) = %s FROM pushmta.delivery_statistics_by_hour WHERE delivery_id = %s', :subscribers, :first));
CALL pg_temp.until(format('SELECT sum(sent) = %s AND count(*) = 2 FROM pushmta.delivery_statistics_by_application WHERE delivery_id = %s',
    :subscribers, :first));
