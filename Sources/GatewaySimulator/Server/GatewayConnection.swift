import HTTP2
import NIOCore

/// One connection to a gateway. It judges requests, answers them, and applies the fault plan.
final class GatewayConnection<Rules: GatewayRules>: HTTP2ServerDelegate, AnsweringConnection {
    let loop: GatewayLoop<Rules>
    var state: Rules.ConnectionState
    private(set) var http: HTTP2ServerConnection?
    /// The number of streams whose request has arrived.
    var streams = 0
    /// The highest stream id that was processed.
    var lastProcessed: Int32 = 0
    var departure = Departure.none
    private var isFrozen = false
    /// Why the gateway refuses pushes on this connection; nil if it accepts them.
    private var refusal: [UInt8]?
    /// Whether the gateway has dropped the connection.
    private(set) var isDropped = false
    /// The number of this connection's streams that the recorder counts as waiting.
    private var countedStreams = 0

    init(loop: GatewayLoop<Rules>) {
        self.loop = loop
        state = Rules.newConnection()
    }

    var isOpen: Bool { http != nil && !isDropped }

    /// Whether a request still waits for its answer: the connection is open, and the sender has not cancelled the
    /// request.
    func isOpen(streamID: Int32) -> Bool { isOpen && http?.isOpen(streamID: streamID) ?? false }

    func willOpen(_ channel: any Channel, _ settings: inout HTTP2ServerSettings) {
        loop.refresh()
        refusal = loop.rules.admit(SenderTLS.certificate(channel), &state)
        settings.maxConcurrentStreams = wantedLimit
    }

    func opened(_ connection: HTTP2ServerConnection) {
        http = connection
        loop.opened(self, id: connection.id)
        if loop.plan.outage?.connections != nil { return abort() }
        if let refusal { return refuse(refusal) }
        // The plan may have changed during the TLS handshake, when this connection was not notified.
        adjustLimit()
        followFreeze()
        leaveAtOnce()
    }

    /// Ends the connection before its first stream, as APNs does: the GOAWAY has the reason, but no error code.
    private func refuse(_ reason: [UInt8]) {
        http?.goAway(lastStreamID: 0, errorCode: .noError, debugData: reason)
        departure = .leaving(lastStreamID: 0)
        loop.recorder.goAwaySent()
        flushSoon()
    }

    /// Sends a GOAWAY that does not wait for any stream.
    private func leaveAtOnce() {
        guard isOpen, case .none = departure, let goAway = loop.plan.goAway, goAway.afterStreams == 0 else {
            return
        }
        beginGoAway(goAway)
    }

    func received(_ connection: HTTP2ServerConnection, requests: [HTTP2ServerRequest]) {
        loop.begin()
        loop.noteStreams(connection.activeStreams)
        if loop.isMetered { loop.recorder.countInOutage(requests.count, \.requests) }
        for request in requests {
            if loop.isQuiet, case .none = departure { serve(request) } else { serveWithFaults(request) }
        }
        loop.commit()
        if !loop.isQuiet { countSoon() }
        if case .leaving = departure { flushSoon() }
    }

    func closed(_ connection: HTTP2ServerConnection) {
        if !isDropped, connection.activeStreams > 0 {
            countStreams()
            loop.recorder.connectionBroken()
        }
        http = nil
        countStreams()
        loop.closed(id: connection.id)
    }

    /// Judges a request and answers at once.
    @inline(__always)
    private func serve(_ request: HTTP2ServerRequest) {
        streams += 1
        lastProcessed = max(lastProcessed, request.streamID)
        var judgement = loop.rules.judge(request, &state, now: loop.now)
        if judgement.scripted != nil, play(&judgement, request) { return }
        loop.note(judgement, answer: judgement.code, isAccepted: judgement.isAccepted, isAnswered: true)
        loop.deliver(judgement, request.body)
        let id = judgement.senderID.map { request.headers.bytes[$0] } ?? []
        answer(judgement, id: id, streamID: request.streamID)
    }

    /// Answers a request and adjusts the stream limit.
    func answer(_ judgement: Judgement, id: ArraySlice<UInt8>, streamID: Int32) {
        guard let http else { return }
        loop.rules.respond(judgement, id: id, streamID: streamID, on: http)
        if Rules.answered(judgement.code, &state, limitDrops: loop.plan.limitDropsAfterRejection) { adjustLimit() }
    }

    private var wantedLimit: UInt32 {
        loop.plan.maxConcurrentStreams.map { UInt32($0) } ?? Rules.streamLimit(state)
    }

    private func adjustLimit() {
        guard let http, http.maxConcurrentStreams != wantedLimit else { return }
        http.setMaxConcurrentStreams(wantedLimit)
        loop.recorder.limitChanged()
    }

    /// Applies a plan that was just set.
    func planChanged() {
        adjustLimit()
        followFreeze()
        leaveAtOnce()
        flushSoon()
    }

    /// Stops or resumes reading, as the plan says.
    private func followFreeze() {
        guard let channel = http?.channel, loop.plan.freezes != isFrozen else { return }
        isFrozen = loop.plan.freezes
        channel.setOption(.autoRead, value: !isFrozen).whenComplete { _ in }
    }

    /// Flushes after the current read, if there is one.
    func flushSoon() {
        let connection = NIOLoopBound(self, eventLoop: loop.eventLoop)
        loop.eventLoop.execute { connection.value.flush() }
    }

    /// Writes the answers, and closes the connection if a GOAWAY was sent and nothing is left to do.
    func flush() {
        guard let http else { return }
        http.flush()
        countStreams()
        closeWhenDone()
    }

    /// Counts the open streams after the current read's answers are sent.
    private func countSoon() {
        let connection = NIOLoopBound(self, eventLoop: loop.eventLoop)
        loop.eventLoop.execute { connection.value.countStreams() }
    }

    /// Reports the number of waiting streams to the recorder.
    private func countStreams() {
        let streams = isDropped ? 0 : http?.activeStreams ?? 0
        guard streams != countedStreams else { return }
        loop.recorder.waitingChanged(by: streams - countedStreams)
        countedStreams = streams
    }

    /// Drops the connection without any protocol message.
    func abort() {
        guard let http, !isDropped else { return }
        isDropped = true
        loop.recorder.connectionReset(cutOff: http.activeStreams)
        countStreams()
        http.abort()
    }

    /// Closes the connection in an orderly way.
    func end() {
        http?.close()
    }
}

/// The state of a connection with regard to a GOAWAY.
enum Departure {
    /// There is no GOAWAY.
    case none
    /// The GOAWAY is sent after `missing` more streams, which are not processed.
    case announced(GoAwayFault, lastStreamID: Int32, missing: Int)
    /// The GOAWAY was sent; streams above that id are not processed.
    case leaving(lastStreamID: Int32)
}
