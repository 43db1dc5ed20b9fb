import Gateways
import NIOCore
import NIOPosix
import PushCore

/// A gateway that is neither Apple's nor Google's: a TCP connection, a line a message, a line an answer.
///
/// It sends `KEY key`, then `PUSH id token body` for each message, and receives `id status word`. It is the shortest
/// gateway that keeps all promises of ``Gateway``.
final class LineGateway: Gateway {
    let payloadFormat = PayloadFormat.fcmLegacy
    let limits = GatewayLimits(maxPayloadBytes: 4_096)
    let answers = LineAnswers.all
    private let link: NIOLoopBoundBox<LineLink>
    private let eventLoop: any EventLoop

    init(_ address: GatewayAddress, key: String, eventLoop: any EventLoop, delegate: any GatewayDelegate) {
        self.eventLoop = eventLoop
        link = .makeBoxSendingValue(
            LineLink(address, key: key, eventLoop: eventLoop, delegate: delegate),
            eventLoop: eventLoop
        )
    }

    func start() async throws { soon { $0.dial() } }

    func submit(_ batch: GatewayRequestBatch) { soon { $0.submit(batch) } }

    func cancelQueued() { soon { $0.cancelQueued() } }

    func retryNow() { soon { $0.dial() } }

    func status() async -> GatewayStatus {
        let link = link
        return (try? await eventLoop.submit { link.value.status }.get()) ?? GatewayStatus()
    }

    func shutdown() async {
        let link = link
        try? await eventLoop.flatSubmit { link.value.stop() }.get()
    }

    /// In a separate turn of the loop, because the owner may be in the middle of a call from here.
    private func soon(_ body: @escaping @Sendable (LineLink) -> Void) {
        let link = link
        eventLoop.execute { body(link.value) }
    }
}

/// The connection and its messages; everything here happens on the event loop.
final class LineLink {
    private struct Message {
        let batch: GatewayRequestBatch
        let row: Int32
    }

    /// The pause between two attempts to connect, in milliseconds.
    private static let pause: Int64 = 200

    private let address: GatewayAddress
    private let key: String
    private let eventLoop: any EventLoop
    private var delegate: (any GatewayDelegate)?
    private var reports: GatewayReports
    private var channel: (any Channel)?
    private var isDialing = false
    private var attempts = 0
    private var waiting: [Message] = []
    /// Unanswered messages that were written, by their number on the line.
    private var written: [Int: (message: Message, at: NIODeadline)] = [:]
    private var lastNumber = 0
    private var ended: EventLoopPromise<Void>?
    private var isEnded = false

    init(_ address: GatewayAddress, key: String, eventLoop: any EventLoop, delegate: any GatewayDelegate) {
        self.address = address
        self.key = key
        self.eventLoop = eventLoop
        self.delegate = delegate
        reports = GatewayReports(gateway: "line", address: address)
    }

    var status: GatewayStatus {
        GatewayStatus(connections: channel == nil ? 0 : 1, streamsInFlight: written.count, queued: waiting.count)
    }

    // MARK: The connection

