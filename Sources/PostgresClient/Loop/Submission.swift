/// A request and the caller that waits for its reply.
struct Submission: Sendable {
    let request: Request
    /// Nil if no caller waits (clean-up work).
    let continuation: CheckedContinuation<Reply, any Error>?

    func succeed(_ reply: Reply) { continuation?.resume(returning: reply) }
    func fail(_ error: any Error) { continuation?.resume(throwing: error) }
}
