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

/// Lets people of this host look at what children have on the wire, over a Unix socket that only the supervisor's user may open.
///
/// A connection is one trace: a ``TraceRequest`` in, ``TraceLine``s out. The trace ends with the connection, with its time, or with
/// this supervisor.
struct TraceServer: Sendable {
    /// The socket in the host's folder.
    static let socketFile = "trace.sock"
    /// Who connects says at once what is wanted.
    private static let requestTimeout = Duration.seconds(5)
    /// What is wrong with a folder is put right by people.
    private static let retryPause = Duration.seconds(30)
    /// How long a look into the database may take before unmasked texts are shown: without a record there are none.
    private static let auditTimeout = Duration.seconds(5)

    /// Whoever asked has read the last line by then, and goes by itself as a rule. Who does not read is left then.
    private static let partingTime = Duration.seconds(2)

    private typealias Connection = NIOAsyncChannel<ByteBuffer, ByteBuffer>
    private typealias Writer = NIOAsyncChannelOutboundWriter<ByteBuffer>

    /// A trace that goes on.
    private struct Opened {
        let order: TraceOrder
        let tasks: [Task<Void, Never>]
    }

    private let folder: FilePath
    private let registry: ChildRegistry
    private let logger: Logger
    /// Puts on record that somebody sees texts of messages; throws where that cannot be done.
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

    /// Serves until the task is cancelled. It never fails: a socket that cannot be had is told of, and tried again.
    func run() async {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        var isTold = false
        while !Task.isCancelled {
            do {
                try await serve(group)
            } catch  where !Task.isCancelled {
                if !isTold {
                    logger.warning(
                        "pushmta trace cannot be used: the socket \(folder.appending(Self.socketFile)) cannot be had: \(error). It is tried again each \(Self.retryPause.components.seconds) s."
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

    /// A socket is there for everybody for a moment, whatever its rights are then: it is made where nobody else comes, and moved.
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
                        "it is no request of this version: use the pushmta of this supervisor",
                        outbound
                    )
                }
                guard let opened = try await open(request, outbound, of: channel) else { return }
                defer { close(request, opened) }
                // Nothing more comes but the end: of the connection, or of the trace, which closes it.
                while try await input.next() != nil {}
            }
        } catch {
            // Whoever asked is gone.
        }
    }

    private func refuse(_ words: String, _ outbound: Writer) async throws {
        try await outbound.write(ByteBuffer(bytes: LineEncoder.line(TraceLine(end: words, isRefused: true))))
    }

    /// Begins a trace and writes what comes of it; nil if it is refused.
    private func open(_ request: TraceRequest, _ outbound: Writer, of channel: any Channel) async throws -> Opened? {
        if let problem = request.problem {
            try await refuse(problem, outbound)
            return nil
        }
        if request.isUnmasked {
            if let problem = await putOnRecord(request) {
                logger.failure("A trace that shows texts could not be put on record, and is refused", of: problem)
                try await refuse(
                    "texts are shown only on record, and the database does not take it: try again when it is there, or without --unmask",
                    outbound
                )
                return nil
            }
        }
        guard let (order, lines) = registry.traces.open(request) else {
            try await refuse("there are \(TraceLimits.mostTraces) traces on this host already", outbound)
            return nil
        }
        logger.notice(
            "A trace of application \(request.application) was opened by \(request.person)\(request.isUnmasked ? ", with texts" : "")"
        )
        let traces = registry.traces
        // The end of its time ends the lines, and then the connection, even of somebody who reads none of them.
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
                // The reader is gone, which ends the connection.
            }
        }
        return Opened(order: order, tasks: [clock, writer])
    }

    /// Says why it could not be put on record; nil if it is there.
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

    /// Asks the application's children again and again, until the time of the trace is over.
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
                    ? "no child of \(request.application) runs on this host: one starts when there are messages"
                    : "children of \(request.application) on this host: \(children)"
                registry.traces.say(TraceLine(notice: words), to: order.id)
            }
            let pause = min(.seconds(TraceLimits.renewalSeconds), end - .now)
            try? await Task.sleep(for: max(pause, .milliseconds(10)))
        }
    }
}

