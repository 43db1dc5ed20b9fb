import PostgresClient
import PushCore

/// Saved audiences, through the same functions that marketing systems call.
extension Store {
    /// The audiences of a service, or of all services, by service and name.
    package func audiences(ofService service: String? = nil) async throws -> [AudienceRow] {
        let result = try await query(
            """
            SELECT \(AudienceRow.columns) FROM pushmta.audience a WHERE $1::text IS NULL OR a.service = $1
            ORDER BY a.service, a.name
            """,
            [.textOrNull(service)]
        )
        return try all(result, AudienceRow.init)
    }

    /// The audiences of a service by name, with the rights of the web process.
    package func apiAudiences(ofService service: String) async throws -> [AudienceRow] {
        let result = try await query(
            "SELECT \(AudienceRow.columns) FROM pushmta_engine.api_audiences($1) a",
            [.text(service)]
        )
        return try all(result, AudienceRow.init)
    }

    /// The ids of a service's applications, with the rights of the web process.
    ///
    /// Throws ``StoreError`` of code `notFound` if there is no such service.
    package func apiApplications(ofService service: String) async throws -> [Int32] {
        try await query("SELECT pushmta_engine.service_applications($1)", [.text(service)]).one { try $0.int32Array() }
    }

    /// Saves a filter as an audience of a service, or replaces the one of that name. Returns whether that changed
    /// anything.
    ///
    /// Throws ``StoreError`` of code `notFound` if there is no such service, or `invalid`.
    @discardableResult
    package func saveAudience(_ name: String, ofService service: String, filter: String) async throws -> Bool {
        try NameCheck.name(name, of: "audience")
        return try await change(
            "pushmta.save_audience($1, $2, $3)",
            [.text(service), .text(name), .text(filter)]
        ).one { try $0.bool() }
    }

    /// Removes an audience of a service.
    ///
    /// Throws ``StoreError`` of code `notFound` if there is none of that name.
    package func removeAudience(_ name: String, ofService service: String) async throws {
        try await change("pushmta.remove_audience($1, $2)", [.text(service), .text(name)])
    }

    /// Asks a supervisor to count an audience, unless that was done within a minute.
    ///
    /// Throws ``StoreError`` of code `notFound` if there is none of that name.
    package func askAudienceCount(_ name: String, ofService service: String) async throws {
        try await query("SELECT FROM pushmta.count_audience($1, $2)", [.text(service), .text(name)])
    }

    /// The saved audience that a delivery's filter was copied from; "" for none.
    package func audience(ofDelivery id: Int64) async throws -> String {
        try await query("SELECT d.target_audience FROM pushmta_engine.delivery d WHERE d.id = $1", [.int64(id)])
            .oneOrNil { try $0.text() } ?? ""
    }

    /// Some subscriptions of an audience, as of its last count.
    package func audienceSample(_ name: String, ofService service: String) async throws -> [AudienceSample] {
        let result = try await query(
            """
            SELECT s.subscription_id, s.application, s.platform, s.locale, s.registered_at
            FROM pushmta.audience_sample($1, $2) s
            """,
            [.text(service), .text(name)]
        )
        return try all(result) { row in
            AudienceSample(
                subscriptionID: try row.int64(),
                application: try row.text(),
                platform: try row.text(),
                locale: try row.text(),
                registeredAt: try row.time()
            )
        }
    }
}

/// Saved audiences for signed-in users of the console.
extension Store {
    /// Saves an audience for a signed-in user who may compose deliveries; the same transaction logs it.
    package func saveAudience(_ name: String, ofService service: String, filter: String, by actor: ConsoleActor)
        async throws
    {
        try NameCheck.name(name, of: "audience")
        try await query(
            "SELECT pushmta_engine.console_save_audience(\(ConsoleActor.caller), $5, $6, $7)",
            actor.values + [.text(service), .text(name), .text(filter)]
        )
    }

    /// Removes an audience for a signed-in user who may compose deliveries; the same transaction logs it.
    package func removeAudience(_ name: String, ofService service: String, by actor: ConsoleActor) async throws {
        try await query(
            "SELECT pushmta_engine.console_remove_audience(\(ConsoleActor.caller), $5, $6)",
            actor.values + [.text(service), .text(name)]
        )
    }
}

/// Counts for those who ask.
extension Store {
    /// The subscriptions of a sample: what fits on a screen.
    private static let sampleSize: Int64 = 10
    /// Subscriptions that a statement looks at: about 20 milliseconds.
    private static let sampleStep = 5_000
    /// The time for a count, and for a sample. A filter that selects nearly nobody reads all subscriptions, and then has
    /// no sample.
    private static let countTime = Duration.seconds(10)
    private static let sampleTime = Duration.seconds(3)

