// CurlClient: an HTTP/1.1 client on libcurl, for low request rates and for legacy FCM.
//
// WHAT IT DOES
//   Performs single requests in parallel. TLS is 1.2 or later and always verified. It follows no redirect and reads no
//   cookie and no .netrc. The size of a response is limited.
//
// HOW IT IS USED
//   perform(_:) is for a caller that awaits the response: access tokens, doctor's checks, the simulator's control port.
//   start(_:mayLeave:completion:) and cancel(_:) are for legacy FCM, which must know the moment at which a request
//   leaves. Both take a CurlRequest and give a CurlResponse, whatever its status, or a CurlError.
//
// THREADS AND TASKS
//   Each client has one thread, which starts with the first request and ends with the client. mayLeave and completion
//   are called on it: blocking in one holds up every other request of the client. CurlWorker is the queue between the
//   callers and the thread; CurlLoop is the thread's loop. Only that thread uses libcurl's handles, except for the call
//   that wakes it.
//
// STATE AND FILES
//   Reusable connections, in memory. Trust comes from the CA file that the request names, or from the system's
//   authorities.
//
// FAILURES
//   CurlError has the kind of failure and whether bytes of the request may have left (mayHaveBeenSent). A request with
//   a malformed method, address or header field is refused before it is sent. A request is never sent twice: where
//   libcurl would repeat it on a new connection, it fails instead. Errors never show the path, the query, header fields
//   or the body.
//
// SETTINGS
//   None of its own: each request carries its timeouts, trust, proxy and size limit.
//
// SEE ALSO
//   CurlWorker.swift, CurlTransfer.swift, CurlRequest.swift, CurlError.swift, Sources/CCurl/shim.h

/// An HTTP/1.1 client on libcurl with one thread of its own, for low request rates.
///
/// Requests run in parallel, and any thread or task may use a client. TLS is 1.2 or later and certificates are always
/// verified. Redirects are not followed, and no cookie or `.netrc` is read. The thread starts with the first request
/// and ends with the client.
package final class CurlClient: Sendable {
    let worker = CurlWorker()

    /// Makes a client; the thread starts with the first request.
    package init() {}

    deinit {
        worker.stop()
    }

    /// Performs a request and returns the response, whatever its status.
    ///
    /// Cancelling the task cancels the transfer at once.
    ///
    /// - Parameter mayLeave: called on the client's thread when a connection is ready, before a byte of the request
    ///   leaves. If it returns false, the request fails with ``CurlError/Code/withheld``.
    /// - Throws: `CurlError` if there is no complete response.
    package func perform(
        _ request: CurlRequest,
        mayLeave: (@Sendable (CurlConnection) -> Bool)? = nil
    ) async throws(CurlError) -> CurlResponse {
        try request.validate()
        let id = worker.nextID()
        defer { worker.forget(id) }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                worker.start(id, request, mayLeave: mayLeave) { continuation.resume(returning: $0) }
            }
        } onCancel: {
            worker.cancel(id)
        }
        return try result.get()
    }
}

extension CurlClient {
    /// Performs a request without a task, for callers that must know the moment at which it leaves.
    ///
    /// No byte of the request leaves before `mayLeave` has returned true, and the request leaves at most once. If a
    /// reused connection ends without a response, the request fails with ``CurlError/mayHaveBeenSent`` and is not
    /// repeated. Only a connection that took no byte of it is replaced silently; then `mayLeave` is called again.
    ///
    /// - Parameters:
    ///   - mayLeave: called on the client's thread when a connection is ready; all requests of the client wait for it.
    ///     If it returns false, the request fails with ``CurlError/Code/withheld``.
    ///   - completion: called once on the client's thread.
    @discardableResult
    package func start(
        _ request: CurlRequest,
        mayLeave: @escaping @Sendable (CurlConnection) -> Bool,
        completion: @escaping @Sendable (Result<CurlResponse, CurlError>) -> Void
    ) -> CurlTransferID {
        let id = worker.nextID()
        do {
            try request.validate()
        } catch {
            completion(.failure(error))
            return CurlTransferID(number: id)
        }
        worker.start(id, request, mayLeave: mayLeave) { [worker] result in
            worker.forget(id)
            completion(result)
        }
        return CurlTransferID(number: id)
    }

    /// Cancels a request that was started; has no effect on one that has its response.
    package func cancel(_ id: CurlTransferID) {
        worker.cancelRunning(id.number)
    }
}

/// A request in progress, for ``CurlClient/cancel(_:)``.
package struct CurlTransferID: Sendable, Hashable {
    let number: UInt64
}
