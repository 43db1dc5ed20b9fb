import CLibPQ

extension ConnectionLoop {
    /// Sends a group, closed by a sync.
    func send(_ submission: Submission) throws(PostgresError) {
        let statements: [PostgresStatement]
        switch submission.request.work {
        case .group(let group), .close(let group): statements = group
        case .open(let group):
            statements = group
            if let session = submission.request.session { queue.begin(session) }
        default: return
        }
        let (decisions, dropped) = plan(statements)
        do throws(PostgresError) {
            for name in dropped {
                try send([PostgresStatement("DEALLOCATE \(name)")], [.unnamed], submission: nil, isDrop: true)
            }
        } catch {
            // It waits nowhere any more.
            submission.fail(error)
            throw error
        }
        try send(statements, decisions, submission: submission)
        try flush()
    }

    /// Ends a transaction that COMMIT or ROLLBACK did not end, because a cancel request hit them.
    func sendCleanUp() throws(PostgresError) {
        try send([PostgresStatement("ROLLBACK")], [.unnamed], submission: nil)
        inFlight.last?.isCleanUp = true
        try flush()
    }

    /// Decides which statements are prepared, and which old ones have to go for them.
    private func plan(_ statements: [PostgresStatement]) -> ([StatementCache.Decision], [String]) {
        let number = newGroupNumber()
        var dropped: [String] = []
        let decisions = statements.map { statement -> StatementCache.Decision in
            guard statement.prepare else { return .unnamed }
            let types = statement.parameters.map(\.type.rawValue)
            let decision = self.statements.use(sql: statement.sql, types: types, group: number)
            if case .prepare(_, let names) = decision { dropped += names }
            return decision
        }
        return (decisions, dropped)
    }

    private func send(
        _ statements: [PostgresStatement],
        _ decisions: [StatementCache.Decision],
        submission: Submission?,
        isDrop: Bool = false
    ) throws(PostgresError) {
        // First of all: whatever fails now, the end of the connection is told to it as well.
        let group = GroupInFlight(submission: submission, statements: statements, steps: [])
        inFlight.append(group)
        if PQpipelineStatus(connection) == PQ_PIPELINE_OFF {
            try require(PQenterPipelineMode(connection))
        }
        for (index, statement) in statements.enumerated() {
            encoder.encode(statement.parameters)
            switch decisions[index] {
            case .prepared(let name):
                try sendPrepared(name)
                group.steps.append(.execute(statement: index, name: name))
            case .prepare(let name, _):
                try require(PQsendPrepare(connection, name, statement.sql, encoder.count, encoder.types))
                group.steps.append(.prepare(name: name, statement: index))
                try sendPrepared(name)
                group.steps.append(.execute(statement: index, name: name))
            case .unnamed:
                try sendUnnamed(statement.sql)
                group.steps.append(isDrop ? .drop : .execute(statement: index, name: nil))
            }
        }
        try require(PQpipelineSync(connection))
    }

    private func sendPrepared(_ name: String) throws(PostgresError) {
        try require(
            PQsendQueryPrepared(
                connection,
                name,
                encoder.count,
                encoder.values,
                encoder.lengths,
                encoder.formats,
                1
            )
        )
    }

    private func sendUnnamed(_ sql: String) throws(PostgresError) {
        try require(
            PQsendQueryParams(
                connection,
                sql,
                encoder.count,
                encoder.types,
                encoder.values,
                encoder.lengths,
                encoder.formats,
                1
            )
        )
    }

    /// libpq refuses to send only when the connection is broken or memory is out: both end the connection.
    private func require(_ success: Int32) throws(PostgresError) {
        guard success == 1 else { try fail() }
    }
}

extension ConnectionLoop {
    /// Reads what has come and handles it.
    func receive() throws(PostgresError) {
        let isAlive = PQconsumeInput(connection) == 1
        if exclusive != nil { try receiveExclusive() } else { try receiveGroups() }
        receiveNotifications()
        guard isAlive else { throw lost() }
    }

    /// libpq ends each statement's results with a NULL; more in a row than this would be an endless loop.
    private static let maximumNullsInARow = 16

    private func receiveGroups() throws(PostgresError) {
        var nulls = 0
        while let group = inFlight.first, PQisBusy(connection) == 0 {
            if let result = PQgetResult(connection) {
                nulls = 0
                results += 1
                try handle(result, of: group)
            } else {
                nulls += 1
                // Also where the connection is known to be gone: the server's last word may be behind results that were read with it.
                guard nulls < Self.maximumNullsInARow else { throw lost() }
            }
        }
        if inFlight.isEmpty, PQpipelineStatus(connection) != PQ_PIPELINE_OFF {
            // Out of pipeline mode libpq also reads what the server says unasked: parameters, its last error.
            guard PQexitPipelineMode(connection) == 1 else { throw lost() }
        }
    }

