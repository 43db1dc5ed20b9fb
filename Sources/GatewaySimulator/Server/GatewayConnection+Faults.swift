import HTTP2
import NIOCore

extension GatewayConnection {
    /// Judges a request and applies the plan's faults to it.
    func serveWithFaults(_ request: HTTP2ServerRequest) {
        // Requests after the drop of the connection in the same read are ignored.
        guard !isDropped else { return }
        guard isProcessed(request.streamID), let http else { return loop.noteRefused() }
        streams += 1
        if loop.dice.happens(loop.plan.refusedRate) {
            loop.noteRefused()
            return http.reset(streamID: request.streamID, errorCode: .refusedStream)
        }
        lastProcessed = max(lastProcessed, request.streamID)
        var judgement = loop.rules.judge(request, &state, now: loop.now)
        if let outage = loop.plan.outage, loop.dice.happens(outage.share) {
            return answer(outage, &judgement, request)
        }
        if judgement.scripted != nil, play(&judgement, request) { return }
        if !judgement.isAccepted, loop.isOutage { loop.noteInjected() }
        if judgement.isAccepted, let error = loop.drawError() {
            judgement.code = error.code
            judgement.retryAfter = error.retryAfter
            // APNs has only now confirmed that the token is invalid.
            judgement.sinceMilliseconds = loop.now * 1000
            loop.noteInjected()
        }
        let isReset = loop.plan.resetAfterStreams.map { streams >= $0 } ?? false
        if judgement.isAccepted, isReset || loop.dice.happens(loop.plan.neverAnsweredRate) {
            let isTaken = loop.dice.happens(loop.plan.unansweredAcceptedShare)
            if !isReset { loop.noteInjected() }
            loop.note(judgement, answer: AnswerCatalog.unanswered, isAccepted: isTaken, isAnswered: false)
        } else if isReset {
            loop.note(judgement, answer: judgement.code, isAccepted: false, isAnswered: false)
        } else {
            answerInTime(judgement, request)
        }
        if isReset { return abort() }
        if case .none = departure, let goAway = loop.plan.goAway, streams >= goAway.afterStreams { beginGoAway(goAway) }
    }

    /// Answers as a gateway in an outage, regardless of the push.
    private func answer(_ outage: OutageFault, _ judgement: inout Judgement, _ request: HTTP2ServerRequest) {
        guard let answer = outage.answer else { return }
        loop.noteInjected()
        let isTaken = loop.dice.happens(loop.plan.unansweredAcceptedShare)
        if !perform(answer.act, retryAfter: answer.retryAfter, isTaken: isTaken, &judgement, request) {
            answerInTime(judgement, request)
        }
    }

    private func answerInTime(_ judgement: Judgement, _ request: HTTP2ServerRequest) {
        loop.deliver(judgement, request.body)
        let id = judgement.senderID.map { request.headers.bytes[$0] } ?? []
        guard loop.delaysAnswers else {
            loop.note(judgement, answer: judgement.code, isAccepted: judgement.isAccepted, isAnswered: true)
            return answer(judgement, id: id, streamID: request.streamID)
        }
        // Some pushes are recorded as accepted only when their answer is due, so that a reset before that finds them
        // not accepted.
        let isTaken = !judgement.isAccepted || !loop.dice.happens(1 - loop.plan.unansweredAcceptedShare)
        if isTaken {
            loop.note(judgement, answer: judgement.code, isAccepted: judgement.isAccepted, isAnswered: false)
        }
        loop.answerLater(judgement, id: id, streamID: request.streamID, isTaken: isTaken, on: self)
    }

    /// Whether a stream is still processed. If not, it counts towards an announced GOAWAY.
    private func isProcessed(_ streamID: Int32) -> Bool {
        switch departure {
        case .none: return isOpen
        case .leaving(let last): return streamID <= last
        case .announced(let goAway, let last, let missing):
            if streamID <= last { return true }
            departure = .announced(goAway, lastStreamID: last, missing: missing - 1)
            if missing <= 1 { sendGoAway() }
            return false
        }
    }

