import Synchronization

/// The queue between the callers and the client's thread.
final class CurlWorker: Sendable {
    typealias Completion = @Sendable (Result<CurlResponse, CurlError>) -> Void
    typealias MayLeave = @Sendable (CurlConnection) -> Bool

    /// What a caller wants of the thread.
    enum Command: Sendable {
        case start(UInt64, CurlRequest, MayLeave?, Completion)
        case cancel(UInt64)
    }

    private struct State {
        var lastID: UInt64 = 0
        var commands: [Command] = []
        /// Requests handed to the thread and not yet answered.
        var running: Set<UInt64> = []
        /// Requests whose task was cancelled before they were handed over.
        var cancelledEarly: Set<UInt64> = []
        var multi: CurlMultiHandle?
        var stopped = false
    }

    private let state = Mutex(State())

    func nextID() -> UInt64 {
        state.withLock {
            $0.lastID += 1
            return $0.lastID
        }
    }

    /// Hands a request over; the completion is called exactly once.
    func start(_ id: UInt64, _ request: CurlRequest, mayLeave: MayLeave?, _ completion: @escaping Completion) {
        let refusal: CurlError? = state.withLock { state in
            if state.cancelledEarly.remove(id) != nil { return Self.cancelled(request.server) }
            if let error = startThread(&state) { return error }
            state.running.insert(id)
            state.commands.append(.start(id, request, mayLeave, completion))
            state.multi?.wakeUp()
            return nil
        }
        if let refusal { completion(.failure(refusal)) }
    }

    func cancel(_ id: UInt64) {
        state.withLock { state in
            guard state.running.contains(id) else {
                state.cancelledEarly.insert(id)
                return
            }
            state.commands.append(.cancel(id))
            state.multi?.wakeUp()
        }
    }

    /// Gives up a request that was handed over and has no result yet.
    func cancelRunning(_ id: UInt64) {
        state.withLock { state in
            guard state.running.contains(id) else { return }
            state.commands.append(.cancel(id))
            state.multi?.wakeUp()
        }
    }

    /// Drops what is remembered of a request whose caller has its result.
    func forget(_ id: UInt64) {
        state.withLock {
            $0.running.remove(id)
            $0.cancelledEarly.remove(id)
        }
    }

    /// Ends the thread; it closes the handle itself.
    func stop() {
        state.withLock {
            $0.stopped = true
            $0.multi?.wakeUp()
        }
    }

    /// Returns the new commands, nil when the thread shall end. Called by the thread.
    func takeCommands() -> [Command]? {
        state.withLock { state in
            if state.stopped {
                // From here on nobody may wake a handle that is about to be closed.
                state.multi = nil
                return nil
            }
            let commands = state.commands
            state.commands.removeAll(keepingCapacity: true)
            return commands
        }
    }

    static func cancelled(_ server: String, mayHaveBeenSent: Bool = false) -> CurlError {
        CurlError(
            .cancelled,
            "request to \(server) was given up because its task was cancelled",
            mayHaveBeenSent: mayHaveBeenSent
        )
    }

    private func startThread(_ state: inout State) -> CurlError? {
        if state.multi != nil { return nil }
        guard let multi = CurlMultiHandle() else {
            return CurlError(.unavailable, "libcurl could not be started: out of memory")
        }
        guard CurlThread.start({ [self] in CurlLoop(worker: self, multi: multi).run() }) else {
            multi.close()
            return CurlError(.unavailable, "the thread for HTTP requests could not be started: check the thread limit")
        }
        state.multi = multi
        return nil
    }
}
