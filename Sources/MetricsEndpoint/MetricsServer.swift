// MetricsEndpoint: a process's metrics for monitoring: a page in Prometheus' text format, on an address of its own.
//
// WHAT IT DOES
//   Declares every metric once (Metric, and its row in MetricDefinition). Writes samples in Prometheus' text format
//   (MetricsPage), adds the metrics that every process has, and serves the page over HTTP (MetricsServer). The same
//   rows generate the reference Deploy/guide/metrics.md (MetricsDocument).
//
// HOW IT IS USED
//   Supervisor, feedback worker, web process and console create a MetricsServer with a closure that fills a page. They
//   await run() in parallel with their work. Children have no page: their metrics travel in their status lines to the
//   supervisor's page. `pushmta metrics` prints the reference.
//
// THREADS AND TASKS
//   One event loop, which also builds the page: a scrape waits only for short locks. Each process reads figures from
//   the database in advance, at its own pace.
//
// STATE AND FILES
//   None. Counters begin at 0 with the process, as Prometheus expects.
//
// FAILURES
//   If it cannot listen on the address, it logs this once and tries again every ten seconds; no message waits for
//   metrics. Connections beyond 32, and those idle for 30 s, are closed. It answers only GET and HEAD of /metrics.
//
// SETTINGS
//   metrics.address, metrics.supervisorPort, metrics.feedbackPort, metrics.webPort, metrics.consolePort; 0 is off.
//
// SEE ALSO
//   Metric.swift, MetricDefinition.swift, MetricsPage.swift,
//   Deploy/guide/metrics.md, Deploy/guide/runbooks.md

import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// Serves the metrics page of a process until its task is cancelled.
package struct MetricsServer: Sendable {
    /// The maximum number of connections: monitoring needs a handful, and each costs the process a descriptor.
    private static let maxConnections = 32
    /// How long a connection may be idle: a scraper returns within a minute and opens another if needed.
    private static let idleTime = TimeAmount.seconds(30)
    /// The pause before the next attempt: an operator needs longer to free a port.
    private static let retryPause = Duration.seconds(10)

    private let address: String
    private let port: Int
    private let setting: String
    private let logger: Logger
    private let onOpen: @Sendable (Int) -> Void
    private let page: @Sendable () -> String

    /// Creates a server without opening anything.
    ///
    /// - Parameters:
    ///   - address: the IP address to listen on.
    ///   - port: the port; 0 lets the system choose one and report it to `onOpen`.
    ///   - setting: the name of the setting that the port came from, for messages.
    ///   - page: builds the page, quickly and without waiting; called on the server's event loop.
    package init(
        address: String,
        port: Int,
        setting: String,
        logger: Logger,
        onOpen: @escaping @Sendable (Int) -> Void = { _ in },
        page: @escaping @Sendable () -> String
    ) {
        self.address = address
        self.port = port
        self.setting = setting
        self.logger = logger
        self.onOpen = onOpen
        self.page = page
    }

    /// Serves a page until the task is cancelled; returns at once if the port is 0, which turns it off.
    package static func serve(
        at address: String,
        port: Int,
        setting: String,
        logger: Logger,
        page: @escaping @Sendable () -> String
    ) async {
        guard port > 0 else { return }
        await MetricsServer(address: address, port: port, setting: setting, logger: logger, page: page).run()
    }

    /// Serves until the task is cancelled. If the address cannot be used, it tries again.
    package func run() async {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        var isTold = false
        while !Task.isCancelled {
            do {
                let channel = try await listen(group)
                let open = channel.localAddress?.port ?? port
                logger.info("Metrics are served on http://\(address):\(open)/metrics")
                onOpen(open)
                await withTaskCancellationHandler {
                    try? await channel.closeFuture.get()
                } onCancel: {
                    channel.close(promise: nil)
                }
                isTold = false
            } catch {
                if !isTold {
                    logger.warning(
                        "Metrics cannot be served on \(address), port \(port): \(error). Is another process using it? Change \(setting) or metrics.address, or set 0 for none. The process tries again every \(Self.retryPause.components.seconds) s."
                    )
                }
                isTold = true
            }
            try? await Task.sleep(for: Self.retryPause)
        }
        try? await group.shutdownGracefully()
    }

    private func listen(_ group: MultiThreadedEventLoopGroup) async throws -> any Channel {
        let connections = OpenConnections()
        let page = page
        return try await ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: Int32(Self.maxConnections))
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    guard connections.open(atMost: Self.maxConnections) else {
                        channel.close(promise: nil)
                        return
                    }
                    channel.closeFuture.whenComplete { _ in connections.close() }
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline(withErrorHandling: true)
                    try channel.pipeline.syncOperations.addHandlers(
                        IdleStateHandler(allTimeout: Self.idleTime),
                        MetricsHandler(page)
                    )
                }
            }
            .bind(host: address, port: port).get()
    }
}

/// Counts open connections.
private final class OpenConnections: Sendable {
    private let number = Mutex(0)

    /// Counts one more; false if the maximum is reached.
    func open(atMost limit: Int) -> Bool {
        number.withLock { number in
            guard number < limit else { return false }
            number += 1
            return true
        }
    }

    func close() { number.withLock { $0 -= 1 } }
}

/// Answers the requests of one connection.
private final class MetricsHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let page: @Sendable () -> String
    private var head: HTTPRequestHead?

    init(_ page: @escaping @Sendable () -> String) {
        self.page = page
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): self.head = head
        // A body is not expected; it is read and ignored.
        case .body: break
        case .end:
            if let head { answer(head, context) }
            head = nil
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is IdleStateHandler.IdleStateEvent { context.close(promise: nil) }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    private func answer(_ request: HTTPRequestHead, _ context: ChannelHandlerContext) {
        let path = request.uri.prefix { $0 != "?" }
        guard path == "/metrics" else {
            return write(.notFound, "Only /metrics is served here.\n", request, context)
        }
        guard request.method == .GET || request.method == .HEAD else {
            return write(.methodNotAllowed, "Use GET or HEAD.\n", request, context)
        }
        write(.ok, page(), request, context)
    }

    private func write(
        _ status: HTTPResponseStatus,
        _ text: String,
        _ request: HTTPRequestHead,
        _ context: ChannelHandlerContext
    ) {
        let body = ByteBuffer(string: text)
        var headers = HTTPHeaders()
        headers.add(
            name: "Content-Type",
            value: status == .ok ? MetricsPage.contentType : "text/plain; charset=utf-8"
        )
        headers.add(name: "Content-Length", value: String(body.readableBytes))
        if status == .methodNotAllowed { headers.add(name: "Allow", value: "GET, HEAD") }
        if !request.isKeepAlive { headers.add(name: "Connection", value: "close") }
        context.write(
            wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: status, headers: headers))),
            promise: nil
        )
        if request.method != .HEAD { context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil) }
        let isLast = !request.isKeepAlive
        let end = context.writeAndFlush(wrapOutboundOut(.end(nil)))
        if isLast {
            let channel = context.channel
            end.whenComplete { _ in channel.close(promise: nil) }
        }
    }
}
