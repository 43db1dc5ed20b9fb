import Crypto
import CryptoExtras
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Makes and reads `_mId` in its `int32` form: the numbers of a delivery's messages, put through a permutation that only the holder of
/// a key can follow.
///
/// Message `s` of a delivery has the number `base + s` in the database, from one global range. A device gets another number of
/// that range in its place, so that its neighbours' cannot be counted out; as a permutation gives no number twice, ids stay unique,
/// and resolve to the number before it.
public struct MessageNumbers: Sendable, Hashable {
    /// The range of the numbers: positive 32-bit integers, as `Integer.valueOf` reads them.
    public static let range: ClosedRange<Int64> = 1...Int64(Int32.max)

    /// What is added to a message's sequence number.
    let base: Int64
    private let permutation: NumberPermutation

    /// The numbers of a delivery.
    ///
    /// - Parameters:
    ///   - base: what is added to a message's sequence number.
    ///   - key: the installation's key for them, 16 bytes.
    /// - Throws: `MessageIDError` when the key does not have 16 bytes.
    public init(base: Int64, key: [UInt8]) throws(MessageIDError) {
        self.base = base
        permutation = try NumberPermutation.make(key: key)
    }

    /// The id of the message with this sequence number.
    public func id(sequence: Int32) -> Int64 {
        permutation.id(of: base &+ Int64(sequence))
    }
}

/// A keyed permutation of the positive 32-bit integers.
///
/// A balanced Feistel network over 32 bits, walked on until the result is a positive number (cycle walking, NIST SP 800-38G names it
/// for ranges that are no power of two). Its round functions are tables of random 16-bit values, the AES-128-CTR key stream of the
/// key: looking one up costs some nanoseconds, where a cipher call for each round would cost more than all else of a message.
public final class NumberPermutation: Sendable, Hashable {
    /// As many as FF1 of NIST SP 800-38G has, which is made for domains as small as this one.
    private static let rounds = 10
    private static let half = 1 << 16

    private let key: [UInt8]
    private let tables: [UInt16]

    /// The permutation that was made last: an installation has one key, and its tables have 1.25 MiB.
    private static let last = Mutex<NumberPermutation?>(nil)

    /// The permutation of a key; made once for as long as the key stays the same.
    ///
    /// - Throws: `MessageIDError` when the key does not have 16 bytes.
    public static func make(key: [UInt8]) throws(MessageIDError) -> NumberPermutation {
        if let made = last.withLock({ $0 }), made.key == key { return made }
        let made = try NumberPermutation(key: key)
        last.withLock { $0 = made }
        return made
    }

    private init(key: [UInt8]) throws(MessageIDError) {
        guard key.count == MessageIDCodec.keyLength else {
            throw MessageIDError(code: .numberKeyLength(key.count))
        }
        self.key = key
        let zeros = [UInt8](repeating: 0, count: Self.rounds * Self.half * 2)
        do {
            let stream = try AES._CTR.encrypt(
                zeros,
                using: SymmetricKey(data: key),
                nonce: AES._CTR.Nonce(nonceBytes: [UInt8](repeating: 0, count: 12))
            )
            let bytes = Array(stream)
            tables = (0..<Self.rounds * Self.half).map { UInt16(bytes[$0 * 2]) << 8 | UInt16(bytes[$0 * 2 + 1]) }
        } catch {
            // It throws only for a wrong key or nonce length, and both are fixed above.
            preconditionFailure("AES refused a 16-byte key or a 12-byte nonce: \(error)")
        }
    }

    /// The id that stands for a number; one outside ``MessageNumbers/range`` stands for itself.
    public func id(of number: Int64) -> Int64 {
        walk(number, forwards)
    }

    /// The number that an id stands for; nil for what is none.
    public func number(of id: Int64) -> Int64? {
        MessageNumbers.range.contains(id) ? walk(id, backwards) : nil
    }

    @inline(__always)
    private func walk(_ number: Int64, _ step: (UInt32) -> UInt32) -> Int64 {
        guard MessageNumbers.range.contains(number) else { return number }
        var value = UInt32(truncatingIfNeeded: number)
        // It comes back to the number it began with at the latest.
        repeat { value = step(value) } while !MessageNumbers.range.contains(Int64(value))
        return Int64(value)
    }

    private func forwards(_ value: UInt32) -> UInt32 {
        var left = UInt16(truncatingIfNeeded: value >> 16)
        var right = UInt16(truncatingIfNeeded: value)
        for round in 0..<Self.rounds {
            (left, right) = (right, left ^ tables[round * Self.half + Int(right)])
        }
        return UInt32(left) << 16 | UInt32(right)
    }

    private func backwards(_ value: UInt32) -> UInt32 {
        var left = UInt16(truncatingIfNeeded: value >> 16)
        var right = UInt16(truncatingIfNeeded: value)
        for round in (0..<Self.rounds).reversed() {
            (left, right) = (right ^ tables[round * Self.half + Int(left)], left)
        }
        return UInt32(left) << 16 | UInt32(right)
    }

    /// Permutations of one key are the same.
    public static func == (left: NumberPermutation, right: NumberPermutation) -> Bool { left.key == right.key }

    public func hash(into hasher: inout Hasher) { hasher.combine(key) }
}