extension Supervisor {
    /// Where the supervisor that has a folder lets people of its host look at the wire.
    public static func traceSocket(in folder: String) -> String {
        FilePath(folder).appending(TraceServer.socketFile).string
    }
}

extension SupervisorLoop {
    /// The database, for which a supervisor that has just started is waited for; who cannot wait for ever cancels.
    private func storeSoon() async throws -> Store {
        while true {
            if let store = stores.withLock({ $0 })?.main, condition.current.isDatabaseAvailable { return store }
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    /// Lets people of this host look at the wire, as long as this supervisor runs.
    func serveTraces() async {
        await TraceServer(folder: folder.path, registry: registry, logger: logger) { request in
            let store = try await self.storeSoon()
            let what = [
                request.deliveryID.map { "delivery \($0)" }, request.tokenHash.map { "token \($0)" },
                "\(request.seconds) s at most",
            ]
            // What is traced goes by the number, whatever name the request has.
            try await store.noteUnmaskedTrace(
                application: try await store.application(request.applicationID).name,
                detail: what.compactMap(\.self).joined(separator: ", "),
                by: AuditAuthor(name: request.person, origin: self.settings.withLock(\.hostName))
            )
        }.run()
    }
}

/// The traces that people of this host have open: who gets what children tell, and what children are asked for.
///
/// Nobody here waits for anybody: lines that their reader does not take in time are dropped and counted.
final class TraceDesk: Sendable {
    /// A trace that somebody has open.
    private struct Trace {
        let request: TraceRequest
        let lines: AsyncStream<TraceLine>.Continuation
        /// Lines that found no room since the last that did.
        var missed: Int64 = 0
    }

    private struct State {
        var last: Int64 = 0
        var traces: [Int64: Trace] = [:]
    }

    /// Two seconds' worth of the most that one child shows.
    private static let mostWaiting = 2 * TraceLimits.mostPerSecond

    private let state = Mutex(State())

    /// Opens a trace; nil if there are as many as may be.
    ///
    /// - Returns: what children are to be asked for, and what comes of it, until the trace is closed.
    func open(_ request: TraceRequest) -> (order: TraceOrder, lines: AsyncStream<TraceLine>)? {
        state.withLock { state in
            guard state.traces.count < TraceLimits.mostTraces else { return nil }
            let (stream, continuation) = AsyncStream.makeStream(
                of: TraceLine.self,
                bufferingPolicy: .bufferingOldest(Self.mostWaiting)
            )
            state.last += 1
            state.traces[state.last] = Trace(request: request, lines: continuation)
            return (TraceOrder(id: state.last, request), stream)
        }
    }

    /// Closes a trace; its lines end.
    func close(_ id: Int64) {
        state.withLock { $0.traces.removeValue(forKey: id) }?.lines.finish()
    }

    /// What a child of an application is to be asked for.
    func orders(ofApplication id: Int32) -> [TraceOrder] {
        state.withLock { state in
            state.traces.filter { $0.value.request.applicationID == id }.map {
                TraceOrder(id: $0.key, $0.value.request)
            }
            .sorted { $0.id < $1.id }
        }
    }

    /// A child has told something of a trace.
    func heard(_ report: TraceReport, from child: Int64?) {
        say(TraceLine(child: child, report), to: report.trace)
    }

    /// Something is to be told to whoever has a trace open.
    func say(_ line: TraceLine, to id: Int64) {
        state.withLock { state in
            guard let trace = state.traces[id] else { return }
            var line = line
            if trace.missed > 0 { line.missed = trace.missed }
            switch trace.lines.yield(line) {
            case .enqueued: state.traces[id]?.missed = 0
            // Counts come again with the next line.
            case .dropped: state.traces[id]?.missed += line.exchange == nil ? 0 : 1
            default: break
            }
        }
    }
}
