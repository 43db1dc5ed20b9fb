import Foundation
import Gateways
import NIOCore
import PushCore
import Store

/// Makes the gateway of an application of what the database and the settings say: for a child, and for whoever wants to know
/// whether a child could.
public struct GatewaySetup: Sendable {
    /// What stands in the way.
    public struct Failure: Error, Sendable, CustomStringConvertible {
        /// What, of which thing, why, and what to do.
        public var description: String
        /// Whether this host is at fault: on another one the application may well be sent.
        public var isHostsFault: Bool
    }

    private let settings: Settings
    private let store: Store
    private let environment: [String: String]

    /// - Parameter environment: the process's variables, for systemd's credentials and for a proxy.
    public init(
        settings: Settings,
        store: Store,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) {
        self.settings = settings
        self.store = store
        self.environment = environment
    }

    /// Whether an error means that no child on any host could send the application's messages.
    static func isApplicationsFault(_ error: any Error) -> Bool {
        switch error {
        case let failure as Failure: !failure.isHostsFault
        case is GatewayCredentialError: true
        case let error as CredentialError: error.isCredentialsFault
        case let error as StoreError: error.code == .notFound
        default: false
        }
    }

    /// Makes the gateway; it is not started yet.
    ///
    /// - Parameter now: the time of the database's clock.
    public func gateway(
        _ application: ApplicationRow,
        _ account: AccountRow,
        now: @escaping @Sendable () -> Date,
        eventLoop: any EventLoop,
        delegate: any GatewayDelegate
    ) async throws -> any Gateway {
        guard account.connector.platform == application.platform else {
            throw Failure(
                description:
                    "external account \(account.name) is of connector \(account.connector.rawValue), which does not serve "
                    + "\(application.platform.rawValue) as application \(application.name) needs: give it another account",
                isHostsFault: false
            )
        }
        let attributes = try flatObject(account.options, "external account \(account.name)")
        return try GatewayFactory(now: now).make(
            connector: account.connector,
            address: GatewayAddress(host: account.host, port: Int(account.port)),
            credential: try await credential(of: application),
            topic: application.bundleID,
            connections: attributes["connections"].flatMap(Int.init) ?? defaultConnections(account.connector),
            options: try options(attributes),
            eventLoop: eventLoop,
            delegate: delegate
        )
    }

    /// Makes the reader of the feedback service that belongs to an account; nil for connectors that need none, as their gateways
    /// tell of dead tokens at once.
    public func feedbackReader(
        _ application: ApplicationRow,
        _ account: AccountRow,
        now: @escaping @Sendable () -> Date
    ) async throws -> APNsFeedbackReader? {
        guard account.connector == .iosBinary else { return nil }
        let attributes = try flatObject(account.options, "external account \(account.name)")
        var address = GatewayAddress(host: account.host, port: Int(account.port)).feedback
        if let host = attributes["feedback_host"] { address.host = host }
        if let port = attributes["feedback_port"].flatMap(Int.init) { address.port = port }
        return try GatewayFactory(now: now).feedbackReader(
            address: address,
            credential: try await credential(of: application),
            options: try options(attributes)
        )
    }

    private func options(_ attributes: [String: String]) throws -> GatewayOptions {
        var options = GatewayOptions(
            requestTimeoutMilliseconds: Int64(settings.mta.child.requestTimeoutSec) * 1_000,
            connectTimeoutMilliseconds: Int64(settings.mta.child.connectTimeoutSec) * 1_000
        )
        let relayFile = settings.nmac.relay.trustedCertsChain
        options.trustRootsFile = attributes["ca_file"] ?? (relayFile.isEmpty ? nil : relayFile)
        do {
            options.proxy = try settings.nmac.gatewayProxy(environment: environment)
        } catch {
            throw Failure(description: "\(error)", isHostsFault: true)
        }
        options.sendAhead = settings.nmac.binary.dispatchWindow
        options.presumedAcceptedMilliseconds = Int64(settings.nmac.binary.presumedAcceptedMs)
        return options
    }

    private func defaultConnections(_ connector: Connector) -> Int {
        switch connector {
        case .iosHTTP2, .iosBinary: settings.mta.child.maxAPNsConnectPerChild
        case .androidV1: 1
        case .androidV2: settings.mta.child.maxGCMConnectPerChild
        }
    }

    /// The application's credential, opened.
    public func credential(of application: ApplicationRow) async throws -> GatewayCredential {
        let row = try await store.credential(application: application.id)
        let keys: CredentialKeyring
        do throws(CredentialKeyError) {
            keys = try CredentialKeySource.load(settings, environment: environment)
        } catch {
            throw Failure(
                description:
                    "credential \(row.name) of application \(application.name) cannot be opened: \(error)",
                isHostsFault: true
            )
        }
        let material = try keys.open(row.sealed, keyID: row.sealKeyID, credentialID: row.id)
        switch row.kind {
        case .apnsKey:
            let attributes = try flatObject(row.attributes, "credential \(row.name)")
            return .apnsTokenKey(keyID: attributes["key_id"] ?? "", teamID: attributes["team_id"] ?? "", pem: material)
        case .apnsCertificate:
            let certificate = try SealedCertificate(material: material)
            return .apnsCertificate(pkcs12: certificate.pkcs12, passphrase: certificate.passphrase)
        case .fcmServiceAccount:
            return .serviceAccount(json: material)
        case .fcmProjectKey:
            return .projectKey(String(decoding: material, as: UTF8.self))
        }
    }

    /// Reads a flat JSON object; numbers and booleans as their texts.
    private func flatObject(_ json: String, _ thing: String) throws -> [String: String] {
        guard let object = try? JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any] else {
            throw Failure(description: "the options of \(thing) are not a JSON object", isHostsFault: false)
        }
        return object.mapValues { "\($0)" }
    }
}

extension CredentialError {
    /// Whether the credential itself is at fault, and not the key file of this host.
    fileprivate var isCredentialsFault: Bool {
        switch code {
        case .badKey, .otherKey, .unknownFormat: false
        case .tooShort, .notAuthentic: true
        }
    }
}
