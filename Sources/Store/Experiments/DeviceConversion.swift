import PostgresClient
import PushCore

/// A conversion that an app reports.
package struct DeviceConversion: Sendable {
    package let message: ResolvedHit.Message
    package let name: String
    package let value: Double?

    package init(message: ResolvedHit.Message, name: String, value: Double?) {
        self.message = message
        self.name = name
        self.value = value
    }
}

/// What became of a conversion.
package enum ConversionOutcome: String, Sendable, CaseIterable {
    case recorded
    /// The message has one of this name.
    case repeated
    /// The message has ten, or its person was forgotten.
    case ignored
    /// There is no such message with an outcome.
    case unknown
    /// Its name or its value cannot be stored.
    case invalid
}

extension Store {
    /// Stores conversions in one transaction; returns what became of each.
    package func recordConversions(_ conversions: [DeviceConversion]) async throws -> [ConversionOutcome] {
        var deliveries: [Int64?] = []
        var others: [Int64?] = []
        var numbers: [Int64?] = []
        var sequences: [Int32] = []
        for conversion in conversions {
            switch conversion.message {
            case .known(let delivery, let sequence, _):
                deliveries.append(delivery)
                others.append(nil)
                numbers.append(nil)
                sequences.append(sequence)
            case .numbered(let number, let candidates):
                deliveries.append(candidates.first)
                others.append(candidates.dropFirst().first)
                numbers.append(number)
                sequences.append(0)
            }
        }
        let outcomes = try await query(
            "SELECT pushmta_engine.record_conversions($1, $2, $3, $4, $5, $6)",
            [
                .int64ArrayWithNulls(deliveries), .int64ArrayWithNulls(others), .int64ArrayWithNulls(numbers),
                .int32Array(sequences), .textArray(conversions.map(\.name)),
                .textArray(conversions.map { $0.value.map { String($0) } }),
            ]
        ).one { try $0.textArray() }
        return outcomes.map { ConversionOutcome(rawValue: $0) ?? .invalid }
    }
}
