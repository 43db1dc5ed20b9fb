import HTTP2
import NIOSSL
import PushCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// How to reach the gateway of an external account: the options of all kinds of gateways and of the feedback reader.
package struct GatewayOptions: Sendable {
    package var address: GatewayAddress
    /// The address of its feedback service, which only the binary gateway has.
    package var feedbackAddress: GatewayAddress
    /// The number of connections per child; `android-v1` always has one.
    package var connections: ConnectionOptions
    /// Concurrent requests to legacy FCM: Adobe's default, unless the account or the setting names fewer, or the
    /// account more.
    package var legacyRequests: Int
    /// A PEM file with the trusted roots, also used for token endpoints; nil means the system's.
    package var trustRootsFile: String?
    /// The external account that names the file; nil if the settings name it.
    private let trustRootsAccount: String?
    /// The HTTP proxy for gateways and token endpoints; nil for none.
    package var proxy: GatewayProxy?
    /// The options of the binary protocol.
    package var binary: BinarySettings
    /// What credentials without their own key may read on this host.
    package var tokenSources: TokenSourcePolicy

    /// Adobe Campaign's maxGCMConnectPerChild. Legacy FCM has no streams to share a connection, and its limit of
    /// concurrent requests is not documented.
    private static let usualLegacyRequests = 8

    /// Makes options from a stored account; the settings supply what it leaves open.
    ///
    /// - Parameters:
    ///   - json: the account's options, a flat JSON object, see `AccountOption`.
    ///   - environment: the process's variables, for a proxy.
    package init(
        _ settings: Settings,
        environment: [String: String],
        connector: Connector,
        account name: String,
        host: String,
        port: Int32,
        options json: String
    ) throws(GatewaySetupFailure) {
        guard case .object(let entries)? = try? JSONValue(parsing: json.utf8) else {
            throw GatewaySetupFailure(
                "the options of external account \(name) are not a JSON object",
                isHostsFault: false
            )
        }
        func text(_ option: AccountOption) -> String? {
            switch entries.first(where: { $0.name == option.rawValue })?.value {
            case .string(let text), .number(let text): text
            default: nil
            }
        }
        address = GatewayAddress(host: host, port: Int(port))
        feedbackAddress = address.feedback
        if let host = text(.feedbackHost) { feedbackAddress.host = host }
        if let port = text(.feedbackPort).flatMap(Int.init) { feedbackAddress.port = port }
        let usual = connector.facts.connections.number(settings.mta.child)
        let own = AccountOption.connections.isKnown(to: connector) ? text(.connections).flatMap(Int.init) : nil
        connections = ConnectionOptions(
            count: max(1, own ?? usual),
            requestTimeoutMilliseconds: Int64(settings.mta.child.requestTimeoutSec) * 1_000,
            connectTimeoutMilliseconds: Int64(settings.mta.child.connectTimeoutSec) * 1_000
        )
        legacyRequests = max(1, own ?? min(usual, Self.usualLegacyRequests))
        let usualFile = settings.nmac.relay.trustedCertsChain
        let ownFile = text(.certificateAuthorityFile)
        trustRootsFile = ownFile ?? (usualFile.isEmpty ? nil : usualFile)
        trustRootsAccount = ownFile == nil ? nil : name
        binary = settings.nmac.binary
        tokenSources = TokenSourcePolicy(settings.nmac.fcm)
        do {
            proxy = try settings.nmac.gatewayProxy(environment: environment)
        } catch {
            throw GatewaySetupFailure("\(error)", isHostsFault: true)
        }
    }

    /// Checks that this host has a usable file of trusted roots. The TLS library's own error would not even name the
    /// file.
    ///
    /// - Throws: `GatewaySetupFailure`, marked as the host's fault: the file may well exist on another host.
    package func checkTrustRoots() throws(GatewaySetupFailure) {
        guard let trustRootsFile else { return }
        try CertificateAuthorities.check(file: trustRootsFile, ofAccount: trustRootsAccount)
    }
}
