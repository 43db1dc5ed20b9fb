import CurlClient
import PushCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Gets access tokens for FCM: by a service account's signed grant (RFC 7523), by the exchange of another provider's
/// token (RFC 8693), by impersonating another account, or from the metadata server.
struct AccessTokenFetcher: Sendable {
    let account: GoogleAccount
    let curl: CurlClient
    let trustRootsFile: String?
    let proxy: GatewayProxy?
    let policy: TokenSourcePolicy
    var metadataServer = MetadataAccount.server
    /// The time for `iat`.
    let now: @Sendable () -> Date

    /// Requests a token once.
    func fetch() async -> Result<AccessTokenGrant, TokenFailure> {
        do throws(TokenFailure) {
            return .success(try await token())
        } catch {
            return .failure(error)
        }
    }

    private func token() async throws(TokenFailure) -> AccessTokenGrant {
        switch account {
        case .serviceAccount(let account): return try await token(account, GoogleScope.messaging)
        case .workload(let account):
            guard let target = account.target else { return try await token(account, GoogleScope.messaging) }
            return try await token(target, [], by: try await token(account, GoogleScope.cloudPlatform))
        case .impersonated(let account):
            let own: AccessTokenGrant
            switch account.source {
            case .serviceAccount(let source): own = try await token(source, GoogleScope.cloudPlatform)
            case .workload(let source):
                own = try await token(source, GoogleScope.cloudPlatform)
            }
            return try await token(account.target, account.delegates, by: own)
        case .metadata(let account): return try await token(account)
        }
    }

    /// With a grant that the account's key signs.
    private func token(_ source: ServiceAccount, _ scope: String) async throws(TokenFailure) -> AccessTokenGrant {
        let grant: String
        do {
            grant = try source.grant(issuedAt: Int64(now().timeIntervalSince1970), scope: scope)
        } catch {
            let text = "no grant could be signed for the \(account): check its private key"
            throw TokenFailure(kind: .refused, reason: "SigningFailed", message: text)
        }
        let fields = [("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"), ("assertion", grant)]
        return try await oauth(form(source.tokenURI, fields))
    }

    /// With the token of another identity provider.
    private func token(_ source: WorkloadIdentity, _ scope: String) async throws(TokenFailure) -> AccessTokenGrant {
        try await oauth(
            form(
                source.tokenURL,
                [
                    ("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"), ("audience", source.audience),
                    ("scope", scope), ("requested_token_type", "urn:ietf:params:oauth:token-type:access_token"),
                    ("subject_token", try await subjectToken(source)), ("subject_token_type", source.subjectTokenType),
                ]
            )
        )
    }

    /// Another identity provider's token for this process. The host's settings have already allowed its source.
    private func subjectToken(_ source: WorkloadIdentity) async throws(TokenFailure) -> String {
        let bytes: [UInt8]
        switch source.source {
        case .file(let path):
            guard let read = policy.read(path) else {
                throw noSubject(
                    "the file of its credential_source cannot be read below nmac.fcm.tokenPath (\(policy.folder))"
                )
            }
            bytes = read
        case .address(let url, let headers):
            let response = try await ask(
                CurlRequest(
                    method: "GET",
                    url: url,
                    headers: headers.map { CurlHeader($0.key, $0.value) },
                    body: [],
                    timeoutMilliseconds: Self.timeout,
                    certificateAuthorityFile: trustRootsFile,
                    proxy: curlProxy(url),
                    maxResponseBytes: Self.maxAnswerSize
                )
            )
            guard response.status == 200 else {
                throw noSubject("the address of its credential_source answered with HTTP status \(response.status)")
            }
            bytes = response.body
        }
        guard let token = source.subjectToken(bytes) else {
            throw noSubject("the answer of its credential_source has no token where the file says")
        }
        return token
    }

    private func noSubject(_ problem: String) -> TokenFailure {
        TokenFailure(
            kind: .unavailable,
            reason: "NoSubjectToken",
            message: "no access token for the \(account): \(problem). It is tried again."
        )
    }

