/// Makes and reads `_mId` in its `int32` form: the numbers of a delivery's messages, mapped by a permutation that only
/// the holder of a key can compute.
///
/// In the database, message `s` of a delivery has the number `base + s` from one global range. The device gets another
/// number of that range instead, so that the ids of neighbouring messages cannot be derived. A permutation never gives
/// a number twice, so ids stay unique and resolve to the original number.
package struct MessageNumbers: Sendable, Hashable {
    /// The range of the numbers: positive 32-bit integers, as `Integer.valueOf` reads them.
    package static let range: ClosedRange<Int64> = 1...Int64(Int32.max)

    /// The value added to a message's sequence number.
    let base: Int64
    private let permutation: NumberPermutation

    /// The numbers of a delivery.
    ///
    /// - Parameters:
    ///   - base: the value added to a message's sequence number.
    ///   - key: the installation's key for them, 16 bytes.
    /// - Throws: `MessageIDError` if the key is not 16 bytes long.
    package init(base: Int64, key: [UInt8]) throws(MessageIDError) {
        self.base = base
        permutation = try NumberPermutation.make(key: key)
    }

    /// The id of the message with this sequence number.
    package func id(sequence: Int32) -> Int64 {
        permutation.id(of: base &+ Int64(sequence))
    }
}
