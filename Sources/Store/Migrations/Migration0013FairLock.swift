extension Migration {
    /// Who pauses, resumes, stops or fails a delivery waits for its turn, not for a moment in which no part of it ends.
    ///
    /// Key share locks of a row do not queue behind somebody who waits for the whole row (PostgreSQL's `heap_lock_tuple` lets a
    /// locker pass that conflicts with no holder): with many children there is always one. Advisory locks queue.
    static let fairLock = Migration(
        version: 13,
        name: "fair lock",
        oldestProgram: 8,
        script: #"""
            -- The state of a delivery, which is locked against every other change and against parts that are made or given back.
            CREATE OR REPLACE FUNCTION pushmta_engine.lock_delivery(delivery bigint) RETURNS text LANGUAGE plpgsql
                SET search_path = pushmta_engine, pg_temp AS $$
            #variable_conflict use_variable
            DECLARE
                found_state text;
            BEGIN
                PERFORM pg_advisory_xact_lock(\#(DeliveryLock.advisoryClass), hashint8(delivery));
                SELECT d.state INTO found_state FROM pushmta_engine.delivery d WHERE d.id = delivery FOR UPDATE;
                IF NOT FOUND THEN
                    RAISE EXCEPTION 'There is no delivery %.', delivery
                        USING ERRCODE = 'PM002', HINT = 'pushmta.delivery_progress lists them; pushmta.create_delivery makes one.';
                END IF;
                RETURN found_state;
            END $$;
            """#
    )
}
