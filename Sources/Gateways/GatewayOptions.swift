import HTTP2
import NIOSSL
import PushCore

/// How the gateway of an external account is reached: what all kinds of gateways, and the reader of a feedback service, read.
public struct GatewayOptions: Sendable {
    /// Where the gateway listens.
    public var address: GatewayAddress
    /// Where its feedback service listens, which only the binary gateway has.
    public var feedbackAddress: GatewayAddress
    /// The connections of one child; `android-v1` always has one.
    public var connections: ConnectionOptions
    /// Requests to legacy FCM at a time: as Adobe's default has it, unless the account or the setting names fewer or the account more.
    public var legacyRequests: Int
    /// A PEM file with the trusted roots, for token endpoints, too; nil means the system's.
    public var trustRootsFile: String?
    /// The HTTP proxy on the way to gateways and token endpoints; nil for none.
    public var proxy: GatewayProxy?
    /// What only the binary protocol has.
    public var binary: BinarySettings

    /// Adobe Campaign's maxGCMConnectPerChild: legacy FCM has no streams that a connection could carry more of, and nobody says how many
    /// requests at a time its successors take.
    private static let usualLegacyRequests = 8

    /// Takes an account as it is stored; what it leaves open the settings say.
    ///
    /// - Parameters:
    ///   - json: the account's options, a flat JSON object, see `AccountOption`.
    ///   - environment: the process's variables, for a proxy.
    public init(
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
        let usual = settings.mta.child.connections(connector)
        let own = AccountOption.connections.isKnown(to: connector) ? text(.connections).flatMap(Int.init) : nil
        connections = ConnectionOptions(
            count: max(1, own ?? usual),
            requestTimeoutMilliseconds: Int64(settings.mta.child.requestTimeoutSec) * 1_000,
            connectTimeoutMilliseconds: Int64(settings.mta.child.connectTimeoutSec) * 1_000
        )
        legacyRequests = max(1, own ?? min(usual, Self.usualLegacyRequests))
        let usualFile = settings.nmac.relay.trustedCertsChain
        trustRootsFile = text(.certificateAuthorityFile) ?? (usualFile.isEmpty ? nil : usualFile)
        binary = settings.nmac.binary
        do {
            proxy = try settings.nmac.gatewayProxy(environment: environment)
        } catch {
            throw GatewaySetupFailure("\(error)", isHostsFault: true)
        }
    }
}

extension ChildSettings {
    /// How many connections a child holds, unless its account says otherwise.
    fileprivate func connections(_ connector: Connector) -> Int {
        switch connector {
        case .iosHTTP2: maxAPNsConnectPerChild
        // One connection per child is what `android-v1` is. One of the binary protocol takes what a core makes, and it has no answers that a
        // second one would be needed for.
        case .androidV1, .iosBinary: 1
        case .androidV2: maxGCMConnectPerChild
        }
    }
}

/// Why a gateway or a feedback service cannot be used the way that the database and the settings say.
public struct GatewaySetupFailure: Error, Sendable, CustomStringConvertible {
    /// What, of which thing, why, and what to do.
    public let description: String
    /// Whether this host is at fault: from another one it may well work.
    public let isHostsFault: Bool

    /// Makes a failure.
    public init(_ description: String, isHostsFault: Bool) {
        self.description = description
        self.isHostsFault = isHostsFault
    }
}

/// A PEM file of certificate authorities that an external account trusts.
public enum CertificateAuthorities {
    /// Checks that a file's bytes hold certificates, all of which can be read.
    ///
    /// - Throws: `GatewayCredentialError` that says what is wrong and what to give instead.
    public static func check(_ pem: [UInt8]) throws(GatewayCredentialError) {
        guard (try? NIOSSLCertificate.fromPEMBytes(pem))?.isEmpty == false else {
            throw GatewayCredentialError(.malformed, problem(pem))
        }
    }

    private static func problem(_ pem: [UInt8]) -> String {
        // DER: a SEQUENCE with a long length.
        if pem.starts(with: [0x30, 0x82]) {
            return "it is a certificate in DER: convert it with openssl x509 -inform der -in FILE -out FILE.pem"
        }
        guard pem.firstRange(of: Array("-----BEGIN CERTIFICATE-----".utf8)) != nil else {
            return
                "it holds no certificate (\"-----BEGIN CERTIFICATE-----\"): give the PEM file of the authority that has signed the gateway's certificate"
        }
        return "one of its certificates cannot be read: give the PEM file whole, as it was issued"
    }
}
