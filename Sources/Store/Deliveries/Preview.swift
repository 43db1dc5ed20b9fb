import PostgresClient
import PushCore

/// A subscription for which a message is previewed.
package struct PreviewAddress: Sendable, Hashable {
    package let subscriptionID: Int64
    package let applicationID: Int32
    /// Its seed address's values of the message's fields, a JSON object; nil for none.
    package var variables: String?
    /// Whether it exists only for a seed address, if that was checked: proofs go to it, although it is disabled.
    package let isSeedOnly: Bool

    /// A subscription for which to preview a message.
    package init(subscriptionID: Int64, applicationID: Int32, variables: String? = nil, isSeedOnly: Bool = false) {
        self.subscriptionID = subscriptionID
        self.applicationID = applicationID
        self.variables = variables
        self.isSeedOnly = isSeedOnly
    }
}

extension Store {
    /// The subscription that a word names: by seed address, by subscription id, or by a push token of the applications.
    package func previewAddress(_ word: String, applications: [Int32]) async throws -> PreviewAddress {
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
            hint: "pushmta seed list and pushmta subscription list show them"
        ) { row in
            PreviewAddress(
                subscriptionID: try row.int64(),
                applicationID: try row.int32(),
                variables: try row.textOrNil()
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
    /// - Parameter variables: the message's own values of its fields, a JSON object.
    package func loadSubscription(_ id: Int64, _ fields: MessageFields, variables: String? = nil) async throws
        -> LoadedPart
    {
        var loaded = try await loadSubscription(
            id,
            fields,
            variables,
            """
            SELECT CASE WHEN \(Self.isSeedOnlySQL) THEN 0::smallint ELSE \(LoadDecision.sql(fields)) END, s.push_token
            """,
            from: "pushmta_engine.subscription"
        )
        if fields.isMapped { try await fill(&loaded, fields) }
        return loaded
    }

    /// - Parameters:
    ///   - head: selects the decision and the token.
    ///   - table: has the columns of subscriptions that the fields use.
    private func loadSubscription(
        _ id: Int64,
        _ fields: MessageFields,
        _ variables: String?,
        _ head: String,
        from table: String
    ) async throws -> LoadedPart {
        let rows = try await query(
            """
            \(head), \(Self.userHashSQL)\(fields.columnsSQL(from: 3, variables: "v.variables"))
            FROM (SELECT $2::jsonb AS variables) v JOIN \(table) s ON s.id = $1
            """,
            [.int64(id), variables.map(PostgresValue.json) ?? .null] + fields.parameters
        )
        guard rows.rowCount > 0 else { throw StoreError(.notFound, "There is no subscription \(id).") }
        var loaded = LoadedPart()
        loaded.sequences = [1]
        loaded.subscriptionIDs = [id]
        loaded.reserve(1, fields)
        try loaded.append(rows, 0, decision: 0, token: 1, firstField: 3, fields)
        return loaded
    }
}

/// The values with which a message is rendered for a preview in the console's composer or by the API: read as a child
/// reads them, without the push token.
package struct ReaderValues: Sendable, Hashable {
    /// The values of the content's fields, by name.
    package let values: [String: String]
    /// The language of the subscription; "" if unknown.
    package let locale: String
    /// Why nothing is sent to the subscription now.
    package let decision: LoadDecision
    /// Why the view of the target mapping could not be read; nil if it was read, or not needed. The real message would
    /// wait, or fail.
    package let viewProblem: LoadProblem?
}

extension Store {
    /// The subscription for which a signed-in user previews a message; the look-up is logged.
    ///
    /// - Parameter seed: the name of a seed address; nil for a subscription by its id.
    ///
    /// Throws ``StoreError`` of code `notFound` if the applications have no such subscription.
    package func consoleReader(seed: String?, subscription id: Int64?, applications: [Int32], by actor: ConsoleActor)
        async throws -> PreviewAddress
    {
        let result = try await query(
            """
            SELECT r.reader, r.application, r.variables::text
            FROM pushmta_engine.console_reader(\(ConsoleActor.caller), $5, $6, $7) r
            """,
            actor.values + [.int32Array(applications), .textOrNull(seed), .int64OrNull(id)]
        )
        return try result.one { row in
            PreviewAddress(
                subscriptionID: try row.int64(),
                applicationID: try row.int32(),
                variables: try row.text()
            )
        }
    }

    /// The values of a content's fields for a subscription, for a signed-in user: those of `loadSubscription`, with the
    /// rights of the console's role.
    ///
    /// - Parameter timeout: the time limit for the view of a target mapping; nil for that of any statement.
    package func readerValues(
        _ address: PreviewAddress,
        fields names: [String],
        areOneTimeCodes: Bool = false,
        by actor: ConsoleActor,
        timeout: Duration? = nil
    ) async throws -> ReaderValues {
        try await readerValues(
            address,
            fields: MessageFields(names: names, withLocale: true, areOneTimeCodes: areOneTimeCodes),
            from: "pushmta_engine.console_audience",
            timeout
        ) { columns in
            PostgresStatement(
                "SELECT r FROM pushmta_engine.console_read_view(\(ConsoleActor.caller), $5, $6) r",
                actor.values + [.int64(address.subscriptionID), .textArray(columns)],
                prepare: false
            )
        }
    }

    /// The values of a content's fields for a subscription, with the rights of the web process's role.
    ///
    /// - Parameter timeout: the time limit for the view of a target mapping.
    package func apiReaderValues(
        _ address: PreviewAddress,
        fields names: [String],
        areOneTimeCodes: Bool,
        timeout: Duration
    ) async throws -> ReaderValues {
        try await readerValues(
            address,
            fields: MessageFields(names: names, withLocale: true, areOneTimeCodes: areOneTimeCodes),
            from: "pushmta_engine.api_reader_row($1)",
            timeout
        ) { columns in
            PostgresStatement(
                "SELECT r FROM pushmta_engine.api_read_view($1, $2) r",
                [.int64(address.subscriptionID), .textArray(columns)],
                prepare: false
            )
        }
    }

    /// - Parameters:
    ///   - table: has the columns of subscriptions that the fields use.
    ///   - view: reads columns of the target mapping's view.
    private func readerValues(
        _ address: PreviewAddress,
        fields: MessageFields,
        from table: String,
        _ timeout: Duration?,
        view: ([String]) -> PostgresStatement
    ) async throws -> ReaderValues {
        var loaded = try await loadSubscription(
            address.subscriptionID,
            fields,
            address.variables,
            "SELECT CASE WHEN s.exclusion = \(Self.seedExclusion) THEN 0::smallint ELSE \(LoadDecision.sql(fields)) END, ''::text",
            from: table
        )
        var problem: LoadProblem?
        do {
            try await fill(&loaded, fields, timeout, view: view)
        } catch {
            problem = LoadProblem(error)
            if problem?.scope == .connection { throw error }
        }
        var values: [String: String] = [:]
        for (place, name) in fields.names.enumerated() where !loaded.fields[place].isNull(0) {
            values[name] = loaded.fields[place].string(0)
        }
        return ReaderValues(
            values: values,
            locale: loaded.locales.isNull(0) ? "" : loaded.locales.string(0),
            decision: loaded.decisions[0],
            viewProblem: problem
        )
    }

    /// Fills in the values that only the view has for the subscription, as `fill` does for the messages of a part. Here
    /// the database itself looks up the person, because neither the console nor the web process may read views.
    private func fill(
        _ loaded: inout LoadedPart,
        _ fields: MessageFields,
        _ timeout: Duration?,
        view: ([String]) -> PostgresStatement
    ) async throws {
        let wanted = fields.columnsOfView.filter { loaded.fields[$0.place].isNull(0) }
        guard !wanted.isEmpty else { return }
        let rows = try await views.read(view(wanted.map(\.column)), timeout: timeout)
        guard let row = rows.first else { return }
        guard row.count == wanted.count else {
            throw StoreError(.unexpectedAnswer, "A target mapping's view was read as \(row.count) columns.")
        }
        for (value, field) in zip(row, wanted) {
            loaded.fields[field.place] = loaded.fields[field.place].filled { _ in value }
        }
    }
}
