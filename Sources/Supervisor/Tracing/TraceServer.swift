import Logging
import NIOCore
import NIOPosix
import ProcessEvents
import ProcessProtocol
import PushCore
import Store
import Synchronization
import SystemPackage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Shows users of this host what children have on the wire, over a Unix socket that only the supervisor's user may
/// open.
///
/// A connection is one trace: a ``TraceRequest`` in, ``TraceLine``s out. The trace ends when the connection closes, its
/// time is over, or this supervisor ends.
struct TraceServer: Sendable {
    /// The name of the socket in the host's folder.
    static let socketFile = "trace.sock"
    /// A client sends its request right after connecting.
    private static let requestTimeout = Duration.seconds(5)
    /// An operator has to repair the folder, which takes time.
    private static let retryPause = Duration.seconds(30)
    /// How long to wait for the audit record before unmasked texts are shown. Without a record none are.
    private static let auditTimeout = Duration.seconds(5)

    /// By then the client has normally read the last line and closed. A client that does not read is disconnected.
    private static let partingTime = Duration.seconds(2)

    private typealias Connection = NIOAsyncChannel<ByteBuffer, ByteBuffer>
    private typealias Writer = NIOAsyncChannelOutboundWriter<ByteBuffer>

    /// A running trace.
    private struct Opened {
        let order: TraceOrder
        let tasks: [Task<Void, Never>]
    }

    private let folder: FilePath
    private let registry: ChildRegistry
    private let logger: Logger
    /// Records in the audit log that a user sees texts of messages; throws if that fails.
    private let audit: @Sendable (TraceRequest) async throws -> Void

    init(
        folder: FilePath,
        registry: ChildRegistry,
        logger: Logger,
        audit: @escaping @Sendable (TraceRequest) async throws -> Void
    ) {
        self.folder = folder
        self.registry = registry
        self.logger = logger
        self.audit = audit
    }

    /// Serves until the task is cancelled. If the socket cannot be opened, it logs this once and tries again.
    func run() async {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        var isTold = false
        while !Task.isCancelled {
            do {
                try await serve(group)
            } catch  where !Task.isCancelled {
                if !isTold {
                    logger.warning(
                        "pushmta trace is not available, because the socket \(folder.appending(Self.socketFile)) cannot be opened: \(error). The supervisor tries again every \(Self.retryPause.components.seconds) s."
                    )
                }
                isTold = true
            } catch {}
            try? await Task.sleep(for: Self.retryPause)
        }
        try? await group.shutdownGracefully()
    }

    private func serve(_ group: MultiThreadedEventLoopGroup) async throws {
        let server = try await listen(group)
        defer { unlink(folder.appending(Self.socketFile).string) }
        try await withThrowingDiscardingTaskGroup { tasks in
            try await server.executeThenClose { connections in
                for try await connection in connections {
                    tasks.addTask { await answer(connection) }
                }
            }
            tasks.cancelAll()
        }
    }

