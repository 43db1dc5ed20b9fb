import NIOCore

/// How a connection ends, and what it looks at from time to time.
extension HTTP2ClientConnection {
    /// Takes no more requests, and closes once the outstanding ones are settled.
    func drain() {
        switch state {
        case .ready: state = .draining
        case .opening: close(nil)
        case .draining, .closing, .closed: break
        }
    }

    func closeIfDone() {
        guard state == .draining, session.streams.count == 0 else { return }
        session.goAway()
        send()
        close(nil)
    }

    /// Once a second or more often: deadlines, PING, retirement.
    func tick(_ now: NIODeadline) {
        guard state == .ready || state == .draining else { return }
        session.now = now.uptimeNanoseconds
        expireRequests(now)
        watchSilence(now)
        send()
        closeIfDone()
    }

    /// Asks the server whether it is there; `told` is called when it says anything.
    func ask(_ told: @escaping () -> Void) {
        whenHeard = told
        session.ping()
        send()
    }

    private func expireRequests(_ now: NIODeadline) {
        let timeout = UInt64(configuration.requestTimeoutMilliseconds) * 1_000_000
        guard now.uptimeNanoseconds > timeout, session.streams.count > 0 else { return }
        let moment = now.uptimeNanoseconds - timeout
        for streamID in session.submittedBefore(moment) {
            session.cancel(streamID, cause: .timeout)
        }
        deliver()
        if timeoutsInARow >= configuration.timeoutsBeforeRetirement { drain() }
    }

    private func watchSilence(_ now: NIODeadline) {
        guard session.streams.count > 0 else {
            pingSent = nil
            return
        }
        if let sent = pingSent {
            if now - sent >= .milliseconds(configuration.pingTimeoutMilliseconds) {
                close("the server did not answer a PING within \(configuration.pingTimeoutMilliseconds) ms")
            }
        } else if now - quietSince >= .milliseconds(configuration.pingAfterSilenceMilliseconds) {
            session.ping()
            pingSent = now
        }
    }
}
