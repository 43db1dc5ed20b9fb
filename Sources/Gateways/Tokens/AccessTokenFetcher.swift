import CurlClient

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
