import Gateways
import HTTP2
import NIOCore
import NIOPosix
import NIOSSL
import PushCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The connections to a binary gateway and the messages that wait for them; everything here happens on the event loop.
final class BinaryPool {
    let options: GatewayOptions
    let silenceMilliseconds: Int64
    private let certificate: ClientCertificate
    private let proxy: HTTP2Proxy?
    let eventLoop: any EventLoop
    let now: @Sendable () -> Date
    let admission: BinaryAdmission
    private(set) var delegate: (any GatewayDelegate)?
    var tlsContext: NIOSSLContext?
    var connections: [BinaryConnection] = []
    var dialing = 0
    var pacing: DialPacing
    var random = SystemRandomNumberGenerator()
    var waiting = WaitingMessages()
    var sendAhead: SendAhead
    var reports: GatewayReports
    /// Messages that were presumed taken on connections that ended without proof.
    private var unprovedInAll = 0
    private var ticker: RepeatedTask?
    private(set) var ending = Ending()
    var delivery = Delivery()

    init(
        options: GatewayOptions,
        certificate: ClientCertificate,
        now: @escaping @Sendable () -> Date,
        eventLoop: any EventLoop,
        delegate: any GatewayDelegate
    ) {
        self.options = options
        silenceMilliseconds = options.silenceMilliseconds
        self.certificate = certificate
        proxy = options.proxy?.http2(for: options.address.host)
        self.now = now
        self.eventLoop = eventLoop
        self.delegate = delegate
        admission = BinaryAdmission(limit: PayloadLimits.binary)
        pacing = DialPacing(
            firstMilliseconds: options.connections.firstBackOffMilliseconds,
            maxMilliseconds: options.connections.maxBackOffMilliseconds
        )
        sendAhead = SendAhead(maximum: options.binary.dispatchWindow)
        reports = GatewayReports(gateway: "APNs binary", address: options.address)
    }

    func start() throws {
        guard ticker == nil, !ending.isStopping else { return }
        tlsContext = try BinaryTLS.context(certificate, trustRootsFile: options.trustRootsFile)
        // Silence is detected within two ticks.
        let shortest = min(silenceMilliseconds, options.connections.requestTimeoutMilliseconds)
        let period = TimeAmount.milliseconds(max(5, min(250, shortest / 8)))
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        ticker = eventLoop.scheduleRepeatedTask(initialDelay: period, delay: period) { _ in bound.value.tick() }
        pump()
    }

    private func tick() {
        for connection in connections { connection.tick() }
        pump()
    }

    /// Returns waiting messages, lets messages on the wire resolve, then closes.
    func stop(_ promise: EventLoopPromise<Void>) {
        if ending.isStopping {
            if let ongoing = ending.promise { ongoing.futureResult.cascade(to: promise) } else { promise.succeed() }
            return
        }
        ending.isStopping = true
        ending.promise = promise
        cancelQueued()
        for connection in connections { connection.drain() }
        finishStopping()
    }

    private func finishStopping() {
        // Does not wait for an attempt to connect, which may take until its timeout; if it succeeds, the connection is
        // dropped.
        guard ending.isStopping, !ending.isStopped, connections.isEmpty else { return }
        ending.isStopped = true
        ticker?.cancel()
        giveBack()
        delegate = nil
        ending.promise?.succeed()
    }

    // MARK: What connections tell

    func connectionOpened(_ connection: BinaryConnection, peer: String) {
        guard !ending.isStopping else { return }
        tell(reports.opened(peer))
        pump()
    }

    /// An error packet came: the connection accepts nothing more, and another one replaces it.
    func judged(_ connection: BinaryConnection, _ decision: BinaryConnectionState<BinaryMessage>.Decision) {
        let isShutdown = decision.packet.status == BinaryErrorPacket.shutdown
        if !isShutdown { sendAhead.refused() }
        if connection.state.isProved {
            pacing.answered()
        } else {
            let status = decision.packet.status
            broke(
                connection,
                reason: "the gateway closed the connection with status \(status) before it accepted anything"
            )
        }
        connections.removeAll { $0 === connection }
        _ = reports.closed(nil)
        if decision.tooLate > 0 {
            tell(reports.tooLate(decision.packet, decision.tooLate, silenceMilliseconds))
        }
        unproved(decision.unproved)
        guard !ending.isStopping else { return finishStopping() }
        if isShutdown { tell(reports.shutdown(decision.packet.identifier)) }
        pumpSoon()
    }

