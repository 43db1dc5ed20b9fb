import HTTP2

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
