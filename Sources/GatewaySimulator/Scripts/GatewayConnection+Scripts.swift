import HTTP2

extension GatewayConnection {
    /// Does to an accepted push what the script of its device says; false if it says nothing of it, or nothing any more.
    func play(_ judgement: inout Judgement, _ request: HTTP2ServerRequest) -> Bool {
        guard let script = judgement.scripted, judgement.isAccepted, let http, script.take() else { return false }
        switch script.act {
        case .reason(let reason):
            guard let code = AnswerCatalog.of(Rules.gateway).code(ofReason: reason) else { return false }
            judgement.code = code
            judgement.retryAfter = script.retryAfter
            judgement.sinceMilliseconds = loop.now * 1000
            // The rest is as for any other rejection.
            return false
        case .response(let status, let body):
            loop.note(judgement, answer: AnswerCatalog.scripted, isAccepted: false, isAnswered: true)
            var headers = [("content-type", "application/json")]
            if let retryAfter = script.retryAfter { headers.append(("retry-after", retryAfter)) }
            http.respond(streamID: request.streamID, status: status, headers: headers, body: Array(body.utf8))
        case .silence:
            loop.note(judgement, answer: AnswerCatalog.unanswered, isAccepted: true, isAnswered: false)
        case .reset(let code) where HTTP2ErrorCode(rawValue: code) == .refusedStream:
            loop.noteRefused()
            http.reset(streamID: request.streamID, errorCode: .refusedStream)
        case .reset(let code):
            loop.note(judgement, answer: AnswerCatalog.unanswered, isAccepted: true, isAnswered: false)
            http.reset(streamID: request.streamID, errorCode: HTTP2ErrorCode(rawValue: code))
        case .drop:
            loop.note(judgement, answer: AnswerCatalog.unanswered, isAccepted: true, isAnswered: false)
            abort()
        }
        return true
    }
}