    /// Starts a GOAWAY. It is sent at once, or when the streams that it leaves unprocessed have arrived.
    func beginGoAway(_ goAway: GoAwayFault) {
        departure = .announced(goAway, lastStreamID: lastProcessed, missing: goAway.unprocessed)
        guard goAway.unprocessed > 0 else { return sendGoAway() }
        // A sender that has nothing more to send must not wait forever.
        let connection = NIOLoopBound(self, eventLoop: loop.eventLoop)
        loop.eventLoop.scheduleTask(in: Self.timeout) {
            connection.value.sendGoAway()
            connection.value.flush()
        }
    }

    /// How long a GOAWAY waits for streams to leave unprocessed. It exceeds the usual latency, as a sender at its limit
    /// opens the next stream with the next answer.
    private static var timeout: TimeAmount { .milliseconds(200) }
    /// How long a connection without streams stays open after its GOAWAY. A close that crosses the peer's writes causes
    /// a TCP reset, which would discard the GOAWAY before the peer has read it.
    private static var farewell: TimeAmount { .seconds(1) }

    private func sendGoAway() {
        guard let http, case .announced(let goAway, let last, _) = departure else { return }
        let announced = goAway.isGraceful ? Int32.max : last
        departure = .leaving(lastStreamID: announced)
        http.goAway(
            lastStreamID: announced,
            errorCode: HTTP2ErrorCode(rawValue: goAway.errorCode),
            debugData: goAway.debugData
        )
        loop.recorder.goAwaySent()
        flushSoon()
    }

    /// Closes the connection a moment after its last outstanding answer.
    func closeWhenDone() {
        guard case .leaving = departure, let http, http.activeStreams == 0 else { return }
        let connection = NIOLoopBound(self, eventLoop: loop.eventLoop)
        loop.eventLoop.scheduleTask(in: Self.farewell) {
            guard let http = connection.value.http, http.activeStreams == 0 else { return }
            http.close()
        }
    }
}

extension GatewayConnection {
    /// Applies the script of an accepted push's device. Returns false if there is none, or if it is used up.
    func play(_ judgement: inout Judgement, _ request: HTTP2ServerRequest) -> Bool {
        guard let script = judgement.scripted, judgement.isAccepted, script.take() else { return false }
        return perform(script.act, retryAfter: script.retryAfter, isTaken: true, &judgement, request)
    }

    /// Performs a scripted act on a push. Returns false if the changed judgement still needs an answer.
    ///
    /// - Parameter isTaken: Whether the gateway counts an unanswered push as accepted.
    func perform(
        _ act: ScriptedAnswer.Act,
        retryAfter: String?,
        isTaken: Bool,
        _ judgement: inout Judgement,
        _ request: HTTP2ServerRequest
    ) -> Bool {
        guard let http else { return false }
        switch act {
        case .reason(let reason):
            guard let code = AnswerCatalog.of(Rules.gateway).code(ofReason: reason) else { return false }
            judgement.code = code
            judgement.detail = nil
            judgement.retryAfter = retryAfter
            judgement.sinceMilliseconds = loop.now * 1000
            // From here it is an ordinary rejection.
            return false
        case .response(let status, let fields, let body):
            loop.note(judgement, answer: AnswerCatalog.scripted, isAccepted: false, isAnswered: true)
            let headers = ScriptedAnswer.headers(fields, retryAfter: retryAfter)
            http.respond(streamID: request.streamID, status: status, headers: headers, body: Array(body.utf8))
        case .silence:
            loop.note(judgement, answer: AnswerCatalog.unanswered, isAccepted: isTaken, isAnswered: false)
        case .reset(let code) where HTTP2ErrorCode(rawValue: code) == .refusedStream:
            loop.noteRefused()
            http.reset(streamID: request.streamID, errorCode: .refusedStream)
        case .reset(let code):
            loop.note(judgement, answer: AnswerCatalog.unanswered, isAccepted: isTaken, isAnswered: false)
            http.reset(streamID: request.streamID, errorCode: HTTP2ErrorCode(rawValue: code))
        case .drop:
            loop.note(judgement, answer: AnswerCatalog.unanswered, isAccepted: isTaken, isAnswered: false)
            abort()
        }
        return true
    }
}
