import Crypto

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The hash functions that PKCS#12 files use.
enum PKCS12Hash {
    case sha1, sha256, sha384, sha512

    /// What the bytes that are derived are for (RFC 7292 appendix B.3).
    enum Purpose: UInt8 {
        case key = 1
        case vector = 2
        case mac = 3
    }

    init?(oid: String) {
        switch oid {
        case "1.3.14.3.2.26": self = .sha1
        case "2.16.840.1.101.3.4.2.1": self = .sha256
        case "2.16.840.1.101.3.4.2.2": self = .sha384
        case "2.16.840.1.101.3.4.2.3": self = .sha512
        default: return nil
        }
    }

    /// The length of a digest in bytes.
    var length: Int {
        switch self {
        case .sha1: 20
        case .sha256: 32
        case .sha384: 48
        case .sha512: 64
        }
    }

    private var blockLength: Int {
        switch self {
        case .sha1, .sha256: 64
        case .sha384, .sha512: 128
        }
    }

    private func digest(_ data: [UInt8]) -> [UInt8] {
        switch self {
        case .sha1: Array(Insecure.SHA1.hash(data: data))
        case .sha256: Array(SHA256.hash(data: data))
        case .sha384: Array(SHA384.hash(data: data))
        case .sha512: Array(SHA512.hash(data: data))
        }
    }

    /// The message authentication code of the data.
    func authenticationCode(_ data: ArraySlice<UInt8>, key: [UInt8]) -> [UInt8] {
        let key = SymmetricKey(data: key)
        return switch self {
        case .sha1: Array(HMAC<Insecure.SHA1>.authenticationCode(for: data, using: key))
        case .sha256: Array(HMAC<SHA256>.authenticationCode(for: data, using: key))
        case .sha384: Array(HMAC<SHA384>.authenticationCode(for: data, using: key))
        case .sha512: Array(HMAC<SHA512>.authenticationCode(for: data, using: key))
        }
    }

    /// Derives bytes of a password as RFC 7292 appendix B.2 says.
    func derive(
        _ purpose: Purpose,
        password: [UInt8],
        salt: ArraySlice<UInt8>,
        rounds: Int,
        count: Int
    ) -> [UInt8] {
        let diversifier = [UInt8](repeating: purpose.rawValue, count: blockLength)
        var input = Self.fill(Array(salt), blockLength) + Self.fill(password, blockLength)
        var output: [UInt8] = []
        while output.count < count {
            var block = digest(diversifier + input)
            for _ in 1..<max(1, rounds) { block = digest(block) }
            output += block
            let addend = (0..<blockLength).map { block[$0 % block.count] }
            for start in stride(from: 0, to: input.count, by: blockLength) {
                Self.add(addend, to: &input, at: start)
            }
        }
        return Array(output.prefix(count))
    }

    /// Repeats bytes to a whole number of blocks; nothing stays nothing.
    private static func fill(_ bytes: [UInt8], _ block: Int) -> [UInt8] {
        guard !bytes.isEmpty else { return [] }
        let length = (bytes.count + block - 1) / block * block
        return (0..<length).map { bytes[$0 % bytes.count] }
    }

    /// Adds a number and 1 to the one that begins at `start`, both with the highest byte first.
    private static func add(_ addend: [UInt8], to input: inout [UInt8], at start: Int) {
        var carry: UInt16 = 1
        for index in addend.indices.reversed() {
            let sum = UInt16(input[start + index]) + UInt16(addend[index]) + carry
            input[start + index] = UInt8(truncatingIfNeeded: sum)
            carry = sum >> 8
        }
    }
}
