extension ConnectionLoop {
    /// Takes note of what callers do not want any more: what still waits is dropped, what runs is cancelled at the server.
    func noteCancellations(_ mail: Mailbox.Mail) {
        for request in mail.cancelled {
            if let submission = queue.remove(request) {
                submission.fail(CancellationError())
            } else if let index = notificationWaiters.firstIndex(where: { $0.submission.request === request }) {
                notificationWaiters.remove(at: index).submission.fail(CancellationError())
            } else if let operation = exclusive, operation.waiting?.request === request {
                operation.cancelWanted = true
                // A chunk's waiter then ends the COPY itself.
                if case .copyChunk = request.work { operation.fail(CancellationError()) }
            } else {
                for index in inFlight.indices where inFlight[index].submission?.request === request {
                    inFlight[index].cancelWanted = true
                }
            }
        }
        if mail.cancelRunning { cancelRunning() }
        startCancelIfWanted()
    }

    private func cancelRunning() {
        guard !isCancelling else { return }
        if let group = inFlight.first {
            group.cancelOrdered = true
        } else if exclusive == nil {
            return
        }
        sendCancel()
    }

    /// Sends a cancel request when the server is working on something that is not wanted.
    ///
    /// The server cancels whatever it is running when the request arrives. So a request is sent only for the first group,
    /// nothing else is sent until it was delivered, and groups behind that were hit by it are sent again.
    func startCancelIfWanted() {
        guard !isCancelling else { return }
        if let operation = exclusive {
            guard operation.cancelWanted, !operation.cancelSent else { return }
            operation.cancelSent = true
        } else {
            guard let group = inFlight.first, group.cancelWanted, !group.cancelSent else { return }
            group.cancelSent = true
        }
        sendCancel()
    }

    private func sendCancel() {
        isCancelling = true
        for index in inFlight.indices { inFlight[index].isExposed = true }
        canceller.send()
    }
}
