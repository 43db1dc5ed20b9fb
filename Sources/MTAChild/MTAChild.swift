// MTAChild: the process that sends the messages of one application over one external account.
//
// WHAT IT DOES
//   Claims parts of deliveries, loads and renders their messages, and commits a dispatch mark. Then it hands the
//   messages to the gateway, journals intents and answers, and stores outcomes with the end of each part. It prepares
//   the next parts while these are on the wire.
//
// HOW IT IS USED
//   A supervisor starts `pushmta mta-child`, which makes one MTAChild and awaits run(). The returned ChildExitReason
//   becomes the exit status. SIGINT calls drain(), SIGTERM calls fastShutdown(). run() opens the journal
//   (ChildJournal), the database (ChildStores) and the gateway (GatewaySetup, of a kind in GatewayRegistry), in this
//   order. ChildService does the rest. There DispatchState decides, as a value, and Sender carries out. Claimer and
//   PartPreparer supply parts. LeaseRenewal, ControlWatcher, RateSharing, GatewayProber and ChildReporter run in
//   parallel. GatewayProbe (`app test`) and MessagePreviewer (`delivery preview`) work without a child.
//
// THREADS AND TASKS
//   One event loop serves the gateway; all delegate calls run on it. Tasks serve marks, stores, claims, leases, reports
//   and control. One thread reads commands from standard input, and each database connection has its own thread. A
//   mutex guards DispatchState. Intents and answers are written to the journal on the event loop, with blocking calls;
//   nothing else blocks it. Loads, outcomes and leases, control, and marks of single messages have separate
//   connections. Two more serve views of target mappings, so that no renewal waits for a load.
//
// STATE AND FILES
//   The journal (mta.workingPath, child-ID.journal) is locked for the life of the process. It is removed when the child
//   ends with nothing open. Writes reach the kernel: after a kill the supervisor replays the journal, and after the
//   loss of the host the dispatch marks take its place. All other state is in memory or in rows: the lease, mark and
//   counters of parts, and the row in mta_child.
//
// FAILURES
//   Database unreachable: at the start, the child ends. Later it retries loads, marks, stores and renewals; once the
//   lease has expired on its own clock, nothing leaves. If it has to end meanwhile, it exits after 5 s without
//   progress, and the journal keeps the rest. Gateway unreachable: messages go back and the trouble is reported to the
//   database. The child then waits, unless it is the one child of all hosts that probes. All messages refused because
//   of the application: the circuit opens, parts go back, and no message fails. Journal not writable: nothing more
//   leaves, and the child ends. End of standard input: the supervisor is gone, and the child drains. It never sends
//   before mark and intent, and resends what may have left only as the delivery's policy says.
//
// SETTINGS
//   mta.child.*, mta.lease.*, nmac.*, database.url, credentialKeyFile. The database has account, bundle id, credential.
//
// SEE ALSO
//   GatewayRegistry.swift, ChildService.swift, Sending/DispatchState.swift, Sending/Sender.swift,
//   Preparation/Claimer.swift, Control/LeaseRenewal.swift, Sources/DESIGN.md (3 to 9)

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

/// One MTA child: claims parts of one application's deliveries, sends them through one gateway, and stores outcomes.
///
/// A part passes through these steps: claim → load and render → mark (committed) → gateway → intent (journaled, when a
/// message gets its stream) → answers (journaled) → outcomes (stored, with the part's end). The next parts are prepared
/// while these are on the wire. ``DispatchState`` decides, ``Sender`` carries out, ``Claimer`` fetches, and
/// ``LeaseRenewal`` guards the right to send. ``ControlWatcher`` reads what operators want, and ``ChildReporter``
/// reports.
///
/// A child drains and ends on its own when its standard input ends (the supervisor is gone), or when it has served long
/// enough (``RecyclingPolicy``). It also ends when it is ordered to, or when its application's circuit opens.
package final class MTAChild: Sendable {
    let arguments: ChildArguments
    let settings: Settings
    let logger: Logger
    let control = ChildControl()
    private let context: LogContext
    private let registry: GatewayRegistry

    /// Makes a child that has not started.
    ///
    /// - Parameters:
    ///   - context: the logger's context; the names of application and account are added once the database has returned
    ///     them.
    ///   - registry: the known gateways.
    package init(
        arguments: ChildArguments,
        settings: Settings,
        logger: Logger,
        context: LogContext = LogContext(),
        registry: GatewayRegistry = .standard
    ) {
        self.context = context
        self.registry = registry
        self.arguments = arguments
        self.settings = settings
        self.logger = logger
    }

    /// Stops claiming, resolves and stores what is held, then ends.
    package func drain() {
        control.drain(.drained)
    }

    /// Gives back what is not on the wire, resolves and stores the rest, then ends.
    package func fastShutdown() {
        control.fastShutdown(.drained)
    }

    /// Runs until the child has ended. Errors at the start are logged; the log is the tail of its standard error.
    /// - Returns: why it ended; the process exits with this reason's exit status.
    package func run() async -> ChildExitReason {
        // Commands are read from the start, because the thread may start late on a busy host. An order such as a trace
        // applies to the first message, too.
        await run(ChildConversation(commands: CommandReader.start(), output: ChildOutput()))
    }

    /// The same, with another channel to the supervisor than standard input and output.
    func run(_ conversation: ChildConversation) async -> ChildExitReason {
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
        let reason = await run(conversation, journal, stores, losses)
        await withTimeout(Self.timeout) { await stores.close() }
        return reason
    }

    private func run(
        _ conversation: ChildConversation,
        _ journal: ChildJournal,
        _ stores: ChildStores,
        _ losses: ConnectionLosses
    ) async -> ChildExitReason {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        defer { group.shutdownGracefully { _ in } }
        let setup = ChildSetup(arguments: arguments, settings: settings, store: stores.load, registry: registry)
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
                // The gateway's own format: the credential in the database may have changed since the gateway was made.
                format: gateway.payloadFormat,
                messagesPerRequest: gateway.limits.maxMessagesPerRequest,
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
                conversation: conversation
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
                    ?? "fix it, then check it with `pushmta doctor`"
            )
            return .settings
        }
    }

    /// Reads the rate limits before the first message.
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
            measures: ChildMeasures(),
            journal: journal,
            control: control,
            clock: clock,
            eventLoop: eventLoop,
            settings: settings.mta.child,
            logger: logger
        )
    }

    /// Follows the gateway's latency, unless the gateway sets a fixed size.
    private var dispatchWindow: DispatchWindow {
        DispatchWindow(
            size: min(DispatchWindow.usual, settings.mta.child.dispatchWindow),
            ceiling: settings.mta.child.dispatchWindow,
            maxBytes: DispatchWindow.usualBytes
        )
    }

    /// No child can send a message with this account or credential, so no message fails for it.
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

    /// The time limit, at the child's end, for reports that are not essential while the database is unreachable.
    static let timeout = Duration.seconds(2)
}
