-- A saved audience, a filter that knows what people did, and a control group.
\ir support.sql

SELECT pg_temp.refused(format('SELECT pushmta.save_audience(%L, %L, %L)', :'service', 'readers', 'locale ='), 'PM021');
SELECT min(locale) AS locale FROM pushmta.subscription WHERE service = :'service' \gset
SELECT pushmta.save_audience(:'service', 'readers', format('locale = %L', :'locale'));
SELECT count(*) AS speakers FROM pushmta.subscription WHERE service = :'service' AND locale = :'locale' AND enabled \gset
CALL pg_temp.until(format('SELECT state = ''answered'' FROM pushmta.count_audience(%L, %L)', :'service', 'readers'));
SELECT pg_temp.require((SELECT subscriptions = :speakers AND margin IS NULL AND problem = ''
    FROM pushmta.count_audience(:'service', 'readers')), 'the count is not exact');
SELECT pg_temp.require((SELECT count(*) BETWEEN 1 AND 10 AND bool_and(locale = :'locale')
    FROM pushmta.audience_sample(:'service', 'readers')),
    'there is no sample');

SELECT pushmta.keep_behaviour(:'service');
SELECT pushmta.create_delivery('Spring', ARRAY[:'application'], '{"ios": {"title": "Spring"}}', audience => 'readers') AS id \gset
SELECT pg_temp.require((SELECT audience = 'readers' FROM pushmta.delivery_targeting WHERE delivery_id = :id), 'the audience is not named');
SELECT pushmta.start_delivery(:id);
CALL pg_temp.until_state(:id, 'finished');
SELECT sent AS reached FROM pushmta.delivery_progress WHERE id = :id \gset

-- The history knows to whom it was sent when the statistics do. A count before would hold for a minute. Nobody has clicked it.
CALL pg_temp.until(format('SELECT sum(sent) = %s FROM pushmta.delivery_statistics_by_hour WHERE delivery_id = %s', :reached, :id));
SELECT pushmta.create_delivery('Spring, again', ARRAY[:'application'], '{"ios": {"title": "Spring"}}') AS again \gset
SELECT pushmta.set_target(:again, filter => $$sent label 'Spring' within 30 days and not clicked delivery $$ || :id);
CALL pg_temp.until(format('SELECT bool_and(state = ''answered'') AND sum(messages) = %s FROM pushmta.count_target(%s)', :reached, :again));

SELECT pg_temp.refused(format('SELECT pushmta.set_control_group(%L, 51)', :'service'), 'PM352');
SELECT pushmta.set_control_group(:'service', 50);
SELECT pg_temp.require((SELECT percent = 50 FROM pushmta.control_group WHERE service = :'service'), 'there is no control group');
SELECT pushmta.create_delivery('Sale', :'applications'::text[], '{"ios": {"title": "Sale"}, "android": {"title": "Sale"}}') AS sale \gset
SELECT pushmta.start_delivery(:sale);
CALL pg_temp.until_state(:sale, 'finished');
SELECT pg_temp.require((SELECT sent BETWEEN 1 AND :subscribers - 1 AND sent + excluded = :subscribers FROM pushmta.delivery_progress
    WHERE id = :sale), 'the members got marketing');
SELECT pg_temp.require((SELECT count(*) = p.excluded FROM pushmta.exclusion_log e JOIN pushmta.delivery_progress p ON p.id = e.delivery_id
    WHERE e.delivery_id = :sale AND e.reason = 'control_group' GROUP BY p.excluded), 'the members are not in the log');
SELECT min(user_key) AS person FROM pushmta.subscription WHERE service = :'service' AND user_key <> '' \gset
SELECT pg_temp.require(pushmta.record_user_conversion(:'service', :'person', 'order', 19.99), 'a conversion does not count');
SELECT pg_temp.require(NOT pushmta.record_user_conversion(:'service', :'person', 'order', 19.99), 'a conversion counts twice');
SELECT pg_temp.require((SELECT converted_members + converted_others = 1 FROM pushmta.control_result(:'service') WHERE name = 'order'),
    'the figures of the group do not show it');
SELECT pushmta.set_control_group(:'service', 0);
SELECT pushmta.remove_audience(:'service', 'readers');
