import Gateways
import PushCore
import Testing

@testable import MTAChild
@testable import Store

/// Batches of contents with several locales, and of messages that lack a value.
@Suite struct LocalisedSliceTests {
    private static let content = """
        {"ios": {"title": "Hello {{firstName}}"}, "locales": {
            "fr": {"ios": {"title": "Bonjour {{prenom|ami}}"}}, "pt-BR": {"ios": {"title": "Olá {{firstName}}"}}}}
        """
    private static let locales: [String?] = ["fr-CA", "pt_br", "pt", nil, "FR", "", "frr"]

    private func render(_ delivery: CompiledDelivery, _ loaded: LoadedPart) -> SliceRenderer.Rendered {
        var renderer = SliceRenderer(delivery: delivery, loaded: loaded)
        var number: Int64 = 0
        return renderer.render(loaded.sequences.indices.map(Int32.init)[...]) {
            number += 1
            return number
        }
    }

    @Test func everyoneIsAddressedInTheirLanguageAndInOneBatch() throws {
        let delivery = try ContentFixture.delivery(Self.content)
        #expect(delivery.fields.withLocale && delivery.fields.names == ["firstName", "prenom"])
        let names: [String?] = (0..<7).map { "N\($0)" }
        let rendered = render(delivery, ContentFixture.loaded(delivery, locales: Self.locales, ["firstName": names]))
        #expect(rendered.batches.count == 1 && rendered.refused.isEmpty)
        let slice = try #require(rendered.batches.first)
        #expect(slice.rows == [0, 1, 2, 3, 4, 5, 6])
        let titles = ["Bonjour ami", "Olá N1", "Hello N2", "Hello N3", "Bonjour ami", "Hello N5", "Hello N6"]
        for (row, title) in titles.enumerated() {
            #expect(slice.batch.bodies.string(row).contains(#""title":"\#(title)""#))
        }
        #expect(slice.batch.messageIDs == (1...7).map { delivery.codec.uuid(sequence: $0) })
    }

    @Test func aContentWithoutLocalesAsksForNone() throws {
        let delivery = try ContentFixture.delivery(#"{"ios": {"title": "Hello {{firstName}}"}}"#)
        #expect(!delivery.fields.withLocale && delivery.groupCount == 1)
    }

    /// All messages of a batch have the same headers.
    @Test func batchesAreSplitWhereHeadersDiffer() throws {
        let delivery = try ContentFixture.delivery(
            """
            {"ios": {"title": "a", "priority": 5}, "locales": {
                "fr": {"ios": {"title": "b", "priority": 10}}, "de": {"ios": {"title": "c", "priority": 5}},
                "pt": {"ios": {"title": "d", "priority": 5, "collapse_id": "{{city}}"}}}}
            """
        )
        #expect(delivery.groupCount == 3)
        let locales = ["en", "fr", "de", "pt", "fr", "pt", "de"]
        let cities: [String?] = [nil, nil, nil, "Porto", nil, nil, nil]
        let rendered = render(delivery, ContentFixture.loaded(delivery, locales: locales, ["city": cities]))
        #expect(rendered.batches.map(\.rows) == [[0, 2, 6], [1, 4], [3, 5]] && rendered.refused.isEmpty)
        #expect(rendered.batches.map(\.batch.id) == [1, 2, 3])
        #expect(rendered.batches.map(\.batch.attributes.priority) == [5, 10, 5])
        #expect(
            rendered.batches[0].batch.collapseIDs == nil && rendered.batches[2].batch.collapseIDs?.string(0) == "Porto"
        )
        #expect(rendered.batches[2].batch.collapseIDs?.isNull(1) == true, "no city, no collapse id")
        #expect(rendered.batches[0].batch.messageIDs == [1, 3, 7].map { delivery.codec.uuid(sequence: $0) })
        #expect(rendered.batches[1].batch.bodies.string(1).contains(#""title":"b""#))
    }

    @Test func whoLacksAValueIsLeftOut() throws {
        let delivery = try ContentFixture.delivery(
            """
            {"missing": "exclude", "ios": {"title": "{{firstName}}", "body": "{{city|here}}"}, "locales": {
                "fr": {"ios": {"title": "{{prenom}}"}}}}
            """
        )
        let values: [String: [String?]] = [
            "firstName": ["Ada", nil, "", nil, "Bo"], "prenom": [nil, nil, nil, "Zoé", nil],
        ]
        let locales = ["en", "en", "en", "fr", "fr"]
        let rendered = render(delivery, ContentFixture.loaded(delivery, locales: locales, values))
        #expect(rendered.batches.map(\.rows) == [[0, 3]])
        #expect(rendered.refused.map(\.row) == [1, 2, 4])
        #expect(rendered.refused.allSatisfy { $0.status == .notApplicable })
        #expect(
            rendered.refused.map(\.reason) == [
                "missing_value: firstName", "missing_value: firstName", "missing_value: prenom",
            ]
        )
        #expect(rendered.batches[0].batch.bodies.string(0).contains(#""body":"here""#))
    }

    @Test func whatIsInEveryonesWayMakesNoEmptyBatch() throws {
        let delivery = try ContentFixture.delivery(#"{"missing": "exclude", "ios": {"title": "{{firstName}}"}}"#)
        let rendered = render(delivery, ContentFixture.loaded(delivery, locales: [nil, nil]))
        #expect(rendered.batches.isEmpty && rendered.refused.count == 2)
    }

    /// The limit depends on the push type, and each locale may have a different one.
    @Test func theLimitIsThatOfTheLocale() throws {
        let delivery = try ContentFixture.delivery(
            """
            {"ios": {"title": "{{long}}"}, "locales": {
                "fr": {"ios": {"push_type": "voip", "variables": {"x": "{{long}}"}}}}}
            """
        )
        let long = String(repeating: "x", count: 4_500)
        let loaded = ContentFixture.loaded(delivery, locales: ["en", "fr"], ["long": [long, long]])
        let rendered = render(delivery, loaded)
        #expect(rendered.batches.map(\.rows) == [[1]] && rendered.refused.map(\.row) == [0])
        #expect(rendered.refused.first?.reason.contains("4096") == true)
    }

    @Test func aSubsetKeepsWhoHasNoCollapseID() {
        let batch = GatewayRequestBatch(
            id: 1,
            tokens: ByteColumn(["a", "b", "c"]),
            messageIDs: (0..<3).map { MessageUUID(high: 1, low: $0) },
            bodies: ByteColumn(["{}", "{}", "{}"]),
            attributes: MessageAttributes(),
            collapseIDs: ByteColumn(["x", nil, "z"])
        )
        let part = batch.subset([1, 2], id: 2)
        #expect(part.collapseIDs?.isNull(0) == true && part.collapseIDs?.string(1) == "z")
    }
}
