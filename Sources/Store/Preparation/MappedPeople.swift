import PostgresClient
import PushCore

/// The values of a target mapping's view for the people of a chunk. They are read before the chunk, in a separate
/// session, because a view may do whatever its owner wants.
struct MappedPeople {
    /// The application whose subscribers the chunk reads.
    let application: Int32
    /// The user keys that were requested.
    var userKeys: [String?] = []
    /// The columns that the filter uses, in its order, as texts; null for a person without a row.
    var columns: [[String?]] = []

    /// Parameters of the chunk's statement.
    var parameters: [PostgresValue] { ([userKeys] + columns).map { .textArray($0) } }

    /// The chunk met other people than those requested: another host has continued the delivery, or a subscription got
    /// a user key.
    struct Changed: Error {}
}

extension Store {
    /// How often a chunk's people are read again before the chunk is left for a later turn.
    static let maxReadings = 3

    /// Reads the view for the next chunk of a delivery; nil if there is no next chunk.
    ///
    /// Throws `unavailable` if it cannot be read.
    func mappedPeople(of delivery: Int64, _ target: ChunkTarget, limit: Int64, _ timeout: Duration?)
        async throws -> MappedPeople?
    {
        guard let mapping = target.readMapping, let filter = target.filter else { return nil }
        let next = try await query(PreparationChunk.nextApplicationSQL, [.int64(delivery)])
        guard let application = try next.oneOrNil({ try $0.int32() }) else { return nil }
        var people = MappedPeople(application: application)
        let keys = try await group(
            [timeout.map(Self.limit)].compactMap(\.self) + [
                PostgresStatement(
                    PreparationChunk.userKeys(target),
                    [.int64(delivery), .int64(limit), .int32(application)]
                )
            ]
        )
        let asked: [String?] =
            try keys.last?.one { row in try row.ifPresent(1) { try $0.textArrayWithNulls() } ?? [] } ?? []
        guard !asked.isEmpty else {
            people.columns = filter.mappingColumns.map { _ in [] }
            return people
        }
        let lists: [[String?]]
        do {
            lists = try await read(
                mapping.readSQL(filter.mappingColumns.map { "(\($0.filterSQL))::text" }, oneByOne: false),
                asked.compactMap(\.self),
                timeout
            )
        } catch let error as PostgresError
            where !error.isConnectionLost && !LoadProblem.isTimeout(error)
        {
            throw StoreError(
                .unavailable,
                await waitReason("\(mapping.viewText) cannot be read: \(LoadProblem.text(error))", after: error)
            )
        }
        guard lists.count == filter.mappingColumns.count + 1,
            lists.allSatisfy({ $0.count == lists[0].count })
        else {
            throw StoreError(.unexpectedAnswer, "\(mapping.viewText) was read as \(lists.count) columns.")
        }
        let missing = Set(asked).subtracting(lists[0])
        people.userKeys = lists[0] + missing
        people.columns = lists.dropFirst().map { $0 + Array(repeating: nil, count: missing.count) }
        return people
    }
}

extension Store {
    /// The minimum number of people to read together, however large their values are.
    private static let minPeople = 1_000

    /// Reads lists, in pieces if those of all people are too large for one read.
    private func read(_ query: String, _ userKeys: [String], _ timeout: Duration?) async throws -> [[String?]] {
        do {
            return try await views.read(query, userKeys: userKeys, timeout: timeout)
        } catch let error as PostgresError where error.sqlState == "54000" && userKeys.count > Self.minPeople {
            let middle = userKeys.count / 2
            let first = try await read(query, Array(userKeys[..<middle]), timeout)
            let rest = try await read(query, Array(userKeys[middle...]), timeout)
            guard first.count == rest.count else {
                throw StoreError(.unexpectedAnswer, "A view was read as \(first.count) columns, and as \(rest.count).")
            }
            return zip(first, rest).map { $0 + $1 }
        }
    }
}

extension PreparationChunk {
    /// The user keys of the subscriptions that a chunk reads.
    ///
    /// Parameters: $1 delivery, $2 limit, $3 application.
    static func userKeys(_ target: ChunkTarget) -> String {
        // A condition in SQL is evaluated by the chunk, not here.
        var target = target
        target.triesEach = false
        let slice =
            "SELECT \(target.sliceColumns) FROM pushmta_engine.subscription s WHERE \(range(target, application: "$3")) LIMIT $2"
        let head = """
            WITH delivery AS MATERIALIZED (
                SELECT a.prepared_through, a.prepare_to FROM pushmta_engine.delivery_application a
                WHERE a.delivery_id = $1 AND a.application_id = $3
            ), slice AS MATERIALIZED (\(slice))
            """
        guard target.isGrouped else {
            return
                "\(head) SELECT array_agg(DISTINCT s.user_key) FILTER (WHERE s.user_key <> '') FROM slice s"
        }
        // Subscriptions that share a token with others are judged, too.
        let others =
            target.onePerUser && target.hasSharedTokens
            ? """
            UNION ALL SELECT b.user_key FROM pool p CROSS JOIN apps x CROSS JOIN LATERAL (
                SELECT b.user_key FROM pushmta_engine.subscription b
                WHERE b.application_id = x.application_id AND b.push_token = p.push_token AND b.enabled) b
            """ : ""
        return """
            \(head), apps AS MATERIALIZED (\(appsSQL)), \(pool(target))
            SELECT array_agg(DISTINCT k.user_key) FILTER (WHERE k.user_key <> '')
            FROM (SELECT s.user_key FROM pool s \(others)) k
            """
    }
}
