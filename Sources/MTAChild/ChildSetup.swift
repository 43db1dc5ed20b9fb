import Foundation
import Gateways
import NIOCore
import ProcessProtocol
import PushCore
import Store

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
