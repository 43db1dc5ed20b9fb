import TestSupport
import Testing

@testable import PushCore

@Suite struct MessageIDCodecTests {
    @Test func idsReadBackAndAreDistinct() throws {
        var random = TestRandom(seed: TestRandom.seed(for: "message ids"))
        let key = (0..<16).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        let codec = try MessageIDCodec(deliveryID: 0x1234, trackingKey: key)
        let sequences = (0..<500).map { _ in Int32(truncatingIfNeeded: random.next()) } + [0, 1, .max, .min]
        var uuids: [MessageUUID] = []
        codec.appendUUIDs(sequences: sequences, to: &uuids)
        for (sequence, uuid) in zip(sequences, uuids) {
            #expect(codec.uuid(sequence: sequence) == uuid)
            #expect(codec.sequence(of: uuid) == sequence)
        }
        #expect(Set(uuids).count == Set(sequences).count)
    }

    /// What `openssl enc -aes-128-ecb -nopad` makes of 00000000000000910000000700000000 under 000102…0f.
    @Test func isAESOfDeliveryAndSequence() throws {
        let codec = try MessageIDCodec(deliveryID: 0x91, trackingKey: Array(0..<16))
        #expect(codec.uuid(sequence: 7).description == "2c69bdc2-f51f-b7e6-dd94-b0127ec45949")
    }

    @Test func forgedAndForeignIDsAreRefused() throws {
        var random = TestRandom(seed: TestRandom.seed(for: "forged ids"))
        let key = [UInt8](repeating: 7, count: 16)
        let codec = try MessageIDCodec(deliveryID: 1, trackingKey: key)
        let otherDelivery = try MessageIDCodec(deliveryID: 2, trackingKey: key)
        let otherKey = try MessageIDCodec(deliveryID: 1, trackingKey: [UInt8](repeating: 8, count: 16))
        for sequence in Int32(1)...100 {
            #expect(otherDelivery.sequence(of: codec.uuid(sequence: sequence)) == nil)
            #expect(otherKey.sequence(of: codec.uuid(sequence: sequence)) == nil)
            #expect(codec.sequence(of: MessageUUID(high: random.next(), low: random.next())) == nil)
        }
    }

    @Test(arguments: [0, 15, 17, 32])
    func refusesOtherKeyLengths(length: Int) {
        #expect(throws: MessageIDError(code: .trackingKeyLength(length))) {
            try MessageIDCodec(deliveryID: 1, trackingKey: [UInt8](repeating: 0, count: length))
        }
    }
}