    /// A connection has ended, and this many presumptions on it were never proved.
    func unproved(_ number: Int) {
        guard number > 0 else { return }
        unprovedInAll += number
        tell(reports.unproved(number, inAll: unprovedInAll, silenceMilliseconds))
    }

    func connectionClosed(_ connection: BinaryConnection, reason: String?) {
        // A connection that was removed has already been replaced; one that was not added yet is handled by the
        // dialling.
        guard connections.contains(where: { $0 === connection }) else { return }
        if reason != nil || !connection.state.isProved {
            broke(connection, reason: reason ?? "the gateway closed the connection before it accepted anything")
        }
        connections.removeAll { $0 === connection }
        if connection.opened != nil, !ending.isStopping { tell(reports.closed(reason)) }
        if ending.isStopping { return finishStopping() }
        pumpSoon()
    }

    /// The current time, in seconds since 1970.
    var seconds: Int64 { Int64(now().timeIntervalSince1970) }

    func tell(_ event: GatewayEvent?) {
        guard var event, let delegate else { return }
        event.sign = Self.sign(event)
        let wasDelivering = delivery.isUnderWay
        delivery.isUnderWay = true
        delegate.gatewayEvent(event)
        delivery.isUnderWay = wasDelivering
        if delivery.hasNewMessages { pumpSoon() }
    }

    /// A new connection is the only positive sign from a gateway that accepts messages in silence. The end of a
    /// connection is normal: each refused message ends its own.
    private static func sign(_ event: GatewayEvent) -> HealthSign? {
        switch event.kind {
        case .connected, .recovered: .well
        case .connectionLost: nil
        default: event.sign
        }
    }

    var status: GatewayStatus {
        let ready = connections.filter { $0.state.phase == .ready }
        return GatewayStatus(
            connections: ready.count,
            streamsInFlight: connections.reduce(0) { $0 + $1.state.open },
            queued: waiting.count,
            streamLimit: ready.count * sendAhead.limit
        )
    }
}

/// Dialling.
extension BinaryPool {
    /// Starts an attempt for each missing connection that may be dialled now.
    func dialMissing() {
        guard !ending.isStopping, tlsContext != nil else { return }
        let usable = connections.lazy.filter { $0.state.phase == .ready || $0.state.phase == .opening }
        let proven = usable.count { $0.state.isProved }
        let number = pacing.dials(
            wanted: options.connections.count,
            proven: proven,
            unproven: usable.count - proven + dialing,
            at: .now()
        )
        guard number > 0 else { return }
        // The cause may have been a file of trusted certificates.
        if pacing.isRecovering,
            let context = try? BinaryTLS.context(certificate, trustRootsFile: options.trustRootsFile)
        {
            tlsContext = context
        }
        guard let tlsContext else { return }
        for _ in 0..<number { dial(tlsContext) }
    }

