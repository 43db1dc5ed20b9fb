import Logging
import PushCore
import Store
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension SupervisorLoop {
    /// Opens the connections, however long the database takes to be there; nil when cancelled.
    func openStores() async -> HostStores? {
        await untilDone("The database cannot be used") {
            HostStores(
                main: try await self.connect("supervisor"),
                preparation: try await self.connect("supervisor-prepare"),
                slowPreparation: try await self.connect("supervisor-slow"),
                listener: try await self.connect("supervisor-listen")
            )
        }
    }

    /// The identity of the database; nil when cancelled.
    func readInstallationID(_ store: Store) async -> String? {
        await untilDone("The identity of the database could not be read") { try await store.installationID() }
    }

    /// Makes this host's row in `mta_host`, or makes it that of a new start.
    func register(with reporter: HostReporter) async -> Void? {
        await untilDone("This host could not be registered") { try await reporter.register() }
    }

    /// Makes what settles the affairs of dead children, now that it is known which database this is.
    func makeRecovery(_ store: Store, _ installation: String) {
        let identity = JournalIdentity(
            hostID: UUID(uuidString: folder.hostID),
            bootID: bootID.flatMap { UUID(uuidString: $0) },
            installationID: UUID(uuidString: installation)
        )
        installationID.withLock { $0 = installation }
        let recovery = JournalRecovery(
            folder: folder,
            identity: identity,
            store: store,
            logger: logger,
            condition: condition
        )
        recoveries.withLock { $0 = recovery }
    }

    private func untilDone<Result: Sendable>(
        _ problem: String,
        _ attempt: @Sendable () async throws -> Result
    ) async -> Result? {
        var pause = BackOff.database(longest: .seconds(settings.withLock(\.dataBaseRetryDelaySec)))
        while !Task.isCancelled {
            do {
                return try await attempt()
            } catch {
                let time = pause.next()
                logger.warning("\(problem), next attempt in \(time.milliseconds) ms: \(error)")
                try? await Task.sleep(for: time)
            }
        }
        return nil
    }
}
