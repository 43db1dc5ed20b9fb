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