    func dial() {
        guard channel == nil, !isDialing, ended == nil else { return }
        isDialing = true
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        ClientBootstrap(group: eventLoop)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(LineHandler(bound.value))
                }
            }
            .connect(host: address.host, port: address.port)
            .assumeIsolated()
            .whenComplete { result in self.dialed(result) }
    }

    private func dialed(_ result: Result<any Channel, any Error>) {
        isDialing = false
        switch result {
        case .success(let channel) where ended != nil: channel.close(promise: nil)
        case .success(let channel) where channel.isActive:
            self.channel = channel
            attempts = 0
            channel.writeAndFlush(ByteBuffer(string: "KEY \(key)\n"), promise: nil)
            tell(reports.opened("\(address)"))
            send()
        case .success: failed("the line ended at once")
        case .failure(let error): failed("\(error)")
        }
    }

    private func failed(_ reason: String) {
        guard ended == nil else { return }
        attempts += 1
        tell(reports.dialFailed(reason, attempts, Self.pause))
        dialLater()
    }

    private func dialLater() {
        eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(Self.pause)) { self.dial() }
    }

    func closed() {
        guard channel != nil else { return }
        channel = nil
        let lost = written.sorted { $0.key < $1.key }.map { $0.value.message }
        written = [:]
        resolve(lost.map { ($0, LineAnswers.unanswered($0.row, isWritten: true), 1) })
        tell(reports.closed(ended == nil ? "the line ended" : nil))
        if ended == nil { dialLater() } else { endIfDone() }
    }

    // MARK: Messages

    func submit(_ batch: GatewayRequestBatch) {
        waiting += (0..<Int32(batch.count)).map { Message(batch: batch, row: $0) }
        if ended == nil { send() } else { cancelQueued() }
    }

    private func send() {
        guard let channel, !waiting.isEmpty else { return dial() }
        let messages = waiting
        waiting = []
        // Without an owner the answers would be lost.
        guard delegate?.aboutToSend(Self.departures(messages)) == true else { return giveBack(messages) }
        var text = ""
        for message in messages {
            lastNumber += 1
            written[lastNumber] = (message, .now())
            let row = Int(message.row)
            let body = String(decoding: message.batch.bodies[row], as: UTF8.self)
            text += "PUSH \(lastNumber) \(message.batch.tokens.string(row)) \(body)\n"
        }
        channel.writeAndFlush(ByteBuffer(string: text), promise: nil)
    }

    private static func departures(_ messages: [Message]) -> [GatewayDeparture] {
        var departures: [GatewayDeparture] = []
        for message in messages {
            let range = message.row..<message.row + 1
            if let last = departures.last, last.batch === message.batch {
                departures[departures.count - 1].ranges.append(range)
            } else {
                departures.append(GatewayDeparture(batch: message.batch, ranges: [range]))
            }
        }
        return departures
    }

    /// Answers have come: a number, a status, and perhaps a word.
    func heard(_ lines: [String]) {
        var answered: [(Message, Outcome, UInt32)] = []
        for line in lines {
            let words = line.split(separator: " ")
            guard words.count > 1, let number = Int(words[0]), let status = Int16(words[1]),
                let (message, at) = written.removeValue(forKey: number)
            else { continue }
            let outcome = LineAnswers.outcome(message.row, status, words.count > 2 ? String(words[2]) : "")
            let latency = UInt32(clamping: max(1, (NIODeadline.now() - at).nanoseconds / 1_000))
            answered.append((message, outcome, latency))
        }
        resolve(answered)
        endIfDone()
    }

    func cancelQueued() {
        let messages = waiting
        waiting = []
        giveBack(messages)
    }

    private func giveBack(_ messages: [Message]) {
        resolve(messages.map { ($0, LineAnswers.unanswered($0.row, isWritten: false), 0) })
    }

    private func resolve(_ outcomes: [(Message, Outcome, UInt32)]) {
        guard !outcomes.isEmpty else { return }
        var resolved = ResolvedBatches(expected: outcomes.count)
        for (message, outcome, latency) in outcomes { resolved.add(outcome, latency, message.batch) }
        delegate?.resolved(resolved.all)
    }

    // MARK: The end

    func stop() -> EventLoopFuture<Void> {
        if let ended { return ended.futureResult }
        let promise = eventLoop.makePromise(of: Void.self)
        ended = promise
        cancelQueued()
        endIfDone()
        // Messages that are never answered end with the connection.
        eventLoop.assumeIsolated().scheduleTask(in: .seconds(5)) { self.channel?.close(promise: nil) }
        return promise.futureResult
    }

    private func endIfDone() {
        guard let ended, !isEnded, written.isEmpty else { return }
        isEnded = true
        channel?.close(promise: nil)
        delegate = nil
        ended.succeed()
    }

    private func tell(_ event: GatewayEvent?) {
        if let event { delegate?.gatewayEvent(event) }
    }
}

/// Parses the bytes of a connection.
private final class LineHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let link: LineLink
    private var lines = LineSplitter()

    init(_ link: LineLink) {
        self.link = link
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        link.heard(lines.split(unwrapInboundIn(data).readableBytesView))
    }

    func channelInactive(context: ChannelHandlerContext) {
        link.closed()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}

/// Assembles lines from pieces of any size.
struct LineSplitter {
    private var rest: [UInt8] = []

    mutating func split(_ piece: some Sequence<UInt8>) -> [String] {
        rest.append(contentsOf: piece)
        let pieces = rest.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        let lines = pieces.dropLast().map { String(decoding: $0, as: UTF8.self) }
        rest = pieces.last.map { Array($0) } ?? []
        return lines
    }
}
