import CLibPQ

/// Receives the server's notices, which libpq would otherwise print to standard error.
final class NoticeReceiver {
    /// The fatal error with which the server ended an idle session.
    private(set) var lastFatalError: PostgresError?
    /// Whether the server has acknowledged a commit without its synchronous replica. Only the primary has that commit,
    /// so a failover would lose it.
    private(set) var hasUnreplicatedCommit = false
    private let handler: (@Sendable (PostgresNotice) -> Void)?

    init(_ handler: (@Sendable (PostgresNotice) -> Void)?) { self.handler = handler }

    /// The server function that waits for synchronous replicas. Its only warnings are about a wait that a cancel
    /// request or an administrator cut short.
    private static let replicationWait = "SyncRepWaitForLSN"

    /// Starts receiving the notices of a connection, which the receiver must outlive.
    func attach(to connection: OpaquePointer) {
        PQsetNoticeReceiver(
            connection,
            { context, result in
                guard let context, let result else { return }
                Unmanaged<NoticeReceiver>.fromOpaque(context).takeUnretainedValue().receive(result)
            },
            Unmanaged.passUnretained(self).toOpaque()
        )
    }

    private func receive(_ result: OpaquePointer) {
        // The function identifies the warning: its SQLSTATE is generic and its text depends on the server's language.
        if PostgresError.field(result, .function) == Self.replicationWait { hasUnreplicatedCommit = true }
        if PostgresError.isFatal(result) {
            lastFatalError = PostgresError(result: result)
        } else if let handler, let severity = PostgresError.field(result, .severity) {
            let state = PostgresError.field(result, .sqlState) ?? "00000"
            let message = PostgresError.field(result, .message) ?? ""
            let text = ValueRedaction.redact(message, sqlState: state)
            handler(PostgresNotice(severity: severity, sqlState: state, message: text))
        }
    }
}
