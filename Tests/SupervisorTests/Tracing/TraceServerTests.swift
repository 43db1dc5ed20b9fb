import Foundation
import Logging
import NIOCore
import NIOPosix
import ProcessProtocol
import PushCore
import SystemPackage
import TestSupport
import Testing

@testable import Supervisor

/// Who may read traces; a slow reader blocks nothing.
@Suite("Traces of a supervisor", .timeLimit(.minutes(2)))
struct TraceServerTests {
    private func request(_ change: (inout TraceRequest) -> Void = { _ in }) -> TraceRequest {
        var request = TraceRequest(applicationID: 7, application: "shop", person: "ada")
        change(&request)
        return request
    }

    private func report(_ trace: Int64) -> TraceReport {
        let part = TracedExchange.Part(headers: [], body: "x")
        let exchange = TracedExchange(at: 0, delivery: 1, tokenHash: "", request: part, latencyMicroseconds: 1)
        return TraceReport(trace: trace, counts: TraceCounts(), exchange: exchange)
    }

    @Test("A slow reader loses lines, which are counted, and blocks nothing")
    func slowReader() async throws {
        let desk = TraceDesk()
        let (order, lines) = try #require(desk.open(request()))
        for _ in 0..<1_000 { desk.heard(report(order.id), from: 3) }
        var reader = lines.makeAsyncIterator()
        for _ in 0..<2 * TraceLimits.maxPerSecond { #expect(await reader.next()?.missed == nil) }
        desk.heard(report(order.id), from: 3)
        let next = await reader.next()
        #expect(next?.missed == Int64(1_000 - 2 * TraceLimits.maxPerSecond) && next?.child == 3)
        desk.heard(report(order.id), from: 3)
        #expect(await reader.next()?.missed == nil)
        // A closed trace reports nothing more.
        desk.close(order.id)
        desk.heard(report(order.id), from: 3)
        #expect(await reader.next() == nil)
    }

    @Test("Children get the traces of their application, at most four at once")
    func orders() throws {
        let desk = TraceDesk()
        for number in 0..<TraceLimits.maxTraces {
            _ = try #require(desk.open(request { $0.applicationID = Int32(number % 2) }))
        }
        #expect(desk.open(request()) == nil)
        #expect(desk.orders(ofApplication: 0).map(\.id) == [1, 3] && desk.orders(ofApplication: 9).isEmpty)
        desk.close(1)
        #expect(desk.orders(ofApplication: 0).map(\.id) == [3] && desk.open(request()) != nil)
    }

    @Test("The socket has the right permissions, ends a trace, and reports refusals")
    func socket() async throws {
        let folder = try TemporaryFolder()
        let registry = ChildRegistry()
        let inbox = registry.add(1, ChildKind(applicationID: 7, accountID: 1, connector: .iosHTTP2)).inbox
        let path = folder.path
        // A killed supervisor leaves both files.
        let socket = path.appending(TraceServer.socketFile).string
        #expect(FileManager.default.createFile(atPath: socket, contents: nil))
        try FileManager.default.createDirectory(
            atPath: path.appending("trace.new").string,
            withIntermediateDirectories: false
        )
        let server = TraceServer(folder: path, registry: registry, logger: Logger(label: "test")) { request in
            if request.person != "ada" { throw CocoaError(.fileWriteUnknown) }
        }
        let running = Task { await server.run() }
        try await eventually("the socket") { Self.isSocket(socket) }
        #expect(try FileManager.default.attributesOfItem(atPath: socket)[.posixPermissions] as? Int == 0o600)

        let lines = try await Self.trace(socket, LineEncoder.line(request { $0.seconds = 1 })) { line in
            if line.notice != nil { registry.traces.heard(report(1), from: 3) }
        }
        #expect(lines.contains { $0.notice == "children of shop on this host: 1" })
        #expect(lines.contains { $0.exchange != nil && $0.child == 3 })
        #expect(lines.last?.end == "its time is over" && lines.last?.isRefused == nil)
        var commands = inbox.commands.makeAsyncIterator()
        let first = try #require(await commands.next()?.trace)
        #expect(first.seconds == TraceLimits.orderSeconds && first.id == 1)
        #expect(await commands.next()?.trace == first.ending)

        for (line, words) in [
            (LineEncoder.line(request { $0.seconds = 0 }), "cannot last 0 s"),
            (LineEncoder.line(request { ($0.isUnmasked, $0.person) = (true, "bob") }), "audit record"),
            (Array("{}\n".utf8), "the request is not of this version"),
        ] {
            let refused = try await Self.trace(socket, line)
            #expect(refused.count == 1 && refused[0].isRefused == true && refused[0].end?.contains(words) == true)
        }
        running.cancel()
        await running.value
        #expect(!FileManager.default.fileExists(atPath: socket))
    }

    @Test("A reader that disconnects ends its trace in the children; another trace continues")
    func readerGone() async throws {
        let folder = try TemporaryFolder()
        let registry = ChildRegistry()
        let inbox = registry.add(1, ChildKind(applicationID: 7, accountID: 1, connector: .iosHTTP2)).inbox
        let path = folder.path
        let server = TraceServer(folder: path, registry: registry, logger: Logger(label: "test")) { _ in }
        let running = Task { await server.run() }
        let socket = path.appending(TraceServer.socketFile).string
        try await eventually("the socket") { Self.isSocket(socket) }
        let line = LineEncoder.line(request())
        var commands = inbox.commands.makeAsyncIterator()
        let other = Task { try await Self.trace(socket, line) }
        let first = try #require(await commands.next()?.trace)
        // As if the reader had been killed.
        let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .connect(unixDomainSocketPath: socket).get()
        try await channel.writeAndFlush(ByteBuffer(bytes: line))
        var second = try #require(await commands.next()?.trace)
        while second.id == first.id { second = try #require(await commands.next()?.trace) }
        try await channel.close()
        var next = try #require(await commands.next()?.trace)
        while next.seconds > 0 { next = try #require(await commands.next()?.trace) }
        #expect(next == second.ending)
        #expect(registry.traces.orders(ofApplication: 7).map(\.id) == [first.id])
        // The end of the supervisor ends the other traces.
        running.cancel()
        await running.value
        #expect(try await other.value.allSatisfy { $0.isRefused == nil })
        #expect(registry.traces.orders(ofApplication: 7).isEmpty)
    }

    private static func isSocket(_ path: String) -> Bool {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return attributes?[.type] as? FileAttributeType == .typeSocket
    }

    private static func connect(_ path: String) async throws -> NIOAsyncChannel<ByteBuffer, ByteBuffer> {
        try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .connect(unixDomainSocketPath: path) { channel in
                channel.eventLoop.makeCompletedFuture { try NIOAsyncChannel(wrappingChannelSynchronously: channel) }
            }
    }

    /// All lines that answer a request, until the connection closes.
    private static func trace(_ path: String, _ request: [UInt8], _ heard: (TraceLine) -> Void = { _ in })
        async throws -> [TraceLine]
    {
        let connection = try await connect(path)
        return try await connection.executeThenClose { inbound, outbound in
            try await outbound.write(ByteBuffer(bytes: request))
            var parser = LineParser<TraceLine>()
            var lines: [TraceLine] = []
            for try await bytes in inbound {
                for line in parser.parse(bytes.readableBytesView) {
                    lines.append(line)
                    heard(line)
                }
            }
            return lines
        }
    }
}