    private func dial(_ tlsContext: NIOSSLContext) {
        dialing += 1
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        let (address, proxy) = (options.address, proxy)
        let bootstrap = ClientBootstrap(group: eventLoop)
            .connectTimeout(.milliseconds(options.connections.connectTimeoutMilliseconds))
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelOption(.socketOption(.so_keepalive), value: 1)
            // Just enough that the system is never idle while the next chunk is made. Bytes that wait here are
            // ambiguous when the connection ends.
            .channelOption(.writeBufferWaterMark, value: .init(low: 64 * 1_024, high: 256 * 1_024))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try BinaryTLS.add(to: channel, tlsContext, address, proxy: proxy)
                    try channel.pipeline.syncOperations.addHandler(BinaryConnection(pool: bound.value))
                }
            }
        let deadline = NIODeadline.now() + .milliseconds(options.connections.connectTimeoutMilliseconds)
        // The name is resolved again for each attempt, in case the gateway has moved.
        BinaryTLS.withUserTimeout(bootstrap, milliseconds: options.connections.requestTimeoutMilliseconds)
            .connect(host: proxy?.host ?? address.host, port: proxy?.port ?? address.port)
            .assumeIsolated()
            .whenComplete { result in self.dialed(result, deadline: deadline) }
    }

    private func dialed(_ result: Result<any Channel, any Error>, deadline: NIODeadline) {
        dialing -= 1
        do {
            let channel = try result.get()
            let connection = try channel.pipeline.syncOperations.handler(type: BinaryConnection.self)
            if ending.isStopping { return connection.drain() }
            guard connection.state.phase == .opening || connection.state.phase == .ready else {
                return dialFailed(
                    connection.closeReason ?? "the gateway closed the connection during the handshake"
                )
            }
            connections.append(connection)
            guard connection.state.phase == .opening else { return pump() }
            let bound = NIOLoopBound(connection, eventLoop: eventLoop)
            let timeout = options.connections.connectTimeoutMilliseconds
            eventLoop.scheduleTask(deadline: deadline) {
                if bound.value.state.phase == .opening {
                    bound.value.close("the TLS handshake did not complete within \(timeout) ms")
                }
            }
        } catch {
            let reason = String(describing: error)
            dialFailed(proxy.map { "the proxy \($0) cannot be reached: \(reason)" } ?? reason)
        }
    }

    /// An attempt failed: the next one waits.
    private func dialFailed(_ reason: String) {
        guard !ending.isStopping else { return }
        wait(pacing.failed(at: .now(), using: &random), reason)
    }

    /// A connection has become useless, though its socket may stay open for long: applies the consequences.
    func broke(_ connection: BinaryConnection, reason: String) {
        guard !ending.isStopping, !connection.isCounted, connections.contains(where: { $0 === connection }) else {
            return
        }
        connection.isCounted = true
        let now = NIODeadline.now()
        let pause = pacing.broke(
            answered: connection.state.isProved,
            lifetime: connection.opened.map { now - $0 },
            at: now,
            using: &random
        )
        wait(pause, reason)
    }

    private func wait(_ pause: DialPacing.Pause?, _ reason: String) {
        guard let pause else { return }
        if pause.attempt > 0 {
            tell(reports.certificateRefused(reason) ?? reports.dialFailed(reason, pause.attempt, pause.milliseconds))
        }
        eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(pause.milliseconds)) { [weak self] in self?.pump() }
    }

    /// Ends the pause between attempts, because the cause was fixed.
    func retryNow() {
        pacing.retryNow()
        pump()
    }
}

/// How many unconfirmed messages a connection may have on the wire.
///
/// After an error packet, all messages after the refused one have to be sent again. So the window follows the distance
/// between two error packets: it is twice the number of messages taken since the last one. A list without bad tokens is
/// sent with the whole window. A list in which every twentieth token is bad wastes two sends per useful one, not two
/// hundred.
struct SendAhead: Sendable {
    /// With fewer, the connection would idle until the gateway has answered.
    static let least = 64

    private let maximum: Int
    private var taken = 0
    /// The current window, in messages.
    private(set) var limit: Int

    /// - Parameter maximum: the largest window.
    init(maximum: Int) {
        self.maximum = max(1, maximum)
        limit = self.maximum
    }

    mutating func taken(_ number: Int) {
        taken = min(taken + number, maximum)
        limit = max(limit, min(maximum, taken * 2))
    }

    /// A message was refused, and later ones were not processed.
    mutating func refused() {
        limit = min(maximum, max(Self.least, taken * 2))
        taken = 0
    }
}

extension BinaryPool {
    /// The progress of a requested shutdown.
    struct Ending {
        var isStopping = false
        var isStopped = false
        var promise: EventLoopPromise<Void>?
    }

    /// Calls to the delegate that are under way.
    struct Delivery {
        /// Set during a delegate call: messages that it submits meanwhile wait for the end of the call.
        var isUnderWay = false
        /// The delegate submitted messages during a call.
        var hasNewMessages = false
        var pumpIsScheduled = false
        /// Outcomes that are on their way to the delegate.
        var returning: [(batch: GatewayRequestBatch, outcome: Outcome)] = []
        var returnIsScheduled = false
    }
}
