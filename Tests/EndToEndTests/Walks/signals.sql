-- A delivery that follows the load of a backend.
\ir support.sql

-- An operator defines the signal, with a function of the backend's.
\c - :owner
CREATE SCHEMA backend;
CREATE FUNCTION backend.load() RETURNS double precision LANGUAGE sql AS 'SELECT 0.25::double precision';
GRANT USAGE ON SCHEMA backend TO pushmta_signal;
\c - :operator
SELECT pushmta.set_health_signal('backend-load', 'sql', 'backend.load()', reaction_seconds => 2);
\c - :maker
\ir support.sql
SELECT pg_temp.refused($$SELECT pushmta.set_health_signal('mine', 'sql', 'backend.load()')$$, '42501');
SELECT pushmta.create_delivery('Careful', :'applications'::text[], :'hello') AS id \gset
SELECT pg_temp.refused(format('SELECT pushmta.follow_signal(%s, %L, 0.8, 10, 500)', :id, 'unknown'), 'PM290');
SELECT pushmta.follow_signal(:id, 'backend-load', 0.8, 5, 500);
SELECT pg_temp.require((SELECT signal = 'backend-load' AND state = 'idle' AND rate = 5 FROM pushmta.delivery_signal
    WHERE delivery_id = :id),
    'it does not follow, or does not begin at its floor');
SELECT pushmta.start_delivery(:id);
CALL pg_temp.until('SELECT rate > 5 AND value = 0.25 AND state <> ''idle'' FROM pushmta.delivery_signal WHERE delivery_id = ' || :id);
CALL pg_temp.until_state(:id, 'finished');
SELECT pg_temp.require((SELECT sent = :subscribers FROM pushmta.delivery_progress WHERE id = :id), 'not all was sent');
SELECT pg_temp.require((SELECT value = 0.25 AND good = 'below' FROM pushmta.health_signal WHERE name = 'backend-load'),
    'it was not read');
SELECT pushmta.follow_signal(:id, NULL);
\c - :operator
SELECT pushmta.drop_health_signal('backend-load');
\c - :owner
DROP FUNCTION backend.load();
DROP SCHEMA backend;
