import PostgresClient
import PushCore

/// The share of a service's persons that gets no marketing.
package struct ControlGroupRow: Sendable, Hashable {
    /// The name of the service.
    package let service: String
    /// Above 0 and at most 50.
    package let percent: Double
    /// The categories that members do not get; nil for all that are not transactional.
    package let categories: [String]?
    /// When the share or the categories last changed.
    package let since: DatabaseTime
    /// The persons who may get messages, and the members among them; nil until they are counted.
    package let persons: Int64?
    package let members: Int64?
    package let countedAt: DatabaseTime?
}

extension Store {
    /// The control groups of all services, or of one, by service.
    package func controlGroups(ofService service: String? = nil) async throws -> [ControlGroupRow] {
        try await controlGroups(
            from: "pushmta.control_group g WHERE $1::text IS NULL OR g.service = $1 ORDER BY g.service",
            [.textOrNull(service)]
        )
    }

    /// The control group of a service, with the rights of the web process; nil if it has none.
    package func apiControlGroup(ofService service: String) async throws -> ControlGroupRow? {
        try await controlGroups(from: "pushmta_engine.api_control_group($1) g", [.text(service)]).first
    }

    private func controlGroups(from source: String, _ parameters: [PostgresValue]) async throws -> [ControlGroupRow] {
        let result = try await query(
            """
            SELECT g.service, g.percent::double precision, g.categories, g.since, g.persons, g.members, g.counted_at FROM \(source)
            """,
            parameters
        )
        return try all(result) { row in
            ControlGroupRow(
                service: try row.text(),
                percent: try row.double(),
                categories: try row.textArrayOrNil(),
                since: try row.time(),
                persons: try row.int64OrNil(),
                members: try row.int64OrNil(),
                countedAt: try row.timeOrNil()
            )
        }
    }

    /// Sets the control group of a service; 0 percent for none, nil categories for all that are not transactional.
    ///
    /// - Parameter percent: from 0 to 50, with at most two decimals.
    package func setControlGroup(ofService service: String, percent: Double, categories: [String]?) async throws {
        try await change(
            "pushmta.set_control_group($1, $2::double precision::numeric, $3::text[])",
            [.text(service), .double(percent), categories.map { .textArray($0) } ?? .null]
        )
    }

    /// The same for a signed-in operator or administrator.
    package func setControlGroup(
        ofService service: String,
        percent: Double,
        categories: [String]?,
        by actor: ConsoleActor
    ) async throws {
        try await query(
            """
            SELECT pushmta_engine.console_set_control_group(\(ConsoleActor.caller), $5, $6::double precision::numeric, $7::text[])
            """,
            actor.values + [.text(service), .double(percent), categories.map { .textArray($0) } ?? .null]
        )
    }

    /// What members and others did in the last days, by name.
    package func controlResults(ofService service: String, days: Int32) async throws -> [ControlResult] {
        let result = try await query(
            """
            SELECT r.name, r.since, r.members, r.others, r.converted_members, r.converted_others, r.difference
            FROM pushmta.control_result($1, $2) r
            """,
            [.text(service), .int32(days)]
        )
        return try all(result) { row in
            ControlResult(
                name: try row.text(),
                since: try row.time(),
                members: try row.int64OrNil(),
                others: try row.int64OrNil(),
                convertedMembers: try row.int64(),
                convertedOthers: try row.int64(),
                difference: try row.text()
            )
        }
    }

    /// Records that a user did something, with or without a message. Returns whether it counts.
    package func recordUserConversion(service: String, userKey: String, name: String, value: Double?) async throws
        -> Bool
    {
        try await change(
            "pushmta.record_user_conversion($1, $2, $3, $4::double precision::numeric)",
            [.text(service), .text(userKey), .text(name), value.map(PostgresValue.double) ?? .null]
        ).one { try $0.bool() }
    }

    /// Counts the persons of a service whose control group is due, as the active feedback worker.
    ///
    /// - Returns: how many there are, 0 if none is due; nil if another worker is active.
    package func countControlGroup(worker: String) async throws -> Int64? {
        try await fenced("pushmta_engine.count_control_group()", worker, [])
    }
}
