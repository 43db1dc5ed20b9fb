import HTTP2
import NIOCore

/// One connection to a gateway: judges requests, answers them, and does to them what the fault plan asks for.
final class GatewayConnection<Rules: GatewayRules>: HTTP2ServerDelegate, AnsweringConnection {
    let loop: GatewayLoop<Rules>
    var state: Rules.ConnectionState
    private(set) var http: HTTP2ServerConnection?
    /// Streams whose request has come.
    var streams = 0
    /// The highest stream id that was processed.
    var lastProcessed: Int32 = 0
    var departure = Departure.none
    private var isFrozen = false
    /// Why the gateway wants no pushes on this connection; nil when it does.
    private var refusal: [UInt8]?
    /// The gateway has dropped the connection.
    private(set) var isDropped = false
    /// The streams of this connection that the recorder counts as waiting.
    private var countedStreams = 0

    init(loop: GatewayLoop<Rules>) {
        self.loop = loop
        state = Rules.newConnection()
    }

    var isOpen: Bool { http != nil && !isDropped }

    /// Whether a request still waits for its answer: its connection is there and the sender has not cancelled it.
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
        // The plan may have changed during the TLS handshake, when nobody told this connection of it.
        adjustLimit()
        followFreeze()
        leaveAtOnce()
    }

    /// Ends the connection before its first stream, with the reason in the GOAWAY and nothing in its error code, as APNs does.
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

    /// Judges and answers at once.
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

    /// Answers a request and lets the stream limit follow.
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

    /// Follows a plan that was just set.
    func planChanged() {
        adjustLimit()
        followFreeze()
        leaveAtOnce()
        flushSoon()
    }

    /// Stops reading or goes on, as the plan says.
    private func followFreeze() {
        guard let channel = http?.channel, loop.plan.freezes != isFrozen else { return }
        isFrozen = loop.plan.freezes
        channel.setOption(.autoRead, value: !isFrozen).whenComplete { _ in }
    }

    /// Flushes when the read that is being handled, if there is one, has ended.
    func flushSoon() {
        let connection = NIOLoopBound(self, eventLoop: loop.eventLoop)
        loop.eventLoop.execute { connection.value.flush() }
    }

    /// Writes what was answered, and leaves when a GOAWAY was sent and nothing is left to do.
    func flush() {
        guard let http else { return }
        http.flush()
        countStreams()
        closeWhenDone()
    }

    /// Counts the open streams when the answers of the read that is being handled have left.
    private func countSoon() {
        let connection = NIOLoopBound(self, eventLoop: loop.eventLoop)
        loop.eventLoop.execute { connection.value.countStreams() }
    }

    /// Tells the recorder how many streams wait for their answer.
    private func countStreams() {
        let streams = isDropped ? 0 : http?.activeStreams ?? 0
        guard streams != countedStreams else { return }
        loop.recorder.waitingChanged(by: streams - countedStreams)
        countedStreams = streams
    }

    /// Drops the connection without a word.
    func abort() {
        guard let http, !isDropped else { return }
        isDropped = true
        loop.recorder.connectionReset(cutOff: http.activeStreams)
        countStreams()
        http.abort()
    }

    /// Ends the connection in order.
    func end() {
        http?.close()
    }
}

/// How far a connection is on its way out after a GOAWAY.
enum Departure {
    /// It is not on its way out.
    case none
    /// The GOAWAY leaves when so many more streams have come; they are not processed.
    case announced(GoAwayFault, lastStreamID: Int32, missing: Int)
    /// The GOAWAY has been sent; streams above that id are not processed.
    case leaving(lastStreamID: Int32)
}
