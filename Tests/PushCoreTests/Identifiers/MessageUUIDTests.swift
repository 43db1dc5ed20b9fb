import Foundation
import TestSupport
import Testing

@testable import PushCore

@Suite struct MessageUUIDTests {
    @Test func textIsLowerCaseAndReadsBack() throws {
        let uuid = MessageUUID(high: 0x0123_4567_89AB_CDEF, low: 0xFEDC_BA98_7654_3210)
        #expect(uuid.description == "01234567-89ab-cdef-fedc-ba9876543210")
        #expect(MessageUUID("01234567-89AB-CDEF-fedc-ba9876543210") == uuid)
    }

    @Test func agreesWithFoundation() throws {
        var random = TestRandom(seed: TestRandom.seed(for: "message UUID"))
        for _ in 0..<2_000 {
            let uuid = MessageUUID(high: random.next(), low: random.next())
            let foundation = try #require(UUID(uuidString: uuid.description))
            #expect(foundation.uuidString.lowercased() == uuid.description)
            #expect(MessageUUID(foundation.uuidString) == uuid)
        }
    }

    @Test(arguments: [
        "", "01234567-89ab-cdef-fedc-ba987654321", "01234567-89ab-cdef-fedc-ba98765432100",
        "0123456789ab-cdef-fedc-ba9876543210-", "01234567-89ab-cdef-fedc-ba987654321g",
        "é1234567-89ab-cdef-fedc-ba987654321",
    ])
    func refusesOtherTexts(text: String) {
        #expect(MessageUUID(text) == nil)
    }
}