    /// A token of an account that another one may impersonate.
    private func token(
        _ target: ImpersonationTarget,
        _ delegates: [String],
        by own: AccessTokenGrant
    ) async throws(TokenFailure) -> AccessTokenGrant {
        let asked = ImpersonationRequest(delegates: delegates, scope: [GoogleScope.messaging])
        // Texts can always be encoded as JSON, so this cannot fail.
        let body = (try? JSONEncoder().encode(asked)).map(Array.init) ?? []
        let response = try await ask(
            request(
                target.url,
                [CurlHeader("Content-Type", "application/json"), CurlHeader("Authorization", "Bearer \(own.token)")],
                body
            )
        )
        return try ImpersonationAnswer.read(response, account: account.description, now: now())
    }

    /// A token for the machine's own account.
    private func token(_ source: MetadataAccount) async throws(TokenFailure) -> AccessTokenGrant {
        let path = "/computeMetadata/v1/instance/service-accounts/\(source.account)/token?scopes="
        return try await oauth(
            CurlRequest(
                method: "GET",
                url: metadataServer + path + Self.escaped(GoogleScope.messaging),
                headers: [CurlHeader("Metadata-Flavor", "Google")],
                body: [],
                // The metadata server is on the machine itself.
                timeoutMilliseconds: 5_000,
                certificateAuthorityFile: nil,
                proxy: .none,
                maxResponseBytes: Self.maxAnswerSize
            )
        )
    }

    // MARK: Requests

    /// Google's client libraries wait at most half a minute.
    private static let timeout = 30_000
    private static let maxAnswerSize = 65_536

    private func form(_ url: String, _ fields: [(String, String)]) -> CurlRequest {
        let text = fields.map { "\($0.0)=\(Self.escaped($0.1))" }.joined(separator: "&")
        return request(
            url,
            [
                CurlHeader("Content-Type", "application/x-www-form-urlencoded"),
                CurlHeader("Accept", "application/json"),
            ],
            Array(text.utf8)
        )
    }

    private func request(_ url: String, _ headers: [CurlHeader], _ body: [UInt8]) -> CurlRequest {
        CurlRequest(
            method: "POST",
            url: url,
            headers: headers,
            body: body,
            timeoutMilliseconds: Self.timeout,
            certificateAuthorityFile: trustRootsFile,
            proxy: curlProxy(url),
            maxResponseBytes: Self.maxAnswerSize
        )
    }

    private func curlProxy(_ url: String) -> CurlProxy { proxy?.curl(for: GatewayProxy.host(of: url)) ?? .none }

    /// Escapes everything as %XX except unreserved characters (RFC 3986, section 2.3).
    private static func escaped(_ text: String) -> String {
        text.utf8.map { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                String(UnicodeScalar(byte))
            default: "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }.joined()
    }

    private func oauth(_ request: CurlRequest) async throws(TokenFailure) -> AccessTokenGrant {
        let response = try await ask(request)
        return try TokenEndpointAnswer.read(
            response,
            account: account.description,
            endpoint: request.url,
            now: Int64(now().timeIntervalSince1970)
        ).get()
    }

    private func ask(_ request: CurlRequest) async throws(TokenFailure) -> CurlResponse {
        do {
            return try await curl.perform(request)
        } catch {
            let text = "no access token for the \(account): \(error) It is tried again."
            let kind: TokenFailure.Kind = error.code == .invalidRequest ? .refused : .unavailable
            throw TokenFailure(
                kind: kind,
                reason: "TokenEndpoint\(error.code.rawValue.capitalisedFirst)",
                message: text
            )
        }
    }
}

/// A request to Google's API that issues tokens of one account for another.
private struct ImpersonationRequest: Encodable {
    let delegates: [String]
    let scope: [String]
    /// The longest life that Google grants.
    var lifetime = "3600s"
}

/// The answer of Google's API that issues tokens of one account for another (`generateAccessToken`).
enum ImpersonationAnswer {
    private struct Body: Decodable {
        var accessToken: String?
        var expireTime: String?
    }

    private struct Problem: Decodable {
        struct Status: Decodable {
            var status: String?
            var message: String?
        }

        var error: Status?
    }

