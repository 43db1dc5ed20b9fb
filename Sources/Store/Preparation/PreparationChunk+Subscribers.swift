extension PreparationChunk {
    /// All subscribers of an application. Reads the index alone; needs no check for duplicates, as a token is enabled once.
    static let subscribersSQL = subscribers(exclusion: "s.exclusion")

    /// The same with one message a user: a subscription is left out when its user has a better one, that is one which
    /// registered later, in any application of the delivery.
    static let onePerUserSQL = subscribers(
        exclusion: """
            CASE WHEN s.exclusion <> 0 THEN s.exclusion
                WHEN s.user_key <> '' AND EXISTS (
                    SELECT FROM pushmta_engine.subscription b
                    JOIN pushmta_engine.delivery_application x
                        ON x.delivery_id = $1 AND x.application_id = b.application_id AND b.id <= x.prepare_to
                    WHERE b.user_key = s.user_key AND b.user_key <> '' AND b.exclusion = 0
                        AND (b.registered_at, b.id) > (s.registered_at, s.id)) THEN 5
                ELSE 0 END::smallint
            """
    )

    /// Parameters: $1 delivery, $2 limit, $3 size of a part, $4 smallest part, $5 spread, $6 application.
    private static func subscribers(exclusion: String) -> String {
        """
        WITH delivery AS MATERIALIZED (
            SELECT d.id, d.log_day, d.priority, d.target::integer AS target, a.application_id, a.external_account_id,
                a.prepared_through, a.prepare_to
            FROM pushmta_engine.delivery d
            JOIN pushmta_engine.delivery_application a ON a.delivery_id = d.id AND a.application_id = $6
            WHERE d.id = $1
        ), scanned AS MATERIALIZED (
            SELECT s.id, \(exclusion) AS exclusion
            FROM pushmta_engine.subscription s
            WHERE s.application_id = $6 AND s.id > (SELECT prepared_through FROM delivery)
                AND s.id <= (SELECT prepare_to FROM delivery)
            ORDER BY s.id LIMIT $2
        ), kept AS MATERIALIZED (
            SELECT array_agg(id ORDER BY id) FILTER (WHERE exclusion = 0) AS ids,
                count(*) FILTER (WHERE exclusion = 0)::integer AS size, count(*) AS scanned, max(id) AS through
            FROM scanned
        ), cut AS MATERIALIZED (
            SELECT least($3, greatest($4, (kept.size + $5 - 1) / $5)) AS size, kept.size * 2 >= kept.scanned AS dense FROM kept
        ), numbered AS MATERIALIZED (
            SELECT nextval(pg_get_serial_sequence('pushmta_engine.delivery_part', 'id')) AS part_id,
                from_place, kept.ids[from_place + 1 : from_place + cut.size] AS ids,
                least(cut.size, kept.size - from_place) AS size, cut.dense
            FROM kept, cut, generate_series(0, kept.size - 1, cut.size) from_place
        ), parts AS (
            INSERT INTO pushmta_engine.delivery_part (id, delivery_id, application_id, external_account_id, log_day, size,
                priority, dense)
            SELECT n.part_id, d.id, d.application_id, d.external_account_id, d.log_day, n.size, d.priority, n.dense
            FROM numbered n, delivery d
        ), targets AS (
            INSERT INTO pushmta_engine.delivery_part_target (part_id, delivery_id, log_day, first_sequence, subscription_ids)
            SELECT n.part_id, d.id, d.log_day, d.target + n.from_place + 1, n.ids FROM numbered n, delivery d
        ), excluded AS (
            INSERT INTO pushmta_engine.exclusion_log (delivery_id, subscription_id, application_id, log_day, reason)
            SELECT d.id, s.id, d.application_id, d.log_day, pushmta_engine.exclusion_name(s.exclusion)
            FROM scanned s, delivery d WHERE s.exclusion <> 0
        ), cursor AS (
            UPDATE pushmta_engine.delivery_application a SET prepared = kept.scanned < $2,
                prepared_through = coalesce(kept.through, a.prepared_through), messages = a.messages + kept.size
            FROM kept WHERE a.delivery_id = $1 AND a.application_id = $6
        ), counted AS (
            UPDATE pushmta_engine.delivery d SET target = d.target + kept.size,
                excluded = d.excluded + kept.scanned - kept.size, changed_at = now()
            FROM kept WHERE d.id = $1
        )
        SELECT kept.size::bigint, kept.scanned - kept.size, (SELECT count(*) FROM numbered) FROM kept
        """
    }
}
