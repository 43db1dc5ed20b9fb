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
