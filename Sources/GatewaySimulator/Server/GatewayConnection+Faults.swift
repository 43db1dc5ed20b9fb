import HTTP2
import NIOCore

extension GatewayConnection {
    /// Judges a request and does to it what the plan says.
    func serveWithFaults(_ request: HTTP2ServerRequest) {
        // What comes after the end of a connection that was dropped in this read is not even looked at.
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
            // APNs confirmed only now that the token is gone.
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

    /// Answers as a gateway that is out, whatever it would have said of the push.
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
        // Some are taken only when their answer is due, so that a reset before then finds them not taken.
        let isTaken = !judgement.isAccepted || !loop.dice.happens(1 - loop.plan.unansweredAcceptedShare)
        if isTaken {
            loop.note(judgement, answer: judgement.code, isAccepted: judgement.isAccepted, isAnswered: false)
        }
        loop.answerLater(judgement, id: id, streamID: request.streamID, isTaken: isTaken, on: self)
    }

    /// Whether a stream still belongs to those that are processed; counts it towards an announced GOAWAY if not.
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

    /// Starts what ends with a GOAWAY: it leaves at once or when the streams that it disowns have come.
    func beginGoAway(_ goAway: GoAwayFault) {
        departure = .announced(goAway, lastStreamID: lastProcessed, missing: goAway.unprocessed)
        guard goAway.unprocessed > 0 else { return sendGoAway() }
        // A sender that has nothing more to send must not wait for ever.
        let connection = NIOLoopBound(self, eventLoop: loop.eventLoop)
        loop.eventLoop.scheduleTask(in: Self.timeout) {
            connection.value.sendGoAway()
            connection.value.flush()
        }
    }

    /// How long a GOAWAY waits for streams that it can disown: past the usual latency, as a sender at its limit opens the next
    /// one with the next answer.
    private static var timeout: TimeAmount { .milliseconds(200) }
    /// How long a connection without streams stays after its GOAWAY: a close that crosses the peer's writes is answered with
    /// a TCP reset, which would take the GOAWAY away from a peer that has not read it yet.
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

    /// Closes the connection a moment after the last answer that it still owes.
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
    /// Does to an accepted push what the script of its device says; false if it says nothing of it, or nothing any more.
    func play(_ judgement: inout Judgement, _ request: HTTP2ServerRequest) -> Bool {
        guard let script = judgement.scripted, judgement.isAccepted, script.take() else { return false }
        return perform(script.act, retryAfter: script.retryAfter, isTaken: true, &judgement, request)
    }

    /// Does something with a push; false if the judgement, changed, is still to be answered.
    ///
    /// - Parameter isTaken: Whether the gateway counts as accepted what it does not answer.
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
            // The rest is as for any other rejection.
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
