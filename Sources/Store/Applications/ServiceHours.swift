import PostgresClient
import PushCore

extension Store {
    /// When messages of a service may leave.
    ///
    /// Throws ``StoreError`` of code `notFound` if there is no such service.
    package func sendingHours(ofService name: String) async throws -> SendingHours {
        let text = try await query("SELECT pushmta.service_hours($1)::text", [.text(name)]).one { try $0.text() }
        do {
            return try JSONBody.decode(SendingHours.self, from: text.utf8)
        } catch {
            throw StoreError(
                .unexpectedAnswer,
                "The sending hours of service \"\(name)\" were read as \(text.prefix(100))."
            )
        }
    }

    /// Replaces the sending hours of a service, its days off, its policy and its time zone.
    ///
    /// Throws ``StoreError`` of code `notFound`, or `invalid` for hours that it cannot have.
    package func setSendingHours(ofService name: String, _ hours: SendingHours) async throws {
        try await change(
            "pushmta.set_service_hours($1, $2::text::jsonb)",
            [.text(name), .text(try JSONBody.text(hours))]
        )
    }

    /// The names of the time zones that the database knows, sorted.
    package func timeZones() async throws -> [String] {
        try all(try await query("SELECT z.name FROM pushmta_engine.time_zone z ORDER BY z.name")) { try $0.text() }
    }
}
