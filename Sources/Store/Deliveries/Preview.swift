import PostgresClient
import PushCore

/// A subscription that a message is shown for.
public struct PreviewAddress: Sendable, Hashable {
    /// The subscription.
    public let subscriptionID: Int64
    /// Its application.
    public let applicationID: Int32
    /// The values of its seed address for the message's fields, a JSON object; nil for none.
    public let variables: String?

    /// A subscription to show a message for.
    public init(subscriptionID: Int64, applicationID: Int32, variables: String? = nil) {
        self.subscriptionID = subscriptionID
        self.applicationID = applicationID
        self.variables = variables
    }
}

extension Store {
    /// The subscription that a word names: a seed address, the id of a subscription, or a push token of the applications.
    public func previewAddress(_ word: String, applications: [Int32]) async throws -> PreviewAddress {
        let addresses = try await proofAddresses([word])
        let result =
            if let name = addresses.seeds.first {
                try await query(
                    """
                    SELECT s.id, s.application_id, d.variables::text
                    FROM pushmta_engine.seed d JOIN pushmta_engine.subscription s ON s.id = d.subscription_id WHERE d.name = $1
                    """,
                    [.text(name)]
                )
            } else if let id = addresses.subscriptionIDs.first {
                try await query(
                    "SELECT s.id, s.application_id, NULL::text FROM pushmta_engine.subscription s WHERE s.id = $1",
                    [.int64(id)]
                )
            } else {
                try await query(
                    """
                    SELECT s.id, s.application_id, NULL::text FROM pushmta_engine.subscription s
                    JOIN pushmta_engine.application a ON a.id = s.application_id
                    WHERE s.application_id = ANY($2) AND s.push_token = CASE WHEN a.platform = 'ios' THEN lower($1) ELSE $1 END
                    ORDER BY s.enabled DESC, s.id DESC LIMIT 1
                    """,
                    [.text(word), .int32Array(applications)]
                )
            }
        let address = try first(
            result,
            orThrow: "There is no such seed address or subscription.",
            hint: "pushmta seed list and pushmta subscription list show who there is"
        ) { rows, row in
            PreviewAddress(
                subscriptionID: try rows.int64(row, 0),
                applicationID: try rows.int32(row, 1),
                variables: try rows.textOrNil(row, 2)
            )
        }
        guard applications.contains(address.applicationID) else {
            throw StoreError(
                .notFound,
                "Subscription \(address.subscriptionID) is of another application.",
                hint: "name one of an application that the content goes to"
            )
        }
        return address
    }

    /// One subscription as the only message of a part, as `loadPart` reads it.
    ///
    /// - Parameter variables: the message's own values for its fields, a JSON object.
    public func loadSubscription(_ id: Int64, _ fields: MessageFields, variables: String? = nil) async throws
        -> LoadedPart
    {
        let rows = try await query(
            Self.previewSQL(fields),
            [.int64(id), variables.map(PostgresValue.json) ?? .null] + fields.parameters
        )
        guard rows.rowCount > 0 else { throw StoreError(.notFound, "There is no subscription \(id).") }
        var loaded = LoadedPart()
        loaded.sequences = [1]
        loaded.subscriptionIDs = [id]
        loaded.reserve(1, fields)
        try loaded.append(rows, 0, decision: 0, token: 1, firstField: 3, fields)
        if fields.isMapped { try await fill(&loaded, fields) }
        return loaded
    }

    private static func previewSQL(_ fields: MessageFields) -> String {
        """
        SELECT CASE WHEN \(isSeedOnlySQL) THEN 0::smallint ELSE \(LoadDecision.sql(fields)) END,
            s.push_token, \(userHashSQL)\(fields.columnsSQL(from: 3, variables: "v.variables"))
        FROM (SELECT $2::jsonb AS variables) v
        JOIN pushmta_engine.subscription s ON s.id = $1
        """
    }
}
