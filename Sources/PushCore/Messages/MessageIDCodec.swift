import Crypto
import CryptoExtras

/// Makes and reads `_mId` in its UUID form: AES-128 of (delivery id, sequence, zeros) under the delivery's tracking
/// key.
///
/// So an id cannot be guessed, stays the same on every resend, and resolves to its message without the database.
/// Delivery id (8 bytes) and sequence (4 bytes) are big-endian; the four zero bytes reveal a forged id.
package struct MessageIDCodec: Sendable {
    /// The length of a tracking key, in bytes.
    package static let keyLength = 16

    /// The delivery of the messages.
    package let deliveryID: Int64
    private let key: SymmetricKey

    /// Makes a codec; throws if the key is not 16 bytes long.
    package init(deliveryID: Int64, trackingKey: [UInt8]) throws(MessageIDError) {
        guard trackingKey.count == Self.keyLength else {
            throw MessageIDError(code: .trackingKeyLength(trackingKey.count))
        }
        self.deliveryID = deliveryID
        key = SymmetricKey(data: trackingKey)
    }

    /// The id of the message with this sequence number.
    package func uuid(sequence: Int32) -> MessageUUID {
        var block = [UInt8](repeating: 0, count: AESBlock.length)
        return encrypt(sequence, with: &block)
    }

    /// Appends the ids of many messages. Use it on hot paths: it allocates nothing for each message.
    package func appendUUIDs(sequences: some Collection<Int32>, to output: inout [MessageUUID]) {
        output.reserveCapacity(output.count + sequences.count)
        var block = [UInt8](repeating: 0, count: AESBlock.length)
        for sequence in sequences { output.append(encrypt(sequence, with: &block)) }
    }

    /// The sequence number of an id; nil if the id does not belong to this delivery.
    package func sequence(of uuid: MessageUUID) -> Int32? {
        var block = [UInt8](repeating: 0, count: AESBlock.length)
        AESBlock.store(high: uuid.high, low: uuid.low, in: &block)
        guard (try? AES.inversePermute(&block, key: key)) != nil else { return nil }
        let (high, low) = AESBlock.load(block)
        guard high == UInt64(bitPattern: deliveryID), low & 0xFFFF_FFFF == 0 else { return nil }
        return Int32(bitPattern: UInt32(truncatingIfNeeded: low >> 32))
    }

    /// The delivery and sequence number of an id made under this codec's key, which all deliveries of a day share.
    package func message(of uuid: MessageUUID) -> (deliveryID: Int64, sequence: Int32)? {
        Self.open(uuid, key: key)
    }

    /// The delivery and sequence number of an id made under a key, for any delivery; nil for other ids.
    static func open(_ uuid: MessageUUID, key: SymmetricKey) -> (deliveryID: Int64, sequence: Int32)? {
        var block = [UInt8](repeating: 0, count: AESBlock.length)
        AESBlock.store(high: uuid.high, low: uuid.low, in: &block)
        guard (try? AES.inversePermute(&block, key: key)) != nil else { return nil }
        let (high, low) = AESBlock.load(block)
        let deliveryID = Int64(bitPattern: high)
        let sequence = Int32(bitPattern: UInt32(truncatingIfNeeded: low >> 32))
        return low & 0xFFFF_FFFF == 0 && deliveryID > 0 && sequence > 0 ? (deliveryID, sequence) : nil
    }

    private func encrypt(_ sequence: Int32, with block: inout [UInt8]) -> MessageUUID {
        let low = UInt64(UInt32(bitPattern: sequence)) << 32
        AESBlock.store(high: UInt64(bitPattern: deliveryID), low: low, in: &block)
        do {
            try AES.permute(&block, key: key)
        } catch {
            // It throws only for a wrong block or key length; both are fixed above.
            preconditionFailure("AES refused a 16-byte block under a 16-byte key: \(error)")
        }
        let result = AESBlock.load(block)
        return MessageUUID(high: result.high, low: result.low)
    }
}

/// Stores and loads two big-endian 64-bit words in a 16-byte array.
enum AESBlock {
    /// The length of a block, in bytes.
    static let length = 16

    /// Stores both words; the array must have 16 bytes.
    @inline(__always)
    static func store(high: UInt64, low: UInt64, in block: inout [UInt8]) {
        var span = block.mutableSpan
        var bytes = span.mutableBytes
        bytes.storeBytes(of: high.bigEndian, toByteOffset: 0, as: UInt64.self)
        bytes.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
    }

    /// Loads both words.
    @inline(__always)
    static func load(_ block: [UInt8]) -> (high: UInt64, low: UInt64) {
        var high: UInt64 = 0
        var low: UInt64 = 0
        for index in 0..<8 {
            high = high << 8 | UInt64(block[index])
            low = low << 8 | UInt64(block[index + 8])
        }
        return (high, low)
    }
}
