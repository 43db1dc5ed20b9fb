import NIOCore

/// How requests wait, leave and come back.
extension HTTP2ClientPool {
    func submit(_ batch: HTTP2RequestBatch) {
        guard !isStopping else {
            // Later, as the delegate may be submitting from inside of `completed`.
            return giveBackSoon((0..<Int32(batch.count)).map { Self.cancelled(batch, $0) })
        }
        pending.append(batch)
        if isDelivering { hasNewRequests = true } else { pump() }
    }

    /// Gives back all requests that wait for a stream.
    func cancelQueued() {
        takePending()
        giveBack()
        if hasNewRequests { pump() }
    }

    private static func cancelled(_ batch: HTTP2RequestBatch, _ index: Int32) -> HTTP2Completion {
        let result = HTTP2Result.unprocessed(HTTP2Failure(.cancelled))
        return HTTP2Completion(batch: batch, index: index, latencyMicroseconds: 0, result: result)
    }

    private func takePending() {
        while let (batch, index) = pending.next() {
            returning.append(Self.cancelled(batch, index))
        }
    }

    /// Gives requests back in a task of its own: whoever made them return may be in the middle of submitting.
    private func giveBackSoon(_ completions: [HTTP2Completion]) {
        returning += completions
        guard !returning.isEmpty, !returnIsScheduled else { return }
        returnIsScheduled = true
        eventLoop.assumeIsolated().execute {
            self.returnIsScheduled = false
            self.giveBack()
            if self.hasNewRequests { self.pump() }
        }
    }

    private func giveBack() {
        guard !returning.isEmpty else { return }
        let completions = returning
        returning = []
        completed(completions)
    }

    /// Spreads what waits over the connections that have room.
    func pump() {
        hasNewRequests = false
        let ready = connections.filter { $0.room > 0 }
        for (position, connection) in ready.enumerated() where pending.count > 0 {
            let share = (pending.count + ready.count - position - 1) / (ready.count - position)
            fill(connection, atMost: share)
            connection.send()
        }
        dialMissing()
    }

    /// Spreads what waits in a task of its own.
    func pumpSoon() {
        guard !pumpIsScheduled else { return }
        pumpIsScheduled = true
        eventLoop.assumeIsolated().execute {
            self.pumpIsScheduled = false
            self.pump()
        }
    }

    /// Gives a connection as many requests as it has room for; the caller sends.
    func refill(_ connection: HTTP2ClientConnection) {
        if hasNewRequests { pump() } else { fill(connection, atMost: .max) }
    }

    private func fill(_ connection: HTTP2ClientConnection, atMost share: Int) {
        let room = min(connection.room, share, pending.count)
        guard room > 0 else { return }
        // What the window keeps back is neither announced nor submitted; the server tells of more room in a frame, which
        // comes here again.
        var leaving = connection.fitting(pending, atMost: room)
        guard leaving > 0, announce(leaving) else { return }
        connection.startSubmitting()
        while leaving > 0, let run = pending.firstRun(atMost: leaving) {
            var next = run.range.lowerBound
            while next < run.range.upperBound, connection.submit(run.batch, index: next) { next += 1 }
            pending.removeFirst(Int(next - run.range.lowerBound))
            leaving -= run.range.count
            if next < run.range.upperBound { return dialMissing() }
        }
    }

    /// Tells the owner which requests are about to leave; if they must not, all that waits is given back.
    private func announce(_ leaving: Int) -> Bool {
        pending.announce(leaving, into: &departures)
        guard !departures.isEmpty else { return true }
        isDelivering = true
        let mayLeave = delegate.departing(departures)
        isDelivering = false
        departures.removeAll(keepingCapacity: true)
        // What was submitted meanwhile waits for the caller to be done with this connection.
        if hasNewRequests { pumpSoon() }
        if mayLeave { return true }
        takePending()
        giveBackSoon([])
        return false
    }
}
