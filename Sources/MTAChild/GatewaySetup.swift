import Foundation
import Gateways
import NIOCore
import ProcessProtocol
import PushCore
import Store

/// Makes an application's gateway from the database and the settings: for a child, and for callers that check whether a
/// child could.
package struct GatewaySetup: Sendable {
    private let settings: Settings
    private let store: Store
    private let environment: [String: String]
    private let registry: GatewayRegistry

    /// - Parameters:
    ///   - environment: the process's environment variables, for systemd's credentials and for a proxy.
    ///   - registry: the known gateways.
    package init(
        settings: Settings,
        store: Store,
        environment: [String: String] = ProcessInfo.processInfo.environment,
        registry: GatewayRegistry = .standard
    ) {
        self.registry = registry
        self.settings = settings
        self.store = store
        self.environment = environment
    }

    /// Whether an error means that no child on any host can send the application's messages.
    static func isApplicationsFault(_ error: any Error) -> Bool {
        switch error {
        case let failure as GatewaySetupFailure: !failure.isHostsFault
        // The settings of another host may allow what this host's do not.
        case let error as GatewayCredentialError: error.code != .notAllowed
        case let error as CredentialError: error.isCredentialsFault
        case let error as StoreError: error.code == .notFound
        default: false
        }
    }

    /// Makes the gateway, without starting it.
    ///
    /// - Parameter now: the time on the database's clock.
    package func gateway(
        _ application: ApplicationRow,
        _ account: AccountRow,
        now: @escaping @Sendable () -> Date,
        eventLoop: any EventLoop,
        delegate: any GatewayDelegate
    ) async throws -> any Gateway {
        guard account.connector.platform == application.platform else {
            throw GatewaySetupFailure(
                "external account \(account.name) is of connector \(account.connector.rawValue), which does not serve "
                    + "\(application.platform.rawValue) as application \(application.name) needs: "
                    + "choose another account",
                isHostsFault: false
            )
        }
        let options = try GatewayOptions(
            settings,
            environment: environment,
            connector: account.connector,
            account: account.name,
            host: account.host,
            port: account.port,
            options: account.options
        )
        try options.checkTrustRoots()
        return try GatewayFactory(registry, now: now).make(
            connector: account.connector,
            credential: try await credential(of: application),
            topic: application.bundleID,
            options: options,
            eventLoop: eventLoop,
            delegate: delegate
        )
    }

    /// The application's credential, decrypted.
    package func credential(of application: ApplicationRow) async throws -> GatewayCredential {
        let row = try await store.credential(application: application.id)
        return try CredentialOpener(settings, environment: environment).open(row.sealedCredential, of: application.name)
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

/// Makes the child's gateway from the database and the settings.
struct ChildSetup: Sendable {
    let arguments: ChildArguments
    let settings: Settings
    let store: Store
    let registry: GatewayRegistry

    func gateway(
        _ application: ApplicationRow,
        clock: DatabaseClock,
        eventLoop: any EventLoop,
        delegate: any GatewayDelegate
    ) async throws -> any Gateway {
        let setup = GatewaySetup(settings: settings, store: store, registry: registry)
        return try await setup.gateway(
            application,
            try await store.account(arguments.accountID),
            now: { Date(timeIntervalSince1970: Double(clock.nowMilliseconds) / 1_000) },
            eventLoop: eventLoop,
            delegate: delegate
        )
    }
}
