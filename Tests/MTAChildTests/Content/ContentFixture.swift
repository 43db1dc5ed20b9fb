import PushCore

@testable import MTAChild
@testable import Store

/// Compiles contents and makes loaded parts for them.
enum ContentFixture {
    static func application(_ platform: Platform = .ios) -> ApplicationRow {
        ApplicationRow(
            id: 1,
            serviceID: 1,
            name: "app",
            label: "",
            platform: platform,
            environment: .production,
            integrationKey: "k",
            bundleID: "com.example.app",
            messageIDFormat: .uuid,
            accountID: 1,
            credentialID: 1,
            variables: "[]"
        )
    }

    static func delivery(_ content: String, format: PayloadFormat = .apns) throws -> CompiledDelivery {
        let delivery = SendingDelivery(
            id: 16,
            label: "test",
            content: content,
            state: .inProgress,
            trackingKey: Array(0..<16),
            messageIDBase: nil,
            validUntil: nil,
            ambiguityPolicy: .resend,
            maxRetries: 3,
            logDay: LogDay(daysSince2000: 9_800),
            hasVariables: false
        )
        return try CompiledDelivery(delivery, application: application(format.platform), format: format)
    }

    /// One message for each locale; the columns are those of the delivery, by name.
    static func loaded(
        _ delivery: CompiledDelivery,
        locales: [String?],
        _ values: [String: [String?]] = [:]
    ) -> LoadedPart {
        var part = LoadedPart()
        for row in locales.indices {
            part.sequences.append(Int32(row + 1))
            part.subscriptionIDs.append(Int64(row + 100))
            part.tokens.append("5a5a\(row)".utf8)
            part.decisions.append(.sendable)
        }
        if delivery.fields.withLocale { part.locales = ByteColumn(locales) }
        part.fields = delivery.fields.names.map { name in
            ByteColumn(locales.indices.map { values[name]?[$0] })
        }
        return part
    }
}
