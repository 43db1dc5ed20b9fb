import CCurl

/// The loop of the client's thread: takes commands, drives the transfers, tells the callers.
///
/// Lives on that thread only.
final class CurlLoop {
    private let worker: CurlWorker
    private let multi: CurlMultiHandle
    private var transfers: [UInt64: CurlTransfer] = [:]

    init(worker: CurlWorker, multi: CurlMultiHandle) {
        self.worker = worker
        self.multi = multi
    }

    /// Runs until the client is gone.
    func run() {
        while let commands = worker.takeCommands() {
            for command in commands { handle(command) }
            var running: Int32 = 0
            curl_multi_perform(multi.pointer, &running)
            collectFinished()
            // A wake-up, a socket or libcurl's own timer ends the wait; the number is only an upper bound.
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
            // The message is gone with the handle's removal, so its result is read first.
            let result = ccurl_message_result(message)
            guard let transfer = transfers.first(where: { $0.value.easy == easy })?.value else { continue }
            transfers[transfer.id] = nil
            curl_multi_remove_handle(multi.pointer, easy)
            transfer.finish(result)
        }
    }
}
