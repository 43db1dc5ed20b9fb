import Synchronization

/// The access tokens that the token endpoint has issued.
final class AccessTokenBook: Sendable {
    /// Expiry by token, in seconds since 1970.
    private let expiries = Mutex<[[UInt8]: Int64]>([:])

    /// Issues a token like Google's.
    func issue(lifetimeSeconds: Int, now: Int64) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        var random = SystemRandomNumberGenerator()
        // 160 characters: as long as the short ones of Google's, and 960 bits of chance.
        let body = (0..<160).map { _ in alphabet[Int(random.next() & 63)] }
        let token = "ya29.c." + String(decoding: body, as: UTF8.self)
        expiries.withLock { expiries in
            for (old, expiry) in expiries where expiry < now { expiries.removeValue(forKey: old) }
            expiries[Array(token.utf8)] = now + Int64(lifetimeSeconds)
        }
        return token
    }

    /// When that token expires; nil when it was never issued.
    func expiry(_ token: [UInt8]) -> Int64? {
        expiries.withLock { $0[token] }
    }
}
