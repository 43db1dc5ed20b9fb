import CLibPQ

/// Receives the server's notices from libpq, which would print them to standard error otherwise.
final class NoticeReceiver {
    /// An error with which the server ended the session while nothing was running.
    private(set) var lastWords: PostgresError?
    private let handler: (@Sendable (PostgresNotice) -> Void)?

    init(_ handler: (@Sendable (PostgresNotice) -> Void)?) { self.handler = handler }

    /// Takes the notices of a connection; the receiver must outlive it.
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
        if PostgresError.isFatal(result) {
            lastWords = PostgresError(result: result)
        } else if let handler, let severity = PostgresError.field(result, .severity) {
            let state = PostgresError.field(result, .sqlState) ?? "00000"
            let message = PostgresError.field(result, .message) ?? ""
            let text = ValueRedaction.redact(message, sqlState: state)
            handler(PostgresNotice(severity: severity, sqlState: state, message: text))
        }
    }
}
