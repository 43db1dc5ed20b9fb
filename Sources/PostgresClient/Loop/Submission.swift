/// A request with the one who waits for its reply.
struct Submission: Sendable {
    let request: Request
    /// Nil when nobody waits (clean-up work).
    let continuation: CheckedContinuation<Reply, any Error>?

    func succeed(_ reply: Reply) { continuation?.resume(returning: reply) }
    func fail(_ error: any Error) { continuation?.resume(throwing: error) }
}
