import NIOCore
import NIOPosix
import Synchronization

/// The server for ``LineGateway``: it accepts every message except those that it has to refuse.
final class LineServer: Sendable {
    let port: Int
    private let channel: any Channel
    private let book: LineBook

    /// - Parameters:
    ///   - port: the port to listen on; 0 for a free one.
    ///   - refusals: status and word for messages to some tokens.
    static func start(port: Int = 0, refusals: [String: String] = [:]) async throws -> LineServer {
        let book = LineBook(refusals)
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(LineServerHandler(book))
                }
            }
            .bind(host: "127.0.0.1", port: port)
            .get()
        return LineServer(channel, book)
    }

    private init(_ channel: any Channel, _ book: LineBook) {
        self.channel = channel
        self.book = book
        port = channel.localAddress?.port ?? 0
    }

    /// The number of messages received for each token.
    var messages: [String: Int] { book.state.withLock(\.messages) }

    /// The keys that clients have sent.
    var keys: Set<String> { book.state.withLock(\.keys) }

    func refuse(_ refusals: [String: String]) { book.state.withLock { $0.refusals = refusals } }

    func stop() async throws { try await channel.close() }
}

/// What a server has received, and how it has to answer.
private final class LineBook: Sendable {
    struct State {
        var refusals: [String: String]
        var messages: [String: Int] = [:]
        var keys: Set<String> = []
    }

    let state: Mutex<State>

    init(_ refusals: [String: String]) {
        state = Mutex(State(refusals: refusals))
    }

    /// The answer to a line; nil if it needs none.
    func answer(_ line: String) -> String? {
        let words = line.split(separator: " ", maxSplits: 3).map(String.init)
        return state.withLock { state in
            if words.count == 2, words[0] == "KEY" { state.keys.insert(words[1]) }
            guard words.count == 4, words[0] == "PUSH" else { return nil }
            state.messages[words[2], default: 0] += 1
            return "\(words[1]) \(state.refusals[words[2]] ?? "200")\n"
        }
    }
}

private final class LineServerHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let book: LineBook
    private var lines = LineSplitter()

    init(_ book: LineBook) {
        self.book = book
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let answers = lines.split(unwrapInboundIn(data).readableBytesView).compactMap(book.answer).joined()
        if !answers.isEmpty { context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: answers)), promise: nil) }
    }
}
