import PushCore
import TestSupport
import Testing

@testable import Store

@Suite("Fields of messages")
struct MessageFieldTests {
    private static let names = [
        "user_key", "locale", "time_zone", "device_id", "recipient.city", "recipient.first name", "recipient.it's",
        "parameters.tier", "parameter.tier", "device.model", "city", "tier", "recipient.tier", "subscription_id",
        "push_token", "recipient", "recipient.", "own.name",
    ]
    private static let values: [String?] = [
        "k7", "fr-CA", "Europe/Paris", "d1", "Lyon", "Zoë", "x", "gold", "gold", "P9", "Lyon", "gold", nil, nil, nil,
        nil,
        nil, "whole",
    ]
    private static let update = """
        UPDATE pushmta_engine.subscription SET user_key = 'k7', locale = 'fr-CA', time_zone = 'Europe/Paris', device_id = 'd1',
            recipient = '{"city": "Lyon", "first name": "Zoë", "it''s": "x", "own.name": "whole"}', parameters = '{"tier": "gold"}',
            device = '{"model": "P9"}'
        WHERE id = (SELECT min(id) FROM pushmta_engine.subscription)
        """

    private func values(_ loaded: LoadedPart) -> [String?] {
        loaded.fields.map { $0.isNull(0) ? nil : $0.string(0) }
    }

    @Test("A content uses the same names for a subscription's properties as filters")
    func names() async throws {
        let (fixture, part) = try await StoreFixture.withClaimedPart(messages: 3)
        try await fixture.sql(Self.update)
        let loaded = try await fixture.store.loadPart(part, fieldNames: Self.names)
        #expect(loaded.count == 3 && values(loaded) == Self.values)
        let fields = MessageFields(names: Self.names, withLocale: true)
        let preview = try await fixture.store.loadSubscription(loaded.subscriptionIDs[0], fields)
        #expect(values(preview) == Self.values && preview.locales.string(0) == "fr-CA")
    }

    @Test("A whole name takes precedence: variables, parameters, the recipient's fields")
    func order() async throws {
        let (fixture, part) = try await StoreFixture.withClaimedPart(messages: 1)
        try await fixture.sql(Self.update)
        let id = try await fixture.store.loadPart(part, fieldNames: []).subscriptionIDs[0]
        try await fixture.sql(
            "UPDATE pushmta_engine.subscription SET parameters = '{\"locale\": \"own\", \"recipient.city\": \"Oslo\"}' WHERE id = \(id)"
        )
        let fields = MessageFields(names: ["locale", "recipient.city", "user_key"])
        let variables = #"{"user_key": "given"}"#
        #expect(
            values(try await fixture.store.loadSubscription(id, fields, variables: variables)) == [
                "own", "Oslo", "given",
            ]
        )
    }

    @Test("Unused names cost nothing, and no name becomes part of a statement")
    func statements() {
        let plain = Store.denseSQL(MessageFields(names: ["city"]))
        #expect(plain.contains("END, coalesce(s.parameters ->> $4, s.recipient ->> $4)\n"))
        let named = Store.denseSQL(MessageFields(names: ["recipient.x') --"]))
        #expect(!named.contains("x')") && named.contains("s.recipient ->> substr($4::text, 11)"))
    }
}
