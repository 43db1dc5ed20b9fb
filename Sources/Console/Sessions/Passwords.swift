import Crypto
import CryptoExtras
import Foundation
import NIOPosix
import Synchronization

/// Hashes passwords with scrypt and compares them, one after the other on a thread of its own: each takes 32 MiB and some 100
/// milliseconds, which is what makes guessing slow.
public final class Passwords: Sendable {
    private let threads: NIOThreadPool
    private let waiting = Atomic(0)

    /// So many are compared one after the other within some two seconds; who comes then is told to try again, and keeps nobody waiting.
    private static let mostWaiting = 20

    /// N = 2^15, r = 8, p = 3: as strong as N = 2^17 with p = 1 (OWASP, "Password Storage Cheat Sheet", scrypt), with a quarter of its
    /// memory.
    private static let usual = ScryptForm(log2Rounds: 15, blockSize: 8, parallelism: 3)
    /// The hash of a name that nobody has: comparing with it takes as long as with any other.
    private static let nobody = "scrypt$15$8$3$00000000000000000000000000000000$" + String(repeating: "0", count: 64)
    /// Longer ones only cost time (NIST SP 800-63B asks for 64 at least).
    public static let longest = 200
    /// NIST SP 800-63B asks for 8; guesses are few, see console.lockMinutes.
    public static let shortest = 12

    /// Makes one, with a thread.
    public init() {
        threads = NIOThreadPool(numberOfThreads: 1)
        threads.start()
    }

    /// Ends the thread.
    public func close() async {
        try? await threads.shutdownGracefully()
    }

    /// The hash of a new password, with a salt of its own.
    public func hash(_ password: String) async throws -> String {
        try await threads.runIfActive {
            var random = SystemRandomNumberGenerator()
            let salt = (0..<16).map { _ in UInt8.random(in: 0...255, using: &random) }
            return try Self.usual.text(salt: salt, key: Self.usual.key(password, salt))
        }
    }

    /// Whether a password is that of a hash; with nil it takes as long, and is not.
    ///
    /// Throws ``ConsoleProblem/busy`` while many others wait.
    func isRight(_ password: String, hash: String?) async throws -> Bool {
        defer { waiting.subtract(1, ordering: .relaxed) }
        guard waiting.add(1, ordering: .relaxed).newValue <= Self.mostWaiting else { throw ConsoleProblem.busy }
        return try await threads.runIfActive {
            guard let (form, salt, expected) = ScryptForm.read(hash ?? Self.nobody) else { return false }
            let key = try form.key(String(password.prefix(Self.longest)), salt)
            return ConstantTime.areEqual(key, expected) && hash != nil
        }
    }

    /// A password that nobody guesses: 20 letters and digits without those that look alike, 98 bits.
    public static func generated() -> String {
        var random = SystemRandomNumberGenerator()
        let letters = Array("abcdefghjkmnpqrstuvwxyz23456789")
        let groups = (0..<4).map { _ in String((0..<5).compactMap { _ in letters.randomElement(using: &random) }) }
        return groups.joined(separator: "-")
    }
}

/// How much work a hash is; it stands in it, so that later ones may be harder.
private struct ScryptForm: Sendable {
    let log2Rounds: Int
    let blockSize: Int
    let parallelism: Int

    /// What is stored: a code of swift-crypto's under the derived key, which itself is never taken out.
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

/// Comparing without telling how far two texts agree.
enum ConstantTime {
    static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        guard left.count == right.count else { return false }
        return zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}

/// Random tokens of sessions and forms.
enum Tokens {
    /// 256 bits, in hexadecimal.
    static func make() -> String {
        var random = SystemRandomNumberGenerator()
        return hex((0..<32).map { _ in UInt8.random(in: 0...255, using: &random) })
    }

    /// What the database keeps of a token.
    static func hash(_ token: String) -> [UInt8] { Array(SHA256.hash(data: Data(token.utf8))) }

    static func hex(_ bytes: [UInt8]) -> String {
        bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    static func bytes(_ hex: some StringProtocol) -> [UInt8]? {
        let digits = hex.utf8.map { Character(UnicodeScalar($0)).hexDigitValue }
        guard digits.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = digits[index], let low = digits[index + 1] else { return nil }
            bytes.append(UInt8(high << 4 | low))
        }
        return bytes
    }
}
