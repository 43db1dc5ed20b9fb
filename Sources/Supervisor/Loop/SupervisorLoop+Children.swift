import Logging
import ProcessProtocol
import PushCore
import Store
import Synchronization
import SystemPackage

extension SupervisorLoop {
    /// Registers a child in the database, starts it and stays with it to its end.
    func start(_ generation: Int32, _ kind: ChildKind, _ inbox: ChildInbox) async {
        guard let id = await register(generation, kind) else {
            registry.remove(generation)
            tell(.childNotRegistered(generation: generation))
            return
        }
        registry.update(generation) { $0.childID = id }
        logger.info("Starting child \(generation) (id \(id)) for \(kind)")
        let host = ChildHost(registry: registry, tell: tell, logger: logger, forward: Self.writeToStandardError)
        await host.run(generation, inbox, launch(generation, id, kind))
    }

    /// The id of the child's new row in `mta_child`; nil if the database does not give one in time: a child without a process
    /// cannot be ended, and would keep a supervisor that is to end. A row that is made all the same is found orphaned.
    private func register(_ generation: Int32, _ kind: ChildKind) async -> Int64? {
        let row = ChildRow(
            hostID: folder.hostID,
            generation: generation,
            applicationID: kind.applicationID,
            accountID: kind.accountID,
            connector: kind.connector
        )
        guard let store = stores.withLock(\.?.main) else { return nil }
        do {
            if let id = try await Patience.within(Self.longestLook, { try await store.insertChild(row) }) { return id }
            logger.warning("A child for \(kind) could not be registered within \(Self.longestLook)")
            return nil
        } catch {
            logger.warning("A child for \(kind) could not be registered: \(error)")
            return nil
        }
    }

    private func launch(_ generation: Int32, _ id: Int64, _ kind: ChildKind) -> ChildLaunch {
        let settings = settings.withLock { $0 }
        let isStanding = standing.withLock { $0.contains(kind) }
        let arguments = ChildArguments(
            childID: id,
            hostID: folder.hostID,
            generation: generation,
            applicationID: kind.applicationID,
            accountID: kind.accountID,
            connector: kind.connector,
            journalFile: folder.journal(ofChild: id).string,
            bootID: bootID,
            installationID: installationID.withLock { $0.isEmpty ? nil : $0 },
            journalVersion: JournalHeader.version,
            globalOptions: settings.globalOptions + leaseOptions + (isStanding ? settings.standingOptions : [])
        )
        let own = settings.executablePath
        return ChildLaunch(
            executable: own.isEmpty ? executable : FilePath(own),
            arguments: arguments.commandLine,
            killDelay: .seconds(settings.killDelaySec),
            drainTime: .seconds(settings.drainTimeSec)
        )
    }

    private static func writeToStandardError(_ lines: [UInt8]) {
        // Nobody can be told that the log cannot be written.
        _ = try? FileDescriptor.standardError.writeAll(lines)
    }
}