    static func read(_ response: CurlResponse, account: String, now: Date) throws(TokenFailure) -> AccessTokenGrant {
        let body = try? JSONBody.decode(Body.self, from: response.body)
        if response.status == 200, let token = body?.accessToken, TokenEndpointAnswer.isToken(token) {
            let end = body?.expireTime.flatMap { try? Date($0, strategy: .iso8601) }
            return AccessTokenGrant(token: token, expiresInSeconds: end.map { Int64($0.timeIntervalSince(now)) })
        }
        let error = (try? JSONBody.decode(Problem.self, from: response.body))?.error
        let reason = ReasonText.storable(error?.status ?? "")
        let said = [reason, ReasonText.storable(error?.message ?? "")].filter { !$0.isEmpty }
        let cause = said.isEmpty ? "HTTP status \(response.status)" : said.joined(separator: ": ")
        // Too many requests and a timeout are the service's fault; any other 4xx means a missing right or a wrong name.
        let isRefused = (400..<500).contains(response.status) && response.status != 408 && response.status != 429
        throw TokenFailure(
            kind: isRefused ? .refused : .unavailable,
            reason: reason.isEmpty ? "HTTP \(response.status)" : reason,
            status: Int16(clamping: response.status),
            message: "Google issued no token for the \(account): \(cause). "
                + (isRefused
                    ? "Give the account that impersonates it the role Service Account Token Creator, and check the account's name."
                    : "It is tried again.")
        )
    }
}

extension String {
    /// The text with its first letter in upper case.
    fileprivate var capitalisedFirst: String {
        prefix(1).uppercased() + dropFirst()
    }
}

/// The answer of an OAuth 2 token endpoint (RFC 6749 section 5).
enum TokenEndpointAnswer {
    private struct Body: Decodable {
        var accessToken: String?
        var expiresIn: Int64?
        var error: String?
        var errorDescription: String?

        enum CodingKeys: String, CodingKey {
            case error
            case accessToken = "access_token"
            case expiresIn = "expires_in"
            case errorDescription = "error_description"
        }

        init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            // A field of an unexpected type must not hide the others.
            accessToken = try? values.decode(String.self, forKey: .accessToken)
            expiresIn = try? values.decode(Int64.self, forKey: .expiresIn)
            error = try? values.decode(String.self, forKey: .error)
            errorDescription = try? values.decode(String.self, forKey: .errorDescription)
        }
    }

    /// Reads an answer.
    ///
    /// - Parameters:
    ///   - account: the account that asked, for the texts.
    ///   - endpoint: the endpoint's address, for the texts.
    ///   - now: seconds since 1970, for a `Retry-After` that is a date.
    static func read(
        _ response: CurlResponse,
        account: String,
        endpoint: String,
        now: Int64
    ) -> Result<AccessTokenGrant, TokenFailure> {
        let body = try? JSONBody.decode(Body.self, from: response.body)
        if response.status == 200, let text = body?.accessToken, isToken(text) {
            return .success(AccessTokenGrant(token: text, expiresInSeconds: body?.expiresIn))
        }
        let reason = ReasonText.storable(body?.error ?? "")
        let said = [reason, ReasonText.storable(body?.errorDescription ?? "")].filter { !$0.isEmpty }
        let cause =
            said.isEmpty ? "HTTP status \(response.status) without an OAuth 2 error" : said.joined(separator: ": ")
        let kind = kind(status: response.status, error: reason)
        let wayOut =
            kind == .unavailable
            ? "It is tried again."
            : "Check the service account's file, whether its key or the account was deleted, and the database host's clock."
        let failure = TokenFailure(
            kind: kind,
            reason: reason.isEmpty ? "HTTP \(response.status)" : reason,
            status: Int16(clamping: response.status),
            message: "\(endpoint) gave no access token to the \(account): \(cause). \(wayOut)",
            retryAfterMilliseconds: response.header("retry-after").flatMap {
                RetryAfter.milliseconds($0, now: now).map(Int64.init)
            }
        )
        return .failure(failure)
    }

    private static func kind(status: Int, error: String) -> TokenFailure.Kind {
        GatewayAnswers.fcmV1.tokenEndpoint(status: status, error: error).application == .stop ? .refused : .unavailable
    }

    /// The characters of a bearer token (RFC 6750 section 2.1), so that a header can carry it.
    static func isToken(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
    }
}

/// An access token as issued by the token endpoint.
struct AccessTokenGrant: Sendable {
    var token: String
    /// How long it lives, in seconds; nil if the endpoint did not say.
    var expiresInSeconds: Int64?
}
