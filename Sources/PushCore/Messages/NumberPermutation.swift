import Crypto
import CryptoExtras
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A keyed permutation of the positive 32-bit integers.
///
/// A balanced Feistel network over 32 bits, repeated until the result is a positive number (cycle walking, which NIST
/// SP 800-38G names for ranges that are not a power of two). Its round functions are tables of random 16-bit values
/// taken from the AES-128-CTR key stream of the key. A table look-up costs a few nanoseconds; a cipher call for each
/// round would cost more than the rest of the work on a message.
package final class NumberPermutation: Sendable, Hashable {
    /// The number of rounds of FF1 in NIST SP 800-38G, which is designed for domains as small as this one.
    private static let rounds = 10
    private static let half = 1 << 16

    private let key: [UInt8]
    private let tables: [UInt16]

    /// The permutation made last. An installation has one key, and its tables take 1.25 MiB.
    private static let last = Mutex<NumberPermutation?>(nil)

    /// The permutation of a key; it is made again only when the key changes.
    ///
    /// - Throws: `MessageIDError` if the key is not 16 bytes long.
    package static func make(key: [UInt8]) throws(MessageIDError) -> NumberPermutation {
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
            // It throws only for a wrong key or nonce length; both are fixed above.
            preconditionFailure("AES refused a 16-byte key or a 12-byte nonce: \(error)")
        }
    }

    /// The id for a number. A number outside ``MessageNumbers/range`` is its own id.
    package func id(of number: Int64) -> Int64 {
        walk(number, forwards)
    }

    /// The number for an id; nil if the id is out of range.
    package func number(of id: Int64) -> Int64? {
        MessageNumbers.range.contains(id) ? walk(id, backwards) : nil
    }

    @inline(__always)
    private func walk(_ number: Int64, _ step: (UInt32) -> UInt32) -> Int64 {
        guard MessageNumbers.range.contains(number) else { return number }
        var value = UInt32(truncatingIfNeeded: number)
        // The loop ends: at the latest it returns to the number that it started from.
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

    /// Permutations with the same key are equal.
    package static func == (left: NumberPermutation, right: NumberPermutation) -> Bool { left.key == right.key }

    package func hash(into hasher: inout Hasher) { hasher.combine(key) }
}
