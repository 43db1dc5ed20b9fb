import Foundation
import Gateways
import NIOCore
import ProcessProtocol
import PushCore
import Store

/// Makes the gateway of an application of what the database and the settings say: for a child, and for whoever wants to know
/// whether a child could.
public struct GatewaySetup: Sendable {
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
        case let failure as GatewaySetupFailure: !failure.isHostsFault
        // What the settings of this host do not allow another host's may.
        case let error as GatewayCredentialError: error.code != .notAllowed
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
            throw GatewaySetupFailure(
                "external account \(account.name) is of connector \(account.connector.rawValue), which does not serve "
                    + "\(application.platform.rawValue) as application \(application.name) needs: give it another account",
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
        return try GatewayFactory(now: now).make(
            connector: account.connector,
            credential: try await credential(of: application),
            topic: application.bundleID,
            options: options,
            eventLoop: eventLoop,
            delegate: delegate
        )
    }

    /// The application's credential, opened.
    public func credential(of application: ApplicationRow) async throws -> GatewayCredential {
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

/// Makes the child's gateway of what the database and the settings say.
struct ChildSetup: Sendable {
    let arguments: ChildArguments
    let settings: Settings
    let store: Store

    func gateway(
        _ application: ApplicationRow,
        clock: DatabaseClock,
        eventLoop: any EventLoop,
        delegate: any GatewayDelegate
    ) async throws -> any Gateway {
        let setup = GatewaySetup(settings: settings, store: store)
        return try await setup.gateway(
            application,
            try await store.account(arguments.accountID),
            now: { Date(timeIntervalSince1970: Double(clock.nowMilliseconds) / 1_000) },
            eventLoop: eventLoop,
            delegate: delegate
        )
    }
}
