import PushCore
import Testing

@testable import Gateways

/// What is kept of a gateway's explanation of a final refusal.
@Suite struct RefusalTextTests {
    @Test func nothingThatIsQuotedOfAMessageIsKept() {
        let words = { RefusalText(deliveryID: 16, reason: "INVALID_ARGUMENT", words: $0).words }
        #expect(
            words(
                #"Invalid value at 'message.android.ttl' (type.googleapis.com/google.protobuf.Duration), "Ada Lovelace""#
            )
                == #"Invalid value at 'message.android.ttl' (type.googleapis.com/google.protobuf.Duration), "…""#
        )
        #expect(words(#"a "b" c "d"#) == #"a "…" c "…""#, "a quote that was cut off")
        #expect(words("no quote") == "no quote")
    }

    @Test func theFieldIsNamedWhereTheTextDoesNot() {
        let body = { (text: String) in
            FCMErrorBody(
                Array(
                    (#"{"error":{"code":400,"status":"INVALID_ARGUMENT","message":""# + text
                        + #"","details":[{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":"#
                        + #"[{"field":"message.android.ttl","description":"x"}]}]}}"#).utf8
                )
            )
        }
        #expect(
            body("Request contains an invalid argument.").message
                == "Request contains an invalid argument. (message.android.ttl)"
        )
        #expect(body("Invalid value at message.android.ttl").message == "Invalid value at message.android.ttl")
    }

    @Test func aTextIsToldOnceForADeliveryAndOnlyOfWhatFailsForGood() {
        var work = FollowUp()
        let decide = { (class: OutcomeClass, text: String) in
            Decision(
                outcome: Outcome(index: 0, outcomeClass: `class`, status: 400, reason: "INVALID_ARGUMENT"),
                row: AnswerTable.fcmV1(status: 400, reason: "INVALID_ARGUMENT"),
                text: text
            )
        }
        for _ in 0..<3 { work.note(decide(.permanent, "a"), of: 16) }
        work.note(decide(.permanent, "a"), of: 32)
        work.note(decide(.permanent, ""), of: 16)
        work.note(decide(.retry, "b"), of: 16)
        #expect(work.texts.count == 2)
        for number in 0..<100 { work.note(decide(.permanent, "\(number)"), of: 16) }
        #expect(work.texts.count == 20, "strangers' values make any number of them")
    }
}