    private func handle(_ result: OpaquePointer, of group: GroupInFlight) throws(PostgresError) {
        switch PQresultStatus(result) {
        case PGRES_PIPELINE_SYNC:
            PQclear(result)
            try finish(group)
        case PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_EMPTY_QUERY:
            succeed(result, group)
        case PGRES_PIPELINE_ABORTED:
            PQclear(result)
            fail(nextStep(of: group))
        case PGRES_FATAL_ERROR:
            defer { PQclear(result) }
            try fail(result, group)
        default:
            PQclear(result)
            throw PostgresError(
                code: .connection,
                message: "a statement asked for COPY; it needs copyIn or copyOut, and the connection was closed"
            )
        }
    }

    private func nextStep(of group: GroupInFlight) -> GroupInFlight.Step? {
        guard group.nextStep < group.steps.count else { return nil }
        defer { group.nextStep += 1 }
        return group.steps[group.nextStep]
    }

    private func succeed(_ result: OpaquePointer, _ group: GroupInFlight) {
        switch nextStep(of: group) {
        case .execute:
            group.results.append(PostgresResult(result))
        case .prepare(let name, _):
            statements.confirm(name)
            PQclear(result)
        case .drop, nil:
            PQclear(result)
        }
    }

    /// A statement whose preparation failed or was skipped is not there.
    private func fail(_ step: GroupInFlight.Step?) {
        if case .prepare(let name, _) = step { statements.forget(name) }
    }

    private func fail(_ result: OpaquePointer, _ group: GroupInFlight) throws(PostgresError) {
        let step = nextStep(of: group)
        fail(step)
        let index: Int?
        switch step {
        case .execute(let statement, let name):
            index = statement
            // The plan's result type changed with the table, or somebody dropped all statements: prepare anew next time.
            let state = PostgresError.field(result, .sqlState)
            if let name, state == "0A000" || state == "26000" { statements.forget(name) }
        case .prepare(_, let statement): index = statement
        case .drop, nil: index = nil
        }
        let statement = index.map { group.statements[$0].sql }
        let error = PostgresError(result: result, statement: statement, index: index)
        if PostgresError.isFatal(result) { throw error.asLossOfConnection() }
        // An error without a state is libpq's own.
        if error.sqlState == nil, PQstatus(connection) == CONNECTION_BAD { throw lost() }
        mailbox.note(error)
        if group.error == nil { group.error = error }
    }

    private func finish(_ group: GroupInFlight) throws(PostgresError) {
        if notices.hasUnreplicatedCommit { throw .unreplicatedCommit }
        _ = inFlight.popFirst()
        try endSession(after: group)
        if let error = group.error {
            fail(group, error)
        } else {
            group.submission?.succeed(.results(group.results))
        }
        startCancelIfWanted()
    }

    private func fail(_ group: GroupInFlight, _ error: PostgresError) {
        guard let submission = group.submission else { return }
        let wasCancelled = error.sqlState == "57014"
        if wasCancelled, group.cancelWanted {
            submission.fail(CancellationError())
        } else if wasCancelled, group.isExposed, !group.cancelOrdered, submission.request.session == nil {
            // Another one's cancel request hit this group; nothing of it was done, so it is simply sent again.
            queue.putBack(submission)
        } else {
            submission.fail(error)
        }
    }

    /// The connection is free again after COMMIT or ROLLBACK, or when BEGIN failed.
    private func endSession(after group: GroupInFlight) throws(PostgresError) {
        switch group.submission?.request.work {
        case .open where group.error != nil, .close: break
        case nil where group.isCleanUp: break
        default: return
        }
        if PQtransactionStatus(connection) != PQTRANS_IDLE {
            guard !group.isCleanUp else { throw lost() }
            return try sendCleanUp()
        }
        let over = PostgresError(code: .sqlState("25P01"), message: "the transaction is over")
        for submission in queue.endSession() { submission.fail(over) }
    }
}

/// A group of statements that was sent and whose answers are coming in; confined to the connection's thread.
final class GroupInFlight {
    /// What the server answers one after the other.
    enum Step {
        /// A statement is prepared under the name.
        case prepare(name: String, statement: Int)
        /// A statement is run, under the name when it is prepared.
        case execute(statement: Int, name: String?)
        /// An old prepared statement is dropped.
        case drop
    }

    /// Nil for what the connection does by itself.
    let submission: Submission?
    let statements: [PostgresStatement]
    var steps: [Step]
    var nextStep = 0
    var results: [PostgresResult] = []
    /// The first error; the server skips the rest of the group.
    var error: PostgresError?
    /// Whether the waiting task was cancelled.
    var cancelWanted = false
    /// Whether somebody wanted "the running statement" cancelled while this was it.
    var cancelOrdered = false
    var cancelSent = false
    /// Whether a cancel request meant for another group could have hit this one.
    var isExposed = false
    /// Whether it rolls back a transaction that its end did not end.
    var isCleanUp = false

    init(submission: Submission?, statements: [PostgresStatement], steps: [Step]) {
        self.submission = submission
        self.statements = statements
        self.steps = steps
        results.reserveCapacity(statements.count)
    }
}
