import CurlClient
import Foundation
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

    /// What was found.
    func result() async -> CheckResult {
        let subject = "gateway of \(account.name)"
        let address = "\(account.host):\(account.port)"
        let options = try? JSONDecoder().decode(Options.self, from: Data(account.options.utf8))
        let authorities = options?.caFile ?? (trustedCertsChain.isEmpty ? nil : trustedCertsChain)
        do {
            _ = try await CurlClient().perform(
                CurlRequest(
                    url: "https://\(address)/",
                    timeoutMilliseconds: Self.timeoutMilliseconds,
                    connectTimeoutMilliseconds: Self.timeoutMilliseconds,
                    certificateAuthorityFile: authorities
                )
            )
        } catch let error where error.mayHaveBeenSent {
            // The handshake was good. That there is no answer to HTTP/1.1 says nothing bad: the gateways speak HTTP/2 only.
            return CheckResult(subject, .ok, "\(address) is reachable and its certificate is trusted")
        } catch {
            return CheckResult(subject, .failed, "\(address): \(error.message)")
        }
        return CheckResult(subject, .ok, "\(address) is reachable and its certificate is trusted")
    }
}
