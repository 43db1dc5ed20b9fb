import Crypto
import CryptoExtras

/// Makes and reads `_mId` in its UUID form: AES-128 of (delivery id, sequence, zeros) under the delivery's tracking
/// key.
///
/// So an id cannot be guessed, is the same at every resend, and resolves to its message without a database. Delivery id
/// (8 bytes) and sequence (4 bytes) are big-endian; the four zero bytes are what makes a forged id recognisable.
public struct MessageIDCodec: Sendable {
    /// The bytes of a tracking key.
    public static let keyLength = 16

    /// The delivery whose messages are numbered.
    public let deliveryID: Int64
    private let key: SymmetricKey

    /// Makes a codec; throws when the key does not have 16 bytes.
    public init(deliveryID: Int64, trackingKey: [UInt8]) throws(MessageIDError) {
        guard trackingKey.count == Self.keyLength else {
            throw MessageIDError(code: .trackingKeyLength(trackingKey.count))
        }
        self.deliveryID = deliveryID
        key = SymmetricKey(data: trackingKey)
    }

    /// The id of the message with this sequence number.
    public func uuid(sequence: Int32) -> MessageUUID {
        var block = [UInt8](repeating: 0, count: AESBlock.length)
        return encrypt(sequence, with: &block)
    }

    /// Appends the ids of many messages. This is the way for hot paths: it allocates nothing for the single message.
    public func appendUUIDs(sequences: some Collection<Int32>, to output: inout [MessageUUID]) {
        output.reserveCapacity(output.count + sequences.count)
        var block = [UInt8](repeating: 0, count: AESBlock.length)
        for sequence in sequences { output.append(encrypt(sequence, with: &block)) }
    }

    /// The sequence number that an id of this delivery stands for; nil when the id is not one of this delivery's.
    public func sequence(of uuid: MessageUUID) -> Int32? {
        var block = [UInt8](repeating: 0, count: AESBlock.length)
        AESBlock.store(high: uuid.high, low: uuid.low, in: &block)
        guard (try? AES.inversePermute(&block, key: key)) != nil else { return nil }
        let (high, low) = AESBlock.load(block)
        guard high == UInt64(bitPattern: deliveryID), low & 0xFFFF_FFFF == 0 else { return nil }
        return Int32(bitPattern: UInt32(truncatingIfNeeded: low >> 32))
    }

    /// The delivery and the sequence number of an id that was made under a key, whichever delivery it is of; nil for other
    /// ids.
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
            // It throws only for a wrong block or key length, and both are fixed above.
            preconditionFailure("AES refused a 16-byte block under a 16-byte key: \(error)")
        }
        let result = AESBlock.load(block)
        return MessageUUID(high: result.high, low: result.low)
    }
}
