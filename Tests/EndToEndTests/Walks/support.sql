-- What each walk uses, after each \connect again: a member of pushmta_marketing creates nothing that outlives its session.

\set QUIET on
SET client_min_messages = warning;
\set hello '{"ios": {"title": "Hello"}, "android": {"title": "Hello"}}'

CREATE FUNCTION pg_temp.require(holds boolean, what text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF holds IS NOT TRUE THEN
        RAISE EXCEPTION '%', what;
    END IF;
END $$;

-- Fails unless the statement is refused with this SQLSTATE.
CREATE FUNCTION pg_temp.refused(statement text, code text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    BEGIN
        EXECUTE statement;
    EXCEPTION WHEN OTHERS THEN
        IF SQLSTATE = code THEN
            RETURN;
        END IF;
        RAISE EXCEPTION '% was refused with % (%), not with %', statement, SQLSTATE, SQLERRM, code;
    END;
    RAISE EXCEPTION '% was not refused', statement;
END $$;

-- Asks until the answer is true, each time in a transaction of its own: some functions ask a supervisor, which answers later.
CREATE PROCEDURE pg_temp.until(question text) LANGUAGE plpgsql AS $$
DECLARE
    deadline timestamptz := clock_timestamp() + interval '60 s';
    answer boolean;
BEGIN
    LOOP
        EXECUTE question INTO answer;
        COMMIT;
        EXIT WHEN answer;
        IF clock_timestamp() > deadline THEN
            RAISE EXCEPTION 'within 60 s there was no yes to: %', question;
        END IF;
        PERFORM pg_sleep(0.05);
    END LOOP;
END $$;

-- Waits until a delivery has this state.
CREATE PROCEDURE pg_temp.until_state(delivery bigint, state text) LANGUAGE plpgsql AS $$
BEGIN
    CALL pg_temp.until(format('SELECT p.state = %L FROM pushmta.delivery_progress p WHERE p.id = %s', state, delivery));
END $$;
