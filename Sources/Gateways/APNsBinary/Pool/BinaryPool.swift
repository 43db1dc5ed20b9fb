import HTTP2
import NIOCore
import NIOSSL
import PushCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The connections to a binary gateway and the messages that wait for them; everything here happens on the event loop.
final class BinaryPool {
    let configuration: APNsBinaryGatewayConfiguration
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
    /// Messages that were presumed taken on connections which ended without a proof of it.
    private var unprovedInAll = 0
    private var ticker: RepeatedTask?
    private(set) var isStopping = false
    private var isStopped = false
    private var stopPromise: EventLoopPromise<Void>?
    /// Set while the delegate is being told something: what it submits meanwhile waits for the end of the call.
    var isDelivering = false
    /// The delegate submitted something while it was being told.
    var hasNewMessages = false
    var pumpIsScheduled = false
    /// Outcomes that are on their way to the delegate.
    var returning: [(batch: GatewayRequestBatch, outcome: Outcome)] = []
    var returnIsScheduled = false

    init(
        configuration: APNsBinaryGatewayConfiguration,
        now: @escaping @Sendable () -> Date,
        eventLoop: any EventLoop,
        delegate: any GatewayDelegate
    ) {
        self.configuration = configuration
        self.now = now
        self.eventLoop = eventLoop
        self.delegate = delegate
        admission = BinaryAdmission(limit: PayloadLimits.binary)
        pacing = DialPacing(
            firstMilliseconds: configuration.firstBackOffMilliseconds,
            maximumMilliseconds: configuration.maximumBackOffMilliseconds
        )
        sendAhead = SendAhead(most: configuration.sendAhead)
        reports = GatewayReports(gateway: "APNs binary", address: configuration.address)
    }

    func start() throws {
        guard ticker == nil, !isStopping else { return }
        tlsContext = try configuration.tlsContext()
        // Silence is noticed to within two ticks.
        let shortest = min(configuration.silenceMilliseconds, configuration.requestTimeoutMilliseconds)
        let period = TimeAmount.milliseconds(max(5, min(250, shortest / 8)))
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        ticker = eventLoop.scheduleRepeatedTask(initialDelay: period, delay: period) { _ in bound.value.tick() }
        pump()
    }

    private func tick() {
        for connection in connections { connection.tick() }
        pump()
    }

    /// Gives back what waits, lets what is on the wire settle, then closes.
    func stop(_ promise: EventLoopPromise<Void>) {
        if isStopping {
            if let stopPromise { stopPromise.futureResult.cascade(to: promise) } else { promise.succeed() }
            return
        }
        isStopping = true
        stopPromise = promise
        cancelQueued()
        for connection in connections { connection.drain() }
        finishStopping()
    }

    private func finishStopping() {
        // An attempt to connect is not waited for: it may take as long as its timeout, and is dropped when it succeeds.
        guard isStopping, !isStopped, connections.isEmpty else { return }
        isStopped = true
        ticker?.cancel()
        giveBack()
        delegate = nil
        stopPromise?.succeed()
    }

    // MARK: What connections tell

    func connectionOpened(_ connection: BinaryConnection, peer: String) {
        guard !isStopping else { return }
        tell(reports.opened(peer))
        pump()
    }

    /// An error packet came: the connection takes nothing more, and another one takes its place.
    func judged(_ connection: BinaryConnection, _ verdict: BinaryConnectionState<BinaryMessage>.Verdict) {
        let isShutdown = verdict.packet.status == BinaryErrorPacket.shutdown
        if !isShutdown { sendAhead.refused() }
        if connection.state.isProved {
            pacing.answered()
        } else {
            let status = verdict.packet.status
            broke(connection, reason: "the gateway ended the connection with status \(status) before it took anything")
        }
        connections.removeAll { $0 === connection }
        _ = reports.closed(nil)
        if verdict.tooLate > 0 {
            tell(reports.tooLate(verdict.packet, verdict.tooLate, configuration.silenceMilliseconds))
        }
        unproved(verdict.unproved)
        guard !isStopping else { return finishStopping() }
        if isShutdown { tell(reports.shutdown(verdict.packet.identifier)) }
        pumpSoon()
    }

    /// A connection has ended, and so many messages had been presumed taken that nothing has proved to be.
    func unproved(_ number: Int) {
        guard number > 0 else { return }
        unprovedInAll += number
        tell(reports.unproved(number, inAll: unprovedInAll, configuration.silenceMilliseconds))
    }

    func connectionClosed(_ connection: BinaryConnection, reason: String?) {
        // One that is not there any more has been replaced already; one that is not there yet is the dialling's.
        guard connections.contains(where: { $0 === connection }) else { return }
        if reason != nil || !connection.state.isProved {
            broke(connection, reason: reason ?? "the gateway ended the connection before it took anything")
        }
        connections.removeAll { $0 === connection }
        if connection.opened != nil, !isStopping { tell(reports.closed(reason)) }
        if isStopping { return finishStopping() }
        pumpSoon()
    }

    /// Now, in seconds since 1970.
    var seconds: Int64 { Int64(now().timeIntervalSince1970) }

    func tell(_ event: GatewayEvent?) {
        guard let event, let delegate else { return }
        let wasDelivering = isDelivering
        isDelivering = true
        delegate.gatewayEvent(event)
        isDelivering = wasDelivering
        if hasNewMessages { pumpSoon() }
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
