import Gateways
import PushCore
import Testing

@testable import MTAChild
@testable import Store

@Suite struct PreparationTests {
    private func loaded(_ count: Int, firstName: (Int) -> String? = { "Name\($0)" }) -> LoadedPart {
        var part = LoadedPart()
        var column = ByteColumn()
        for row in 0..<count {
            part.sequences.append(Int32(row + 1))
            part.subscriptionIDs.append(Int64(row + 100))
            part.tokens.append(Array("5a5a\(row)".utf8))
            part.decisions.append(.sendable)
            if let name = firstName(row) { column.append(Array(name.utf8)) } else { column.appendNull() }
        }
        part.fields = [column]
        return part
    }

    @Test func aPayloadThatIsTooLongFailsAlone() throws {
        let loaded = loaded(3) { $0 == 1 ? String(repeating: "x", count: 5_000) : "Anna" }
        var renderer = SliceRenderer(delivery: try DispatchFixture.delivery(), loaded: loaded)
        let rendered = renderer.render([0, 1, 2], newBatchID: { 1 })
        let slice = try #require(rendered.batches.first)
        #expect(rendered.batches.count == 1 && slice.rows == [0, 2])
        #expect(slice.batch.count == 2)
        #expect(rendered.refused.map(\.row) == [1])
        #expect(rendered.refused.first?.status == .failed)
        #expect(rendered.refused.first?.reason.hasPrefix("PayloadTooLarge") == true)
        #expect(slice.batch.bodies.string(0).contains(#""title":"Hello Anna""#))
        #expect(slice.batch.tokens.string(1) == "5a5a2")
    }

    /// Messages that share a request have to be in one batch.
    @Test(arguments: [(1, [200, 200, 50]), (300, [300, 150]), (1_000, [450])])
    func batchesAreAsLargeAsRequests(_ messagesPerRequest: Int, _ sizes: [Int]) throws {
        var renderer = SliceRenderer(
            delivery: try DispatchFixture.delivery(),
            loaded: loaded(450),
            messagesPerRequest: messagesPerRequest
        )
        let rendered = renderer.render(Array(0..<Int32(450))[...], newBatchID: { 1 })
        #expect(rendered.batches.map(\.batch.count) == sizes)
    }

    @Test func messageIDsAreThoseOfTheSequence() throws {
        let delivery = try DispatchFixture.delivery()
        var renderer = SliceRenderer(delivery: delivery, loaded: loaded(4))
        let slice = try #require(renderer.render([1, 3], newBatchID: { 1 }).batches.first)
        #expect(slice.batch.messageIDs == [delivery.codec.uuid(sequence: 2), delivery.codec.uuid(sequence: 4)])
    }

    @Test func subscriptionsThatAreGoneAreNotSent() throws {
        var loaded = loaded(4)
        loaded.decisions = [.sendable, .disabled, .optedOut, .missing]
        var sorter = RowSorter(sendsLost: true, known: [], recovery: PartRecovery(), now: DispatchFixture.start)
        let reasons = (0..<4).map { row in
            if case .decided(.notApplicable, let reason) = sorter.sort(row: row, loaded) { reason } else { "" }
        }
        #expect(reasons == ["", "subscription_disabled", "opted_out", "subscription_missing"])
    }

    @Test(arguments: [true, false])
    func whatAnEarlierOwnerLeftIsObeyed(_ sendsLost: Bool) throws {
        let soft = PartRecovery.SoftAnswer(sequence: 4, attempt: 1, httpStatus: 503, reason: "", notBefore: nil)
        var recovery = PartRecovery(ambiguousThrough: 1, ambiguous: [2, 3, 6], softAnswers: [soft])
        recovery.heldSince = [3]
        var sorter = RowSorter(sendsLost: sendsLost, known: [3, 6], recovery: recovery, now: DispatchFixture.start)
        let fates = (0..<6).map { row in
            switch sorter.sort(row: row, loaded(6)) {
            case .known: "known"
            case .send: "send"
            case .decided(let status, _): status.name
            case .soft: "soft"
            }
        }
        let ambiguous = sendsLost ? "send" : "unknown"
        #expect(fates == [ambiguous, ambiguous, "known", "soft", "send", "known"])
        #expect(
            sorter.resent == (sendsLost ? 3 : 0),
            "message 3 was sent again by an owner that is lost too; the outcome of 6 came late"
        )
        #expect(sorter.lost == (sendsLost ? [0, 1] : []))
    }

    @Test func whatWasSentAndCannotBeSentAgainIsUnknown() throws {
        var loaded = loaded(1)
        loaded.decisions = [.disabled]
        var sorter = RowSorter(
            sendsLost: true,
            known: [],
            recovery: PartRecovery(ambiguous: [1]),
            now: DispatchFixture.start
        )
        guard case .decided(.unknown, _) = sorter.sort(row: 0, loaded) else {
            Issue.record("it is unknown whether it was sent")
            return
        }
    }
}
