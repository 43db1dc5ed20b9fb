extension PreparationChunk {
    /// The subscribers of an application whom a target chooses; who is not chosen is not excluded either, and counts nowhere.
    ///
    /// Without a filter and exclusions it reads the index alone; it needs no check for duplicates then, as a token is enabled once in an
    /// application.
    ///
    /// Parameters: $1 delivery, $2 limit, $3 size of a part, $4 smallest part, $5 spread, $6 application, and those of the filter.
    static func subscribers(_ target: ChunkTarget) -> String {
        target.isGrouped ? groups(target) : individuals(target)
    }

    private static func individuals(_ target: ChunkTarget) -> String {
        """
        WITH delivery AS MATERIALIZED (
            SELECT d.id, d.log_day, d.priority, d.target::integer AS target, a.application_id, a.external_account_id,
                a.prepared_through, a.prepare_to
            FROM pushmta_engine.delivery d
            JOIN pushmta_engine.delivery_application a ON a.delivery_id = d.id AND a.application_id = $6
            WHERE d.id = $1
        ), slice AS (
            SELECT \(target.sliceColumns) FROM pushmta_engine.subscription s WHERE \(range(target)) LIMIT $2
        ), \(target.mappedSQL(of: "slice").map { $0 + ", " } ?? "")scanned AS MATERIALIZED (
            SELECT s.id, \(exclusion(target)) AS exclusion
            FROM slice s \(target.readMapping == nil ? "" : "LEFT JOIN mapped m ON m.user_key = s.user_key")
        ), kept AS MATERIALIZED (
            SELECT array_agg(id ORDER BY id) FILTER (WHERE exclusion = 0) AS ids,
                count(*) FILTER (WHERE exclusion = 0)::integer AS size,
                count(*) FILTER (WHERE exclusion > 0) AS excluded, count(*) AS scanned, max(id) AS through
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
            FROM scanned s, delivery d WHERE s.exclusion > 0
        ), cursor AS (
            UPDATE pushmta_engine.delivery_application a SET prepared = kept.scanned < $2,
                prepared_through = coalesce(kept.through, a.prepared_through), messages = a.messages + kept.size
            FROM kept WHERE a.delivery_id = $1 AND a.application_id = $6
        ), counted AS (
            UPDATE pushmta_engine.delivery d SET target = d.target + kept.size,
                excluded = d.excluded + kept.excluded, changed_at = now()
            FROM kept WHERE d.id = $1
        )
        SELECT kept.size::bigint, kept.excluded, (SELECT count(*) FROM numbered) FROM kept
        """
    }

    /// The application's subscriptions behind the cursor. Where more than the index is read, the comparison of rows leaves the planner
    /// no index but the one that has the application first: by the primary key it would read those of all applications.
    static func range(_ target: ChunkTarget) -> String {
        let (cursor, end) = ("(SELECT prepared_through FROM delivery)", "(SELECT prepare_to FROM delivery)")
        if target.isEverybody { return "s.application_id = $6 AND s.id > \(cursor) AND s.id <= \(end) ORDER BY s.id" }
        return """
            (s.application_id, s.id) > ($6, \(cursor)) AND (s.application_id, s.id) <= ($6, \(end)) ORDER BY s.application_id, s.id
            """
    }

    /// 0 for who gets a message, the reason for who does not, -1 for who is not chosen.
    private static func exclusion(_ target: ChunkTarget) -> String {
        let cases = exclusionCases(target)
        return cases.count == 1 ? "s.exclusion" : "CASE \(cases.joined(separator: " ")) ELSE 0 END::smallint"
    }

    /// Why a subscription `s` gets no message, for itself.
    static func exclusionCases(_ target: ChunkTarget) -> [String] {
        var cases = target.condition.map { ["WHEN NOT (\($0)) THEN -1"] } ?? []
        cases.append("WHEN s.exclusion <> 0 THEN s.exclusion")
        if let listed = target.exclusions.condition(subject: "s") { cases.append("WHEN \(listed) THEN 7") }
        return cases
    }
}
