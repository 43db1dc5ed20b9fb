// MTAChild: the process that sends the messages of one application over one external account.
//
// WHAT IT DOES
//   Claims parts of deliveries, loads and renders their messages, commits a dispatch mark, hands them to the gateway,
//   journals intents and answers, and stores outcomes with the end of each part. The next parts are prepared while these are
//   on the wire.
//
// HOW IT IS USED
//   `pushmta mta-child`, which a supervisor starts, makes one MTAChild and awaits run(): the ChildExitReason is the exit
//   status. SIGINT calls drain(), SIGTERM fastShutdown(). run() opens the journal (ChildJournal), then the database
//   (ChildStores), then the gateway (GatewaySetup), and leaves the rest to ChildService. In there DispatchState decides, as a
//   value, and Sender carries out; Claimer and PartPreparer bring parts; LeaseRenewal, ControlWatcher, RateSharing, GatewayProber and
//   ChildReporter stand beside. The program also uses GatewayProbe (`app test`) and MessagePreviewer (`delivery preview`)
//   without a child.
//
// THREADS AND TASKS
//   One event loop for the gateway; all it tells and asks comes there. Tasks for marks, stores, claims, leases, reports and
//   control. One thread reads commands from standard input; each database connection has a thread of its own. DispatchState
//   stands behind a mutex. Intents and answers are written to the journal on the event loop, with blocking calls; nothing
//   else blocks it. There are connections for loads, for outcomes and leases, for control, for marks of single messages, and
//   two for views of others, so that no renewal waits behind a load.
//
// STATE AND FILES
//   The journal (mta.workingPath, child-ID.journal), locked for the whole life, removed at an end that leaves nothing open.
//   Writes reach the kernel: after a kill the supervisor replays it, after the loss of the host the dispatch marks stand for
//   it. All else is memory or rows: the lease, mark and counters of parts, the row in mta_child.
//
// FAILURES
//   Database away: at the start it ends; later loads, marks, stores and renewals are tried again, and when the lease is over
//   on its own clock nothing leaves. Asked to end meanwhile, it leaves after 5 s without progress, and the journal keeps the
//   rest. Gateway away: its messages go back, the trouble is told to the database, and it leaves, unless it is the one of all
//   hosts that probes. All refused for the application's sake: the circuit opens, parts go back, no message fails. Journal
//   not writable: nothing more leaves, and it ends. End of standard input: the supervisor is gone, it drains. It never sends
//   before mark and intent, and never repeats what may have left but by the delivery's policy.
//
// SETTINGS
//   mta.child.*, mta.lease.*, nmac.*, database.url, credentialKeyFile; account, bundle id and credential come from the
//   database.
//
// SEE ALSO
//   ChildService.swift, Sending/DispatchState.swift, Sending/Sender.swift, Preparation/Claimer.swift,
//   Control/LeaseRenewal.swift, Sources/DESIGN.md (3 to 9)

import Foundation
import Gateways
import Logging
import NIOCore
import NIOPosix
import PostgresClient
import ProcessEvents
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
    private let context: LogContext

    /// Makes a child that has not started.
    ///
    /// - Parameter context: that of the logger: application and account get their names when the database has told them.
    public init(arguments: ChildArguments, settings: Settings, logger: Logger, context: LogContext = LogContext()) {
        self.context = context
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
            stores = try await ChildStores.open(settings, losses, DatabaseAvailability(logger: logger))
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
        // Read from here on, as a thread takes its time to start on a busy host: an order such as that of a trace is for the first message, too.
        let commands = CommandReader.start()
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        defer { group.shutdownGracefully { _ in } }
        let setup = ChildSetup(arguments: arguments, settings: settings, store: stores.load)
        do {
            let clock = DatabaseClock(try await stores.outcomes.databaseClock())
            let application = try await stores.load.application(arguments.applicationID)
            context.set("application", application.name)
            if let account = try? await stores.load.account(arguments.accountID) {
                context.set("account", account.name)
            }
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
            try await findLimits(sender, stores.load)
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
                sendsLost: settings.mta.child.retryLostMessages,
                measures: sender.measures
            )
            let service = ChildService(
                child: self,
                sender: sender,
                preparer: preparer,
                stores: stores,
                clock: clock,
                losses: losses,
                commands: commands
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
            let failure = error as? GatewaySetupFailure
            await health(stores.control).show(
                "the messages of the application cannot be sent: \(failure?.problem ?? "\(error)")",
                remedy: failure.flatMap { $0.remedy.isEmpty ? nil : $0.remedy }
                    ?? "put it right; `pushmta doctor` checks it"
            )
            return .settings
        }
    }

    /// How fast the child may send is known before its first message.
    private func findLimits(_ sender: Sender, _ store: Store) async throws {
        let project = sender.gateway?.project
        if let project { try await store.limitProject(project) }
        let scope = RateScope(application: arguments.applicationID, account: arguments.accountID, project: project)
        sender.perform(.limitsSeen(try await store.rateLimits(scope, deliveries: []), asked: []))
    }

    private func makeSender(
        _ journal: ChildJournal,
        _ stores: ChildStores,
        _ clock: DatabaseClock,
        _ eventLoop: any EventLoop
    ) -> Sender {
        let measures = ChildMeasures()
        let database = SenderDatabase(
            store: stores.outcomes,
            messageMarks: stores.marks,
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
            journal: journal,
            measures: measures,
            clock: clock,
            logger: logger
        )
        return Sender(
            dispatch: DispatchState(
                window: dispatchWindow,
                batchSize: settings.mta.child.outcomeBatchSize,
                applicationID: arguments.applicationID
            ),
            database: database,
            measures: measures,
            journal: journal,
            control: control,
            clock: clock,
            eventLoop: eventLoop,
            settings: settings.mta.child,
            logger: logger
        )
    }

    /// The binary protocol answers by silence, so that its window has to hold what is sent in the time of one; the others' follows the
    /// gateway's latency.
    private var dispatchWindow: DispatchWindow {
        arguments.connector == .iosBinary
            ? DispatchWindow(most: settings.nmac.binary.dispatchWindow, mostBytes: DispatchWindow.usualBytes)
            : DispatchWindow(
                most: min(DispatchWindow.usual, settings.mta.child.dispatchWindow),
                ceiling: settings.mta.child.dispatchWindow,
                mostBytes: DispatchWindow.usualBytes
            )
    }

    /// No message can be sent with this account or credential, by nobody: no message is failed for it.
    private func openCircuit(_ store: Store, _ error: any Error) async throws {
        logger.event(.circuitOpened, "the messages of the application cannot be sent: \(error)")
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
        var waiters: [EventSignal] = []
    }

    private let state = Mutex(State())

    var reason: ChildExitReason? { state.withLock { $0.reason } }
    var isDraining: Bool { reason != nil }
    var isShuttingDownFast: Bool { state.withLock { $0.isShuttingDownFast } }

    /// Claims no more parts and resolves what is held.
    func drain(_ reason: ChildExitReason) {
        let waiters = state.withLock { state in
            if state.reason == nil { state.reason = reason }
            return state.waiters
        }
        for waiter in waiters { waiter.fire() }
    }

    /// Fires the signal when the child is to end.
    func wake(_ signal: EventSignal) { state.withLock { $0.waiters.append(signal) } }

    /// Gives back what is not on the wire.
    func fastShutdown(_ reason: ChildExitReason) {
        state.withLock { state in
            if state.reason == nil { state.reason = reason }
            state.isShuttingDownFast = true
        }
        drain(reason)
    }
}
