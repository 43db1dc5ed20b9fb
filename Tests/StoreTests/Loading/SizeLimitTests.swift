import PostgresClient
import PushCore
import TestSupport
import Testing

@testable import Store

@Suite("Size limits of contents and variables")
struct SizeLimitTests {
    private func content(bytes: Int) -> String {
        // In the database's form.
        let frame = #"{"ios": {"title": ""}}"#
        return #"{"ios": {"title": "\#(String(repeating: "x", count: bytes - frame.utf8.count))"}}"#
    }

    private func variables(bytes: Int) -> String {
        #"{"a": "\#(String(repeating: "x", count: bytes - #"{"a": ""}"#.utf8.count))"}"#
    }

    private func refusal(_ body: () async throws -> Void) async -> StoreError? {
        do { try await body() } catch { return error as? StoreError }
        return nil
    }

    @Test("A content of a mebibyte is accepted, a larger one is refused with its size, for templates too")
    func contents() async throws {
        let fixture = try await StoreFixture.make()
        let store = fixture.store
        let limit = MessageLimits.maxContentBytes
        for (bytes, isTaken) in [(limit, true), (limit + 1, false)] {
            let delivery = NewDelivery(label: "x", applications: ["shop-ios"], content: content(bytes: bytes))
            let refused = await refusal { _ = try await store.createDelivery(delivery) }
            #expect((refused == nil) == isTaken)
            #expect(isTaken || refused?.code == .invalid && refused?.message.contains("\(limit + 1) bytes") == true)
            let template = "SELECT pushmta.add_template('t\(bytes)', $1::jsonb)"
            let refusedTemplate = await refusal { try await store.query(template, [.text(content(bytes: bytes))]) }
            #expect((refusedTemplate == nil) == isTaken)
        }
    }

    @Test("Variables of 16 KiB are accepted, larger ones are refused, from every writer")
    func variables() async throws {
        let fixture = try await StoreFixture.make()
        let store = fixture.store
        let limit = MessageLimits.maxVariablesBytes
        let id = try await fixture.startedDelivery(explicit: true)
        let targets = { (bytes: Int) in [ExplicitTarget(.userKey("a"), variables: self.variables(bytes: bytes))] }
        try await store.addTargets(targets(limit), toDelivery: id)
        let refused = await refusal { try await store.addTargets(targets(limit + 1), toDelivery: id) }
        #expect(
            refused?.sqlState == "PM065"
                && refused?.message.contains("\(limit + 1) bytes; the maximum is \(limit)") == true
        )
        await #expect(throws: PostgresError.self, "an update too") {
            let long = variables(bytes: limit + 1)
            try await fixture.sql("UPDATE pushmta.delivery_target SET variables = '\(long)' WHERE delivery_id = \(id)")
        }
        #expect(try await fixture.sql("SELECT count(*) FROM pushmta.delivery_target WHERE delivery_id = \(id)") == 1)
    }
}
