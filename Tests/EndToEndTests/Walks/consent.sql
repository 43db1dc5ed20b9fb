-- Categories, and opt-outs from one of them.
\ir support.sql

SELECT pg_temp.require((SELECT array_agg(name) @> '{marketing,news,service,transactional}' FROM pushmta.category
    WHERE service = :'service'), 'the categories are others');
SELECT pushmta.set_category(:'service', 'offers', 'Offers');
SELECT min(id) AS device FROM pushmta.subscription WHERE application = :'application' AND enabled AND user_key <> '' \gset
SELECT pushmta.set_category_opt_out(:device, 'offers', true);
SELECT user_key AS person FROM pushmta.subscription WHERE application = :'application' AND enabled AND user_key <> '' AND id > :device
    ORDER BY id LIMIT 1 \gset
SELECT pushmta.set_user_category_opt_out(:'service', :'person', 'offers', true);
SELECT count(*) AS left_out FROM pushmta.subscription WHERE service = :'service' AND enabled
    AND (id = :device OR user_key = :'person') \gset
SELECT pg_temp.refused(format('SELECT pushmta.set_category_opt_out(%s, %L, true)', :device, 'transactional'), 'PM152');

SELECT pushmta.create_delivery('Offers', :'applications'::text[], '{"ios": {"title": "Offer"}, "android": {"title": "Offer"}}',
    category => 'offers') AS id \gset
SELECT pushmta.start_delivery(:id);
CALL pg_temp.until_state(:id, 'finished');
SELECT pg_temp.require((SELECT sent = :subscribers - :left_out AND category = 'offers' FROM pushmta.delivery_progress WHERE id = :id),
    'an opt-out from the category did not count');
SELECT pg_temp.require((SELECT count(*) = :left_out FROM pushmta.exclusion_log WHERE delivery_id = :id AND reason LIKE '%category%'),
    'those who opted out are not in the log');

-- A receipt reaches them.
SELECT pushmta.create_delivery('Receipt', :'applications'::text[], '{"ios": {"title": "Paid"}, "android": {"title": "Paid"}}',
    category => 'transactional') AS receipt \gset
SELECT pushmta.start_delivery(:receipt);
CALL pg_temp.until_state(:receipt, 'finished');
SELECT pg_temp.require((SELECT sent = :subscribers FROM pushmta.delivery_progress WHERE id = :receipt), 'somebody got no receipt');

SELECT pushmta.set_category_opt_out(:device, 'offers', false);
SELECT pushmta.set_user_category_opt_out(:'service', :'person', 'offers', false);
SELECT pg_temp.require(NOT EXISTS (SELECT FROM pushmta.category_opt_out WHERE service = :'service' AND category = 'offers'),
    'an opt-out from the category stays');