    /// A new socket is open to every user until its mode is set. So it is created in a folder that only this user may
    /// enter, and then moved.
    private func listen(_ group: MultiThreadedEventLoopGroup) async throws -> NIOAsyncChannel<Connection, Never> {
        let path = folder.appending(Self.socketFile).string
        let own = folder.appending("trace.new").string
        try? FileManager.default.removeItem(atPath: own)
        try FileManager.default.createDirectory(
            atPath: own,
            withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700]
        )
        defer { try? FileManager.default.removeItem(atPath: own) }
        let server = try await ServerBootstrap(group: group)
            .bind(unixDomainSocketPath: own + "/s") { channel in
                channel.eventLoop.makeCompletedFuture { try Connection(wrappingChannelSynchronously: channel) }
            }
        guard chmod(own + "/s", 0o600) == 0, rename(own + "/s", path) == 0 else {
            let problem = Errno(rawValue: errno)
            try? await server.channel.close()
            throw problem
        }
        return server
    }

    private func answer(_ connection: Connection) async {
        let channel = connection.channel
        do {
            try await connection.executeThenClose { inbound, outbound in
                let timer = Task {
                    try await Task.sleep(for: Self.requestTimeout)
                    try await channel.close()
                }
                defer { timer.cancel() }
                var input = inbound.makeAsyncIterator()
                var parser = LineParser<TraceRequest>()
                var request: TraceRequest?
                while request == nil, parser.garbageLines == 0, let bytes = try await input.next() {
                    request = parser.parse(bytes.readableBytesView).first
                }
                timer.cancel()
                guard let request else {
                    return try await refuse(
                        "the request is not of this version: use the same pushmta as the supervisor",
                        outbound
                    )
                }
                guard let opened = try await open(request, outbound, of: channel) else { return }
                defer { close(request, opened) }
                // The client sends nothing more; this waits until the connection or the trace ends.
                while try await input.next() != nil {}
            }
        } catch {
            // The client is gone.
        }
    }

    private func refuse(_ words: String, _ outbound: Writer) async throws {
        try await outbound.write(ByteBuffer(bytes: LineEncoder.line(TraceLine(end: words, isRefused: true))))
    }

    /// Begins a trace and writes its lines; nil if it is refused.
    private func open(_ request: TraceRequest, _ outbound: Writer, of channel: any Channel) async throws -> Opened? {
        if let problem = request.problem {
            try await refuse(problem, outbound)
            return nil
        }
        if request.isUnmasked {
            if let problem = await putOnRecord(request) {
                logger.failure(
                    "A trace that shows texts was refused, because it could not be recorded in the audit log",
                    of: problem
                )
                try await refuse(
                    "texts are shown only after an audit record, and the database did not take it: try again later, or without --unmask",
                    outbound
                )
                return nil
            }
        }
        guard let (order, lines) = registry.traces.open(request) else {
            try await refuse("this host already has the maximum of \(TraceLimits.maxTraces) traces", outbound)
            return nil
        }
        logger.notice(
            "A trace of application \(request.application) was opened by \(request.person)\(request.isUnmasked ? ", with texts" : "")"
        )
        let traces = registry.traces
        // When the time is over, the lines end and then the connection closes, even if the client reads nothing.
        let clock = Task {
            await ask(request, order)
            traces.close(order.id)
            guard (try? await Task.sleep(for: Self.partingTime)) != nil else { return }
            try? await channel.close()
        }
        let writer = Task {
            do {
                for await line in lines { try await outbound.write(ByteBuffer(bytes: LineEncoder.line(line))) }
                try await outbound.write(ByteBuffer(bytes: LineEncoder.line(TraceLine(end: "its time is over"))))
            } catch {
                // The client is gone, which ends the connection.
            }
        }
        return Opened(order: order, tasks: [clock, writer])
    }

    /// Records the trace in the audit log; returns the error, nil on success.
    private func putOnRecord(_ request: TraceRequest) async -> (any Error)? {
        let end = Mutex<(any Error)?>(StoreError(.unavailable, "The database did not answer in time."))
        await withTimeout(Self.auditTimeout) { [audit] in
            do {
                try await audit(request)
                end.withLock { $0 = nil }
            } catch {
                end.withLock { $0 = error }
            }
        }
        return end.withLock(\.self)
    }

    private func close(_ request: TraceRequest, _ opened: Opened) {
        for task in opened.tasks { task.cancel() }
        registry.traces.close(opened.order.id)
        let ending = SupervisorMessage(opened.order.ending)
        for inbox in registry.inboxes(ofApplication: request.applicationID) { inbox.send(ending) }
    }

    /// Renews the order with the application's children until the time of the trace is over.
    private func ask(_ request: TraceRequest, _ order: TraceOrder) async {
        let end = ContinuousClock.now + .seconds(request.seconds)
        var children = -1
        while !Task.isCancelled, ContinuousClock.now < end {
            let inboxes = registry.inboxes(ofApplication: request.applicationID)
            for inbox in inboxes { inbox.send(SupervisorMessage(order)) }
            if inboxes.count != children {
                children = inboxes.count
                let words =
                    children == 0
                    ? "no child of \(request.application) is running on this host: one starts when there are messages"
                    : "children of \(request.application) on this host: \(children)"
                registry.traces.say(TraceLine(notice: words), to: order.id)
            }
            let pause = min(.seconds(TraceLimits.renewalSeconds), end - .now)
            try? await Task.sleep(for: max(pause, .milliseconds(10)))
        }
    }
}

extension Supervisor {
    /// The path of the socket for `pushmta trace` of the supervisor on a folder.
    package static func traceSocket(in folder: String) -> String {
        FilePath(folder).appending(TraceServer.socketFile).string
    }
}

extension SupervisorLoop {
    /// The database; after a start this waits for it without a limit. A caller with a limit cancels.
    private func storeSoon() async throws -> Store {
        while true {
            if let store = stores.withLock({ $0 })?.main, condition.current.isDatabaseAvailable { return store }
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    /// Serves traces to users of this host while this supervisor runs.
    func serveTraces() async {
        await TraceServer(folder: folder.path, registry: registry, logger: logger) { request in
            let store = try await self.storeSoon()
            let what = [
                request.deliveryID.map { "delivery \($0)" }, request.tokenHash.map { "token \($0)" },
                "\(request.seconds) s at most",
            ]
            // The application's id decides what is traced, so the record takes its name from the database, not from the
            // request.
            try await store.noteUnmaskedTrace(
                application: try await store.application(request.applicationID).name,
                detail: what.compactMap(\.self).joined(separator: ", "),
                by: AuditAuthor(name: request.person, origin: self.settings.withLock(\.hostName))
            )
        }.run()
    }
}
