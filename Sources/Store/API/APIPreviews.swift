import Content
import PostgresClient
import PushCore

/// Determines the form of an application's messages.
package struct MessageForm: Sendable {
    package let application: ApplicationRow
    /// The protocol of the account that sends its messages; nil if it has none yet.
    package let connector: Connector?
    /// The kind of its credential; nil if it has none yet.
    package let credential: CredentialKind?

    /// The form of its messages.
    package var format: PayloadFormat { application.format(over: connector, credential: credential) }

    /// A content as children render it for the application; throws what they would refuse.
    ///
    /// - Parameter delivery: the delivery with this content; nil if there is none yet.
    package func template(of json: String, delivery: APIContent? = nil) throws(ContentError) -> LocalisedTemplate {
        try application.template(
            of: json,
            over: connector,
            credential: credential,
            delivery: delivery?.id ?? .max,
            isContinuous: delivery?.isContinuous ?? false,
            carriesValidity: delivery?.carriesValidity ?? false
        )
    }
}

/// The content of a delivery, and how it is sent.
package struct APIContent: Sendable {
    package let id: Int64
    /// Its content, JSON.
    package let json: String
    /// Whether messages are added to it one by one.
    package let isContinuous: Bool
    /// Whether it also goes to people who opted out.
    package let isOneTimeCode: Bool
    /// Whether its messages have an expiry.
    package let carriesValidity: Bool
}

extension Store {
    /// The applications of a delivery, with the form of its messages for each.
    package func messageForms(delivery id: Int64) async throws -> [MessageForm] {
        try await messageForms([.int64(id), .null, .null])
    }

    /// The named applications that are among the given ones (nil: all), by name.
    package func messageForms(named names: [String], among applications: [Int32]?) async throws -> [MessageForm] {
        try await messageForms([
            .null, .textArray(names), applications.map(PostgresValue.int32Array) ?? .null,
        ])
    }

    private func messageForms(_ parameters: [PostgresValue]) async throws -> [MessageForm] {
        let result = try await query(
            """
            SELECT a.id, a.service_id, a.name, a.label, a.platform, a.environment, a.integration_key, a.bundle_id, a.message_id_format,
                a.external_account_id, a.credential_id, a.variables, a.sounds, a.connector, a.credential_kind
            FROM pushmta_engine.api_forms($1::bigint, $2::text[], $3::integer[]) a
            """,
            parameters
        )
        return try all(result) { row in
            MessageForm(
                application: try ApplicationRow(&row),
                connector: try row.textOrNil().flatMap(Connector.init(rawValue:)),
                credential: try row.textOrNil().flatMap(CredentialKind.init(rawValue:))
            )
        }
    }

    /// The content of a delivery, or of a variant of its experiment.
    package func apiContent(delivery id: Int64, variant: Int32? = nil) async throws -> APIContent {
        try first(
            try await query(
                """
                SELECT c.content, c.continuous, c.one_time_code, c.has_validity OR c.continuous FROM pushmta_engine.api_content($1, $2::integer) c
                """,
                [.int64(id), variant.map { .int32($0) } ?? .null]
            ),
            orThrow: "There is no delivery \(id)."
        ) { row in
            APIContent(
                id: id,
                json: try row.text(),
                isContinuous: try row.bool(),
                isOneTimeCode: try row.bool(),
                carriesValidity: try row.bool()
            )
        }
    }

    /// The subscription that the API shows a message for; nil if the applications do not have it.
    ///
    /// - Parameter seed: the name of a seed address; nil for a subscription by its id.
    package func apiReader(seed: String?, device: Int64?, applications: [Int32]) async throws -> PreviewAddress? {
        let result = try await query(
            """
            SELECT r.id, r.application_id, r.variables, r.is_seed_only
            FROM pushmta_engine.api_reader($1::text, $2::bigint, $3) r
            """,
            [.textOrNull(seed), .int64OrNull(device), .int32Array(applications)]
        )
        return try all(result) { row in
            PreviewAddress(
                subscriptionID: try row.int64(),
                applicationID: try row.int32(),
                variables: try row.textOrNil(),
                isSeedOnly: try row.bool()
            )
        }.first
    }
}
