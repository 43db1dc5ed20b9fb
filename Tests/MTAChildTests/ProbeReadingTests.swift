import Gateways
import PushCore
import Testing

@testable import MTAChild

/// What `app test` says of an outcome.
@Suite struct ProbeReadingTests {
    private func finding(_ format: PayloadFormat, _ outcome: Outcome, hasToken: Bool = true) throws -> ProbeFinding {
        var reading = ProbeReading(format: format, address: "gateway:443", hasToken: hasToken)
        let findings = reading.read(.outcome(outcome), sends: true)
        #expect(reading.isDone)
        return try #require(findings.first)
    }

    @Test(arguments: [
        (PayloadFormat.apnsBinary, "InvalidTokenSize", "2 to 200 hexadecimal digits"),
        (.apnsBinary, "PayloadTooLarge", "2,048 bytes"), (.apns, "PayloadTooLarge", "4,096 bytes"),
        (.fcmLegacy, "MalformedPayload", "cannot be made"),
    ])
    func aRefusalBeforeSendingIsNoAnswer(_ format: PayloadFormat, _ word: String, _ explanation: String) throws {
        let reason = "\(word): something is wrong"
        let outcome = Outcome(index: 0, outcomeClass: .permanent, reason: reason, neverLeft: true)
        for hasToken in [true, false] {
            let finding = try finding(format, outcome, hasToken: hasToken)
            #expect(finding.verdict == .failed)
            #expect(finding.text.contains("refused here") && finding.text.contains(reason), "\(finding.text)")
            #expect(finding.text.contains(explanation), "\(finding.text)")
            #expect(!finding.text.contains("gateway answers") && !finding.text.contains("tried again"))
        }
    }

    @Test func aPageInPlaceOfTheGatewayIsNoSuccess() throws {
        for format in [PayloadFormat.apns, .fcmV1, .fcmLegacy] {
            let outcome = Outcome(index: 0, outcomeClass: .ambiguous, status: 200, reason: "MalformedAnswer")
            let finding = try finding(format, outcome)
            #expect(finding.verdict == .failed)
            #expect(finding.text.contains("answers 200 MalformedAnswer") && finding.text.contains("proxy"))
        }
    }

    @Test func answersAndSilenceAreExplainedByTheirRows() throws {
        let refused = Outcome(index: 0, outcomeClass: .permanent, status: 400, reason: "BadPriority")
        #expect(try finding(.apns, refused).text.contains("the gateway answers 400 BadPriority: the priority is not"))
        let lost = Outcome(index: 0, outcomeClass: .ambiguous, reason: "Timeout")
        #expect(try finding(.apns, lost).text.contains("got no answer (Timeout): no answer came in time"))
        let gone = Outcome(
            index: 0,
            outcomeClass: .permanent,
            status: 400,
            reason: "BadDeviceToken",
            tokenEffect: .invalid(sinceMilliseconds: nil)
        )
        #expect(try finding(.apns, gone, hasToken: false).verdict == .ok)
    }
}
