import PostgresClient
import PushCore

/// A frequency cap of a service: at most so many messages to a person in a time.
package struct FrequencyCapRow: Sendable, Hashable {
    /// What the time is counted in.
    package enum Unit: String, Sendable, Hashable, CaseIterable {
        /// Hours before the delivery.
        case hours
        /// Days of the service; the delivery's own is the last one.
        case days
        /// The day of the delivery in the time zone of each recipient.
        case recipientDay = "recipient_day"

        /// How many of them a cap may be for.
        package var lengths: ClosedRange<Int32> {
            switch self {
            case .hours: 1...72
            case .days: 1...180
            case .recipientDay: 1...1
            }
        }
    }

    /// How many messages a cap may allow.
    package static let counts: ClosedRange<Int32> = 1...1_000

    /// The name of the service.
    package let service: String
    /// Its own name, unique in the service.
    package let name: String
    package let maxMessages: Int32
    package let unit: Unit
    /// The number of hours or days.
    package let length: Int32
    /// The categories that it is for and counts; nil for all that are not transactional.
    package let categories: [String]?

    package init(
        service: String,
        name: String,
        maxMessages: Int32,
        unit: Unit,
        length: Int32 = 1,
        categories: [String]? = nil
    ) {
        self.service = service
        self.name = name
        self.maxMessages = maxMessages
        self.unit = unit
        self.length = length
        self.categories = categories
    }
}

extension Store {
    /// The frequency caps of a service, or of all services, by service and name.
    package func frequencyCaps(ofService service: String? = nil) async throws -> [FrequencyCapRow] {
        try await frequencyCaps(
            from: "pushmta.frequency_cap c WHERE $1::text IS NULL OR c.service = $1 ORDER BY c.service, c.name",
            [.textOrNull(service)]
        )
    }

    /// The frequency caps of a service by name, with the rights of the web process.
    package func apiFrequencyCaps(ofService service: String) async throws -> [FrequencyCapRow] {
        try await frequencyCaps(from: "pushmta_engine.api_frequency_caps($1) c", [.text(service)])
    }

    /// The frequency caps that a delivery is subject to.
    package func frequencyCaps(ofDelivery id: Int64) async throws -> [FrequencyCapRow] {
        try await frequencyCaps(from: "pushmta_engine.caps_of($1) c", [.int64(id)])
    }

    private func frequencyCaps(from source: String, _ parameters: [PostgresValue]) async throws -> [FrequencyCapRow] {
        let result = try await query(
            "SELECT c.service, c.name, c.max_messages, c.per, c.length, c.categories FROM \(source)",
            parameters
        )
        return try all(result) { row in
            FrequencyCapRow(
                service: try row.text(),
                name: try row.text(),
                maxMessages: try row.int32(),
                unit: try row.choice(),
                length: try row.int32(),
                categories: try row.textArrayOrNil()
            )
        }
    }

    /// Adds a frequency cap to its service, or replaces the one of its name.
    package func setFrequencyCap(_ cap: FrequencyCapRow) async throws {
        try await change(
            "pushmta.set_frequency_cap($1, $2, $3, $4, $5, $6::text[])",
            [
                .text(cap.service), .text(cap.name), .int32(cap.maxMessages), .text(cap.unit.rawValue),
                .int32(cap.length), cap.categories.map { .textArray($0) } ?? .null,
            ]
        )
    }

    /// Removes a frequency cap of a service.
    package func dropFrequencyCap(_ name: String, ofService service: String) async throws {
        try await change("pushmta.drop_frequency_cap($1, $2)", [.text(service), .text(name)])
    }

    /// Adds a frequency cap to its service, or changes it, for a signed-in operator; it is logged in the same transaction.
    ///
    /// Throws ``StoreError`` of code `conflict` if a new one has the name of another, or `notFound` or `invalid`.
    package func setFrequencyCap(_ cap: FrequencyCapRow, isNew: Bool, by actor: ConsoleActor) async throws {
        try await query(
            "SELECT pushmta_engine.console_set_cap(\(ConsoleActor.caller), $5, $6, $7, $8, $9, $10::text[], $11)",
            actor.values + [
                .text(cap.service), .text(cap.name), .int32(cap.maxMessages), .text(cap.unit.rawValue),
                .int32(cap.length), cap.categories.map { .textArray($0) } ?? .null, .bool(isNew),
            ]
        )
    }

    /// Removes a frequency cap of a service, for a signed-in operator; it is logged in the same transaction.
    package func dropFrequencyCap(_ name: String, ofService service: String, by actor: ConsoleActor) async throws {
        try await query(
            "SELECT pushmta_engine.console_drop_cap(\(ConsoleActor.caller), $5, $6)",
            actor.values + [.text(service), .text(name)]
        )
    }
}
