import CLibPQ

extension ConnectionLoop {
    /// Starts a script or COPY. No group is in flight, and libpq is not in pipeline mode.
    func startExclusive(_ submission: Submission) throws(PostgresError) {
        let kind: ExclusiveOperation.Kind
        let text: String
        switch submission.request.work {
        case .script(let script): (kind, text) = (.script, script)
        case .copyIn(let sql): (kind, text) = (.copyIn, sql)
        case .copyOut(let sql): (kind, text) = (.copyOut, sql)
        default: return
        }
        var ownsSession = false
        if let session = submission.request.session, queue.owner == nil {
            queue.begin(session)
            ownsSession = true
        }
        exclusive = ExclusiveOperation(kind: kind, text: text, ownsSession: ownsSession, waiting: submission)
        guard PQsendQuery(connection, text) == 1 else { try fail() }
        try flush()
    }

    /// Serves the session's next request while a COPY is open.
    func advanceExclusive() throws(PostgresError) {
        while let operation = exclusive, operation.phase != .starting, !needsFlush {
            if operation.kind == .copyIn, operation.phase == .copying { operation.reply(.done) }
            guard operation.waiting == nil, operation.phase != .draining, let submission = queue.next else { return }
            _ = queue.popNext()
            if submission.request.isCancelled {
                submission.fail(CancellationError())
            } else {
                try serve(submission, operation)
            }
        }
    }

    private func serve(_ submission: Submission, _ operation: ExclusiveOperation) throws(PostgresError) {
        switch (submission.request.work, operation.kind) {
        case (.copyChunk(let bytes), .copyIn):
            operation.waiting = submission
            try put(bytes)
        case (.copyEnd(let failed), .copyIn):
            operation.waiting = submission
            operation.phase = .ending
            guard PQputCopyEnd(connection, failed ? "cancelled by the client" : nil) == 1 else { try fail() }
            try flush()
            // libpq may already have read the server's error without reporting it.
            try receiveExclusive()
        case (.copyNext, .copyOut):
            operation.waiting = submission
            try receiveExclusive()
        case (.copyAbandon, .copyOut):
            operation.isAbandoned = true
            if operation.phase == .copying { operation.phase = .draining }
            operation.cancelWanted = true
            startCancelIfWanted()
            try receiveExclusive()
        default:
            submission.fail(PostgresError(code: .type, message: "a COPY is running in this transaction"))
        }
    }

    private func put(_ bytes: [UInt8]) throws(PostgresError) {
        let sent = bytes.withUnsafeBytes { bytes in
            PQputCopyData(
                connection,
                bytes.baseAddress?.assumingMemoryBound(to: CChar.self),
                Int32(truncatingIfNeeded: bytes.count)
            )
        }
        guard sent == 1 else { try fail() }
        try flush()
    }

    /// Handles the server's response to a script or COPY.
    func receiveExclusive() throws(PostgresError) {
        guard let operation = exclusive else { return }
        if operation.kind == .copyOut {
            switch operation.phase {
            case .copying where operation.waiting != nil: try readRows(operation)
            case .draining: try discardRows(operation)
            default: break
            }
        }
        switch operation.phase {
        case .starting: try receiveResults(operation)
        case .ending where operation.waiting != nil || operation.isAbandoned: try receiveResults(operation)
        default: break
        }
    }

    private func receiveResults(_ operation: ExclusiveOperation) throws(PostgresError) {
        while PQisBusy(connection) == 0 {
            guard let result = PQgetResult(connection) else { return try finish(operation) }
            defer { PQclear(result) }
            switch PQresultStatus(result) {
            case PGRES_COPY_IN where operation.kind == .copyIn, PGRES_COPY_OUT where operation.kind == .copyOut:
                operation.phase = .copying
                operation.reply(.done)
                return
            case PGRES_COPY_IN, PGRES_COPY_OUT, PGRES_COPY_BOTH:
                throw PostgresError(
                    code: .connection,
                    message: "an unexpected COPY started, and the connection was closed; use copyIn or copyOut"
                )
            case PGRES_FATAL_ERROR:
                try note(result, operation)
            default:
                operation.rows = Int64(String(cString: PQcmdTuples(result))) ?? 0
                if operation.phase == .starting, operation.kind != .script {
                    let message = "the statement is not a COPY in the expected direction"
                    operation.error = PostgresError(code: .type, message: message)
                }
            }
        }
    }

    private func note(_ result: OpaquePointer, _ operation: ExclusiveOperation) throws(PostgresError) {
        // A script may contain anything, so it is not quoted; the line number shows the place.
        let isScript = operation.kind == .script
        var error = PostgresError(result: result, statement: isScript ? nil : operation.text)
        if PostgresError.isFatal(result) { throw error.asLossOfConnection() }
        if error.sqlState == nil, PQstatus(connection) == CONNECTION_BAD { throw lost() }
        mailbox.note(error)
        if isScript, let position = PostgresError.field(result, .position).flatMap({ Int($0) }) {
            let line = operation.text.unicodeScalars.prefix(max(0, position - 1)).count { $0 == "\n" } + 1
            error = error.adding("at line \(line) of the script")
        }
        if operation.error == nil { operation.error = error }
    }

    private func finish(_ operation: ExclusiveOperation) throws(PostgresError) {
        if notices.hasUnreplicatedCommit { throw .unreplicatedCommit }
        exclusive = nil
        if operation.ownsSession {
            for submission in queue.endSession() { submission.fail(Mailbox.closedError) }
        }
        if let error = operation.error {
            let wasCancelled = operation.cancelWanted && error.sqlState == "57014"
            operation.fail(wasCancelled ? CancellationError() : error)
            return
        }
        switch operation.kind {
        case .script: operation.reply(.done)
        case .copyIn: operation.reply(.rows(operation.rows))
        case .copyOut: operation.reply(.bytes(nil))
        }
    }
}

extension ConnectionLoop {
    /// Rows are handed to the reader in chunks of about this many bytes, which makes the cost of each handover small.
    private static let chunkSize = 64 * 1024

    /// Reads rows for the waiting caller and replies with those available.
    func readRows(_ operation: ExclusiveOperation) throws(PostgresError) {
        var chunk: [UInt8] = []
        while chunk.count < Self.chunkSize {
            let isMore = try nextRow(operation) { row in
                if chunk.isEmpty { chunk.reserveCapacity(Self.chunkSize + row.count) }
                chunk.append(contentsOf: row)
            }
            guard isMore else { break }
        }
        if !chunk.isEmpty { operation.reply(.bytes(chunk)) }
    }

    /// Discards the rows that an absent reader did not take.
    func discardRows(_ operation: ExclusiveOperation) throws(PostgresError) {
        while try nextRow(operation, { _ in }) {}
    }

    /// Takes one row from libpq's buffer; false if none is available yet, or at the end.
    private func nextRow(
        _ operation: ExclusiveOperation,
        _ use: (UnsafeRawBufferPointer) -> Void
    ) throws(PostgresError) -> Bool {
        var row: UnsafeMutablePointer<CChar>?
        let length = PQgetCopyData(connection, &row, 1)
        switch length {
        case 0:
            return false
        case -1:
            operation.phase = .ending
            return false
        case 1...:
            use(UnsafeRawBufferPointer(start: row, count: Int(length)))
            PQfreemem(row)
            return true
        default:
            throw lost()
        }
    }
}
