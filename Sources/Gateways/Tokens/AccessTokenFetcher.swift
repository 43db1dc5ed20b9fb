import CurlClient
import PushCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Exchanges a service account's signed grant for an access token (RFC 7523).
struct AccessTokenFetcher: Sendable {
    let account: ServiceAccount
    let curl: CurlClient
    let trustRootsFile: String?
    let proxy: CurlProxy
    /// The time for `iat`.
    let now: @Sendable () -> Date

    /// Asks the token endpoint once.
    func fetch() async -> Result<AccessTokenGrant, TokenFailure> {
        let seconds = Int64(now().timeIntervalSince1970)
        let grant: String
        do {
            grant = try account.grant(issuedAt: seconds)
        } catch {
            let text = "no grant could be signed for the \(account): check its private key"
            return .failure(TokenFailure(kind: .refused, reason: "SigningFailed", message: text))
        }
        do {
            let response = try await curl.perform(request(grant))
            return TokenEndpointAnswer.read(
                response,
                account: account.description,
                endpoint: account.tokenURI,
                now: seconds
            )
        } catch {
            let text = "no access token for the \(account): \(error) It is tried again."
            let kind: TokenFailure.Kind = error.code == .invalidRequest ? .refused : .unavailable
            return .failure(
                TokenFailure(kind: kind, reason: "TokenEndpoint\(error.code.rawValue.capitalisedFirst)", message: text)
            )
        }
    }

    private func request(_ grant: String) -> CurlRequest {
        // A token has only characters that a form needs not escape.
        let form = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=" + grant
        return CurlRequest(
            method: "POST",
            url: account.tokenURI,
            headers: [
                CurlHeader("Content-Type", "application/x-www-form-urlencoded"),
                CurlHeader("Accept", "application/json"),
            ],
            body: Array(form.utf8),
            // Google's client libraries wait for half a minute at most.
            timeoutMilliseconds: 30_000,
            certificateAuthorityFile: trustRootsFile,
            proxy: proxy,
            maximumResponseBytes: 65_536
        )
    }
}

extension String {
    /// The text with its first letter in upper case.
    fileprivate var capitalisedFirst: String {
        prefix(1).uppercased() + dropFirst()
    }
}

/// What an OAuth 2 token endpoint answered (RFC 6749 section 5).
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
            // A field of a type that nobody expects must not hide the others.
            accessToken = try? values.decode(String.self, forKey: .accessToken)
            expiresIn = try? values.decode(Int64.self, forKey: .expiresIn)
            error = try? values.decode(String.self, forKey: .error)
            errorDescription = try? values.decode(String.self, forKey: .errorDescription)
        }
    }

    /// Reads an answer.
    ///
    /// - Parameters:
    ///   - account: who asked, for the texts.
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
        AnswerTable.tokenEndpoint(.fcmV1, status: status, error: error).application == .stop ? .refused : .unavailable
    }

    /// The characters of a bearer token (RFC 6750 section 2.1), so that it can stand in a header.
    private static func isToken(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
    }
}

/// An access token as the token endpoint gave it.
struct AccessTokenGrant: Sendable {
    /// The token.
    var token: String
    /// How long it lives, in seconds; nil when the endpoint did not say.
    var expiresInSeconds: Int64?
}
