import TestSupport
import Testing

@testable import PushCore

@Suite struct TrackingIDTests {
    private func number(_ text: String) -> Int64? {
        guard case .number(let number) = TrackedMessageID(Array(text.utf8)) else { return nil }
        return number
    }

    @Test func numbersOfAllVersionsAreRead() {
        // iOS's %02x, Android's lower case without zeros, both signs in both widths.
        #expect(number("05") == 5)
        #expect(number("d828") == 55_336)
        #expect(number("3039") == 12_345)
        #expect(number("281ea1a4") == 673_096_100)
        #expect(number("d7e15e5c") == -673_096_100)
        #expect(number("ffffffffd7e15e5c") == -673_096_100)
        #expect(number("34aa061c0c56") == 57_904_851_586_134)
        #expect(number("61c0c56") == 102_501_462)
        #expect(number("7fffffffffffffff") == .max)
        #expect(number("000000000000000000D828") == 55_336)
        #expect(number("0") == 0)
        for wrong in ["", "g", "-1", "1 ", "0x1", "11111111111111111"] { #expect(number(wrong) == nil, "\(wrong)") }
    }

    @Test func uuidsAreReadInAnyCase() {
        let text = "6b6499a8-9d43-4bc5-acf0-b6aeb96846f6"
        let uuid = MessageUUID(text)
        #expect(uuid != nil)
        for form in [text, text.uppercased(), "6B6499a8-9d43-4BC5-acf0-b6aeb96846F6"] {
            #expect(TrackedMessageID(Array(form.utf8)) == uuid.map(TrackedMessageID.uuid))
        }
        for wrong in ["1-1-1-1-1", text.dropLast() + "g", text + "0"] {
            #expect(TrackedMessageID(Array(wrong.utf8)) == nil)
        }
    }

    @Test func wholeIDsAreRead() {
        let id = TrackingID("h3039,10,1")
        #expect(id?.message == .number(12_345))
        #expect(id?.deliveries == DeliveryID.candidates("10"))
        #expect(id?.deliveries.first == 0x10)
        #expect(id?.kind == .received)
        #expect(TrackingID("h3039,0010,02")?.kind == .clicked)
        #expect(TrackingID("h3039,0010,3")?.kind == .removed)
        #expect(TrackingID("h3039,0010,02")?.deliveries == id?.deliveries)
        #expect(TrackingID("hd828,deliveryId,2")?.deliveries == [])
        for wrong in [
            "", "h", "h,,", "3039,10,1", "h3039,10", "h3039,10,4", "h3039,10,0", "h3039,10,1,", "h3039,,1",
            "h787bc0,281a4d8,281a4da",
            "H3039,10,1", String(repeating: "h", count: 300),
        ] {
            #expect(TrackingID(wrong) == nil, "\(wrong)")
        }
    }

    /// What SDKs make of an id that we gave out comes back as that id.
    @Test func everyIDComesBack() throws {
        var random = TestRandom(seed: TestRandom.seed(for: "everyIDComesBack"))
        let keys = (0..<5).map { day in
            TrackingKey(logDay: Int32(day), key: (0..<16).map { _ in UInt8(truncatingIfNeeded: random.next()) })
        }
        let ring = TrackingKeyring(keys)
        for _ in 0..<2_000 {
            let key = keys[random.below(keys.count)]
            let delivery = try #require(DeliveryID.nth(Int64(1 + random.below(1_000_000_000))))
            let sequence = Int32(1 + random.below(Int(Int32.max) - 1))
            let uuid = try MessageIDCodec(deliveryID: delivery, trackingKey: key.key).uuid(sequence: sequence)
            let text = random.oneIn(2) ? uuid.description : uuid.description.uppercased()
            let hex = DeliveryID.hexText(delivery)
            // Sent as it is, or read as a decimal number and sent in hexadecimal.
            let sent = random.oneIn(2) ? hex : String(try #require(Int64(hex)), radix: 16)
            let id = try #require(TrackingID("h\(text),\(sent),\(1 + random.below(2))"))
            #expect(
                ring.resolve(id) == .message(delivery: delivery, sequence: sequence, logDay: key.logDay)
            )
            let other = try #require(TrackingID("h\(text),\(DeliveryID.hexText(delivery &+ 1)),1"))
            if !other.deliveries.contains(delivery) { #expect(ring.resolve(other) == .foreign) }
            #expect(TrackingKeyring(keys.filter { $0 != key }).resolve(id) == .unknown)
            var forged = uuid
            forged.low ^= 1 << UInt64(random.below(64))
            var forgedID = id
            forgedID.message = .uuid(forged)
            #expect(ring.resolve(forgedID) == .unknown)
        }
        #expect(TrackingKeyring([TrackingKey(logDay: 1, key: [1, 2])]).days.isEmpty)
    }

    /// Until its last day is over, but for an hour by which clocks may differ, a keyring has the key of every genuine id.
    @Test func aKeyringKnowsUntilWhenItIsComplete() {
        let day: Int64 = 86_400_000_000
        let ring = TrackingKeyring([], lastDay: 9_000)
        let begin = (9_000 + 10_957) * day
        #expect(ring.isComplete(at: begin - 400 * day))
        #expect(ring.isComplete(at: begin))
        #expect(ring.isComplete(at: begin + day - 3_600_000_001))
        #expect(!ring.isComplete(at: begin + day - 3_600_000_000))
        #expect(!ring.isComplete(at: begin + 400 * day))
        #expect(!TrackingKeyring().isComplete(at: begin))
        // Whatever stands in a file: an answer, and no trap.
        for time in [Int64.min, Int64.max] {
            for last in [Int32.min, Int32.max] { _ = TrackingKeyring([], lastDay: last).isComplete(at: time) }
        }
    }

    @Test func randomTextsCrashNothing() {
        var random = TestRandom(seed: TestRandom.seed(for: "randomTextsCrashNothing"))
        let alphabet = Array("hH,,,0123456789abcdefF-\u{FF}".unicodeScalars)
        let ring = TrackingKeyring([TrackingKey(logDay: 1, key: Array(repeating: 7, count: 16))])
        for _ in 0..<50_000 {
            var text = random.oneIn(4) ? "" : "h"
            for _ in 0..<random.below(60) { text.unicodeScalars.append(alphabet[random.below(alphabet.count)]) }
            if let id = TrackingID(text) { _ = ring.resolve(id) }
        }
    }
}
