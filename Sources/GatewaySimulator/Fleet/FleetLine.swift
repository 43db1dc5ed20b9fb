import NIOCore
import NIOHTTP1
import NIOPosix

/// One persistent connection of the simulated devices to their web server. Everything runs on its event loop.
final class FleetLine {
    private let number: Int
    private let fleet: DeviceFleet
    private let loop: any EventLoop
    private var channel: (any Channel)?
    private var host = ""
    private var isConnecting = false
    private var isOver = false
    /// The request that waits for its answer.
    private var current: FleetRequest?

    /// The pause between attempts to connect to an unreachable server.
    private static let pause = TimeAmount.milliseconds(100)

    init(number: Int, fleet: DeviceFleet, loop: any EventLoop) {
        self.number = number
        self.fleet = fleet
        self.loop = loop
    }

    /// Connects to the current server, even if a connection to another one is open.
    func reconnect() {
        // When the old connection has closed, a new one is opened.
        if let channel { channel.close(promise: nil) } else { connect() }
    }

    private func connect() {
        guard !isOver, !isConnecting, channel == nil, let server = fleet.server else { return }
        isConnecting = true
        host = server.hostField
        let line = NIOLoopBound(self, eventLoop: loop)
        ClientBootstrap(group: loop)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHTTPClientHandlers()
                    try channel.pipeline.syncOperations.addHandler(FleetLineHandler(line.value))
                }
            }
            .connect(host: server.host, port: server.port)
            .hop(to: loop)
            .whenComplete { line.value.connected($0) }
    }

    /// Closes the connection permanently.
    func close() {
        isOver = true
        channel?.close(promise: nil)
    }

    /// Starts the next request if the line is idle.
    func proceed() {
        guard let channel, current == nil, let request = fleet.next(number) else { return }
        current = request
        var head = HTTPRequestHead(version: .http1_1, method: request.body == nil ? .GET : .POST, uri: request.path)
        head.headers.add(name: "host", value: host)
        head.headers.add(name: "user-agent", value: "Mozilla/5.0 (simulated device)")
        if let body = request.body {
            head.headers.add(name: "content-type", value: "application/x-www-form-urlencoded;charset=UTF-8")
            head.headers.add(name: "content-length", value: String(body.utf8.count))
        }
        channel.write(HTTPClientRequestPart.head(head), promise: nil)
        if let body = request.body {
            channel.write(HTTPClientRequestPart.body(.byteBuffer(ByteBuffer(string: body))), promise: nil)
        }
        channel.writeAndFlush(HTTPClientRequestPart.end(nil), promise: nil)
    }

    /// Handles a complete answer.
    func answered(_ status: Int) {
        guard let request = current else { return }
        current = nil
        fleet.finish(request, status: status)
        proceed()
    }

    func closed() {
        channel = nil
        if let request = current {
            current = nil
            fleet.finish(request, status: nil)
        }
        connectSoon()
    }

    private func connected(_ result: Result<any Channel, any Error>) {
        isConnecting = false
        switch result {
        case .success(let channel):
            guard channel.isActive else { return connectSoon() }
            self.channel = channel
            if isOver { channel.close(promise: nil) } else { proceed() }
        case .failure: connectSoon()
        }
    }

    private func connectSoon() {
        guard !isOver else { return }
        let line = NIOLoopBound(self, eventLoop: loop)
        loop.scheduleTask(in: Self.pause) { line.value.connect() }
    }
}

/// Notifies a line of answers and of the end of its connection.
final class FleetLineHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart

    private let line: FleetLine
    private var status = 0

    init(_ line: FleetLine) {
        self.line = line
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): status = Int(head.status.code)
        case .body: break
        case .end: line.answered(status)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        line.closed()
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}
