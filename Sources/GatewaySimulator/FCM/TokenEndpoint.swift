import Crypto
import CryptoExtras
import Foundation
import Synchronization

/// Google's OAuth 2.0 token endpoint for service accounts. It exchanges a signed grant for an access token (RFC 7523).
struct TokenEndpoint: Sendable {
    private struct Header: Decodable {
        var alg: String
    }

    private struct Claims: Decodable {
        var iss: String
        var scope: String?
        var aud: String
        var iat: Double
        var exp: Double
    }

    static let grantType = "urn:ietf:params:oauth:grant-type:jwt-bearer"
    /// The audience that google-auth always uses, wherever the token endpoint is.
    static let googleAudience = "https://oauth2.googleapis.com/token"
    static let scopes = [
        "https://www.googleapis.com/auth/firebase.messaging", "https://www.googleapis.com/auth/cloud-platform",
    ]
    /// The maximum lifetime of a grant is an hour, and clocks may differ slightly.
    private static let maxGrantSeconds = 3600.0
    private static let clockToleranceSeconds = 300.0

    let clientEmail: String
    let tokenURI: String
    let publicKey: _RSA.Signing.PublicKey
    let lifetimeSeconds: Int
    let book: AccessTokenBook
    let conditions: SharedConditions
    let recorder: GatewayRecorder

    init(
        credentials: SimulatorCredentials,
        lifetimeSeconds: Int,
        book: AccessTokenBook,
        conditions: SharedConditions,
        recorder: GatewayRecorder
    ) throws(SimulatorError) {
        clientEmail = credentials.clientEmail
        tokenURI = credentials.tokenURI
        self.lifetimeSeconds = lifetimeSeconds
        self.book = book
        self.conditions = conditions
        self.recorder = recorder
        do {
            publicKey = try _RSA.Signing.PrivateKey(pemRepresentation: credentials.serviceAccountKeyPEM).publicKey
        } catch {
            throw SimulatorError(
                .credential,
                "the private key in \(credentials.serviceAccountFile) is not an RSA key in PEM (\(error)): delete the "
                    + "file to have a new one created"
            )
        }
    }

    /// Answers one request after the delay; nil while the endpoint is closed.
    func answer(_ request: HTTP1Request) -> HTTP1Answer? {
        var answer = answerAtOnce(request)
        answer?.delayMilliseconds = conditions.current.tokenDelayMilliseconds
        return answer
    }

    private func answerAtOnce(_ request: HTTP1Request) -> HTTP1Answer? {
        recorder.countInOutage(1, \.tokenRequests)
        let now = conditions.current
        guard !now.isTokenEndpointClosed else { return nil }
        if let script = now.tokenAnswer, case .response(let status, _, let body) = script.act, script.take() {
            return HTTP1Answer(status: status, json: body)
        }
        return answerAsUsual(request)
    }

    private func answerAsUsual(_ request: HTTP1Request) -> HTTP1Answer {
        guard request.path == "/token" else { return .error(404, "no such path: \(request.path)") }
        guard request.method == "POST" else { return .error(405, "the token endpoint accepts only POST") }
        let now = Date().timeIntervalSince1970
        let fields = FormFields.decode(request.body)
        guard fields["grant_type"] == Self.grantType else {
            return refusal("unsupported_grant_type", "Invalid grant_type: \(fields["grant_type"] ?? "")")
        }
        if let refusal = problem(of: fields["assertion"] ?? "", now: now) { return refusal }
        let token = book.issue(lifetimeSeconds: lifetimeSeconds, now: Int64(now))
        return HTTP1Answer(
            json: "{\"access_token\":\"\(token)\",\"expires_in\":\(lifetimeSeconds),\"token_type\":\"Bearer\"}"
        )
    }

    private func problem(of assertion: String, now: Double) -> HTTP1Answer? {
        guard let parts = JWTParts(Array(assertion.utf8)), let header = parts.header(Header.self),
            let claims = parts.claims(Claims.self)
        else { return refusal("invalid_grant", "Invalid JWT: Failed audience check or malformed assertion.") }
        guard claims.iss == clientEmail else { return refusal("invalid_grant", "Invalid grant: account not found") }
        let signature = _RSA.Signing.RSASignature(rawRepresentation: parts.signature)
        guard header.alg == "RS256", !conditions.current.isRevoked,
            publicKey.isValidSignature(signature, for: parts.signedBytes, padding: .insecurePKCS1v1_5)
        else { return refusal("invalid_grant", "Invalid JWT Signature.") }
        guard claims.aud == tokenURI || claims.aud == Self.googleAudience else {
            return refusal("invalid_grant", "Invalid JWT: Failed audience check.")
        }
        let isTimely =
            claims.exp - claims.iat <= Self.maxGrantSeconds && claims.iat <= now + Self.clockToleranceSeconds
            && claims.exp >= now - Self.clockToleranceSeconds
        guard isTimely else {
            return refusal(
                "invalid_grant",
                "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. "
                    + "Check your iat and exp values in the JWT claim."
            )
        }
        guard let scope = claims.scope,
            scope.split(separator: " ").contains(where: { Self.scopes.contains(String($0)) })
        else {
            return refusal("invalid_scope", "Invalid OAuth scope or ID token audience provided.")
        }
        return nil
    }

    private func refusal(_ error: String, _ description: String) -> HTTP1Answer {
        HTTP1Answer(
            status: 400,
            json: "{\"error\":\(JSONText.quoted(error)),\"error_description\":\(JSONText.quoted(description))}"
        )
    }
}

/// A token endpoint that listens before it can answer, because the service account's file needs its port.
final class LateTokenEndpoint: Sendable {
    private let endpoint = Mutex<TokenEndpoint?>(nil)

    /// Sets the endpoint that answers requests from now on.
    func set(_ endpoint: TokenEndpoint) {
        self.endpoint.withLock { $0 = endpoint }
    }

    func answer(_ request: HTTP1Request) -> HTTP1Answer? {
        guard let endpoint = endpoint.withLock({ $0 }) else { return .error(503, "the token endpoint is starting") }
        return endpoint.answer(request)
    }
}

/// The access tokens that the token endpoint has issued.
final class AccessTokenBook: Sendable {
    /// Expiry by token, in seconds since 1970.
    private let expiries = Mutex<[[UInt8]: Int64]>([:])

    /// Issues a token like Google's.
    func issue(lifetimeSeconds: Int, now: Int64) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        var random = SystemRandomNumberGenerator()
        // 160 characters: the length of Google's short tokens, with 960 random bits.
        let body = (0..<160).map { _ in alphabet[Int(random.next() & 63)] }
        let token = "ya29.c." + String(decoding: body, as: UTF8.self)
        expiries.withLock { expiries in
            for (old, expiry) in expiries where expiry < now { expiries.removeValue(forKey: old) }
            expiries[Array(token.utf8)] = now + Int64(lifetimeSeconds)
        }
        return token
    }

    /// When a token expires; nil if it was never issued.
    func expiry(_ token: [UInt8]) -> Int64? {
        expiries.withLock { $0[token] }
    }
}
