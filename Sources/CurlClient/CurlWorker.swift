import CCurl
import OperatingSystem
import Synchronization

/// The queue between the callers and the client's thread.
final class CurlWorker: Sendable {
    typealias Completion = @Sendable (Result<CurlResponse, CurlError>) -> Void
    typealias MayLeave = @Sendable (CurlConnection) -> Bool

    /// A caller's request to the thread.
    enum Command: Sendable {
        case start(UInt64, CurlRequest, MayLeave?, Completion)
        case cancel(UInt64)
    }

    private struct State {
        var lastID: UInt64 = 0
        var commands: [Command] = []
        /// Requests handed to the thread that have no result yet.
        var running: Set<UInt64> = []
        /// Requests whose task was cancelled before they reached the thread.
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

    /// Hands a request to the thread; the completion is called exactly once.
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

    /// Cancels a request that the thread has and that has no result yet.
    func cancelRunning(_ id: UInt64) {
        state.withLock { state in
            guard state.running.contains(id) else { return }
            state.commands.append(.cancel(id))
            state.multi?.wakeUp()
        }
    }

    /// Drops the state of a request whose caller has the result.
    func forget(_ id: UInt64) {
        state.withLock {
            $0.running.remove(id)
            $0.cancelledEarly.remove(id)
        }
    }

    /// Ends the thread, which closes the handle.
    func stop() {
        state.withLock {
            $0.stopped = true
            $0.multi?.wakeUp()
        }
    }

    /// Returns the new commands, or nil when the thread must end. Called by the thread.
    func takeCommands() -> [Command]? {
        state.withLock { state in
            if state.stopped {
                // The handle is about to be closed and must not be woken any more.
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
            "request to \(server) was cancelled",
            mayHaveBeenSent: mayHaveBeenSent
        )
    }

    private func startThread(_ state: inout State) -> CurlError? {
        if state.multi != nil { return nil }
        guard let multi = CurlMultiHandle() else {
            return CurlError(.unavailable, "libcurl could not be started: out of memory")
        }
        do {
            try DetachedThread.start { [self] in CurlLoop(worker: self, multi: multi).run() }
        } catch {
            multi.close()
            return CurlError(.unavailable, "the thread for HTTP requests could not be started: check the thread limit")
        }
        state.multi = multi
        return nil
    }
}

/// The loop of the client's thread: takes commands, drives the transfers and completes them.
///
/// Confined to that thread.
final class CurlLoop {
    private let worker: CurlWorker
    private let multi: CurlMultiHandle
    private var transfers: [UInt64: CurlTransfer] = [:]

    init(worker: CurlWorker, multi: CurlMultiHandle) {
        self.worker = worker
        self.multi = multi
    }

    /// Runs until the client is released.
    func run() {
        while let commands = worker.takeCommands() {
            for command in commands { handle(command) }
            var running: Int32 = 0
            curl_multi_perform(multi.pointer, &running)
            collectFinished()
            // A wake-up, a socket or libcurl's timer ends the wait; the timeout is only an upper bound.
            curl_multi_poll(multi.pointer, nil, 0, 60_000, nil)
        }
        for id in transfers.keys.sorted() { cancel(id) }
        multi.close()
    }

    private func handle(_ command: CurlWorker.Command) {
        switch command {
        case .start(let id, let request, let mayLeave, let completion):
            start(
                CurlTransfer(id: id, request: request, mayLeave: mayLeave, completion: completion),
                request,
                completion
            )
        case .cancel(let id): cancel(id)
        }
    }

    private func start(_ transfer: CurlTransfer?, _ request: CurlRequest, _ completion: CurlWorker.Completion) {
        guard let transfer else {
            let error = CurlError(.unavailable, "request to \(request.server) not sent: out of memory")
            return completion(.failure(error))
        }
        let configured = transfer.configure()
        guard configured == CURLE_OK else {
            transfer.finish(configured)
            return
        }
        guard curl_multi_add_handle(multi.pointer, transfer.easy) == CURLM_OK else {
            transfer.finish(CURLE_FAILED_INIT)
            return
        }
        transfers[transfer.id] = transfer
    }

    private func cancel(_ id: UInt64) {
        guard let transfer = transfers.removeValue(forKey: id) else { return }
        curl_multi_remove_handle(multi.pointer, transfer.easy)
        transfer.giveUp()
    }

    private func collectFinished() {
        var left: Int32 = 0
        while let message = curl_multi_info_read(multi.pointer, &left) {
            guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle else { continue }
            // Removing the handle frees the message, so its result is read first.
            let result = ccurl_message_result(message)
            guard let transfer = transfers.first(where: { $0.value.easy == easy })?.value else { continue }
            transfers[transfer.id] = nil
            curl_multi_remove_handle(multi.pointer, easy)
            transfer.finish(result)
        }
    }
}

/// libcurl's handle for parallel transfers.
///
/// `@unchecked Sendable`: only the client's thread uses the handle. The exception is `wakeUp`, which libcurl allows
/// from any thread (curl_multi_wakeup(3)); ``CurlWorker`` calls it only until the thread begins to close the handle.
struct CurlMultiHandle: @unchecked Sendable {
    let pointer: UnsafeMutableRawPointer

    /// Connections kept for later requests; far more than there are parallel requests.
    private static let maxConnections = 512

    /// libcurl's global initialisation, thread-safe since 7.84 and done once.
    private static let isInitialised = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

    /// Returns nil when out of memory.
    init?() {
        guard Self.isInitialised, let pointer = curl_multi_init() else { return nil }
        self.pointer = pointer
        // By default libcurl keeps idle connections only up to four times the number of current transfers.
        ccurl_multi_set_long(pointer, CURLMOPT_MAXCONNECTS, Self.maxConnections)
    }

    func wakeUp() {
        curl_multi_wakeup(pointer)
    }

    func close() {
        curl_multi_cleanup(pointer)
    }
}
