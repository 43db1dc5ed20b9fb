import CurlClient
import Foundation
import Gateways
import PushCore
import Store

/// Whether a gateway can be reached and its certificate is trusted.
struct GatewayCheck: Sendable {
    /// How long an operator should have to wait for the answer, in milliseconds.
    private static let timeoutMilliseconds = 10_000

    private struct Options: Decodable {
        let caFile: String?

        enum CodingKeys: String, CodingKey {
            case caFile = "ca_file"
        }
    }

    /// The account whose gateway it is.
    let account: AccountRow
    /// The authorities to trust if the account names none.
    let trustedCertsChain: String
    /// The proxy on the way; nil for none.
    let proxy: GatewayProxy?

    /// What an operator should know of the connector.
    var remarks: [CheckResult] {
        guard account.connector == .iosBinary else { return [] }
        return [
            CheckResult(
                "connector of \(account.name)",
                .warning,
                "ios-binary: Apple closed its binary gateway and the feedback service on 31 March 2021, so this account works with a stand-in only; for Apple use ios-http2, which takes the same certificate"
            )
        ]
    }

    /// What was found.
    func result() async -> CheckResult {
        let subject = "gateway of \(account.name)"
        let address = GatewayAddress(host: account.host, port: Int(account.port)).description
        let options = try? JSONBody.decode(Options.self, from: account.options.utf8)
        let authorities = options?.caFile ?? (trustedCertsChain.isEmpty ? nil : trustedCertsChain)
        do {
            _ = try await CurlClient().perform(
                CurlRequest(
                    url: "https://\(address)/",
                    timeoutMilliseconds: Self.timeoutMilliseconds,
                    connectTimeoutMilliseconds: Self.timeoutMilliseconds,
                    certificateAuthorityFile: authorities,
                    proxy: proxy?.curl(for: account.host) ?? .none
                )
            )
        } catch let error where error.mayHaveBeenSent {
            // The handshake was good. That there is no answer to HTTP/1.1 says nothing bad: the gateways speak HTTP/2 only.
            return CheckResult(subject, .ok, "\(address) is reachable and its certificate is trusted")
        } catch let error where wantsCertificate(error) {
            return CheckResult(
                subject,
                .ok,
                "\(address) is reachable, its certificate is trusted, and it wants one of the application"
            )
        } catch {
            return CheckResult(subject, .failed, "\(address): \(error.message)")
        }
        return CheckResult(subject, .ok, "\(address) is reachable and its certificate is trusted")
    }

    /// The binary gateway ends the handshake with whoever shows no certificate, after it has shown its own.
    private func wantsCertificate(_ error: CurlError) -> Bool {
        account.connector == .iosBinary && error.code == .tls && error.message.contains(" alert ")
    }
}
