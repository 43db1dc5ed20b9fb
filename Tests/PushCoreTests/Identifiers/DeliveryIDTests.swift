import Testing

@testable import PushCore

@Suite struct DeliveryIDTests {
    @Test func nthHasOnlyDecimalDigitsInHex() throws {
        for number: Int64 in [0, 1, 9, 10, 99, 12_345, 7_999_999_999_999_999] {
            let id = try #require(DeliveryID.nth(number))
            #expect(DeliveryID.hexText(id) == String(number))
        }
        #expect(DeliveryID.nth(10) == 16)
        #expect(DeliveryID.nth(8_000_000_000_000_000) == nil)
        #expect(DeliveryID.nth(-1) == nil)
        #expect(DeliveryID.nth(.max) == nil)
    }

    @Test func textsReadBack() {
        #expect(DeliveryID.parse(DeliveryID.hexText(0xF0190)) == 0xF0190)
        #expect(DeliveryID.parse("F0190") == 0xF0190)
        for text in ["", "+1", "-1", "g", "1 ", "10000000000000000", "८"] { #expect(DeliveryID.parse(text) == nil) }
    }

    /// An app that read `_dId` "291" as a decimal sends hexadecimal 123.
    @Test func candidatesCoverBothReadings() {
        #expect(DeliveryID.candidates("291") == [0x291, 0x657])
        #expect(DeliveryID.candidates("7b") == [0x123])
        #expect(DeliveryID.candidates("x").isEmpty)
    }
}