    /// Counts the next audience that somebody asked to count and that no other supervisor takes.
    ///
    /// - Returns: whether there was one.
    package func countAskedAudience() async throws -> Bool {
        let asked = try await query("SELECT t.id, t.filter, t.applications FROM pushmta_engine.take_audience_count() t")
            .oneOrNil { row in (id: try row.int32(), filter: try row.text(), applications: try row.int32Array()) }
        guard let asked else { return false }
        let (count, sample, problem) = try await counted(asked.filter, asked.applications)
        try await keep(count, sample: sample, problem: problem, ofAudience: asked.id, filter: asked.filter)
        return true
    }

    /// Stores what was counted, unless the filter was changed meanwhile. If another session holds the audience, it is
    /// counted again after half a minute: nobody waits for that session.
    func keep(
        _ count: AudienceCount?,
        sample: [Int64],
        problem: String,
        ofAudience id: Int32,
        filter: String
    ) async throws {
        try await query(
            """
            UPDATE pushmta_engine.audience SET asked_at = NULL, taken_at = NULL, counted_at = clock_timestamp(),
                subscriptions = $3::bigint, excluded = $4::bigint, margin = $5::bigint, problem = $6, sample = $7::bigint[]
            WHERE id = (SELECT a.id FROM pushmta_engine.audience a WHERE a.id = $1 AND a.filter = $2 AND a.asked_at IS NOT NULL
                FOR NO KEY UPDATE SKIP LOCKED)
            """,
            [
                .int32(id), .text(filter), .int64OrNull(count?.count), .int64OrNull(count?.excluded),
                .int64OrNull(count?.error), .text(problem), .int64Array(sample),
            ]
        )
    }

    private func counted(_ text: String, _ applications: [Int32]) async throws -> (
        AudienceCount?, sample: [Int64], problem: String
    ) {
        do {
            let filter = try await parseFilter(text).get()
            let count = try await countAudience(filter, applications: applications, within: Self.countTime)
            guard !count.needsMapping else {
                return (nil, [], "it reads columns of a target mapping; the analysis of a delivery counts it")
            }
            return (count, try await sample(filter, applications), "")
        } catch let error as TargetFilterError {
            return (nil, [], "\(error)")
        } catch let error as StoreError where [.invalid, .unavailable].contains(error.code) {
            return (nil, [], "\(error)")
        }
    }

    /// Some subscriptions that a filter selects and that would get a message.
    private func sample(_ filter: TargetFilter, _ applications: [Int32]) async throws -> [Int64] {
        let services = filter.asksBehaviour ? try await behaviourServices(applications: applications) : []
        let condition = try FilterSQL(
            filter,
            firstParameter: 4,
            mapping: nil,
            start: try await databaseClock(),
            behaviour: BehaviourScope(services: services, of: "looked")
        )
        let deadline = ContinuousClock.now + Self.sampleTime
        var found: [Int64] = []
        var through: Int64? = 0
        while let place = through, found.count < Self.sampleSize {
            do {
                let results = try await group([
                    Self.limit(max(deadline - ContinuousClock.now, .milliseconds(1))),
                    PostgresStatement(
                        Self.sampleSQL(condition),
                        [.int32Array(applications), .int64(Self.sampleSize - Int64(found.count)), .int64(place)]
                            + condition.parameters,
                        prepare: false
                    ),
                ])
                let (more, last) = try results[1].one { row in (try row.int64Array(), try row.int64OrNil()) }
                found += more
                through = last
            } catch let error as PostgresError where LoadProblem.isTimeout(error) {
                return found
            }
        }
        return found
    }

    /// A filter that asks what people did names the subscriptions that it judges, so it looks at some of them at a time.
    ///
    /// Parameters: $1 applications, $2 the size of the sample, $3 the last subscription before these, and those of the
    /// filter. Returns the sample and the last subscription; null if there are no more.
    private static func sampleSQL(_ filter: FilterSQL) -> String {
        let all = "pushmta_engine.console_audience s WHERE s.application_id = ANY($1) AND s.id > $3"
        guard !filter.tablesSQL.isEmpty else {
            return """
                SELECT ARRAY(SELECT s.id FROM \(all) AND s.exclusion = 0 AND (\(filter.condition)) LIMIT $2), NULL::bigint
                """
        }
        return """
            WITH looked AS MATERIALIZED (
                SELECT s.* FROM \(all) ORDER BY s.id LIMIT \(sampleStep)
            ), \(filter.tablesSQL)judged AS (
                SELECT s.id FROM looked s\(filter.joinsSQL) WHERE s.exclusion = 0 AND (\(filter.condition)) LIMIT $2
            )
            SELECT ARRAY(SELECT j.id FROM judged j), (SELECT CASE WHEN count(*) = \(sampleStep) THEN max(l.id) END FROM looked l)
            """
    }
}
