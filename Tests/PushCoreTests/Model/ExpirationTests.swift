import Testing

@testable import PushCore

/// When a gateway gives a message up.
@Suite struct ExpirationTests {
    private let now: Int64 = 1_800_000_000

    @Test func aMessageWithoutAnExpirationOfItsOwnHasThatOfItsValidity() throws {
        let valid = MessageAttributes().valid(until: now + 3_600)
        let expiration = try #require(valid.expiration(now: now))
        #expect(expiration.moment == now + 3_600 && !expiration.isVolatile, "the same for all, however late they leave")
        #expect(MessageAttributes().expiration(now: now) == nil)
        let own = MessageAttributes(expirationSeconds: 60).valid(until: now + 3_600)
        #expect(own.expiration(now: now)?.moment == now + 60)
        #expect(MessageAttributes(expirationSeconds: 0).valid(until: now + 3_600).expiration(now: now)?.moment == 0)
    }

    @Test func apnsKeepsNothingForLongerThanThirtyDays() {
        let long = MessageAttributes().valid(until: now + 90 * 86_400)
        #expect(long.expiration(now: now)?.moment == now + 30 * 86_400)
    }

    @Test(arguments: [PushType.voip, .pushtotalk])
    func whatIsThereAtOnceOrNotAtAllIsNotKept(_ type: PushType) {
        #expect(MessageAttributes(pushType: type).valid(until: now + 3_600).expiration(now: now) == nil)
    }
}
