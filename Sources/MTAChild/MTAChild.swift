import Foundation
import Gateways
import Logging
import NIOCore
import NIOPosix
import PostgresClient
import ProcessProtocol
import PushCore
import Store
import Synchronization

/// One MTA child: claims parts of deliveries of one application, sends them through one connection set, stores outcomes.
///
/// The way of a part: claim → load and render → mark (committed) → gateway → intent (journaled, when a message gets its
/// stream) → answers (journaled) → outcomes (stored, with the part's end). The next parts are prepared while these are on the
/// wire. ``DispatchState`` decides, ``Sender`` carries out, ``Claimer`` fetches, ``LeaseRenewal`` guards the right to send,
/// ``ControlWatcher`` hears what operators want, ``ChildReporter`` tells.
///
/// A child drains and ends by itself when its standard input ends (the supervisor is gone), when it is told to, when it has
/// served long enough (``RecyclingPolicy``), and when its application's circuit opens.
public final class MTAChild: Sendable {
    let arguments: ChildArguments
    let settings: Settings
    let logger: Logger
    let control = ChildControl()

    public init(arguments: ChildArguments, settings: Settings, logger: Logger) {
        self.arguments = arguments
        self.settings = settings
        self.logger = logger
    }

    /// Claims nothing more, resolves and stores what is held, then ends.
    public func drain() {
        control.drain(.drained)
    }

    /// Gives back what is not on the wire, resolves and stores the rest, then ends.
    public func fastShutdown() {
        control.fastShutdown(.drained)
    }

    /// Runs until the child has ended; what went wrong at the start is in the log, which is the tail of its standard error.
    /// - Returns: why it ended; the process exits with the reason's exit status.
    public func run() async -> ChildExitReason {
        let journal: ChildJournal
        do {
            let header = JournalHeader(
                childID: arguments.childID,
                generation: Int64(arguments.generation),
                hostID: UUID(uuidString: arguments.hostID) ?? UUID(),
                bootID: arguments.bootID.flatMap(UUID.init(uuidString:)),
                installationID: arguments.installationID.flatMap(UUID.init(uuidString:))
            )
            journal = try ChildJournal(path: arguments.journalFile, header: header)
        } catch {
            logger.critical("\(error)")
            return .journal
        }
        let losses = ConnectionLosses()
        let stores: ChildStores
        do {
            stores = try await ChildStores.open(settings, losses)
        } catch {
            logger.critical("the child cannot work with the database: \(error)")
            return .database
        }
        let reason = await run(journal, stores, losses)
        await withTimeout(Self.timeout) { await stores.close() }
        return reason
    }

    private func run(
        _ journal: ChildJournal,
        _ stores: ChildStores,
        _ losses: ConnectionLosses
    ) async -> ChildExitReason {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        defer { group.shutdownGracefully { _ in } }
        let setup = ChildSetup(arguments: arguments, settings: settings, store: stores.load)
        do {
            let clock = DatabaseClock(try await stores.outcomes.databaseClock())
            let application = try await stores.load.application(arguments.applicationID)
            let state = try await stores.load.sendingState(
                application: application.id,
                account: arguments.accountID,
                deliveries: []
            )
            let sender = makeSender(journal, stores, clock, group.next())
            let gateway: any Gateway
            do {
                gateway = try await setup.gateway(application, clock: clock, eventLoop: group.next(), delegate: sender)
            } catch  where GatewaySetup.isApplicationsFault(error) {
                try await openCircuit(stores.control, error)
                journal.remove()
                return .circuitOpen
            }
            sender.gateway = gateway
            try await gateway.start()
            let preparer = PartPreparer(
                store: stores.load,
                views: ViewLoads(
                    quick: stores.views,
                    slow: stores.slowViews,
                    timeout: settings.mta.lease.loadTimeout
                ),
                application: application,
                // Of the gateway itself: the credential in the database may have changed since it was made.
                format: gateway.payloadFormat,
                clock: clock,
                sendsLost: settings.mta.child.retryLostMessages
            )
            let service = ChildService(
                child: self,
                sender: sender,
                preparer: preparer,
                stores: stores,
                clock: clock,
                losses: losses
            )
            let reason = await service.run(state)
            await withTimeout(Self.timeout) { await gateway.shutdown() }
            if sender.isIdle { journal.remove() }
            return reason
        } catch let error as PostgresError {
            logger.critical("the child cannot work with the database: \(error)")
            return .database
        } catch {
            logger.critical("the child cannot start: \(error)")
            await health(stores.control).show(
                "the messages of the application cannot be sent: \(error)",
                remedy: "put it right; `pushmta doctor` checks it"
            )
            return .settings
        }
    }

    private func makeSender(
        _ journal: ChildJournal,
        _ stores: ChildStores,
        _ clock: DatabaseClock,
        _ eventLoop: any EventLoop
    ) -> Sender {
        Sender(
            dispatch: DispatchState(
                window: arguments.connector == .iosBinary
                    ? settings.nmac.binary.dispatchWindow : settings.mta.child.dispatchWindow,
                mostBytes: DispatchState.usualBytes,
                batchSize: settings.mta.child.outcomeBatchSize,
                applicationID: arguments.applicationID
            ),
            store: stores.outcomes,
            journal: journal,
            circuit: CircuitReport(
                store: stores.control,
                applicationID: arguments.applicationID,
                accountID: arguments.accountID,
                logger: logger
            ),
            troubleReport: TroubleReport(
                store: stores.control,
                applicationID: arguments.applicationID,
                accountID: arguments.accountID,
                childID: arguments.childID,
                logger: logger
            ),
            control: control,
            clock: clock,
            eventLoop: eventLoop,
            settings: settings.mta.child,
            logger: logger
        )
    }

    /// No message can be sent with this account or credential, by nobody: no message is failed for it.
    private func openCircuit(_ store: Store, _ error: any Error) async throws {
        logger.critical("the messages of the application cannot be sent: \(error)")
        try await store.openCircuit(
            application: arguments.applicationID,
            account: arguments.accountID,
            reason: "the messages of the application cannot be sent: \(error)",
            remedy: HealthReporter.stopRemedy,
            holdsTokenEffects: false
        )
    }

    func health(_ store: Store) -> HealthReporter {
        HealthReporter(
            store: store,
            applicationID: arguments.applicationID,
            accountID: arguments.accountID,
            logger: logger
        )
    }

    /// What is only told and not needed may take this long at the end, while the database is away.
    static let timeout = Duration.seconds(2)
}

/// Whether the child goes on, and why not; the first reason stands.
final class ChildControl: Sendable {
    private struct State {
        var reason: ChildExitReason?
        var isShuttingDownFast = false
    }

    private let state = Mutex(State())

    var reason: ChildExitReason? { state.withLock { $0.reason } }
    var isDraining: Bool { reason != nil }
    var isShuttingDownFast: Bool { state.withLock { $0.isShuttingDownFast } }

    /// Claims no more parts and resolves what is held.
    func drain(_ reason: ChildExitReason) {
        state.withLock { state in
            if state.reason == nil { state.reason = reason }
        }
    }

    /// Gives back what is not on the wire.
    func fastShutdown(_ reason: ChildExitReason) {
        state.withLock { state in
            if state.reason == nil { state.reason = reason }
            state.isShuttingDownFast = true
        }
    }
}
