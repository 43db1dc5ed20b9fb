-- What happened, read by a consumer that dies once before it has stored a page.
\ir support.sql

\c - :operator
SELECT pushmta.create_consumer('walk', ARRAY['message', 'device', 'delivery'], service => :'service');
SELECT pushmta.create_consumer('walk-own', ARRAY['device'], service => :'service', reader => :'operator');
SELECT count(*) FROM pushmta.next_events('walk-own');
\c - :maker
\ir support.sql
SELECT pg_temp.refused($$SELECT pushmta.create_consumer('mine')$$, '42501');
-- A consumer of another login.
SELECT pg_temp.refused($$SELECT * FROM pushmta.next_events('walk-own')$$, 'PM167');
SELECT pg_temp.require((SELECT reader = :'operator' FROM pushmta.event_consumer WHERE name = 'walk-own'), 'the consumer has no reader');
SELECT pg_temp.require((SELECT service = :'service' AND lost = 0 FROM pushmta.event_consumer WHERE name = 'walk'),
    'there is no consumer');

CREATE TEMPORARY TABLE happened AS SELECT * FROM pushmta.next_events('walk', 1);
-- Stores pages until the answer is true.
CREATE PROCEDURE pg_temp.read_until(question text) LANGUAGE plpgsql AS $$
DECLARE
    deadline timestamptz := clock_timestamp() + interval '60 s';
    answer boolean;
BEGIN
    LOOP
        INSERT INTO happened SELECT * FROM pushmta.next_events('walk', 1000);
        COMMIT;
        EXECUTE question INTO answer;
        EXIT WHEN answer;
        IF clock_timestamp() > deadline THEN
            RAISE EXCEPTION 'within 60 s there was no yes to: %', question;
        END IF;
        PERFORM pg_sleep(0.05);
    END LOOP;
END $$;

-- Processes notice within seconds that somebody listens, so this delivery lasts until both children have.
SELECT pushmta.create_delivery('Noticed', :'applications'::text[], :'hello', messages_per_second => 4) AS noticed \gset
SELECT pushmta.start_delivery(:noticed);
CALL pg_temp.read_until('SELECT count(DISTINCT application) = 2 FROM happened WHERE kind = ''message.sent''');
SELECT pushmta.stop_delivery(:noticed);
CALL pg_temp.read_until('SELECT count(*) > 0 FROM happened WHERE state = ''stopped'' AND delivery_id = ' || :noticed);

SELECT min(id) AS device FROM pushmta.subscription WHERE application = :'application' AND enabled \gset
SELECT pushmta.set_opt_out(:device, true);
SELECT pushmta.set_opt_out(:device, false);
SELECT pushmta.create_delivery('Told', :'applications'::text[], :'hello') AS id \gset
SELECT pushmta.start_delivery(:id);
CALL pg_temp.until_state(:id, 'finished');

-- A reader that dies is given the same events again.
BEGIN;
SELECT string_agg(id, ' ') AS seen FROM pushmta.next_events('walk', 10) \gset
ROLLBACK;
BEGIN;
INSERT INTO happened SELECT * FROM pushmta.next_events('walk', 10);
SELECT pg_temp.require((SELECT count(*) = 10 FROM happened WHERE id = ANY(string_to_array(:'seen', ' '))),
    'other events were given the second time');
COMMIT;
CALL pg_temp.read_until('SELECT count(*) > 0 FROM happened WHERE state = ''finished'' AND delivery_id = ' || :id);
SELECT pg_temp.require((SELECT count(*) = count(DISTINCT id) FROM happened), 'an event was given twice');
SELECT pg_temp.require((SELECT count(DISTINCT sequence) = :subscribers FROM happened WHERE delivery_id = :id AND kind = 'message.sent'),
    'a message is missing');
SELECT pg_temp.require((SELECT array_agg(kind ORDER BY ctid) = '{device.opted_out,device.opted_in}' FROM happened
    WHERE subscription_id = :device AND kind LIKE 'device.%'), 'an opt-out and an opt-in are not told in their order');
SELECT pg_temp.require((SELECT array_agg(state ORDER BY ctid) = '{pending,preparing,in_progress,finished}' FROM happened
    WHERE delivery_id = :id AND kind = 'delivery.changed'), 'the states are others');
SELECT pg_temp.require((SELECT lost = 0 FROM pushmta.event_consumer WHERE name = 'walk')
    AND NOT EXISTS (SELECT FROM pushmta.event_gap WHERE consumer = 'walk'), 'something was lost');
\c - :operator
SELECT pushmta.drop_consumer('walk'), pushmta.drop_consumer('walk-own');
