import HTTP2
import NIOSSL
import PushCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// How the gateway of an external account is reached: what all kinds of gateways, and the reader of a feedback service, read.
public struct GatewayOptions: Sendable {
    public var address: GatewayAddress
    /// Where its feedback service listens, which only the binary gateway has.
    public var feedbackAddress: GatewayAddress
    /// The connections of one child; `android-v1` always has one.
    public var connections: ConnectionOptions
    /// Requests to legacy FCM at a time: as Adobe's default has it, unless the account or the setting names fewer or the account more.
    public var legacyRequests: Int
    /// A PEM file with the trusted roots, for token endpoints, too; nil means the system's.
    public var trustRootsFile: String?
    /// The external account that names the file; nil if the settings do.
    private let trustRootsAccount: String?
    /// The HTTP proxy on the way to gateways and token endpoints; nil for none.
    public var proxy: GatewayProxy?
    /// What only the binary protocol has.
    public var binary: BinarySettings
    /// What credentials without a key of their own may read here.
    public var tokenSources: TokenSourcePolicy

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

    /// Makes sure that this host has the file of the trusted roots and that it can be used: TLS' own words would not even name it.
    ///
    /// - Throws: `GatewaySetupFailure`, which is the host's fault: the same file may well be in its place on another one.
    public func checkTrustRoots() throws(GatewaySetupFailure) {
        guard let trustRootsFile else { return }
        try CertificateAuthorities.check(file: trustRootsFile, ofAccount: trustRootsAccount)
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
    /// What is wrong with which thing, and why.
    public let problem: String
    /// What to do, where that does not stand in the problem's words already; else empty.
    public let remedy: String
    /// Whether this host is at fault: from another one it may well work.
    public let isHostsFault: Bool

    /// What, of which thing, why, and what to do.
    public var description: String { remedy.isEmpty ? problem : "\(problem): \(remedy)" }

    public init(_ problem: String, remedy: String = "", isHostsFault: Bool) {
        self.problem = problem
        self.remedy = remedy
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

    /// Checks that this host has a file of authorities and that it can be used.
    ///
    /// - Parameter account: the external account that names it; nil if the setting does.
    /// - Throws: `GatewaySetupFailure` that says which file on which host, named by whom, and what to do.
    public static func check(file: String, ofAccount account: String?) throws(GatewaySetupFailure) {
        let owner = account.map { "external account \($0)" } ?? "the setting nmac.relay.trustedCertsChain"
        let change = account.map { "`pushmta account set \($0) --ca-file FILE`" } ?? "nmac.relay.trustedCertsChain"
        let host = ProcessInfo.processInfo.hostName
        let user = ProcessInfo.processInfo.userName
        let subject = "the file \(file) of certificate authorities, which \(owner) names,"
        // Reading a pipe or a device would not end; people in the console may name any path.
        let real = URL(fileURLWithPath: file).resolvingSymlinksInPath().path
        if let kind = try? FileManager.default.attributesOfItem(atPath: real)[.type] as? FileAttributeType,
            kind != .typeRegular
        {
            throw GatewaySetupFailure(
                "\(subject) is no regular file on host \(host)",
                remedy: "name a file in PEM with \(change)",
                isHostsFault: true
            )
        }
        guard let pem = FileManager.default.contents(atPath: file) else {
            guard FileManager.default.fileExists(atPath: file) else {
                throw GatewaySetupFailure(
                    "\(subject) is not on host \(host), or is in a folder that the user \(user) may not enter",
                    remedy: "copy it there from a host that has it, or name another one with \(change)",
                    isHostsFault: true
                )
            }
            throw GatewaySetupFailure(
                "\(subject) cannot be read on host \(host) by the user \(user)",
                remedy: "make it one that \(user) may read: chmod 644 \(file)",
                isHostsFault: true
            )
        }
        do {
            try check(Array(pem))
        } catch {
            throw GatewaySetupFailure(
                "\(subject) cannot be used on host \(host): \(error)",
                remedy: "put a good file in its place, or name another one with \(change)",
                isHostsFault: true
            )
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
