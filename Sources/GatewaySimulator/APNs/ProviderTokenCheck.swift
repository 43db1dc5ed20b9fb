import Crypto
import Foundation

/// Checks provider tokens (ES256 JWTs). Once a token's signature is verified, the token is recognised by its bytes.
struct ProviderTokenCheck {
    private let keyID: String
    private let teamID: String
    private let takesStringIssuedAt: Bool
    private let publicKey: P256.Signing.PublicKey
    /// Tokens that passed, the latest last. A sender uses one or two at a time.
    private var known: [(bytes: [UInt8], token: ProviderToken)] = []
    private var numbers = 0
    private static let maxKnown = 64

    private struct Header: Decodable {
        var alg: String
        var kid: String?
    }

    private struct Claims: Decodable {
        var iss: String
        var iat: Double
        /// Whether the time was a string, such as `"1700000000"`.
        var isText: Bool

        private enum Key: String, CodingKey {
            case iss, iat
        }

        init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: Key.self)
            iss = try values.decode(String.self, forKey: .iss)
            let text = try? values.decode(String.self, forKey: .iat)
            isText = text != nil
            if let number = text.flatMap({ Double($0) }) {
                iat = number
            } else {
                iat = try values.decode(Double.self, forKey: .iat)
            }
        }
    }

    /// - Parameter takesStringIssuedAt: Whether `iat` may be a string.
    init(credentials: SimulatorCredentials, takesStringIssuedAt: Bool = false) throws(SimulatorError) {
        self.takesStringIssuedAt = takesStringIssuedAt
        keyID = credentials.apnsKeyID
        teamID = credentials.apnsTeamID
        do {
            publicKey = try P256.Signing.PrivateKey(pemRepresentation: credentials.apnsKeyPEM).publicKey
        } catch {
            throw SimulatorError(
                .credential,
                "\(credentials.apnsKeyFile) is not a P-256 key in PEM (\(error)): delete it to have a new one created"
            )
        }
    }

    /// Checks the value of the authorization header.
    mutating func check(_ bytes: [UInt8], _ range: Range<Int>, now: Int64) -> Result<ProviderToken, ProviderTokenFault>
    {
        // The current token is last.
        for index in known.indices.reversed() where Bytes.equal(bytes, range, known[index].bytes) {
            let token = known[index].token
            return now - token.issuedAt > ProviderToken.lifetimeSeconds ? .failure(.expired) : .success(token)
        }
        guard Bytes.hasPrefix(bytes, range, "bearer ") || Bytes.hasPrefix(bytes, range, "Bearer ") else {
            return .failure(.invalid)
        }
        let text = bytes[(range.lowerBound + 7)..<range.upperBound]
        guard let parts = JWTParts(text), let header = parts.header(Header.self), let claims = parts.claims(Claims.self)
        else {
            return .failure(.invalid)
        }
        guard header.alg == "ES256", let kid = header.kid else { return .failure(.invalid) }
        guard kid == keyID else { return .failure(.otherKey) }
        guard !claims.isText || takesStringIssuedAt else { return .failure(.invalid) }
        guard claims.iss == teamID, isSigned(parts), abs(claims.iat) < 1e12 else { return .failure(.invalid) }
        let issuedAt = Int64(claims.iat)
        if now - issuedAt > ProviderToken.lifetimeSeconds { return .failure(.expired) }
        // How far ahead a clock may be is not published by Apple; a whole lifetime is surely too much.
        if issuedAt - now > ProviderToken.lifetimeSeconds { return .failure(.invalid) }
        return .success(remember(Array(bytes[range]), issuedAt: issuedAt))
    }

    /// RFC 7518 section 3.4 requires the two numbers of a signature side by side. pushy writes them in DER, which Apple
    /// also accepts.
    private func isSigned(_ parts: JWTParts) -> Bool {
        let signatures = [
            try? P256.Signing.ECDSASignature(rawRepresentation: parts.signature),
            try? P256.Signing.ECDSASignature(derRepresentation: parts.signature),
        ]
        return signatures.contains { $0.map { publicKey.isValidSignature($0, for: parts.signedBytes) } ?? false }
    }

    private mutating func remember(_ bytes: [UInt8], issuedAt: Int64) -> ProviderToken {
        numbers += 1
        if known.count >= Self.maxKnown { known.removeFirst() }
        let token = ProviderToken(number: numbers, keyID: keyID, issuedAt: issuedAt)
        known.append((bytes, token))
        return token
    }
}

/// Why a provider token is refused.
enum ProviderTokenFault: Error {
    /// Malformed, of another team, or with a wrong signature.
    case invalid
    /// Issued more than an hour ago.
    case expired
    /// Its `kid` is not a key of the gateway.
    case otherKey
}

/// A provider authentication token whose signature was good.
struct ProviderToken: Sendable {
    /// Counts up with each different token; connections compare it.
    var number: Int
    var keyID: String
    /// When it was made, in seconds since 1970.
    var issuedAt: Int64

    /// APNs takes a token for an hour after `iat`.
    static let lifetimeSeconds: Int64 = 3600
}
