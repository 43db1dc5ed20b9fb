import Foundation
import Gateways
import NIOCore
import ProcessProtocol
import PushCore
import Store

/// Makes the child's gateway of what the database and the settings say.
struct ChildSetup: Sendable {
    struct Failure: Error, CustomStringConvertible {
        var description: String
        /// Whether this host is at fault: on another one the application may well be sent.
        var isHostsFault = false
    }

    /// Whether an error means that no child on any host could send the application's messages.
    static func isApplicationsFault(_ error: any Error) -> Bool {
        switch error {
        case let failure as Failure: !failure.isHostsFault
        case is GatewayCredentialError, is CredentialError: true
        case let error as StoreError: error.code == .notFound
        default: false
        }
    }

    let arguments: ChildArguments
    let settings: Settings
    let store: Store

    func gateway(
        _ application: ApplicationRow,
        clock: DatabaseClock,
        eventLoop: any EventLoop,
        delegate: any GatewayDelegate
    ) async throws -> any Gateway {
        let account = try await store.account(arguments.accountID)
        let attributes = try flatObject(account.options, "external account \(account.name)")
        var options = GatewayOptions(
            requestTimeoutMilliseconds: Int64(settings.mta.child.requestTimeoutSec) * 1_000,
            connectTimeoutMilliseconds: Int64(settings.mta.child.connectTimeoutSec) * 1_000
        )
        let relayFile = settings.nmac.relay.trustedCertsChain
        options.trustRootsFile = attributes["ca_file"] ?? (relayFile.isEmpty ? nil : relayFile)
        let factory = GatewayFactory(now: {
            Date(timeIntervalSince1970: Double(clock.nowMilliseconds) / 1_000)
        })
        return try factory.make(
            connector: account.connector,
            address: GatewayAddress(host: account.host, port: Int(account.port)),
            credential: try await credential(application),
            topic: application.bundleID,
            connections: attributes["connections"].flatMap(Int.init) ?? defaultConnections(account.connector),
            options: options,
            eventLoop: eventLoop,
            delegate: delegate
        )
    }

    private func defaultConnections(_ connector: Connector) -> Int {
        switch connector {
        case .iosHTTP2, .iosBinary: settings.mta.child.maxAPNsConnectPerChild
        case .androidV1: 1
        case .androidV2: settings.mta.child.maxGCMConnectPerChild
        }
    }

    private func credential(_ application: ApplicationRow) async throws -> GatewayCredential {
        let row = try await store.credential(application: application.id)
        let material = try open(row, application)
        let attributes = try flatObject(row.attributes, "credential \(row.name)")
        switch row.kind {
        case .apnsKey:
            return .apnsTokenKey(keyID: attributes["key_id"] ?? "", teamID: attributes["team_id"] ?? "", pem: material)
        case .fcmServiceAccount:
            return .serviceAccount(json: material)
        case .apnsCertificate, .fcmProjectKey:
            throw Failure(
                description:
                    "credential \(row.name) of application \(application.name) is of kind \(row.kind.rawValue), "
                    + "which connector \(arguments.connector.rawValue) does not take: set an APNs key or a service account"
            )
        }
    }

    private func open(_ row: CredentialRow, _ application: ApplicationRow) throws -> [UInt8] {
        let file = settings.credentialKeyFile
        guard !file.isEmpty, let text = try? String(contentsOfFile: file, encoding: .utf8) else {
            throw Failure(
                description:
                    "credential \(row.name) of application \(application.name) cannot be opened: the key file "
                    + "\(file.isEmpty ? "is not set" : file + " cannot be read"); set credentialKeyFile",
                isHostsFault: true
            )
        }
        return try CredentialCipher(keyText: text).open(row.sealed, credentialID: row.id)
    }

    /// Reads a flat JSON object; numbers and booleans as their texts.
    private func flatObject(_ json: String, _ thing: String) throws -> [String: String] {
        guard let object = try? JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any] else {
            throw Failure(description: "the options of \(thing) are not a JSON object")
        }
        return object.mapValues { "\($0)" }
    }
}
