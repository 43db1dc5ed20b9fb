/// The frequency caps that a delivery is subject to, as a chunk's statement asks them.
enum FrequencyCaps: Int16, Sendable {
    /// None: the statement has nothing about them.
    case none = 0
    /// Only persons are asked about.
    case persons = 1
    /// One cap is for the day of the recipient, so time zones are needed, too.
    case personsAndZones = 2

    /// The code, for `exclusion_name`, of those who are left out.
    private static let exclusion = "10::smallint"

    /// The columns of a subscription that are read.
    var columns: Set<String> {
        switch self {
        case .none: []
        case .persons: ["person_id"]
        case .personsAndZones: ["person_id", "time_zone"]
        }
    }

    /// What the scanned subscriptions `s` have more, as columns of a list. Nothing is computed here, because most of them
    /// may not be selected.
    var scannedColumns: String { columns.sorted().map { ", s.\($0)" }.joined() }

    // MARK: Subscribers of one application

    /// The subscriptions of `scanned` that get a message, and the numbers of the others: the table `kept`. With caps,
    /// all are of application $6, and those that the caps leave out are in the table `asked`.
    var keptSQL: String {
        guard self != .none else {
            return """
                kept AS MATERIALIZED (
                    SELECT array_agg(id ORDER BY id) FILTER (WHERE exclusion = 0) AS ids,
                        count(*) FILTER (WHERE exclusion = 0)::integer AS size,
                        count(*) FILTER (WHERE exclusion > 0) AS excluded, count(*) AS scanned, max(id) AS through
                    FROM scanned
                )
                """
        }
        let zones =
            self == .persons ? "NULL::text[]" : "array_agg(time_zone) FILTER (WHERE exclusion = 0)"
        return """
            chosen AS MATERIALIZED (
                SELECT array_agg(id) FILTER (WHERE exclusion = 0) AS ids,
                    array_agg(coalesce(person_id, id)) FILTER (WHERE exclusion = 0) AS persons, \(zones) AS zones,
                    count(*) FILTER (WHERE exclusion > 0) AS excluded, count(*) AS scanned, max(id) AS through
                FROM scanned
            ), asked AS MATERIALIZED (
                SELECT q.passed, q.capped FROM chosen c CROSS JOIN LATERAL pushmta_engine.ask_caps($1,
                    (SELECT p.service_id FROM pushmta_engine.application p WHERE p.id = $6), c.ids, c.persons, c.zones) q
            ), kept AS MATERIALIZED (
                SELECT a.passed AS ids, coalesce(cardinality(a.passed), 0) AS size,
                    c.excluded + coalesce(cardinality(a.capped), 0) AS excluded, c.scanned, c.through
                FROM chosen c, asked a
            )
            """
    }

    /// Those that the caps leave out, in addition to a list of exclusions.
    var exclusionRows: String {
        guard self != .none else { return "" }
        return """
            UNION ALL
            SELECT d.id, u.id, d.application_id, d.log_day, pushmta_engine.exclusion_name(\(Self.exclusion))
            FROM asked a CROSS JOIN LATERAL unnest(a.capped) u(id), delivery d
            """
    }

    // MARK: Subscriptions of several applications

    /// The name of a table of judged subscriptions before the caps are asked.
    func table(_ result: String) -> String { self == .none ? result : "chosen" }

    /// Asks for the subscriptions of `chosen` that would get a message; `result` is the same table with the exclusions
    /// of those that the caps leave out.
    ///
    /// Services are asked in the order of their ids, because their persons are locked.
    ///
    /// - Parameter columns: the columns of the table, except the exclusion.
    func asked(_ result: String, columns: [String]) -> String {
        guard self != .none else { return "" }
        let zones = self == .persons ? "NULL::text[]" : "array_agg(s.time_zone)"
        return """
            asked AS MATERIALIZED (
                SELECT u.id
                FROM (SELECT p.service_id, array_agg(s.id) AS ids, array_agg(coalesce(s.person_id, s.id)) AS persons,
                        \(zones) AS zones
                    FROM chosen c
                    JOIN pushmta_engine.application p ON p.id = c.application_id
                    JOIN pushmta_engine.subscription s ON s.id = c.id
                    WHERE c.exclusion = 0 GROUP BY p.service_id ORDER BY p.service_id) g
                CROSS JOIN LATERAL pushmta_engine.ask_caps($1, g.service_id, g.ids, g.persons, g.zones) q
                CROSS JOIN LATERAL unnest(q.capped) u(id)
            ), \(result) AS MATERIALIZED (
                SELECT \(columns.map { "c.\($0)" }.joined(separator: ", ")),
                    CASE WHEN c.exclusion = 0 AND c.id IN (SELECT a.id FROM asked a) THEN \(Self.exclusion)
                        ELSE c.exclusion END AS exclusion
                FROM chosen c
            ),
            """
    }
}
