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

    /// Makes a description.
    public init(peer: String, isNew: Bool) {
        self.peer = peer
        self.isNew = isNew
    }
}
