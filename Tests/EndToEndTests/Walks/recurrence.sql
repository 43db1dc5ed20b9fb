-- A delivery that recurs. The last day of February of a leap year is one of its moments.
\ir support.sql

SELECT pushmta.create_delivery('News', :'applications'::text[], '{"ios": {"title": "News"}, "android": {"title": "News"}}') AS id \gset
SELECT pushmta.set_recurrence(:id, 'months', 'Europe/Berlin', '{09:00}', month_days => '{-1}', starts_on => '2036-02-01',
    except_dates => '{2036-03-31}', missed => 'once');
SELECT pg_temp.require(ARRAY(SELECT next_runs AT TIME ZONE 'Europe/Berlin' FROM pushmta.next_runs(:id, 2))
    = '{2036-02-29 09:00,2036-04-30 09:00}'::timestamp[], 'the next runs are others');
SELECT pushmta.start_recurrence(:id);
SELECT pg_temp.require((SELECT state = 'active' FROM pushmta.recurrence WHERE delivery_id = :id), 'it does not recur');
SELECT pg_temp.refused('SELECT pushmta.start_delivery(' || :id || ')', 'PM171');

SELECT pushmta.update_delivery(:id, content => '{"ios": {"title": "Newer"}, "android": {"title": "Newer"}}');
SELECT pushmta.run_recurrence(:id) AS run \gset
CALL pg_temp.until_state(:run, 'finished');
SELECT pg_temp.require((SELECT sent = :subscribers FROM pushmta.delivery_progress WHERE id = :run), 'the run was not sent');
SELECT pg_temp.require((SELECT outcome = 'started' AND run_state = 'finished' AND target = :subscribers FROM pushmta.recurrence_run
    WHERE delivery_id = :id AND run_id = :run), 'the run is not recorded');
SELECT pushmta.pause_recurrence(:id);
SELECT pg_temp.require((SELECT state = 'paused' FROM pushmta.recurrence WHERE delivery_id = :id), 'it is not paused');
SELECT pushmta.remove_recurrence(:id);
SELECT pg_temp.require(NOT EXISTS (SELECT FROM pushmta.recurrence WHERE delivery_id = :id), 'it recurs still');
