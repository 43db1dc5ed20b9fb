import Crypto
import CryptoExtras
import Foundation
import NIOPosix
import Synchronization

/// Hashes and compares passwords with scrypt, one after the other on a thread of its own. Each takes 32 MiB and some
/// 100 milliseconds, which slows down guessing.
package final class Passwords: Sendable {
    private let threads: NIOThreadPool
    private let waiting = Atomic(0)

    /// Within about two seconds, this many are compared one after the other. Later callers are asked to try again,
    /// and hold up no one.
    private static let maxWaiting = 20

    /// N = 2^15, r = 8, p = 3: as strong as N = 2^17 with p = 1 (OWASP, "Password Storage Cheat Sheet", scrypt), in a
    /// quarter of the memory.
    private static let usual = ScryptForm(log2Rounds: 15, blockSize: 8, parallelism: 3)
    /// The hash for unknown names: comparing with it takes as long as with any other.
    private static let nobody = "scrypt$15$8$3$00000000000000000000000000000000$" + String(repeating: "0", count: 64)
    /// Longer passwords only cost time (NIST SP 800-63B asks for at least 64).
    package static let longest = 200
    /// NIST SP 800-63B asks for 8; console.lockMinutes limits the guesses.
    package static let shortest = 12

    /// Starts the thread.
    package init() {
        threads = NIOThreadPool(numberOfThreads: 1)
        threads.start()
    }

    /// Ends the thread.
    package func close() async {
        try? await threads.shutdownGracefully()
    }

    /// The hash of a new password, with its own salt.
    package func hash(_ password: String) async throws -> String {
        try await threads.runIfActive {
            var random = SystemRandomNumberGenerator()
            let salt = (0..<16).map { _ in UInt8.random(in: 0...255, using: &random) }
            return try Self.usual.text(salt: salt, key: Self.usual.key(password, salt))
        }
    }

    /// Whether a password matches a hash; with nil it takes as long, and returns false.
    ///
    /// Throws ``ConsoleProblem/busy`` while too many others wait.
    func isRight(_ password: String, hash: String?) async throws -> Bool {
        defer { waiting.subtract(1, ordering: .relaxed) }
        guard waiting.add(1, ordering: .relaxed).newValue <= Self.maxWaiting else { throw ConsoleProblem.busy }
        return try await threads.runIfActive {
            guard let (form, salt, expected) = ScryptForm.read(hash ?? Self.nobody) else { return false }
            let key = try form.key(String(password.prefix(Self.longest)), salt)
            return ConstantTime.areEqual(key, expected) && hash != nil
        }
    }

    /// A password that cannot be guessed: 20 letters and digits, without those that look alike; 98 bits.
    package static func generated() -> String {
        var random = SystemRandomNumberGenerator()
        let letters = Array("abcdefghjkmnpqrstuvwxyz23456789")
        let groups = (0..<4).map { _ in String((0..<5).compactMap { _ in letters.randomElement(using: &random) }) }
        return groups.joined(separator: "-")
    }
}

/// The cost of a hash. It is stored with the hash, so that later hashes may be more expensive.
private struct ScryptForm: Sendable {
    let log2Rounds: Int
    let blockSize: Int
    let parallelism: Int

    /// The stored value: a MAC by swift-crypto under the derived key, as the key itself is never extracted.
    func key(_ password: String, _ salt: [UInt8]) throws -> [UInt8] {
        let key = try KDF.Scrypt.deriveKey(
            from: Array(password.precomposedStringWithCompatibilityMapping.utf8),
            salt: salt,
            outputByteCount: 32,
            rounds: 1 << log2Rounds,
            blockSize: blockSize,
            parallelism: parallelism
        )
        return Array(HMAC<SHA256>.authenticationCode(for: Self.purpose, using: key))
    }

    private static let purpose = Array("pushmta console".utf8)

    func text(salt: [UInt8], key: [UInt8]) -> String {
        "scrypt$\(log2Rounds)$\(blockSize)$\(parallelism)$\(Tokens.hex(salt))$\(Tokens.hex(key))"
    }

    static func read(_ text: String) -> (ScryptForm, salt: [UInt8], key: [UInt8])? {
        let parts = text.split(separator: "$", omittingEmptySubsequences: false)
        guard parts.count == 6, parts[0] == "scrypt", let rounds = Int(parts[1]), (10...20).contains(rounds),
            let block = Int(parts[2]), (1...32).contains(block), let parallel = Int(parts[3]),
            (1...16).contains(parallel),
            let salt = Tokens.bytes(parts[4]), let key = Tokens.bytes(parts[5]), key.count == 32
        else { return nil }
        return (ScryptForm(log2Rounds: rounds, blockSize: block, parallelism: parallel), salt, key)
    }
}

/// Compares without revealing, through timing, where two texts differ.
enum ConstantTime {
    static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        guard left.count == right.count else { return false }
        return zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
