// CurlClient: an HTTP/1.1 client on libcurl, for requests of a low rate and for legacy FCM.
//
// WHAT IT DOES
//   Performs single requests side by side. TLS is 1.2 or later and always verified; redirects are not followed; no cookie and
//   no .netrc is read; answers have a largest size.
//
// HOW IT IS USED
//   perform(_:) for one that awaits the answer (access tokens, doctor's checks, the control port of the simulator).
//   start(_:mayLeave:completion:) and cancel(_:) for legacy FCM, which has to know the moment at which a request leaves. A
//   CurlRequest goes in, a CurlResponse of whatever status or a CurlError comes out.
//
// THREADS AND TASKS
//   One thread a client, begun with the first request and ended with the client. mayLeave and completion are called on it:
//   who blocks there keeps all other requests of the client waiting. CurlWorker is the queue between callers and the thread,
//   CurlLoop the thread's own loop; libcurl's handles are used by that thread only, but for the call that wakes it.
//
// STATE AND FILES
//   Connections that may be used again, in memory. A CA file is read where the request names one, else the system's.
//
// FAILURES
//   CurlError says of which kind the trouble is, and whether bytes of the request may have left (mayHaveBeenSent). A request
//   is refused before it is sent if its method, address or header fields are malformed. It never sends a request twice: where
//   libcurl would repeat one on a new connection, it fails instead. Its errors never show path, query, header fields or body.
//
// SETTINGS
//   None of its own: timeouts, trust, proxy and sizes are the request's.
//
// SEE ALSO
//   CurlWorker.swift, CurlTransfer.swift, CurlRequest.swift, CurlError.swift, Sources/CCurl/shim.h

/// An HTTP/1.1 client on libcurl with one thread of its own, for requests of a low rate.
///
/// Requests run side by side; any thread and any task may use one client. TLS certificates are always verified, version
/// 1.2 is the lowest, redirects are not followed, and no cookie or `.netrc` is read. The thread starts with the first
/// request and ends with the client.
public final class CurlClient: Sendable {
    let worker = CurlWorker()

    /// Makes a client; nothing is started yet.
    public init() {}

    deinit {
        worker.stop()
    }

    /// Performs a request and returns the answer, whatever its status.
    ///
    /// A cancelled task gives up the transfer at once.
    ///
    /// - Throws: `CurlError` if there is no complete answer.
    public func perform(_ request: CurlRequest) async throws(CurlError) -> CurlResponse {
        try request.validate()
        let id = worker.nextID()
        defer { worker.forget(id) }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                worker.start(id, request, mayLeave: nil) { continuation.resume(returning: $0) }
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
    /// Nothing of the request has left before `mayLeave` has said yes, and it leaves at most once: when a connection that was
    /// used before ends without an answer, the request fails with ``CurlError/mayHaveBeenSent`` and is not repeated. Only a
    /// connection that took nothing of it is replaced silently; then `mayLeave` is asked again.
    ///
    /// - Parameters:
    ///   - mayLeave: called on the client's thread when a connection is ready; all requests of the client wait for its answer.
    ///     After a no the request fails with ``CurlError/Code/withheld``.
    ///   - completion: called once on the client's thread.
    @discardableResult
    public func start(
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

    /// Gives up a request that was started; one that has its answer is not touched.
    public func cancel(_ id: CurlTransferID) {
        worker.cancelRunning(id.number)
    }
}

/// A request on its way, for ``CurlClient/cancel(_:)``.
public struct CurlTransferID: Sendable, Hashable {
    let number: UInt64
}

/// The connection that a request is about to be sent on, all handshakes done.
public struct CurlConnection: Sendable, Hashable {
    /// The other end as a numeric address with its port; a proxy's where there is one.
    public var peer: String
    /// Whether it was made for this request; if not, an earlier request left it.
    public var isNew: Bool

    public init(peer: String, isNew: Bool) {
        self.peer = peer
        self.isNew = isNew
    }
}
