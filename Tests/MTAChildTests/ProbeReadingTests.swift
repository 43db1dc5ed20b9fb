import Gateways
import PushCore
import Testing

@testable import MTAChild

/// How `app test` describes an outcome.
@Suite struct ProbeReadingTests {
    private func result(_ format: PayloadFormat, _ outcome: Outcome, hasToken: Bool = true) throws -> ProbeResult {
        let kind = try #require(GatewayRegistry.standard.kinds.first { $0.format == format })
        var reading = ProbeReading(kind: kind, address: "gateway:443", hasToken: hasToken)
        let results = reading.read(.outcome(outcome), sends: true)
        #expect(reading.isDone)
        return try #require(results.first)
    }

    @Test(arguments: [
        (PayloadFormat.apnsBinary, "InvalidTokenSize", "2 to 200 hexadecimal digits"),
        (.apnsBinary, "PayloadTooLarge", "2,048 bytes"), (.apns, "PayloadTooLarge", "4,096 bytes"),
        (.fcmLegacy, "MalformedPayload", "cannot be rendered"),
    ])
    func aRefusalBeforeSendingIsNoAnswer(_ format: PayloadFormat, _ word: String, _ explanation: String) throws {
        let reason = "\(word): something is wrong"
        let outcome = Outcome(index: 0, outcomeClass: .permanent, reason: reason, neverLeft: true)
        for hasToken in [true, false] {
            let result = try result(format, outcome, hasToken: hasToken)
            #expect(result.result == .failed)
            #expect(
                result.text.contains("refused before it was sent") && result.text.contains(reason),
                "\(result.text)"
            )
            #expect(result.text.contains(explanation), "\(result.text)")
            #expect(!result.text.contains("gateway answers") && !result.text.contains("tried again"))
        }
    }

    @Test func aPageInPlaceOfTheGatewayIsNoSuccess() throws {
        for format in [PayloadFormat.apns, .fcmV1, .fcmLegacy] {
            let outcome = Outcome(index: 0, outcomeClass: .ambiguous, status: 200, reason: "MalformedAnswer")
            let result = try result(format, outcome)
            #expect(result.result == .failed)
            #expect(result.text.contains("answers 200 MalformedAnswer") && result.text.contains("proxy"))
        }
    }

    @Test func answersAndSilenceAreExplainedByTheirRows() throws {
        let refused = Outcome(index: 0, outcomeClass: .permanent, status: 400, reason: "BadPriority")
        #expect(try result(.apns, refused).text.contains("the gateway answers 400 BadPriority: the priority is not"))
        let lost = Outcome(index: 0, outcomeClass: .ambiguous, reason: "Timeout")
        #expect(try result(.apns, lost).text.contains("got no answer (Timeout): no answer came in time"))
        let gone = Outcome(
            index: 0,
            outcomeClass: .permanent,
            status: 400,
            reason: "BadDeviceToken",
            tokenEffect: .invalid(sinceMilliseconds: nil)
        )
        #expect(try result(.apns, gone, hasToken: false).result == .ok)
    }
}
